#include "tests/unit/eval_exact.h"

#include "tests/unit/eval_number.h"

#include <mpfr.h>

/* Enough for the digits of any operand. */
enum { OPERAND_BITS = 64 };

static mpfr_t operand[3], result[VYRE_TYPE_COUNT];
static bool ready;
static mpfr_exp_t widest_least, widest_most;

static void prepare(void) {
    if (ready) {
        return;
    }
    for (int i = 0; i < 3; i++) {
        mpfr_init2(operand[i], OPERAND_BITS);
    }
    for (uint32_t type = VYRE_TYPE_BOOL; type < VYRE_TYPE_COUNT; type++) {
        bool is_float = vyre_type_class_of((vyre_type)type) == VYRE_CLASS_FLOAT;
        mpfr_init2(result[type],
                   is_float ? number_format_of((vyre_type)type).mantissa + 1 : OPERAND_BITS);
    }
    widest_least = mpfr_get_emin();
    widest_most = mpfr_get_emax();
    ready = true;
}

void exact_free(void) {
    for (int i = 0; ready && i < 3; i++) {
        mpfr_clear(operand[i]);
    }
    for (uint32_t type = VYRE_TYPE_BOOL; ready && type < VYRE_TYPE_COUNT; type++) {
        mpfr_clear(result[type]);
    }
    ready = false;
    mpfr_free_cache();
}

static void read_operand(mpfr_t to, vyre_type type, uint64_t bits) {
    bool is_float = vyre_type_class_of(type) == VYRE_CLASS_FLOAT;
    number n = is_float ? number_of_float(type, bits) : number_of_integer(type, bits);
    int sign = n.negative ? -1 : 1;
    if (n.nan) {
        mpfr_set_nan(to);
    } else if (n.infinite) {
        mpfr_set_inf(to, sign);
    } else if (!n.digits) {
        mpfr_set_zero(to, sign);
    } else {
        mpfr_set_uj_2exp(to, n.digits, n.exponent, MPFR_RNDN);
        mpfr_setsign(to, to, n.negative, MPFR_RNDN);
    }
}

/* The bits of a result that was rounded to the format's digits with any exponent; `inexact` tells
 * which way, so that going down to a subnormal number is one rounding in all. */
static uint64_t write_float(mpfr_t from, int inexact, vyre_type type) {
    number_format f = number_format_of(type);
    mpfr_set_emin(f.least - f.mantissa + 1); /* MPFR's fractions lie between a half and one */
    mpfr_set_emax(f.most + 1);
    inexact = mpfr_check_range(from, inexact, MPFR_RNDN);
    mpfr_subnormalize(from, inexact, MPFR_RNDN);
    mpfr_set_emin(widest_least);
    mpfr_set_emax(widest_most);
    number n = {.negative = mpfr_signbit(from) != 0,
                .nan = mpfr_nan_p(from) != 0,
                .infinite = mpfr_inf_p(from) != 0};
    if (mpfr_regular_p(from)) {
        n.exponent = (int)mpfr_get_exp(from) - 64;
        mpfr_abs(from, from, MPFR_RNDN);
        mpfr_set_exp(from, 64);
        n.digits = mpfr_get_uj(from, MPFR_RNDN);
    }
    return number_to_float(type, n);
}

static uint64_t write_integer(mpfr_t from, vyre_type type) {
    mpfr_exp_t width = (mpfr_exp_t)vyre_type_bytes(type) * 8;
    if (mpfr_nan_p(from)) {
        return 0;
    }
    if (vyre_type_class_of(type) == VYRE_CLASS_UNSIGNED) {
        return mpfr_cmp_si(from, 0) < 0                ? 0
               : mpfr_cmp_ui_2exp(from, 1, width) >= 0 ? eval_mask(type)
                                                       : mpfr_get_uj(from, MPFR_RNDZ);
    }
    if (mpfr_cmp_si_2exp(from, -1, width - 1) < 0) {
        return number_sign(type);
    }
    if (mpfr_cmp_si_2exp(from, 1, width - 1) >= 0) {
        return number_sign(type) - 1;
    }
    return (uint64_t)mpfr_get_sj(from, MPFR_RNDZ) & eval_mask(type);
}

bool exact_knows(uint32_t op) {
    switch (op) {
    case VYRE_OP_ADD:
    case VYRE_OP_SUB:
    case VYRE_OP_MUL:
    case VYRE_OP_DIV:
    case VYRE_OP_SQRT:
    case VYRE_OP_FMA:
    case VYRE_OP_FLOOR:
    case VYRE_OP_CEIL:
    case VYRE_OP_TRUNC:
    case VYRE_OP_ROUND: return true;
    default: return false;
    }
}

uint64_t exact_operation(uint32_t op, vyre_type type, const uint64_t *operands) {
    prepare();
    uint32_t count = vyre_rule_arity((vyre_op)op);
    for (uint32_t i = 0; i < count; i++) {
        read_operand(operand[i], type, operands[i]);
    }
    mpfr_ptr to = result[type];
    int inexact = 0;
    switch (op) {
    case VYRE_OP_ADD: inexact = mpfr_add(to, operand[0], operand[1], MPFR_RNDN); break;
    case VYRE_OP_SUB: inexact = mpfr_sub(to, operand[0], operand[1], MPFR_RNDN); break;
    case VYRE_OP_MUL: inexact = mpfr_mul(to, operand[0], operand[1], MPFR_RNDN); break;
    case VYRE_OP_DIV: inexact = mpfr_div(to, operand[0], operand[1], MPFR_RNDN); break;
    case VYRE_OP_SQRT: inexact = mpfr_sqrt(to, operand[0], MPFR_RNDN); break;
    case VYRE_OP_FMA: inexact = mpfr_fma(to, operand[0], operand[1], operand[2], MPFR_RNDN); break;
    case VYRE_OP_FLOOR: inexact = mpfr_floor(to, operand[0]); break;
    case VYRE_OP_CEIL: inexact = mpfr_ceil(to, operand[0]); break;
    case VYRE_OP_TRUNC: inexact = mpfr_trunc(to, operand[0]); break;
    case VYRE_OP_ROUND: inexact = mpfr_roundeven(to, operand[0]); break;
    default: fail_msg("no vectors for %s", vyre_op_info_of(op)->name);
    }
    return write_float(to, inexact, type);
}

uint64_t exact_conversion(vyre_type from, vyre_type to, uint64_t bits) {
    prepare();
    read_operand(operand[0], from, bits);
    if (vyre_type_class_of(to) != VYRE_CLASS_FLOAT) {
        return write_integer(operand[0], to);
    }
    int inexact = mpfr_set(result[to], operand[0], MPFR_RNDN);
    return write_float(result[to], inexact, to);
}
