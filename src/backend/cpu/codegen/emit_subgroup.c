/* Subgroups: a chunk is one, so that its lanes are those of the vectors. */
#include <stdio.h>

#include "backend/cpu/codegen/emit_state.h"
#include "ir/cases.h"
#include "ir/eval.h"
#include "ir/lookup.h"

/* Lanes moved to where `from` says; a number past the end takes the lane of `other` instead. */
static uint32_t permute(emit *e, vyre_type type, uint32_t value, uint32_t other,
                        const uint32_t *from) {
    uint32_t both[64];
    for (uint32_t lane = 0; lane < e->lanes; lane++) {
        both[lane] = from[lane] < e->lanes ? from[lane] : e->lanes + lane;
    }
    return emit_shuffle(e, cpu_type(type, e->lanes).text, value, other, both, e->lanes);
}

static uint32_t combine(emit *e, uint32_t how, vyre_type type, uint32_t a, uint32_t b) {
    return cpu_write_op(&e->w, vyre_eval_combining(how), type, type, e->lanes, a, b, 0);
}

static uint32_t reduce(emit *e, uint32_t how, vyre_type type, uint32_t value) {
    uint32_t from[64];
    for (uint32_t d = e->lanes / 2; d; d /= 2) {
        for (uint32_t lane = 0; lane < e->lanes; lane++) {
            from[lane] = lane ^ d;
        }
        value = combine(e, how, type, value, permute(e, type, value, value, from));
    }
    return value;
}

static uint32_t canonical(emit *e, uint32_t inst, vyre_type type, uint32_t lanes, uint32_t value) {
    bool is_float = type == VYRE_TYPE_F32 || type == VYRE_TYPE_F64;
    return is_float && vyre_nan_is_observed(&e->facts.nans, inst)
               ? cpu_write_canonical(&e->w, type, lanes, value)
               : value;
}

static uint32_t scan(emit *e, uint32_t inst, vyre_type type, uint32_t value) {
    uint32_t from[64], keep[64], how = e->ir->insts[inst].aux;
    for (uint32_t d = 1; d < e->lanes; d *= 2) {
        for (uint32_t lane = 0; lane < e->lanes; lane++) {
            from[lane] = lane < d ? lane : lane - d;
            keep[lane] = lane < d ? e->lanes : lane; /* the lowest stay as they were */
        }
        uint32_t sums = combine(e, how, type, permute(e, type, value, value, from), value);
        value = permute(e, type, canonical(e, inst, type, e->lanes, sums), value, keep);
    }
    return value;
}

static uint32_t first_lane(emit *e, vyre_type type, uint32_t value) {
    return emit_put(e, "extractelement %s %%t%u, i64 0", cpu_type(type, e->lanes).text, value);
}

/* A lane that each names for itself, as a u32; 0 where it does not exist. Through memory, which is
 * what LLVM would do, too. */
static uint32_t pick_lanes(emit *e, vyre_type type, uint32_t value, uint32_t index) {
    uint32_t most = cpu_write_const(&e->w, VYRE_TYPE_U32, e->lanes, e->lanes);
    uint32_t inside = emit_put(e, "icmp ult <%u x i32> %%t%u, %%t%u", e->lanes, index, most);
    return emit_gather_lanes(e, type, value, index, inside);
}

static uint32_t shuffled(emit *e, uint32_t inst) {
    const vyre_inst *i = &e->ir->insts[inst];
    vyre_type type = vyre_inst_type(i);
    uint32_t value = emit_vector(e, i->a), index = emit_vector(e, i->b), from = index;
    uint32_t lanes = cpu_write_lane_numbers(&e->w, e->lanes);
    if (i->op == VYRE_OP_SHUFFLE_XOR) {
        from = cpu_write_op(&e->w, VYRE_OP_XOR, VYRE_TYPE_U32, VYRE_TYPE_U32, e->lanes, lanes,
                            index, 0);
    } else if (i->op == VYRE_OP_SHUFFLE_UP) {
        uint32_t none = cpu_write_const(&e->w, VYRE_TYPE_U32, e->lanes, UINT32_MAX);
        uint32_t exists = cpu_write_op(&e->w, VYRE_OP_LE, VYRE_TYPE_U32, VYRE_TYPE_BOOL, e->lanes,
                                       index, lanes, 0);
        uint32_t below = cpu_write_op(&e->w, VYRE_OP_SUB, VYRE_TYPE_U32, VYRE_TYPE_U32, e->lanes,
                                      lanes, index, 0);
        from = emit_pick(e, VYRE_TYPE_U32, exists, below, none);
    } else if (i->op == VYRE_OP_SHUFFLE_DOWN) {
        from = cpu_write_op(&e->w, VYRE_OP_ADD_SAT, VYRE_TYPE_U32, VYRE_TYPE_U32, e->lanes, lanes,
                            index, 0);
    }
    return pick_lanes(e, type, value, from);
}

static uint32_t ballot(emit *e, uint32_t operand, vyre_type type) {
    uint32_t width = vyre_type_bytes(type) * 8;
    uint32_t bits =
        emit_put(e, "bitcast <%u x i1> %%t%u to i%u", e->lanes, emit_vector(e, operand), e->lanes);
    return e->lanes < width ? emit_put(e, "zext i%u %%t%u to i%u", e->lanes, bits, width) : bits;
}

static uint32_t vote(emit *e, uint32_t operand, bool all) {
    uint32_t mask = emit_vector(e, operand);
    if (!all) {
        return emit_any(e, mask);
    }
    uint32_t full = cpu_write_const(&e->w, VYRE_TYPE_BOOL, e->lanes, 1);
    uint32_t some = emit_any(e, emit_and_not(e, full, mask));
    return emit_put(e, "xor i1 %%t%u, true", some);
}

/* One lane for all: its number is the same in all lanes, which have it as a vector or not. */
static uint32_t broadcast(emit *e, uint32_t inst) {
    const vyre_inst *i = &e->ir->insts[inst];
    vyre_type type = vyre_inst_type(i);
    uint32_t value = emit_vector(e, i->a), lane = emit_scalar(e, i->b);
    uint32_t inside = emit_put(e, "icmp ult i32 %%t%u, %u", lane, e->lanes);
    uint32_t safe = emit_put(e, "and i32 %%t%u, %u", lane, e->lanes - 1);
    uint32_t element = emit_put(e, "extractelement %s %%t%u, i32 %%t%u",
                                cpu_type(type, e->lanes).text, value, safe);
    uint32_t zero = cpu_write_const(&e->w, type, 1, 0);
    return cpu_write_op(&e->w, VYRE_OP_SELECT, type, type, 1, inside, element, zero);
}

/* Products of matrices. The four i8 of a word become two pairs of i16, the even ones and the odd
 * ones, each again in 32 bits; a machine that multiplies pairs and adds them does so at once. */

enum { PAIRS = 2 };

static void widen(emit *e, uint32_t words, uint32_t out[PAIRS]) {
    uint32_t lanes = 2 * e->lanes, eight = cpu_write_const(&e->w, VYRE_TYPE_I16, lanes, 8);
    uint32_t halves = emit_put(e, "bitcast <%u x i32> %%t%u to <%u x i16>", e->lanes, words, lanes);
    uint32_t left = emit_put(e, "shl <%u x i16> %%t%u, %%t%u", lanes, halves, eight);
    uint32_t even = emit_put(e, "ashr <%u x i16> %%t%u, %%t%u", lanes, left, eight);
    uint32_t odd = emit_put(e, "ashr <%u x i16> %%t%u, %%t%u", lanes, halves, eight);
    for (uint32_t k = 0; k < PAIRS; k++) {
        out[k] =
            emit_put(e, "bitcast <%u x i16> %%t%u to <%u x i32>", lanes, k ? odd : even, e->lanes);
    }
}

static uint32_t every_other(emit *e, uint32_t products, uint32_t first) {
    uint32_t from[64];
    for (uint32_t lane = 0; lane < e->lanes; lane++) {
        from[lane] = 2 * lane + first;
    }
    return emit_shuffle(e, cpu_type(VYRE_TYPE_U32, 2 * e->lanes).text, products, products, from,
                        e->lanes);
}

/* Adds the products of pairs. */
static uint32_t add_products(emit *e, uint32_t sum, uint32_t a, uint32_t b) {
    uint32_t wide[2], factors[2] = {a, b}, lanes = 2 * e->lanes;
    for (uint32_t k = 0; k < 2; k++) {
        uint32_t halves =
            emit_put(e, "bitcast <%u x i32> %%t%u to <%u x i16>", e->lanes, factors[k], lanes);
        wide[k] = emit_put(e, "sext <%u x i16> %%t%u to <%u x i32>", lanes, halves, lanes);
    }
    uint32_t products = emit_put(e, "mul <%u x i32> %%t%u, %%t%u", lanes, wide[0], wide[1]);
    uint32_t even = every_other(e, products, 0), odd = every_other(e, products, 1);
    uint32_t both = emit_put(e, "add <%u x i32> %%t%u, %%t%u", e->lanes, even, odd);
    return emit_put(e, "add <%u x i32> %%t%u, %%t%u", e->lanes, sum, both);
}

/* The sums, in the place of those that there were, from where docs/semantics.md has the elements:
 * words of a lane's own row of A, and of two columns of B. */
static void multiply(emit *e, uint32_t words[VYRE_MATRIX_OPERANDS]) {
    uint32_t pairs[VYRE_MATRIX_A + VYRE_MATRIX_B][PAIRS], from[64];
    uint32_t *sums = words + VYRE_MATRIX_A + VYRE_MATRIX_B;
    for (uint32_t k = 0; k < VYRE_MATRIX_A + VYRE_MATRIX_B; k++) {
        widen(e, words[k], pairs[k]);
    }
    for (uint32_t step = 0; step < 8 * PAIRS; step++) {
        uint32_t far = step / 8, t = step / 2 % 4, pair = step % PAIRS, rows[2], columns[2];
        for (uint32_t k = 0; k < 2; k++) {
            uint32_t a = pairs[2 * far + k][pair], b = pairs[VYRE_MATRIX_A + far][pair];
            for (uint32_t lane = 0; lane < e->lanes; lane++) {
                from[lane] = lane / 4 * 4 + t;
            }
            rows[k] = permute(e, VYRE_TYPE_U32, a, a, from);
            for (uint32_t lane = 0; lane < e->lanes; lane++) {
                from[lane] = 4 * (lane % 4 * 2 + k) + t;
            }
            columns[k] = permute(e, VYRE_TYPE_U32, b, b, from);
        }
        for (uint32_t k = 0; k < VYRE_MATRIX_C; k++) {
            sums[k] = add_products(e, sums[k], rows[k / 2], columns[k % 2]);
        }
    }
}

/* Element k of a list of vectors in memory. */
static uint32_t place_in_list(emit *e, const char *list, uint32_t k) {
    return emit_put(e, "getelementptr i8, ptr %s, i64 %u", list, k * e->lanes * 4);
}

static uint32_t load_from_list(emit *e, const char *list, uint32_t k) {
    uint32_t at = place_in_list(e, list, k);
    return emit_put(e, "load <%u x i32>, ptr %%t%u, align 64", e->lanes, at);
}

static void store_to_list(emit *e, const char *list, uint32_t k, uint32_t vector) {
    emit_line(e, "store <%u x i32> %%t%u, ptr %%t%u, align 64", e->lanes, vector,
              place_in_list(e, list, k));
}

bool emit_multiplies_apart(const emit *e) {
    enum { FEW = 4 };
    uint32_t count = 0;
    for (uint32_t inst = e->phase->first; inst < e->phase->end; inst++) {
        count += e->ir->insts[inst].op == VYRE_OP_MATRIX_MAD;
    }
    return count > FEW;
}

void emit_multiply_body(emit *e) {
    uint32_t words[VYRE_MATRIX_OPERANDS];
    for (uint32_t k = 0; k < VYRE_MATRIX_OPERANDS; k++) {
        words[k] = load_from_list(e, "%list", k);
    }
    multiply(e, words);
    for (uint32_t k = VYRE_MATRIX_A + VYRE_MATRIX_B; k < VYRE_MATRIX_OPERANDS; k++) {
        store_to_list(e, "%list", k, words[k]);
    }
}

static void multiplied(emit *e, uint32_t inst) {
    vyre_list values = vyre_inst_operands(e->ir, &e->ir->insts[inst]);
    uint32_t words[VYRE_MATRIX_OPERANDS], first = VYRE_MATRIX_A + VYRE_MATRIX_B;
    for (uint32_t k = 0; k < VYRE_MATRIX_OPERANDS; k++) {
        words[k] = emit_vector(e, values.items[k]);
    }
    if (!emit_multiplies_apart(e)) {
        multiply(e, words);
    } else {
        char list[16];
        snprintf(list, sizeof list, "%%t%u", emit_new(e));
        vyre_strbuf_printf(&e->allocas, "  %s = alloca [%u x <%u x i32>], align 64\n", list,
                           VYRE_MATRIX_OPERANDS, e->lanes);
        for (uint32_t k = 0; k < VYRE_MATRIX_OPERANDS; k++) {
            store_to_list(e, list, k, words[k]);
        }
        emit_line(e, "call void @phase_%u_multiply(ptr %s)", e->phase_index, list);
        for (uint32_t k = first; k < VYRE_MATRIX_OPERANDS; k++) {
            words[k] = load_from_list(e, list, k);
        }
    }
    for (uint32_t k = 0; k < VYRE_MATRIX_C; k++) {
        emit_define(e, vyre_result(e->ir, inst, k), words[first + k]);
    }
}

void emit_subgroup(emit *e, uint32_t inst) {
    const vyre_inst *i = &e->ir->insts[inst];
    vyre_type type = vyre_inst_type(i);
    uint32_t from[64], id = 0;
    switch (vyre_inst_op(i)) {
    case VYRE_OP_MATRIX_MAD: multiplied(e, inst); return;
    case VYRE_OP_BROADCAST: id = broadcast(e, inst); break;
    case VYRE_OP_BALLOT: id = ballot(e, i->a, type); break;
    case VYRE_OP_ANY: id = vote(e, i->a, false); break;
    case VYRE_OP_ALL: id = vote(e, i->a, true); break;
    case VYRE_OP_REDUCE:
        id = first_lane(e, type, reduce(e, i->aux, type, emit_vector(e, i->a)));
        id = canonical(e, inst, type, 1, id);
        break;
    case VYRE_OP_SCAN: id = scan(e, inst, type, emit_vector(e, i->a)); break;
    case VYRE_OP_SCAN_EXCLUSIVE: {
        uint32_t sums = scan(e, inst, type, emit_vector(e, i->a));
        uint32_t neutral = cpu_write_const(&e->w, type, e->lanes, vyre_eval_identity(i->aux, type));
        for (uint32_t lane = 0; lane < e->lanes; lane++) {
            from[lane] = lane ? lane - 1 : e->lanes;
        }
        id = permute(e, type, sums, neutral, from);
        break;
    }
    case VYRE_ONE_OF(SHUFFLE, SHUFFLE_XOR, SHUFFLE_UP, SHUFFLE_DOWN): id = shuffled(e, inst); break;
    case VYRE_ANY_OF(SURROUNDINGS, PURE, ELEMENTARY, ACCESS, BARRIER, CONTROL, NONE):
        emit_unknown(e, inst);
        break;
    }
    emit_define(e, inst, id);
}
