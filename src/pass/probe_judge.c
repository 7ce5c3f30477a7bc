/* The judge: a result is right, or what a device gives that flushes subnormal numbers, or wrong. */
#include <fenv.h>
#include <string.h>

#include "base/log.h"
#include "base/status.h"
#include "ir/eval.h"
#include "ir/lookup.h"
#include "pass/probe.h"
#include "pass/probe_rows.h"

#define OPERATION(op, correction)                                                                  \
    { PROBE_OPERATION, VYRE_OP_##op, VYRE_TYPE_VOID, VYRE_CORRECT_##correction }
#define OTHER(kind, correction)                                                                    \
    { PROBE_##kind, VYRE_OP_NONE, VYRE_TYPE_VOID, VYRE_CORRECT_##correction }
#define CONVERSION(kind, type)                                                                     \
    { PROBE_##kind, VYRE_OP_CONVERT, VYRE_TYPE_##type, VYRE_CORRECT_CONVERT }

const probe_row probe_rows[PROBE_ROWS_WIDE] = {
    OPERATION(ADD, LINEAR),      OPERATION(SUB, LINEAR),    OPERATION(MUL, LINEAR),
    OPERATION(DIV, DIV),         OPERATION(SQRT, SQRT),     OPERATION(FMA, FMA),
    OPERATION(MIN, COMPARE),     OPERATION(MAX, COMPARE),   OPERATION(FLOOR, ROUND),
    OPERATION(CEIL, ROUND),      OPERATION(TRUNC, ROUND),   OPERATION(ROUND, ROUND),
    OTHER(SUM, LINEAR),          OTHER(DIFFERENCE, LINEAR), OTHER(REST, LINEAR),
    OTHER(COMPARISONS, COMPARE), CONVERSION(TO, I32),       CONVERSION(TO, U32),
    CONVERSION(TO, I64),         CONVERSION(TO, U64),       CONVERSION(FROM, I32),
    CONVERSION(FROM, U32),       CONVERSION(FROM, I64),     CONVERSION(FROM, U64),
    OTHER(INTEGERS, ABSENT),     CONVERSION(NARROW, F32),   CONVERSION(WIDEN, F32),
};

/* Floats as bits */

static uint64_t infinity_of(vyre_type type) {
    return type == VYRE_TYPE_F32 ? 0x7f800000 : 0x7ff0000000000000;
}

static uint64_t sign_of(vyre_type type) {
    return (uint64_t)1 << (vyre_type_bytes(type) * 8 - 1);
}

static uint64_t least_normal(vyre_type type) {
    return type == VYRE_TYPE_F32 ? 0x00800000 : 0x0010000000000000;
}

static bool is_subnormal(vyre_type type, uint64_t bits) {
    uint64_t magnitude = bits & (sign_of(type) - 1);
    return magnitude && magnitude < least_normal(type);
}

static uint64_t flushed(vyre_type type, uint64_t bits) {
    return is_subnormal(type, bits) ? bits & sign_of(type) : bits;
}

/* NaNs have no bits of their own here: code makes them canonical. Zeros may have lost their sign,
 * where that is said. */
static bool same(vyre_type type, uint64_t left, uint64_t right, bool with_signs) {
    uint64_t infinity = infinity_of(type), magnitude = sign_of(type) - 1;
    if ((left & magnitude) > infinity && (right & magnitude) > infinity) {
        return true;
    }
    return left == right || (!with_signs && !(left & magnitude) && !(right & magnitude));
}

/* Computing */

static uint64_t evaluate(vyre_op op, vyre_type from, vyre_type to, uint64_t a, uint64_t b,
                         uint64_t c) {
    uint64_t result = 0;
    vyre_eval_find(op, from, to)(&result, &a, &b, &c, 1);
    return result;
}

/* What a device would give. One that flushes may do so to operands, to results, or to both, and to
 * results that were subnormal before they were rounded. */
typedef struct model {
    vyre_type type;
    bool flushes_operands, flushes_results, flushes_least;
} model;

static uint64_t taken(const model *m, vyre_type type, uint64_t bits) {
    return m->flushes_operands ? flushed(type, bits) : bits;
}

static uint64_t given(const model *m, vyre_type type, uint64_t bits) {
    uint64_t sign = sign_of(type);
    if (m->flushes_least && (bits & (sign - 1)) == least_normal(type)) {
        return bits & sign;
    }
    return m->flushes_results ? flushed(type, bits) : bits;
}

static uint64_t compute(const model *m, vyre_op op, uint64_t a, uint64_t b, uint64_t c) {
    uint64_t result = evaluate(op, m->type, m->type, taken(m, m->type, a), taken(m, m->type, b),
                               taken(m, m->type, c));
    return given(m, m->type, result);
}

static uint64_t comparisons(const model *m, uint64_t a, uint64_t b) {
    static const vyre_op ops[] = {VYRE_OP_EQ, VYRE_OP_NE, VYRE_OP_LT, VYRE_OP_LE};
    uint64_t result = 0, x = taken(m, m->type, a), y = taken(m, m->type, b);
    for (uint32_t i = 0; i < 4; i++) {
        result |= evaluate(ops[i], m->type, VYRE_TYPE_BOOL, x, y, 0) << i;
    }
    return result | evaluate(VYRE_OP_CONVERT, m->type, VYRE_TYPE_BOOL, x, 0, 0) << 4;
}

static uint64_t rest_of_sum(const model *m, uint64_t a, uint64_t b) {
    uint64_t s = compute(m, VYRE_OP_ADD, a, b, 0), t = compute(m, VYRE_OP_SUB, s, a, 0);
    uint64_t part = compute(m, VYRE_OP_SUB, s, t, 0);
    return compute(m, VYRE_OP_ADD, compute(m, VYRE_OP_SUB, a, part, 0),
                   compute(m, VYRE_OP_SUB, b, t, 0), 0);
}

static uint64_t integers(uint64_t p, uint64_t q) {
    const vyre_type u64 = VYRE_TYPE_U64;
    uint64_t quotient = p / (q | 1) + p % (q | 3);
    return evaluate(VYRE_OP_MUL_HIGH, u64, u64, p, q, 0) ^ p * q ^ quotient ^
           evaluate(VYRE_OP_CLZ, u64, u64, p, 0, 0) ^ p >> (q & 63) ^ q << (p & 63);
}

/* An operand of a conversion from an integer: 64 bits are two words of f32's operands. */
static uint64_t integer_of(const model *m, vyre_type from, const uint64_t o[3]) {
    bool is_wide = vyre_type_bytes(from) == 8;
    return m->type == VYRE_TYPE_F32 && is_wide ? o[0] | o[1] << 32
           : is_wide                           ? o[0]
                                               : o[0] & UINT32_MAX;
}

static uint64_t model_row(const model *m, const probe_row *row, const uint64_t o[3],
                          uint64_t single) {
    switch (row->kind) {
    case PROBE_OPERATION: return compute(m, row->op, o[0], o[1], o[2]);
    case PROBE_SUM: return compute(m, VYRE_OP_ADD, compute(m, VYRE_OP_MUL, o[1], o[2], 0), o[0], 0);
    case PROBE_DIFFERENCE:
        return compute(m, VYRE_OP_SUB, compute(m, VYRE_OP_MUL, o[2], o[0], 0), o[1], 0);
    case PROBE_REST: return rest_of_sum(m, o[0], o[1]);
    case PROBE_COMPARISONS: return comparisons(m, o[0], o[1]);
    case PROBE_TO: return evaluate(row->op, m->type, row->type, taken(m, m->type, o[0]), 0, 0);
    case PROBE_FROM:
        return evaluate(row->op, row->type, m->type, integer_of(m, row->type, o), 0, 0);
    case PROBE_INTEGERS:
        return m->type == VYRE_TYPE_F32 ? integers(o[0] | o[1] << 32, o[2] | o[0] << 32)
                                        : integers(o[0], o[1]);
    case PROBE_NARROW:
        return given(m, VYRE_TYPE_F32, evaluate(row->op, VYRE_TYPE_F64, VYRE_TYPE_F32, o[0], 0, 0));
    case PROBE_WIDEN:
        return evaluate(row->op, VYRE_TYPE_F32, VYRE_TYPE_F64, taken(m, VYRE_TYPE_F32, single), 0,
                        0);
    }
    return 0;
}

/* Judging */

/* The float type whose rules say when two results are the same; void for whole numbers. */
static vyre_type shown_type(const model *m, const probe_row *row) {
    switch (row->kind) {
    case PROBE_COMPARISONS:
    case PROBE_TO:
    case PROBE_INTEGERS: return VYRE_TYPE_VOID;
    case PROBE_NARROW: return VYRE_TYPE_F32;
    case PROBE_WIDEN: return VYRE_TYPE_F64;
    case PROBE_OPERATION:
    case PROBE_SUM:
    case PROBE_DIFFERENCE:
    case PROBE_REST:
    case PROBE_FROM: break;
    }
    return m->type;
}

/* Whether the correction of FLUSH covers an operation. The others have nothing to flush, or give 0
 * anyway, but with its sign. */
static bool has_flush(const probe_row *row) {
    return row->kind != PROBE_TO && row->kind != PROBE_FROM && row->op != VYRE_OP_TRUNC &&
           row->op != VYRE_OP_ROUND;
}

/* Which correction a result asks for; 0 if it is right. */
static uint32_t judge(vyre_type type, const probe_row *row, const uint64_t operands[3],
                      uint64_t single, uint64_t found) {
    model m = {.type = type};
    vyre_type shown = shown_type(&m, row);
    uint64_t exact = model_row(&m, row, operands, single), expected = exact;
    if (shown == VYRE_TYPE_VOID ? found == expected : same(shown, found, expected, true)) {
        return 0;
    }
    bool is_to_bool = row->kind == PROBE_COMPARISONS && (found ^ exact) == 1 << 4;
    if (row->correction == VYRE_CORRECT_COMPARE &&
        (is_subnormal(type, operands[0]) || is_subnormal(type, operands[1]))) {
        /* whatever min and max make of it */
        return VYRE_CORRECT_FLUSHED(is_to_bool ? VYRE_CORRECT_CONVERT : VYRE_CORRECT_COMPARE);
    }
    for (uint32_t i = 1; i < 8 && has_flush(row); i++) {
        m.flushes_operands = i & 1;
        m.flushes_results = i & 2;
        m.flushes_least = i & 4;
        expected = model_row(&m, row, operands, single);
        /* A zero that does not come from flushing has its sign. */
        bool has_sign = shown != VYRE_TYPE_VOID && !(exact & (sign_of(shown) - 1));
        if (shown == VYRE_TYPE_VOID ? found == expected : same(shown, found, expected, has_sign)) {
            return VYRE_CORRECT_FLUSHED(row->correction);
        }
    }
    return is_to_bool ? VYRE_CORRECT_CONVERT : row->correction;
}

typedef struct column_reader {
    const uint32_t *words; /* or NULL */
    const uint64_t *doubles;
    uint32_t column;
} column_reader;

static uint64_t read_at(const column_reader *reader, uint32_t bytes, uint32_t at) {
    size_t index = (size_t)reader->column * VYRE_PROBE_COUNT + at;
    if (!reader->words) {
        return reader->doubles[index];
    }
    uint64_t low = reader->words[index];
    return bytes == 8 ? low | (uint64_t)reader->words[index + VYRE_PROBE_COUNT] << 32 : low;
}

static uint32_t row_bytes(vyre_type type, const probe_row *row) {
    switch (row->kind) {
    case PROBE_INTEGERS: return 8;
    case PROBE_TO: return vyre_type_bytes(row->type);
    case PROBE_COMPARISONS: return 4;
    case PROBE_NARROW: return 4;
    case PROBE_OPERATION:
    case PROBE_SUM:
    case PROBE_DIFFERENCE:
    case PROBE_REST:
    case PROBE_FROM:
    case PROBE_WIDEN: break;
    }
    return vyre_type_bytes(type);
}

/* One result that asks for a correction which none before it did. */
static void log_wrong(vyre_type type, const probe_row *row, const uint64_t o[3], uint64_t found,
                      uint64_t exact) {
    static const char *const kinds[] = {
        [PROBE_OPERATION] = "",
        [PROBE_SUM] = "b c + a",
        [PROBE_DIFFERENCE] = "c a - b",
        [PROBE_REST] = "what a + b lacks",
        [PROBE_COMPARISONS] = "comparisons of a with b",
        [PROBE_TO] = "a to ",
        [PROBE_FROM] = "a from ",
        [PROBE_INTEGERS] = "integers",
        [PROBE_NARROW] = "a to ",
        [PROBE_WIDEN] = "a from ",
    };
    bool converts = row->type != VYRE_TYPE_VOID;
    const char *name = converts                       ? vyre_type_name(row->type)
                       : row->kind == PROBE_OPERATION ? vyre_lookup_op(row->op)->name
                                                      : "";
    vyre_log(VYRE_LOG_DEBUG,
             "probe of %s: %s%s of 0x%llx 0x%llx 0x%llx gave 0x%llx, expected 0x%llx",
             vyre_type_name(type), kinds[row->kind], name, (unsigned long long)o[0],
             (unsigned long long)o[1], (unsigned long long)o[2], (unsigned long long)found,
             (unsigned long long)exact);
}

/* All that a row's results ask for. */
static uint32_t judge_row(vyre_type type, const probe_row *row, const vyre_probe *probe,
                          column_reader *reader) {
    uint32_t bytes = row_bytes(type, row), needed = 0;
    const uint32_t *singles = probe->inputs[0];
    const uint64_t *doubles = probe->inputs[1];
    for (uint32_t i = 0; i < VYRE_PROBE_COUNT; i++) {
        uint64_t operands[3];
        for (uint32_t k = 0; k < 3; k++) {
            size_t at = (size_t)k * VYRE_PROBE_COUNT + i;
            operands[k] = type == VYRE_TYPE_F32 ? singles[at] : doubles[at];
        }
        uint64_t found = read_at(reader, bytes, i);
        uint32_t asked = judge(type, row, operands, singles[i], found);
        if (asked & ~needed) {
            const model exact = {.type = type};
            log_wrong(type, row, operands, found, model_row(&exact, row, operands, singles[i]));
        }
        needed |= asked;
    }
    reader->column += reader->words && bytes == 8 ? 2 : 1;
    /* Conversions to bool alone are flushed as comparisons are. */
    if (row->kind == PROBE_COMPARISONS && needed & VYRE_CORRECT_FLUSHED(VYRE_CORRECT_CONVERT)) {
        bool is_covered = needed & VYRE_CORRECT_CONVERT;
        needed &= ~VYRE_CORRECT_FLUSHED(VYRE_CORRECT_CONVERT);
        needed |= is_covered ? 0 : VYRE_CORRECT_FLUSHED(VYRE_CORRECT_COMPARE);
    }
    /* Wrong results may look flushed by chance, and their correction covers flushed ones. */
    return needed & ~VYRE_CORRECT_FLUSHED(needed & 0xffff);
}

static vyre_status wrong_integers(void) {
    return vyre_status_make(VYRE_STATUS_UNSUPPORTED, "use another device or driver",
                            "the device computes integers wrongly");
}

static vyre_status judge_all(const vyre_probe *probe, const void *const *outputs,
                             vyre_corrections *needed) {
    for (uint32_t t = 0; t < probe->count; t++) {
        vyre_type type = t ? VYRE_TYPE_F64 : VYRE_TYPE_F32;
        column_reader reader = {t ? NULL : outputs[0], t ? outputs[1] : NULL, 0};
        for (uint32_t i = 0; i < (t ? PROBE_ROWS_WIDE : PROBE_ROWS); i++) {
            const probe_row *row = &probe_rows[i];
            uint32_t asked = judge_row(type, row, probe, &reader);
            if (asked & VYRE_CORRECT_ABSENT) {
                return wrong_integers();
            }
            /* Between both types it is f32 that has subnormal numbers. */
            bool is_between = row->kind == PROBE_NARROW || row->kind == PROBE_WIDEN;
            *(t && !is_between ? &needed->f64 : &needed->f32) |= asked;
        }
    }
    return VYRE_OK;
}

vyre_status vyre_probe_judge(const vyre_probe *probe, const void *const *outputs,
                             vyre_corrections *out_needed) {
    fenv_t callers;
    *out_needed = (vyre_corrections){0, probe->count == 2 ? 0 : VYRE_CORRECT_ABSENT};
    if (fegetenv(&callers) || fesetenv(FE_DFL_ENV)) { /* this thread might flush or round down */
        return vyre_status_make(VYRE_STATUS_UNSUPPORTED, "use it on another thread",
                                "cannot set the floating-point environment of this thread");
    }
    vyre_status status = judge_all(probe, outputs, out_needed);
    fesetenv(&callers);
    return status;
}
