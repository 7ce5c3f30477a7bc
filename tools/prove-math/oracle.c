#include "oracle.h"

#include <math.h>

#define MARGIN 0x1p-40

void oracle_init(oracle *self, const math_function *function, const math_format *format,
                 bool doubt_all) {
    *self = (oracle){.function = function, .format = format, .doubt_all = doubt_all};
    mpfr_init2(self->x, 24);
    mpfr_init2(self->y, 24);
    mpfr_init2(self->result, format->bits);
    mpfr_set_emin(format->least);
    mpfr_set_emax(format->most);
}

void oracle_deinit(oracle *self) {
    mpfr_clear(self->x);
    mpfr_clear(self->y);
    mpfr_clear(self->result);
}

static uint32_t ask_mpfr(oracle *self, float x, float y) {
    self->uncertain++;
    mpfr_set_flt(self->x, x, MPFR_RNDN); /* exact, and in the range of the format */
    mpfr_set_flt(self->y, y, MPFR_RNDN);
    int direction = self->function->operands == 1
                        ? self->function->exact1(self->result, self->x, MPFR_RNDN)
                        : self->function->exact2(self->result, self->x, self->y, MPFR_RNDN);
    mpfr_subnormalize(self->result, direction, MPFR_RNDN);
    return mpfr_nan_p(self->result) ? CANONICAL_NAN
                                    : bits_of(mpfr_get_flt(self->result, MPFR_RNDN));
}

uint32_t oracle_truth(oracle *self, uint32_t x_bits, uint32_t y_bits) {
    float x = float_of(x_bits), y = float_of(y_bits);
    if (self->doubt_all) {
        return ask_mpfr(self, x, y);
    }
    double near = self->function->operands == 1 ? self->function->host1((double)x)
                                                : self->function->host2((double)x, (double)y);
    if (isnan(near)) {
        return CANONICAL_NAN;
    }
    uint32_t low = bits_of(format_round(self->format, near * (1 - MARGIN)));
    uint32_t high = bits_of(format_round(self->format, near * (1 + MARGIN)));
    return low == high ? low : ask_mpfr(self, x, y);
}
