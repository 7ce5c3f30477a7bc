#include "tests/unit/eval_host.h"

#include <math.h>
#include <string.h>

static float f32(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint32_t f32_bits(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return isnan(value) ? 0x7fc00000u : bits;
}

static double f64(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint64_t f64_bits(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return isnan(value) ? 0x7ff8000000000000u : bits;
}

bool host_knows(uint32_t op) {
    return op == VYRE_OP_ADD || op == VYRE_OP_SUB || op == VYRE_OP_MUL || op == VYRE_OP_DIV ||
           op == VYRE_OP_SQRT || op == VYRE_OP_FMA;
}

uint32_t host_f32(uint32_t op, uint32_t a, uint32_t b, uint32_t c) {
    volatile float x = f32(a), y = f32(b), z = f32(c), result = 0;
    switch (op) {
    case VYRE_OP_ADD: result = x + y; break;
    case VYRE_OP_SUB: result = x - y; break;
    case VYRE_OP_MUL: result = x * y; break;
    case VYRE_OP_DIV: result = x / y; break;
    case VYRE_OP_SQRT: result = sqrtf(x); break;
    default: result = fmaf(x, y, z); break;
    }
    return f32_bits(result);
}

uint64_t host_f64(uint32_t op, uint64_t a, uint64_t b, uint64_t c) {
    volatile double x = f64(a), y = f64(b), z = f64(c), result = 0;
    switch (op) {
    case VYRE_OP_ADD: result = x + y; break;
    case VYRE_OP_SUB: result = x - y; break;
    case VYRE_OP_MUL: result = x * y; break;
    case VYRE_OP_DIV: result = x / y; break;
    case VYRE_OP_SQRT: result = sqrt(x); break;
    default: result = fma(x, y, z); break;
    }
    return f64_bits(result);
}

uint32_t host_f32_of_f64(uint64_t bits) {
    volatile double value = f64(bits);
    return f32_bits((float)value);
}

uint64_t host_f64_of_f32(uint32_t bits) {
    volatile float value = f32(bits);
    return f64_bits((double)value);
}

uint32_t host_f32_of_i64(int64_t value) {
    volatile int64_t number = value;
    return f32_bits((float)number);
}

uint32_t host_f32_of_u64(uint64_t value) {
    volatile uint64_t number = value;
    return f32_bits((float)number);
}

uint64_t host_f64_of_i64(int64_t value) {
    volatile int64_t number = value;
    return f64_bits((double)number);
}

uint64_t host_f64_of_u64(uint64_t value) {
    volatile uint64_t number = value;
    return f64_bits((double)number);
}
