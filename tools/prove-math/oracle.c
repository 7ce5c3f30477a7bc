#include "oracle.h"

#include <math.h>

#define MARGIN 0x1p-40
#define MARGIN_F64 0x1p-59L

void oracle_init(oracle *self, const math_function *function, const math_format *format,
                 bool doubt_all) {
    *self = (oracle){.function = function, .format = format, .doubt_all = doubt_all};
    mpfr_init2(self->x, 53);
    mpfr_init2(self->y, 53);
    mpfr_init2(self->result, format->bits);
    mpfr_set_emin(format->least);
    mpfr_set_emax(format->most);
}

void oracle_deinit(oracle *self) {
    mpfr_clear(self->x);
    mpfr_clear(self->y);
    mpfr_clear(self->result);
}

static uint64_t ask_mpfr(oracle *self, double x, double y) {
    self->uncertain++;
    mpfr_set_d(self->x, x, MPFR_RNDN); /* exact, and in the range of the format */
    mpfr_set_d(self->y, y, MPFR_RNDN);
    int direction = self->function->operands == 1
                        ? self->function->exact1(self->result, self->x, MPFR_RNDN)
                        : self->function->exact2(self->result, self->x, self->y, MPFR_RNDN);
    mpfr_subnormalize(self->result, direction, MPFR_RNDN);
    if (self->format->bits == 53) {
        return mpfr_nan_p(self->result) ? CANONICAL_NAN_F64
                                        : bits_of_double(mpfr_get_d(self->result, MPFR_RNDN));
    }
    return mpfr_nan_p(self->result) ? CANONICAL_NAN
                                    : bits_of(mpfr_get_flt(self->result, MPFR_RNDN));
}

static uint64_t truth_f64(oracle *self, double x, double y) {
    const math_function *function = self->function;
    long double near = function->operands == 1 ? function->wide1((long double)x)
                                               : function->wide2((long double)x, (long double)y);
    if (near != near) {
        return CANONICAL_NAN_F64;
    }
    uint64_t low = bits_of_double((double)(near * (1 - MARGIN_F64)));
    uint64_t high = bits_of_double((double)(near * (1 + MARGIN_F64)));
    return low == high ? low : ask_mpfr(self, x, y);
}

uint64_t oracle_truth(oracle *self, uint64_t x_bits, uint64_t y_bits) {
    double x = format_number(self->format, x_bits), y = format_number(self->format, y_bits);
    if (self->doubt_all) {
        return ask_mpfr(self, x, y);
    }
    if (self->format->bits == 53) {
        return truth_f64(self, x, y);
    }
    double near =
        self->function->operands == 1 ? self->function->host1(x) : self->function->host2(x, y);
    if (isnan(near)) {
        return CANONICAL_NAN;
    }
    uint32_t low = bits_of(format_round(self->format, near * (1 - MARGIN)));
    uint32_t high = bits_of(format_round(self->format, near * (1 + MARGIN)));
    return low == high ? low : ask_mpfr(self, x, y);
}
