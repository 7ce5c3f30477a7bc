#include "evaluate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LANES = 256 };

typedef union lanes {
    uint32_t u32[LANES]; /* bool too, 0 or 1 */
    int32_t i32[LANES];
    uint64_t u64[LANES];
    int64_t i64[LANES];
    float f32[LANES];
    double f64[LANES];
} lanes;

typedef void (*kernel)(const lanes *a, const lanes *b, const lanes *c, lanes *r);

typedef struct evaluator {
    const vyre_ir *ir;
    kernel *kernels; /* of the instructions that have one */
    lanes *values, *constants;
    const uint64_t *const *inputs;
    uint64_t *output;
    size_t count;   /* lanes that are stored */
    uint64_t noise; /* 0: a NaN is the canonical one */
} evaluator;

#define EACH for (size_t i = 0; i < LANES; i++)

static float larger(float x, float y) {
    if (x != x || y != y) {
        return x != x ? y : x;
    }
    return x == y ? (signbit(x) ? y : x) : x > y ? x : y;
}

static uint64_t high_product(uint64_t x, uint64_t y) {
    uint64_t x0 = (uint32_t)x, x1 = x >> 32, y0 = (uint32_t)y, y1 = y >> 32;
    uint64_t middle = x1 * y0 + (x0 * y0 >> 32), other = x0 * y1 + (uint32_t)middle;
    return x1 * y1 + (middle >> 32) + (other >> 32);
}

static uint64_t leading_zeros(uint64_t x) {
    uint64_t zeros = 0;
    for (uint64_t bit = (uint64_t)1 << 63; bit && !(x & bit); bit >>= 1) {
        zeros++;
    }
    return zeros;
}

/* How the lanes of a type are read and written. */
typedef float type_F32;
typedef double type_F64;
typedef uint32_t type_U32, type_BOOL;
typedef uint64_t type_U64;
typedef int32_t type_I32;
typedef int64_t type_I64;
#define MEMBER_F32 f32
#define MEMBER_F64 f64
#define MEMBER_U32 u32
#define MEMBER_BOOL u32
#define MEMBER_U64 u64
#define MEMBER_I32 i32
#define MEMBER_I64 i64

/* X(operation, type of the operands, type of the result, result from the operands x, y, z). For
 * select the operands are the second and third. */
#define KERNELS(X)                                                                                 \
    X(ADD, F32, F32, x + y)                                                                        \
    X(ADD, F64, F64, x + y)                                                                        \
    X(ADD, U32, U32, x + y)                                                                        \
    X(ADD, U64, U64, x + y)                                                                        \
    X(SUB, F32, F32, x - y)                                                                        \
    X(SUB, F64, F64, x - y)                                                                        \
    X(SUB, U32, U32, x - y)                                                                        \
    X(SUB, U64, U64, x - y)                                                                        \
    X(MUL, F32, F32, x *y)                                                                         \
    X(MUL, F64, F64, x *y)                                                                         \
    X(MUL, U32, U32, x *y)                                                                         \
    X(MUL, U64, U64, x *y)                                                                         \
    X(DIV, F32, F32, x / y)                                                                        \
    X(DIV, F64, F64, x / y)                                                                        \
    X(FMA, F32, F32, fmaf(x, y, z))                                                                \
    X(FMA, F64, F64, fma(x, y, z))                                                                 \
    X(SQRT, F32, F32, sqrtf(x))                                                                    \
    X(SQRT, F64, F64, sqrt(x))                                                                     \
    X(FLOOR, F32, F32, floorf(x))                                                                  \
    X(FLOOR, F64, F64, floor(x))                                                                   \
    X(MAX, F32, F32, larger(x, y))                                                                 \
    X(NEG, F32, F32, -x)                                                                           \
    X(NEG, F64, F64, -x)                                                                           \
    X(ABS, F32, F32, fabsf(x))                                                                     \
    X(ABS, F64, F64, fabs(x))                                                                      \
    X(COPYSIGN, F32, F32, copysignf(x, y))                                                         \
    X(COPYSIGN, F64, F64, copysign(x, y))                                                          \
    X(MUL_HIGH, U64, U64, high_product(x, y))                                                      \
    X(CLZ, U64, U64, leading_zeros(x))                                                             \
    X(AND, BOOL, BOOL, x &y)                                                                       \
    X(AND, U32, U32, x &y)                                                                         \
    X(AND, U64, U64, x &y)                                                                         \
    X(OR, BOOL, BOOL, x | y)                                                                       \
    X(OR, U32, U32, x | y)                                                                         \
    X(OR, U64, U64, x | y)                                                                         \
    X(XOR, BOOL, BOOL, x ^ y)                                                                      \
    X(XOR, U32, U32, x ^ y)                                                                        \
    X(XOR, U64, U64, x ^ y)                                                                        \
    X(NOT, BOOL, BOOL, !x)                                                                         \
    X(SHL, U32, U32, x << (b->u32[i] & 31))                                                        \
    X(SHL, U64, U64, x << (b->u32[i] & 63))                                                        \
    X(SHR, U32, U32, x >> (b->u32[i] & 31))                                                        \
    X(SHR, U64, U64, x >> (b->u32[i] & 63))                                                        \
    X(EQ, F32, BOOL, x == y)                                                                       \
    X(EQ, F64, BOOL, x == y)                                                                       \
    X(EQ, U32, BOOL, x == y)                                                                       \
    X(EQ, U64, BOOL, x == y)                                                                       \
    X(EQ, BOOL, BOOL, x == y)                                                                      \
    X(EQ, I32, BOOL, x == y)                                                                       \
    X(EQ, I64, BOOL, x == y)                                                                       \
    X(NE, F32, BOOL, x != y)                                                                       \
    X(NE, F64, BOOL, x != y)                                                                       \
    X(NE, U32, BOOL, x != y)                                                                       \
    X(NE, U64, BOOL, x != y)                                                                       \
    X(NE, I32, BOOL, x != y)                                                                       \
    X(NE, I64, BOOL, x != y)                                                                       \
    X(LT, F32, BOOL, x < y)                                                                        \
    X(LT, F64, BOOL, x < y)                                                                        \
    X(LT, U32, BOOL, x < y)                                                                        \
    X(LT, U64, BOOL, x < y)                                                                        \
    X(LT, I32, BOOL, x < y)                                                                        \
    X(LT, I64, BOOL, x < y)                                                                        \
    X(LE, F32, BOOL, x <= y)                                                                       \
    X(LE, F64, BOOL, x <= y)                                                                       \
    X(LE, U32, BOOL, x <= y)                                                                       \
    X(LE, U64, BOOL, x <= y)                                                                       \
    X(LE, I32, BOOL, x <= y)                                                                       \
    X(LE, I64, BOOL, x <= y)                                                                       \
    X(SELECT, F32, F32, a->u32[i] ? y : z)                                                         \
    X(SELECT, F64, F64, a->u32[i] ? y : z)                                                         \
    X(SELECT, U32, U32, a->u32[i] ? y : z)                                                         \
    X(SELECT, U64, U64, a->u32[i] ? y : z)                                                         \
    X(SELECT, BOOL, BOOL, a->u32[i] ? y : z)                                                       \
    X(CONVERT, F32, F64, (double)x)                                                                \
    X(CONVERT, F64, F32, (float)x)                                                                 \
    X(CONVERT, U64, F64, (double)x)                                                                \
    X(CONVERT, U32, U64, x)                                                                        \
    X(CONVERT, BOOL, U32, x)                                                                       \
    X(CONVERT, BOOL, U64, x)                                                                       \
    X(CONVERT, BOOL, F64, x)                                                                       \
    X(CONVERT, U64, U32, (uint32_t)x)

#define KERNEL(op, from, to, expression)                                                           \
    static void op##_##from##_##to(const lanes *a, const lanes *b, const lanes *c, lanes *r) {     \
        EACH {                                                                                     \
            type_##from x = a->MEMBER_##from[i], y = b->MEMBER_##from[i], z = c->MEMBER_##from[i]; \
            (void)x, (void)y, (void)z;                                                             \
            r->MEMBER_##to[i] = expression;                                                        \
        }                                                                                          \
    }
KERNELS(KERNEL)
#undef KERNEL

static void same_bits(const lanes *a, const lanes *b, const lanes *c, lanes *r) {
    (void)b, (void)c;
    *r = *a;
}

/* NULL if there is none. */
static kernel kernel_of(const vyre_ir *ir, const vyre_inst *inst) {
    static const struct {
        uint32_t op, from, to;
        kernel run;
    } table[] = {
#define ROW(op, from, to, expression)                                                              \
    {VYRE_OP_##op, VYRE_TYPE_##from, VYRE_TYPE_##to, op##_##from##_##to},
        KERNELS(ROW)
#undef ROW
    };
    if (inst->op == VYRE_OP_BITCAST) {
        return same_bits;
    }
    uint32_t from = vyre_operand_type(ir, inst->op == VYRE_OP_SELECT ? inst->b : inst->a);
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        if (table[i].op == inst->op && table[i].from == from && table[i].to == inst->type) {
            return table[i].run;
        }
    }
    return NULL;
}

/* NaNs as the semantics want them, or any. */
static void settle(evaluator *self, const vyre_inst *inst, lanes *r) {
    bool bits_only = inst->op == VYRE_OP_SELECT || inst->op == VYRE_OP_BITCAST ||
                     inst->op == VYRE_OP_NEG || inst->op == VYRE_OP_ABS ||
                     inst->op == VYRE_OP_COPYSIGN;
    if (bits_only) {
        return;
    }
    if (inst->type == VYRE_TYPE_F32) {
        EACH {
            r->u32[i] = r->f32[i] == r->f32[i] ? r->u32[i] : 0x7fc00000;
        }
    } else if (inst->type == VYRE_TYPE_F64) {
        uint64_t different = 0;
        EACH {
            different |= r->f64[i] != r->f64[i];
        }
        for (size_t i = 0; i < LANES && different; i++) {
            if (r->f64[i] != r->f64[i]) {
                self->noise *= 6364136223846793005u; /* stays 0 */
                r->u64[i] = self->noise >> 63 ? UINT64_MAX : self->noise | 0x7ff8000000000000;
            }
        }
    }
}

static const lanes *operand(const evaluator *self, uint32_t number) {
    return number & VYRE_CONSTANT ? &self->constants[number & ~VYRE_CONSTANT]
                                  : &self->values[number];
}

static uint32_t run_block(evaluator *self, uint32_t at);

/* Branches have no effect but their values, so each runs for all lanes if any needs it. */
static void run_if(evaluator *self, uint32_t at) {
    const vyre_inst *insts = self->ir->insts;
    const lanes *condition = operand(self, insts[at].a);
    uint32_t taken = 0;
    EACH {
        taken += condition->u32[i];
    }
    uint32_t then_end = taken > 0 ? run_block(self, at + 1) : 0;
    uint32_t else_end = taken < LANES ? run_block(self, insts[at].b) : then_end;
    then_end = taken > 0 ? then_end : else_end;
    for (uint32_t k = insts[at].c; insts[k].op == VYRE_OP_RESULT && insts[k].a == at; k++) {
        const lanes *yes = operand(self, self->ir->operands[insts[then_end].a + insts[k].b]);
        const lanes *no = operand(self, self->ir->operands[insts[else_end].a + insts[k].b]);
        (vyre_type_bytes((vyre_type)insts[k].type) == 8 ? SELECT_U64_U64 : SELECT_U32_U32)(
            condition, yes, no, &self->values[k]);
    }
}

static void load(const evaluator *self, const vyre_inst *inst, lanes *r) {
    const uint64_t *from = self->inputs[inst->a];
    for (size_t i = 0; i < self->count; i++) {
        if (inst->type == VYRE_TYPE_U64) {
            r->u64[i] = from[i];
        } else {
            r->u32[i] = (uint32_t)from[i];
        }
    }
}

static void store(const evaluator *self, const vyre_inst *inst) {
    const lanes *value = operand(self, inst->c);
    bool is_wide = vyre_operand_type(self->ir, inst->c) == VYRE_TYPE_U64;
    for (size_t i = 0; i < self->count; i++) {
        self->output[i] = is_wide ? value->u64[i] : value->u32[i];
    }
}

/* Runs a block and says where its end is. */
static uint32_t run_block(evaluator *self, uint32_t at) {
    for (;; at++) {
        const vyre_inst *inst = &self->ir->insts[at];
        lanes *r = &self->values[at];
        if (self->kernels[at]) {
            uint8_t shape = vyre_op_info_of(inst->op)->shape;
            const lanes *a = operand(self, inst->a);
            const lanes *b = shape >= VYRE_SHAPE_V2 ? operand(self, inst->b) : a;
            const lanes *c = shape >= VYRE_SHAPE_V3 ? operand(self, inst->c) : a;
            self->kernels[at](a, b, c, r);
            settle(self, inst, r);
        } else if (inst->op == VYRE_OP_IF) {
            run_if(self, at);
            at = inst->c - 1;
        } else if (inst->op == VYRE_OP_LOAD) {
            load(self, inst, r);
        } else if (inst->op == VYRE_OP_STORE) {
            store(self, inst);
        } else if (inst->op == VYRE_OP_YIELD || inst->op == VYRE_OP_RETURN) {
            return at;
        }
    }
}

static void evaluator_run(void *state, size_t count, const uint64_t *const *inputs,
                          uint64_t *output) {
    evaluator *self = state;
    for (size_t done = 0; done < count; done += self->count) {
        const uint64_t *here[2] = {inputs[0] + done, inputs[1] + done};
        self->inputs = here;
        self->output = output + done;
        self->count = count - done < LANES ? count - done : LANES;
        run_block(self, 0);
    }
    self->inputs = NULL;
}

static void evaluator_free(void *state) {
    evaluator *self = state;
    if (self) {
        free(self->kernels);
        free(self->values);
        free(self->constants);
        free(self);
    }
}

static vyre_status find_kernels(evaluator *self) {
    const vyre_ir *ir = self->ir;
    for (uint32_t i = 0; i < ir->inst_count; i++) {
        const vyre_inst *inst = &ir->insts[i];
        const vyre_op_info *info = vyre_op_info_of(inst->op);
        switch (inst->op) {
        case VYRE_OP_GID:
        case VYRE_OP_LOAD:
        case VYRE_OP_STORE:
        case VYRE_OP_IF:
        case VYRE_OP_RESULT:
        case VYRE_OP_YIELD:
        case VYRE_OP_RETURN: continue;
        default: break;
        }
        bool values = info->shape == VYRE_SHAPE_V1 || info->shape == VYRE_SHAPE_V2 ||
                      info->shape == VYRE_SHAPE_V3;
        self->kernels[i] = values ? kernel_of(ir, inst) : NULL;
        if (!self->kernels[i]) {
            return vyre_status_make(VYRE_STATUS_UNSUPPORTED,
                                    "add it to tools/prove-math/evaluate.c",
                                    "the evaluator does not know `%s` that gives %s", info->name,
                                    vyre_type_name((vyre_type)inst->type));
        }
    }
    return VYRE_OK;
}

static vyre_status create(const vyre_program *program, uint64_t noise, void **out_state) {
    const vyre_ir *ir = vyre_program_ir(program);
    *out_state = NULL;
    vyre_status status = VYRE_OK;
    evaluator *self = calloc(1, sizeof(*self));
    if (self) {
        self->ir = ir;
        self->noise = noise;
        self->kernels = calloc(ir->inst_count + 1, sizeof(kernel));
        self->values = calloc(ir->inst_count + 1, sizeof(lanes));
        self->constants = calloc(ir->const_count + 1, sizeof(lanes));
    }
    if (!self || !self->kernels || !self->values || !self->constants) {
        status = vyre_status_make(VYRE_STATUS_OUT_OF_MEMORY, NULL, "no memory for %d lanes", LANES);
        goto done;
    }
    for (uint32_t k = 0; k < ir->const_count; k++) {
        EACH {
            if (vyre_type_bytes((vyre_type)ir->consts[k].type) == 8) {
                self->constants[k].u64[i] = ir->consts[k].bits;
            } else {
                self->constants[k].u32[i] = (uint32_t)ir->consts[k].bits;
            }
        }
    }
    status = find_kernels(self);

done:
    if (status) {
        evaluator_free(self);
    } else {
        *out_state = self;
    }
    return status;
}

static vyre_status evaluator_create(const vyre_program *program, void **out_state) {
    return create(program, 0, out_state);
}

static vyre_status noisy_create(const vyre_program *program, void **out_state) {
    return create(program, 0x9e3779b97f4a7c15u, out_state);
}

const executor evaluator_executor = {evaluator_create, evaluator_run, evaluator_free};
const executor noisy_executor = {noisy_create, evaluator_run, evaluator_free};
