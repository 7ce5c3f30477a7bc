/* Subgroups: a chunk is one, so that its lanes are those of the vectors. */
#include <stdio.h>

#include "backend/cpu/codegen/emit_state.h"
#include "ir/cases.h"
#include "ir/eval.h"
#include "ir/lookup.h"

/* Lanes moved to where `from` says; a number past the end takes the lane of `other` instead. */
static uint32_t permute(emit *e, vyre_type type, uint32_t value, uint32_t other,
                        const uint32_t *from) {
    cpu_type_text text = cpu_type(type, e->lanes);
    uint32_t id = emit_new(e);
    vyre_strbuf_printf(&e->w.code, "  %%t%u = shufflevector %s %%t%u, %s %%t%u, <%u x i32> <", id,
                       text.text, value, text.text, other, e->lanes);
    for (uint32_t lane = 0; lane < e->lanes; lane++) {
        vyre_strbuf_printf(&e->w.code, "%si32 %u", lane ? ", " : "",
                           from[lane] < e->lanes ? from[lane] : e->lanes + lane);
    }
    vyre_strbuf_puts(&e->w.code, ">\n");
    return id;
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
    uint32_t id = emit_new(e);
    emit_line(e, "%%t%u = extractelement %s %%t%u, i64 0", id, cpu_type(type, e->lanes).text,
              value);
    return id;
}

/* A lane that each names for itself, as a u32; 0 where it does not exist. Through memory, which is
 * what LLVM would do, too. */
static uint32_t pick_lanes(emit *e, vyre_type type, uint32_t value, uint32_t index) {
    uint32_t most = cpu_write_const(&e->w, VYRE_TYPE_U32, e->lanes, e->lanes), inside = emit_new(e);
    emit_line(e, "%%t%u = icmp ult <%u x i32> %%t%u, %%t%u", inside, e->lanes, index, most);
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
    uint32_t bits = emit_new(e), width = vyre_type_bytes(type) * 8;
    emit_line(e, "%%t%u = bitcast <%u x i1> %%t%u to i%u", bits, e->lanes, emit_vector(e, operand),
              e->lanes);
    if (e->lanes < width) {
        uint32_t id = emit_new(e);
        emit_line(e, "%%t%u = zext i%u %%t%u to i%u", id, e->lanes, bits, width);
        return id;
    }
    return bits;
}

static uint32_t vote(emit *e, uint32_t operand, bool all) {
    uint32_t mask = emit_vector(e, operand);
    if (!all) {
        return emit_any(e, mask);
    }
    uint32_t full = cpu_write_const(&e->w, VYRE_TYPE_BOOL, e->lanes, 1);
    uint32_t some = emit_any(e, emit_and_not(e, full, mask)), id = emit_new(e);
    emit_line(e, "%%t%u = xor i1 %%t%u, true", id, some);
    return id;
}

/* One lane for all: its number is the same in all lanes, which have it as a vector or not. */
static uint32_t broadcast(emit *e, uint32_t inst) {
    const vyre_inst *i = &e->ir->insts[inst];
    vyre_type type = vyre_inst_type(i);
    uint32_t value = emit_vector(e, i->a), lane = emit_scalar(e, i->b);
    uint32_t inside = emit_new(e), safe = emit_new(e), element = emit_new(e);
    emit_line(e, "%%t%u = icmp ult i32 %%t%u, %u", inside, lane, e->lanes);
    emit_line(e, "%%t%u = and i32 %%t%u, %u", safe, lane, e->lanes - 1);
    emit_line(e, "%%t%u = extractelement %s %%t%u, i32 %%t%u", element,
              cpu_type(type, e->lanes).text, value, safe);
    uint32_t zero = cpu_write_const(&e->w, type, 1, 0);
    return cpu_write_op(&e->w, VYRE_OP_SELECT, type, type, 1, inside, element, zero);
}

/* Products of matrices. The four i8 of a word become two pairs of i16, the even ones and the odd
 * ones, each again in 32 bits; a machine that multiplies pairs and adds them does so at once. */

enum { PAIRS = 2 };

static void widen(emit *e, uint32_t words, uint32_t out[PAIRS]) {
    uint32_t lanes = 2 * e->lanes, eight = cpu_write_const(&e->w, VYRE_TYPE_I16, lanes, 8);
    uint32_t halves = emit_new(e), left = emit_new(e), even = emit_new(e), odd = emit_new(e);
    emit_line(e, "%%t%u = bitcast <%u x i32> %%t%u to <%u x i16>", halves, e->lanes, words, lanes);
    emit_line(e, "%%t%u = shl <%u x i16> %%t%u, %%t%u", left, lanes, halves, eight);
    emit_line(e, "%%t%u = ashr <%u x i16> %%t%u, %%t%u", even, lanes, left, eight);
    emit_line(e, "%%t%u = ashr <%u x i16> %%t%u, %%t%u", odd, lanes, halves, eight);
    for (uint32_t k = 0; k < PAIRS; k++) {
        out[k] = emit_new(e);
        emit_line(e, "%%t%u = bitcast <%u x i16> %%t%u to <%u x i32>", out[k], lanes,
                  k ? odd : even, e->lanes);
    }
}

static uint32_t every_other(emit *e, uint32_t products, uint32_t first) {
    uint32_t id = emit_new(e), lanes = 2 * e->lanes;
    vyre_strbuf_printf(&e->w.code,
                       "  %%t%u = shufflevector <%u x i32> %%t%u, <%u x i32> %%t%u, <%u x i32> <",
                       id, lanes, products, lanes, products, e->lanes);
    for (uint32_t lane = 0; lane < e->lanes; lane++) {
        vyre_strbuf_printf(&e->w.code, "%si32 %u", lane ? ", " : "", 2 * lane + first);
    }
    vyre_strbuf_puts(&e->w.code, ">\n");
    return id;
}

/* Adds the products of pairs. */
static uint32_t add_products(emit *e, uint32_t sum, uint32_t a, uint32_t b) {
    uint32_t wide[2], factors[2] = {a, b}, lanes = 2 * e->lanes;
    for (uint32_t k = 0; k < 2; k++) {
        uint32_t halves = emit_new(e);
        wide[k] = emit_new(e);
        emit_line(e, "%%t%u = bitcast <%u x i32> %%t%u to <%u x i16>", halves, e->lanes, factors[k],
                  lanes);
        emit_line(e, "%%t%u = sext <%u x i16> %%t%u to <%u x i32>", wide[k], lanes, halves, lanes);
    }
    uint32_t products = emit_new(e), both = emit_new(e), id = emit_new(e);
    emit_line(e, "%%t%u = mul <%u x i32> %%t%u, %%t%u", products, lanes, wide[0], wide[1]);
    uint32_t even = every_other(e, products, 0), odd = every_other(e, products, 1);
    emit_line(e, "%%t%u = add <%u x i32> %%t%u, %%t%u", both, e->lanes, even, odd);
    emit_line(e, "%%t%u = add <%u x i32> %%t%u, %%t%u", id, e->lanes, sum, both);
    return id;
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
    uint32_t id = emit_new(e);
    emit_line(e, "%%t%u = getelementptr i8, ptr %s, i64 %u", id, list, k * e->lanes * 4);
    return id;
}

static uint32_t load_from_list(emit *e, const char *list, uint32_t k) {
    uint32_t at = place_in_list(e, list, k), id = emit_new(e);
    emit_line(e, "%%t%u = load <%u x i32>, ptr %%t%u, align 64", id, e->lanes, at);
    return id;
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
    const uint32_t *values;
    uint32_t words[VYRE_MATRIX_OPERANDS], first = VYRE_MATRIX_A + VYRE_MATRIX_B;
    vyre_lookup_values(e->ir, &e->ir->insts[inst], &values);
    for (uint32_t k = 0; k < VYRE_MATRIX_OPERANDS; k++) {
        words[k] = emit_vector(e, values[k]);
    }
    if (!emit_multiplies_apart(e)) {
        multiply(e, words);
    } else {
        char list[16];
        uint32_t id = emit_new(e);
        snprintf(list, sizeof list, "%%t%u", id);
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
    case VYRE_OP_SHUFFLE:
    case VYRE_OP_SHUFFLE_XOR:
    case VYRE_OP_SHUFFLE_UP:
    case VYRE_OP_SHUFFLE_DOWN: id = shuffled(e, inst); break;
    case VYRE_ANY_OF(SURROUNDINGS, PURE, ELEMENTARY, ACCESS, BARRIER, CONTROL, NONE):
        emit_unknown(e, inst);
        break;
    }
    emit_define(e, inst, id);
}
