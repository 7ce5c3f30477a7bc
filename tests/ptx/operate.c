/* Single instructions. What a device may make of it that a program must not depend on comes out as
 * something no program would want. */
#include <fenv.h>
#include <math.h>
#include <string.h>

#include "ir/eval_half.h"
#include "tests/ptx/parts.h"

static const uint64_t garbage = UINT64_C(0x5a5aa5a5deadbeef);

static const uint8_t type_bytes[] = {
#define BYTES(name, text, bytes) bytes,
    PTX_TYPES(BYTES)
#undef BYTES
};

uint32_t ptx_type_bytes(uint32_t type) {
    return type_bytes[type];
}

static bool is_signed(uint32_t type) {
    return type == PTX_S8 || type == PTX_S16 || type == PTX_S32 || type == PTX_S64;
}

/* The low bits of a number, extended by the sign of the type. */
static uint64_t fitted(uint32_t type, uint64_t bits) {
    uint32_t width = type_bytes[type] * 8u;
    if (type == PTX_PRED) {
        return bits & 1;
    }
    if (width == 64) {
        return bits;
    }
    uint64_t mask = ((uint64_t)1 << width) - 1;
    bits &= mask;
    return is_signed(type) && bits >> (width - 1) ? bits | ~mask : bits;
}

static float to_float(uint64_t bits) {
    return eval_f32((uint32_t)bits);
}

static double to_double(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* NaNs have bits that are not ours. */
static uint64_t from_float(float value) {
    return value != value ? 0x7fffffff : eval_f32_bits(value);
}

static uint64_t from_double(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return value != value ? UINT64_C(0xfff8000000000000) : bits;
}

static uint64_t reversed(uint64_t bits, uint32_t width) {
    uint64_t out = 0;
    for (uint32_t k = 0; k < width; k++) {
        out |= (bits >> k & 1) << (width - 1 - k);
    }
    return out;
}

static uint32_t leading_zeros(uint64_t bits, uint32_t width) {
    uint32_t count = 0;
    while (count < width && !(bits >> (width - 1 - count) & 1)) {
        count++;
    }
    return count;
}

__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 unsigned_wide;

static uint64_t high_product(uint32_t type, uint64_t a, uint64_t b) {
    if (type_bytes[type] == 4) {
        return is_signed(type) ? (uint64_t)((int64_t)a * (int64_t)b) >> 32 : a * b >> 32;
    }
    return is_signed(type) ? (uint64_t)((wide)(int64_t)a * (int64_t)b >> 64)
                           : (uint64_t)((unsigned_wide)a * b >> 64);
}

static uint64_t divided(uint32_t type, uint64_t a, uint64_t b, bool remainder) {
    if (!b) {
        return garbage;
    }
    if (!is_signed(type)) {
        return remainder ? a % b : a / b;
    }
    int64_t x = (int64_t)a, y = (int64_t)b;
    int64_t least = type_bytes[type] == 4 ? INT32_MIN : INT64_MIN;
    if (x == least && y == -1) {
        return garbage;
    }
    return (uint64_t)(remainder ? x % y : x / y);
}

static float extreme_float(float a, float b, bool least) {
    if (a != a || b != b) {
        return a != a ? b : a;
    }
    if (a == b) {
        return signbit(a) ? (least ? a : b) : (least ? b : a);
    }
    return (a < b) == least ? a : b;
}

static float flushed(const ptx_instruction *i, float a) {
    return ptx_has(i, PTX_WORD_FTZ) && fabsf(a) < 0x1p-126f ? copysignf(0, a) : a;
}

/* Rounded as the instruction says; volatile, so that nothing is computed under another rounding. */
static float fused(const ptx_instruction *i, float a, float b, float c) {
    volatile float x = a, y = b, z = c, sum;
    fesetround(ptx_has(i, PTX_WORD_RM)   ? FE_DOWNWARD
               : ptx_has(i, PTX_WORD_RP) ? FE_UPWARD
                                         : FE_TONEAREST);
    sum = fmaf(x, y, z);
    fesetround(FE_TONEAREST);
    return sum;
}

/* What devices approximate is rounded here: code that must be exact there makes it so from either.
 */
static uint64_t float_op(const ptx_instruction *i, const uint64_t *v) {
    float a = flushed(i, to_float(v[0])), b = flushed(i, to_float(v[1])), c = to_float(v[2]);
    switch (i->op) {
    case PTX_OP_RSQRT: return from_float(flushed(i, (float)(1 / sqrt((double)a))));
    case PTX_OP_ADD: return from_float(a + b);
    case PTX_OP_SUB: return from_float(a - b);
    case PTX_OP_MUL: return from_float(flushed(i, a * b));
    case PTX_OP_DIV: return from_float(a / b);
    case PTX_OP_FMA: return from_float(fused(i, a, b, c));
    case PTX_OP_SQRT: return from_float(sqrtf(a));
    case PTX_OP_RCP: return from_float(flushed(i, 1 / a));
    case PTX_OP_NEG: return from_float(-a);
    case PTX_OP_ABS: return from_float(fabsf(a));
    case PTX_OP_MIN: return from_float(extreme_float(a, b, true));
    default: return from_float(extreme_float(a, b, false));
    }
}

static uint64_t double_op(const ptx_instruction *i, const uint64_t *v) {
    double a = to_double(v[0]), b = to_double(v[1]), c = to_double(v[2]);
    switch (i->op) {
    case PTX_OP_ADD: return from_double(a + b);
    case PTX_OP_SUB: return from_double(a - b);
    case PTX_OP_MUL: return from_double(a * b);
    case PTX_OP_DIV: return from_double(a / b);
    case PTX_OP_FMA: return from_double(fma(a, b, c));
    case PTX_OP_SQRT: return from_double(sqrt(a));
    case PTX_OP_RCP: return from_double(1 / a);
    case PTX_OP_NEG: return from_double(-a);
    case PTX_OP_ABS: return from_double(fabs(a));
    default: return garbage;
    }
}

static uint64_t saturated(uint64_t bits) {
    int64_t value = (int64_t)bits;
    return (uint64_t)(value > INT32_MAX ? INT32_MAX : value < INT32_MIN ? INT32_MIN : value);
}

static uint64_t shifted(const ptx_instruction *i, uint64_t a, uint64_t count) {
    uint32_t width = type_bytes[i->type] * 8u;
    count = (uint32_t)count;
    if (i->op == PTX_OP_SHL) {
        return count >= width ? 0 : a << count;
    }
    if (is_signed(i->type)) {
        return (uint64_t)((int64_t)a >> (count >= width ? width - 1 : count));
    }
    return count >= width ? 0 : a >> count;
}

static uint64_t field(const ptx_instruction *i, const uint64_t *v) {
    uint32_t at = (uint32_t)v[1], length = (uint32_t)v[2];
    uint64_t mask = ((uint64_t)1 << length) - 1, bits = v[0] >> at & mask;
    return is_signed(i->type) && length && bits >> (length - 1) ? bits | ~mask : bits;
}

static uint64_t integer_op(const ptx_instruction *i, const uint64_t *v) {
    uint64_t a = v[0], b = v[1], c = v[2];
    uint32_t width = type_bytes[i->type] * 8u;
    switch (i->op) {
    case PTX_OP_ADD: return ptx_has(i, PTX_WORD_SAT) ? saturated(a + b) : a + b;
    case PTX_OP_SUB: return ptx_has(i, PTX_WORD_SAT) ? saturated(a - b) : a - b;
    case PTX_OP_MUL: return ptx_has(i, PTX_WORD_HI) ? high_product(i->type, a, b) : a * b;
    case PTX_OP_MAD: return a * b + c;
    case PTX_OP_DP4A:
        for (uint32_t k = 0; k < 32; k += 8) {
            c += (uint64_t)((int64_t)(int8_t)(a >> k) * (int8_t)(b >> k));
        }
        return c;
    case PTX_OP_DIV: return divided(i->type, a, b, false);
    case PTX_OP_REM: return divided(i->type, a, b, true);
    case PTX_OP_MIN: return (is_signed(i->type) ? (int64_t)a < (int64_t)b : a < b) ? a : b;
    case PTX_OP_MAX: return (is_signed(i->type) ? (int64_t)a > (int64_t)b : a > b) ? a : b;
    case PTX_OP_AND: return a & b;
    case PTX_OP_OR: return a | b;
    case PTX_OP_XOR: return a ^ b;
    case PTX_OP_NOT: return ~a;
    case PTX_OP_SHL:
    case PTX_OP_SHR: return shifted(i, a, b);
    case PTX_OP_SHF: {
        uint32_t count = (uint32_t)c & 31;
        uint64_t both = b << 32 | (uint32_t)a; /* the second is the upper half */
        return ptx_has(i, PTX_WORD_L) ? both << count >> 32 : both >> count;
    }
    case PTX_OP_CLZ: return leading_zeros(a, width);
    case PTX_OP_BREV: return reversed(a, width);
    case PTX_OP_POPC: return (uint64_t)__builtin_popcountll(a);
    case PTX_OP_BFE: return field(i, v);
    case PTX_OP_BFI: {
        uint64_t mask = (((uint64_t)1 << v[3]) - 1) << v[2];
        return (b & ~mask) | (a << v[2] & mask);
    }
    default: return garbage;
    }
}

static bool compared(const ptx_instruction *i, uint64_t a, uint64_t b) {
    double x = 0, y = 0;
    bool less, equal, unordered = false;
    if (i->type == PTX_F32 || i->type == PTX_F64) {
        x = i->type == PTX_F32 ? (double)to_float(a) : to_double(a);
        y = i->type == PTX_F32 ? (double)to_float(b) : to_double(b);
        less = x < y;
        equal = x == y;
        unordered = x != x || y != y;
    } else {
        less = is_signed(i->type) ? (int64_t)a < (int64_t)b : a < b;
        equal = a == b;
    }
    if (ptx_has(i, PTX_WORD_NAN)) {
        return unordered;
    }
    if (ptx_has(i, PTX_WORD_NEU)) {
        return unordered || !equal;
    }
    return !unordered && (ptx_has(i, PTX_WORD_EQ)   ? equal
                          : ptx_has(i, PTX_WORD_NE) ? !equal
                          : ptx_has(i, PTX_WORD_LT) ? less
                          : ptx_has(i, PTX_WORD_LE) ? less || equal
                          : ptx_has(i, PTX_WORD_GT) ? !less && !equal
                                                    : !less);
}

/* Clamped to the range of the type; a NaN is anything. */
static uint64_t to_integer(uint32_t type, double value) {
    static const struct {
        uint32_t type;
        double low, above;
    } rows[] = {{PTX_U32, 0, 0x1p32},
                {PTX_S32, -0x1p31, 0x1p31},
                {PTX_U64, 0, 0x1p64},
                {PTX_S64, -0x1p63, 0x1p63}};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        if (rows[k].type == type && value == value) {
            uint64_t sign = (uint64_t)1 << (type_bytes[type] * 8 - 1);
            if (value >= rows[k].above) {
                return is_signed(type) ? sign - 1 : type == PTX_U32 ? UINT32_MAX : UINT64_MAX;
            }
            if (value <= rows[k].low) {
                return is_signed(type) ? sign : 0;
            }
            return is_signed(type) ? (uint64_t)(int64_t)value : (uint64_t)value;
        }
    }
    return garbage;
}

static double whole(const ptx_instruction *i, double value) {
    return ptx_has(i, PTX_WORD_RMI)   ? floor(value)
           : ptx_has(i, PTX_WORD_RPI) ? ceil(value)
           : ptx_has(i, PTX_WORD_RZI) ? trunc(value)
                                      : nearbyint(value);
}

/* To f32 towards zero. */
static float cut(double value) {
    float nearest = (float)value;
    if (nearest == nearest && fabs((double)nearest) > fabs(value)) {
        nearest = nextafterf(nearest, 0);
    }
    return nearest;
}

static float cut_integer(uint32_t type, uint64_t bits) {
    bool negative = is_signed(type) && (int64_t)bits < 0;
    uint64_t magnitude = negative ? 0 - bits : bits;
    uint32_t zeros = leading_zeros(magnitude, 64);
    if (zeros < 40) {
        magnitude &= ~(((uint64_t)1 << (40 - zeros)) - 1);
    }
    float value = (float)magnitude;
    return negative ? -value : value;
}

static uint64_t converted(const ptx_instruction *i, uint64_t a) {
    bool from_float_type = i->from == PTX_F16 || i->from == PTX_F32 || i->from == PTX_F64;
    bool to_zero = ptx_has(i, PTX_WORD_RZ);
    if (!from_float_type) {
        switch (i->type) {
        case PTX_F32:
            if (to_zero) {
                return eval_f32_bits(cut_integer(i->from, a));
            }
            return eval_f32_bits(is_signed(i->from) ? (float)(int64_t)a : (float)a);
        case PTX_F64: return from_double(is_signed(i->from) ? (double)(int64_t)a : (double)a);
        default: return a;
        }
    }
    if (i->from == PTX_F16) {
        return from_float(f16_to_f32((uint16_t)a));
    }
    double value = i->from == PTX_F32 ? (double)to_float(a) : to_double(a);
    switch (i->type) {
    case PTX_F16: {
        float narrow = to_float(a);
        return narrow != narrow ? 0x7fff : f16_from_f32(narrow);
    }
    case PTX_F32:
        if (i->from == PTX_F32) {
            return from_float((float)whole(i, value));
        }
        return from_float(to_zero ? cut(value) : (float)value);
    case PTX_F64: return from_double(i->from == PTX_F64 ? whole(i, value) : value);
    default: return to_integer(i->type, value);
    }
}

/* Memory */

static bool is_in_variable(const ptx_run *run, bool is_const, uint64_t at, uint32_t bytes) {
    bool found = false;
    for (uint32_t k = 0; k < run->module->variable_count && !found; k++) {
        const ptx_variable *v = &run->module->variables[k];
        uint64_t first = (uintptr_t)v->data;
        found = v->is_const == is_const && at >= first && bytes <= v->size &&
                at - first <= v->size - bytes;
    }
    return found;
}

static uint8_t *place(ptx_run *run, ptx_block *block, ptx_thread *thread, const ptx_instruction *i,
                      const ptx_operand *operand, uint32_t bytes) {
    uint64_t at = operand->bits;
    if (operand->index != PTX_NOTHING) {
        if (!thread->written[operand->index]) {
            ptx_fail(run, i, "an address that nobody wrote");
        }
        at += thread->registers[operand->index];
    }
    uint8_t *base = NULL;
    uint64_t size = 0, start = 0;
    if (ptx_has(i, PTX_WORD_PARAM)) {
        base = (uint8_t *)(uintptr_t)run->launch->frame;
        size = run->entry->frame_bytes;
    } else if (ptx_has(i, PTX_WORD_SHARED)) {
        base = block->shared;
        size = block->shared_bytes;
        start = PTX_SHARED_START;
    } else if (ptx_has(i, PTX_WORD_LOCAL)) {
        base = thread->local;
        size = run->entry->local_bytes;
        start = PTX_LOCAL_START;
    } else {
        bool is_const = ptx_has(i, PTX_WORD_CONST);
        bool known =
            (!is_const && !run->launch->range_count) || is_in_variable(run, is_const, at, bytes);
        for (size_t k = 0; k < run->launch->range_count && !known && !is_const; k++) {
            const ptx_range *range = &run->launch->ranges[k];
            uint64_t first = (uintptr_t)range->data;
            known = at >= first && bytes <= range->size && at - first <= range->size - bytes;
        }
        known = known && (is_const || !is_in_variable(run, true, at, bytes));
        if (!known || at % bytes) {
            ptx_fail(run, i, "%u bytes at %#llx of %s memory, which %s", bytes,
                     (unsigned long long)at, is_const ? "constant" : "global",
                     known ? "are not aligned" : "nobody has");
            return NULL;
        }
        return (uint8_t *)(uintptr_t)at;
    }
    if (at < start || at - start > size || bytes > size - (at - start) || at % bytes) {
        ptx_fail(run, i, "%u bytes at %#llx, where there are %llu", bytes, (unsigned long long)at,
                 (unsigned long long)size);
        return NULL;
    }
    return base + (at - start);
}

static uint64_t loaded(uint32_t type, const uint8_t *from) {
    uint64_t bits = 0;
    memcpy(&bits, from, type_bytes[type]);
    return fitted(type, bits);
}

static void load(ptx_run *run, ptx_block *block, ptx_thread *thread, const ptx_instruction *i) {
    uint32_t count = i->count - 1u, bytes = type_bytes[i->type];
    const uint8_t *from = place(run, block, thread, i, &i->operands[count], bytes * count);
    for (uint32_t k = 0; from && k < count; k++) {
        ptx_write(thread, &i->operands[k], loaded(i->type, from + k * bytes));
    }
}

static void store(ptx_run *run, ptx_block *block, ptx_thread *thread, const ptx_instruction *i) {
    uint32_t count = i->count - 1u, bytes = type_bytes[i->type];
    uint8_t *to = place(run, block, thread, i, &i->operands[0], bytes * count);
    for (uint32_t k = 0; to && k < count; k++) {
        uint64_t value = ptx_read(run, block, thread, i, &i->operands[k + 1]);
        memcpy(to + k * bytes, &value, bytes);
    }
}

static void update(ptx_run *run, ptx_block *block, ptx_thread *thread, const ptx_instruction *i) {
    bool gives = i->op == PTX_OP_ATOM;
    uint32_t bytes = type_bytes[i->type], first = gives ? 1 : 0;
    uint8_t *at = place(run, block, thread, i, &i->operands[first], bytes);
    if (!at) {
        return;
    }
    uint64_t old = loaded(i->type, at);
    uint64_t a = fitted(i->type, ptx_read(run, block, thread, i, &i->operands[first + 1]));
    uint64_t next = a;
    bool less = is_signed(i->type) ? (int64_t)a < (int64_t)old : a < old;
    if (ptx_has(i, PTX_WORD_DO_ADD)) {
        next = old + a;
    } else if (ptx_has(i, PTX_WORD_DO_MIN)) {
        next = less ? a : old;
    } else if (ptx_has(i, PTX_WORD_DO_MAX)) {
        next = less ? old : a;
    } else if (ptx_has(i, PTX_WORD_DO_AND)) {
        next = old & a;
    } else if (ptx_has(i, PTX_WORD_DO_OR)) {
        next = old | a;
    } else if (ptx_has(i, PTX_WORD_DO_XOR)) {
        next = old ^ a;
    } else if (ptx_has(i, PTX_WORD_DO_CAS)) {
        uint64_t b = ptx_read(run, block, thread, i, &i->operands[first + 2]);
        next = old == a ? b : old;
    }
    memcpy(at, &next, bytes);
    if (gives) {
        ptx_write(thread, &i->operands[0], old);
    }
}

static void move(ptx_run *run, ptx_block *block, ptx_thread *thread, const ptx_instruction *i) {
    if (i->count == 2) {
        uint64_t value = ptx_read(run, block, thread, i, &i->operands[1]);
        ptx_write(thread, &i->operands[0], fitted(i->type, value));
        return;
    }
    /* Two halves and a whole, told apart by which operands are read: the whole has 64 bits, so it
     * is where the destination of `mov.b64 d, {a, b}` or the source of `mov.b64 {a, b}, d` is. The
     * parser marks the first with V2. */
    if (ptx_has(i, PTX_WORD_V2)) {
        uint64_t low = ptx_read(run, block, thread, i, &i->operands[1]);
        uint64_t high = ptx_read(run, block, thread, i, &i->operands[2]);
        ptx_write(thread, &i->operands[0], high << 32 | (uint32_t)low);
    } else {
        uint64_t both = ptx_read(run, block, thread, i, &i->operands[2]);
        ptx_write(thread, &i->operands[0], (uint32_t)both);
        ptx_write(thread, &i->operands[1], both >> 32);
    }
}

void ptx_operate(ptx_run *run, ptx_block *block, ptx_thread *thread, const ptx_instruction *i) {
    uint64_t v[4] = {0};
    switch (i->op) {
    case PTX_OP_LD: load(run, block, thread, i); return;
    case PTX_OP_ST: store(run, block, thread, i); return;
    case PTX_OP_ATOM:
    case PTX_OP_RED: update(run, block, thread, i); return;
    case PTX_OP_MOV: move(run, block, thread, i); return;
    case PTX_OP_FENCE: return;
    default: break;
    }
    uint32_t type = i->op == PTX_OP_CVT ? i->from : i->type;
    for (uint32_t k = 1; k < i->count && k <= 4; k++) {
        v[k - 1] = ptx_read(run, block, thread, i, &i->operands[k]);
        bool is_count = (i->op == PTX_OP_SHL || i->op == PTX_OP_SHR) && k == 2;
        bool is_third = k == 3 && i->op == PTX_OP_SELP;
        bool is_wide = k == 3 && i->op == PTX_OP_MAD && ptx_has(i, PTX_WORD_WIDE);
        v[k - 1] = is_count || is_third || is_wide ? v[k - 1] : fitted(type, v[k - 1]);
    }
    uint64_t result;
    uint32_t to = i->type;
    switch (i->op) {
    case PTX_OP_SETP:
        result = compared(i, v[0], v[1]);
        to = PTX_PRED;
        break;
    case PTX_OP_SELP: result = v[2] & 1 ? v[0] : v[1]; break;
    case PTX_OP_CVT: result = converted(i, v[0]); break;
    case PTX_OP_CLZ:
    case PTX_OP_POPC:
        result = integer_op(i, v);
        to = PTX_U32;
        break;
    default:
        result = i->type == PTX_F32   ? float_op(i, v)
                 : i->type == PTX_F64 ? double_op(i, v)
                                      : integer_op(i, v);
        break;
    }
    if (!ptx_has(i, PTX_WORD_WIDE)) {
        result = fitted(to, result);
    }
    ptx_write(thread, &i->operands[0], result);
}
