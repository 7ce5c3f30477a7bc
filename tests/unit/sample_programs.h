/* Programs that between them hold every operation, type, resource, step and constant there is, made
 * through the builder. For tests that must hold for any program. Calls that emit instructions are
 * never arguments of one call together, because compilers differ in which argument comes first.
 *
 *     for (size_t i = 0; i < SAMPLE_COUNT; i++) {
 *         vyre_program *program = sample_program(i);
 *         ...
 *         vyre_program_release(program);
 *     }
 */
#ifndef VYRE_TESTS_SAMPLE_PROGRAMS_H
#define VYRE_TESTS_SAMPLE_PROGRAMS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <vyre/builder.h>

#include "ir/rule.h"

#define SAMPLE_NONE VYRE_NONE

static inline uint32_t sample_gid(vyre_builder *b) {
    return vyre_build_position(b, VYRE_OP_GID, 0);
}

static inline uint32_t sample_op(vyre_builder *b, vyre_op op, uint32_t x, uint32_t y) {
    return vyre_build_op(b, op, x, y, SAMPLE_NONE);
}

static inline void sample_phase(vyre_builder *b, const char *name, uint64_t domain,
                                uint32_t workgroup) {
    vyre_build_phase(b, &(vyre_phase_desc){.name = name,
                                           .domain = {vyre_build_size_const(b, domain)},
                                           .workgroup = {workgroup}});
}

static inline void sample_saxpy(vyre_builder *b) {
    uint32_t a = vyre_build_scalar(b, "a", VYRE_TYPE_F32);
    uint32_t x = vyre_build_buffer(b, "x", VYRE_ACCESS_IN, VYRE_TYPE_F32, SAMPLE_NONE);
    uint32_t y = vyre_build_buffer(b, "y", VYRE_ACCESS_INOUT, VYRE_TYPE_F32, SAMPLE_NONE);
    vyre_build_phase(b, &(vyre_phase_desc){.domain = {vyre_build_size_len(b, y)}});
    uint32_t i = sample_gid(b);
    uint32_t scale = vyre_build_param(b, a);
    uint32_t left = vyre_build_load(b, x, i), right = vyre_build_load(b, y, i);
    vyre_build_store(b, y, i, vyre_build_op(b, VYRE_OP_FMA, scale, left, right));
    vyre_build_phase_end(b);
}

/* The least a program can be. */
static inline void sample_empty(vyre_builder *b) {
    sample_phase(b, NULL, 0, 0);
    vyre_build_phase_end(b);
}

/* A value of any type that is no constant. */
static inline uint32_t sample_value(vyre_builder *b, vyre_type type) {
    uint32_t number = sample_gid(b);
    return type == VYRE_TYPE_BOOL ? sample_op(b, VYRE_OP_EQ, number, vyre_build_u32(b, 7))
                                  : vyre_build_convert(b, type, number);
}

/* Every operation on values with every type it takes. */
static inline void sample_values(vyre_builder *b) {
    sample_phase(b, "values", 100, 64);
    for (uint32_t number = 1; number < VYRE_OP_COUNT; number++) {
        vyre_op op = (vyre_op)number;
        const vyre_op_info *info = vyre_op_info_of(op);
        uint32_t count = vyre_rule_arity(op);
        if (!info->name || !count || info->rule == VYRE_RULE_CONVERT ||
            info->rule == VYRE_RULE_BITCAST) {
            continue;
        }
        for (uint32_t t = VYRE_TYPE_BOOL; t < VYRE_TYPE_COUNT; t++) {
            vyre_type type = (vyre_type)t, types[3] = {type, type, type}, result;
            if (info->rule == VYRE_RULE_SHIFT || info->rule == VYRE_RULE_LANE) {
                types[1] = VYRE_TYPE_U32;
            } else if (info->rule == VYRE_RULE_SELECT) {
                types[0] = VYRE_TYPE_BOOL;
            }
            uint32_t hows = info->rule == VYRE_RULE_COMBINE ? VYRE_COMBINE_COUNT : 1;
            for (uint32_t how = 0; how < hows; how++) {
                vyre_rule_error error;
                if (!vyre_rule_check(op, how, type, 32, types, &result, &error)) {
                    continue;
                }
                uint32_t values[3] = {SAMPLE_NONE, SAMPLE_NONE, SAMPLE_NONE};
                for (uint32_t i = 0; i < count; i++) {
                    /* A lane that all agree on. */
                    bool is_lane = info->rule == VYRE_RULE_LANE && i == 1;
                    values[i] = is_lane ? vyre_build_u32(b, 3) : sample_value(b, types[i]);
                }
                if (info->rule == VYRE_RULE_COMBINE) {
                    vyre_build_combine(b, op, (vyre_combination)how, values[0]);
                } else {
                    vyre_build_op(b, op, values[0], values[1], values[2]);
                }
            }
        }
    }
    vyre_build_phase_end(b);
}

static inline void sample_conversions(vyre_builder *b) {
    sample_phase(b, NULL, 1, 0);
    for (uint32_t from = VYRE_TYPE_BOOL; from < VYRE_TYPE_COUNT; from++) {
        uint32_t value = sample_value(b, (vyre_type)from);
        for (uint32_t to = VYRE_TYPE_BOOL; to < VYRE_TYPE_COUNT; to++) {
            vyre_build_convert(b, (vyre_type)to, value);
            if (from != VYRE_TYPE_BOOL && to != VYRE_TYPE_BOOL &&
                vyre_type_bytes((vyre_type)from) == vyre_type_bytes((vyre_type)to)) {
                vyre_build_bitcast(b, (vyre_type)to, value);
            }
        }
    }
    vyre_build_phase_end(b);
}

/* Constants of every type: bounds, signed zeros, infinities, subnormals, NaNs with payloads. */
static inline void sample_constants(vyre_builder *b) {
    static const uint64_t patterns[] = {
        0,
        1,
        0x7f,
        0x80,
        0xff,
        0x7fff,
        0x8000,
        0xffff,
        0x7c00,
        0x7e01,
        0xfc00,
        0xfe55,
        0x7f80,
        0x7fc1,
        0xff81,
        0x3c00,
        0x7fffffff,
        0x80000000,
        0xffffffff,
        0x7f800000,
        0x7fc00000,
        0x7fc0dead,
        0x7f800001,
        0xffc00001,
        0x00000001,
        0x3f800000,
        0x7ff0000000000000,
        0x7ff8000000000000,
        0x7ff0000000000001,
        0xfff8deadbeef0001,
        0x8000000000000000,
        0xffffffffffffffff,
    };
    sample_phase(b, NULL, 1, 0);
    for (uint32_t t = VYRE_TYPE_BOOL; t < VYRE_TYPE_COUNT; t++) {
        vyre_type type = (vyre_type)t;
        uint32_t array = vyre_build_private(b, "kept", type, 4);
        for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
            uint64_t bits = type == VYRE_TYPE_BOOL ? patterns[i] & 1 : patterns[i];
            vyre_build_store(b, array, vyre_build_u32(b, 2), vyre_build_const(b, type, bits));
        }
    }
    vyre_build_phase_end(b);
}

/* Arrays of every kind and type, plain accesses with indices of every integer type. */
static inline void sample_memory(vyre_builder *b) {
    uint32_t arrays[64], count = 0;
    for (uint32_t t = VYRE_TYPE_I8; t < VYRE_TYPE_COUNT; t++) {
        char name[] = {'i', '_', (char)('a' + t), '\0'};
        vyre_build_buffer(b, name, VYRE_ACCESS_IN, (vyre_type)t, SAMPLE_NONE);
        name[0] = 'o';
        uint32_t written = vyre_build_buffer(b, name, VYRE_ACCESS_OUT, (vyre_type)t,
                                             vyre_build_size_const(b, 10 + t));
        name[0] = 's';
        arrays[count++] = written;
        arrays[count++] =
            vyre_build_scratch(b, name, (vyre_type)t, vyre_build_size_len(b, written));
    }
    arrays[count++] = vyre_build_buffer(b, "both", VYRE_ACCESS_INOUT, VYRE_TYPE_U64,
                                        vyre_build_size_const(b, UINT64_MAX));
    sample_phase(b, "accesses", 64, 32);
    arrays[count++] = vyre_build_shared(b, "flags", VYRE_TYPE_BOOL, 32);
    arrays[count++] = vyre_build_private(b, "own", VYRE_TYPE_F16, 3);
    arrays[count++] = vyre_build_shared(b, NULL, VYRE_TYPE_F64, 1);
    vyre_build_clear(b, arrays[count - 2]);
    for (uint32_t i = 0; i < count; i++) {
        vyre_type index_type = (vyre_type)(VYRE_TYPE_I8 + i % 8);
        uint32_t index = vyre_build_convert(b, index_type, sample_gid(b));
        vyre_build_store(b, arrays[i], index, vyre_build_load(b, arrays[i], index));
        vyre_build_len(b, arrays[i]);
        if (i != count - 2) {
            vyre_build_uniform_load(b, arrays[i], vyre_build_u32(b, 0));
        }
    }
    vyre_build_phase_end(b);
}

/* Every atomic with every type, ordering and scope. */
static inline void sample_atomics(vyre_builder *b) {
    static const vyre_type types[] = {VYRE_TYPE_I32, VYRE_TYPE_U32, VYRE_TYPE_I64, VYRE_TYPE_U64};
    uint32_t buffers[4];
    for (uint32_t t = 0; t < 4; t++) {
        char name[] = {'x', (char)('0' + t), '\0'};
        buffers[t] = vyre_build_buffer(b, name, VYRE_ACCESS_INOUT, types[t], SAMPLE_NONE);
    }
    sample_phase(b, NULL, 256, 256);
    for (uint32_t t = 0; t < 4; t++) {
        uint32_t shared = vyre_build_shared(b, "part", types[t], 16);
        uint32_t index = vyre_build_position(b, VYRE_OP_LID, 0);
        uint32_t value = sample_value(b, types[t]);
        for (uint32_t op = VYRE_OP_ATOMIC_LOAD; op <= VYRE_OP_ATOMIC_CAS; op++) {
            for (uint32_t ordering = 0; ordering < VYRE_ORDERING_COUNT; ordering++) {
                if (!vyre_rule_ordering_allowed((vyre_op)op, ordering)) {
                    continue;
                }
                uint32_t given = op == VYRE_OP_ATOMIC_LOAD ? SAMPLE_NONE : value;
                uint32_t desired = op == VYRE_OP_ATOMIC_CAS ? value : SAMPLE_NONE;
                for (uint32_t scope = 0; scope < 2; scope++) {
                    vyre_build_atomic(b, (vyre_op)op, buffers[t], index, given, desired,
                                      (vyre_ordering)ordering, (vyre_scope)scope);
                }
                vyre_build_atomic(b, (vyre_op)op, shared, index, given, desired,
                                  (vyre_ordering)ordering, VYRE_SCOPE_DEVICE);
            }
        }
    }
    vyre_build_phase_end(b);
}

/* Blocks that hand out values by lists. */
static inline void sample_blocks(vyre_builder *b) {
    uint32_t out =
        vyre_build_buffer(b, "out", VYRE_ACCESS_OUT, VYRE_TYPE_U32, vyre_build_size_const(b, 8));
    sample_phase(b, NULL, 8, 0);
    uint32_t i = sample_gid(b), zero = vyre_build_u32(b, 0), one = vyre_build_u32(b, 1);
    uint32_t pair[2], args[2], results[2];
    vyre_build_if(b, sample_op(b, VYRE_OP_LT, i, vyre_build_u32(b, 4)));
    vyre_build_yield(b, 2, (uint32_t[]){i, zero});
    vyre_build_else(b);
    vyre_build_yield(b, 2, (uint32_t[]){one, i});
    vyre_build_if_end(b, 2, pair);
    uint32_t counter = vyre_build_for(b, zero, pair[0], one, 2, (uint32_t[]){zero, pair[1]}, args);
    vyre_build_if(b, sample_op(b, VYRE_OP_EQ, args[1], counter));
    vyre_build_break(b, 2, (uint32_t[]){args[1], args[0]});
    vyre_build_else(b);
    vyre_build_if(b, sample_op(b, VYRE_OP_LE, args[0], counter));
    vyre_build_continue(b, 2, (uint32_t[]){counter, one});
    vyre_build_if_end(b, 0, NULL);
    vyre_build_if_end(b, 0, NULL);
    vyre_build_continue(b, 2, (uint32_t[]){sample_op(b, VYRE_OP_ADD, args[0], one), args[1]});
    vyre_build_loop_end(b, 2, results);
    vyre_build_loop(b, 1, &results[0], args);
    vyre_build_if(b, sample_op(b, VYRE_OP_EQ, args[0], zero));
    vyre_build_break(b, 1, &args[0]);
    vyre_build_if_end(b, 0, NULL);
    vyre_build_continue(b, 1, (uint32_t[]){sample_op(b, VYRE_OP_SHR, args[0], one)});
    vyre_build_loop_end(b, 1, results);
    vyre_build_inline(b);
    vyre_build_if(b, sample_op(b, VYRE_OP_NE, results[0], results[1]));
    vyre_build_return(b, 1, &results[1]);
    vyre_build_if_end(b, 0, NULL);
    vyre_build_return(b, 1, &results[0]);
    vyre_build_inline_end(b, 1, results);
    vyre_build_store(b, out, i, results[0]);
    vyre_build_phase_end(b);
}

/* Variables through branches, loops and calls; ways that do not go on. */
static inline void sample_variables(vyre_builder *b) {
    uint32_t out =
        vyre_build_buffer(b, "out", VYRE_ACCESS_OUT, VYRE_TYPE_I32, vyre_build_size_const(b, 8));
    sample_phase(b, "variables", 8, 0);
    uint32_t x = vyre_build_var(b, "x", vyre_build_i32(b, 1));
    uint32_t y = vyre_build_var(b, "y", vyre_build_bool(b, false));
    uint32_t zero = vyre_build_u32(b, 0), i = sample_gid(b);
    uint32_t counter =
        vyre_build_for(b, zero, vyre_build_u32(b, 9), vyre_build_u32(b, 2), 0, NULL, NULL);
    vyre_build_name(b, counter, "k");
    vyre_build_if(b, vyre_build_get(b, y));
    vyre_build_set(b, x, vyre_build_convert(b, VYRE_TYPE_I32, counter));
    vyre_build_else(b);
    vyre_build_if(b, sample_op(b, VYRE_OP_LT, i, counter));
    vyre_build_break(b, 0, NULL);
    vyre_build_else(b);
    vyre_build_set(b, y, vyre_build_bool(b, true));
    vyre_build_if_end(b, 0, NULL);
    vyre_build_if_end(b, 0, NULL);
    vyre_build_loop_end(b, 0, NULL);
    vyre_build_at(b, 12, 5, 3);
    vyre_build_scope(b, "callee");
    vyre_build_inline(b);
    uint32_t local = vyre_build_var(b, "local", vyre_build_get(b, x));
    vyre_build_loop(b, 0, NULL, NULL);
    vyre_build_if(b, sample_op(b, VYRE_OP_EQ, vyre_build_get(b, local), vyre_build_i32(b, 100)));
    vyre_build_set(b, x, vyre_build_i32(b, -1));
    vyre_build_return(b, 0, NULL);
    vyre_build_else(b);
    vyre_build_set(b, local,
                   sample_op(b, VYRE_OP_ADD, vyre_build_get(b, local), vyre_build_i32(b, 1)));
    vyre_build_if_end(b, 0, NULL);
    vyre_build_loop_end(b, 0, NULL);
    vyre_build_store(b, out, zero, vyre_build_i32(b, 5)); /* is not reached */
    vyre_build_inline_end(b, 0, NULL);
    vyre_build_scope_end(b);
    vyre_build_store(b, out, i, vyre_build_get(b, x));
    vyre_build_if(b, vyre_build_get(b, y));
    vyre_build_return(b, 0, NULL);
    vyre_build_else(b);
    vyre_build_loop(b, 0, NULL, NULL);
    vyre_build_loop_end(b, 0, NULL);
    vyre_build_if_end(b, 0, NULL);
    vyre_build_phase_end(b);
}

/* Steps, domains and sizes of every form. */
static inline void sample_steps(vyre_builder *b) {
    uint32_t n = vyre_build_scalar(b, "n", VYRE_TYPE_I64);
    uint32_t m = vyre_build_scalar(b, "m", VYRE_TYPE_U8);
    uint32_t x = vyre_build_buffer(b, "x", VYRE_ACCESS_IN, VYRE_TYPE_F32, SAMPLE_NONE);
    uint32_t size = vyre_build_size_param(b, n);
    for (uint32_t op = VYRE_SIZE_ADD; op <= VYRE_SIZE_CEIL_DIV; op++) {
        uint32_t right =
            op % 2 ? vyre_build_size_const(b, 5000000000u + op) : vyre_build_size_len(b, x);
        size = op % 3 ? vyre_build_size_op(b, (vyre_size_op)op, size, right)
                      : vyre_build_size_op(b, (vyre_size_op)op, right, size);
    }
    uint32_t out = vyre_build_buffer(b, "out", VYRE_ACCESS_OUT, VYRE_TYPE_U32, size);
    uint32_t count = vyre_build_scratch(b, "count", VYRE_TYPE_U32, vyre_build_size_const(b, 2));
    vyre_build_deterministic(b);
    vyre_build_phase(b, &(vyre_phase_desc){.name = "first",
                                           .domain = {vyre_build_size_len(b, x)},
                                           .workgroup = {64},
                                           .subgroup = 16});
    uint32_t lane = vyre_build_position(b, VYRE_OP_LANE, 0);
    vyre_build_store(b, out, lane, vyre_build_position(b, VYRE_OP_SUBGROUP_ID, 0));
    vyre_build_phase_end(b);
    uint32_t outer = vyre_build_repeat(b, "turn", vyre_build_size_param(b, m));
    uint32_t inner = vyre_build_repeat_while(b, NULL, count, vyre_build_size_const(b, 1));
    vyre_build_phase(b, &(vyre_phase_desc){.name = "counted",
                                           .domain = {vyre_build_size_const(b, 1000)},
                                           .from_memory = true,
                                           .from_resource = count,
                                           .from_index = vyre_build_size_const(b, 0)});
    uint32_t turn = vyre_build_iteration(b, outer);
    vyre_build_store(b, count, turn, vyre_build_iteration(b, inner));
    vyre_build_phase_end(b);
    vyre_build_repeat_end(b);
    for (uint32_t width = 8; width <= 64; width *= 2) {
        vyre_build_phase(b, &(vyre_phase_desc){.domain = {vyre_build_size_const(b, 7),
                                                          vyre_build_size_len(b, out),
                                                          vyre_build_size_const(b, width)},
                                               .dimensions = width == 8 ? 2 : 3,
                                               .workgroup = {8, 4, width == 8 ? 1 : 2},
                                               .subgroup = width});
        uint32_t last = width == 8 ? 1 : 2;
        uint32_t sum = vyre_build_position(b, VYRE_OP_GID, last);
        sum = sample_op(b, VYRE_OP_ADD, sum, vyre_build_position(b, VYRE_OP_LID, 1));
        sum = sample_op(b, VYRE_OP_ADD, sum, vyre_build_position(b, VYRE_OP_WID, last));
        sum = sample_op(b, VYRE_OP_ADD, sum, vyre_build_position(b, VYRE_OP_NUM_WORKGROUPS, 0));
        uint32_t mask =
            vyre_build_op(b, VYRE_OP_BALLOT, vyre_build_position(b, VYRE_OP_IN_DOMAIN, 0),
                          SAMPLE_NONE, SAMPLE_NONE);
        vyre_build_store(b, out, vyre_build_convert(b, VYRE_TYPE_U64, mask), sum);
        vyre_build_phase_end(b);
    }
    vyre_build_repeat_end(b);
}

/* Barriers, reached together. */
static inline void sample_barriers(vyre_builder *b) {
    uint32_t x = vyre_build_buffer(b, "x", VYRE_ACCESS_IN, VYRE_TYPE_U32, SAMPLE_NONE);
    uint32_t sum =
        vyre_build_buffer(b, "sum", VYRE_ACCESS_OUT, VYRE_TYPE_U32, vyre_build_size_const(b, 1));
    vyre_build_phase(b,
                     &(vyre_phase_desc){.domain = {vyre_build_size_len(b, x)}, .workgroup = {256}});
    uint32_t part = vyre_build_shared(b, "part", VYRE_TYPE_U32, 256);
    uint32_t lid = vyre_build_position(b, VYRE_OP_LID, 0);
    vyre_build_store(b, part, lid, vyre_build_load(b, x, sample_gid(b)));
    vyre_build_barrier(b, VYRE_OP_BARRIER);
    uint32_t half = vyre_build_var(b, "half", vyre_build_u32(b, 128));
    uint32_t zero = vyre_build_u32(b, 0);
    vyre_build_loop(b, 0, NULL, NULL);
    vyre_build_if(b, sample_op(b, VYRE_OP_EQ, vyre_build_get(b, half), zero));
    vyre_build_break(b, 0, NULL);
    vyre_build_if_end(b, 0, NULL);
    vyre_build_if(b, sample_op(b, VYRE_OP_LT, lid, vyre_build_get(b, half)));
    uint32_t other = sample_op(b, VYRE_OP_ADD, lid, vyre_build_get(b, half));
    uint32_t mine = vyre_build_load(b, part, lid), theirs = vyre_build_load(b, part, other);
    vyre_build_store(b, part, lid, sample_op(b, VYRE_OP_ADD, mine, theirs));
    vyre_build_if_end(b, 0, NULL);
    vyre_build_barrier(b, VYRE_OP_BARRIER);
    vyre_build_set(b, half,
                   sample_op(b, VYRE_OP_SHR, vyre_build_get(b, half), vyre_build_u32(b, 1)));
    vyre_build_loop_end(b, 0, NULL);
    vyre_build_if(b, sample_op(b, VYRE_OP_EQ, lid, zero));
    vyre_build_atomic(b, VYRE_OP_ATOMIC_ADD, sum, zero, vyre_build_load(b, part, zero), SAMPLE_NONE,
                      VYRE_ORDERING_RELAXED, VYRE_SCOPE_DEVICE);
    vyre_build_if_end(b, 0, NULL);
    vyre_build_barrier(b, VYRE_OP_GRID_BARRIER);
    vyre_build_store(b, part, lid, zero);
    vyre_build_phase_end(b);
}

/* An operation with several values, in a loop, with what it gives used and not. */
static inline void sample_matrix(vyre_builder *b) {
    uint32_t x = vyre_build_buffer(b, "x", VYRE_ACCESS_IN, VYRE_TYPE_U32, SAMPLE_NONE);
    uint32_t y =
        vyre_build_buffer(b, "y", VYRE_ACCESS_OUT, VYRE_TYPE_I32, vyre_build_size_len(b, x));
    vyre_build_phase(b,
                     &(vyre_phase_desc){.domain = {vyre_build_size_len(b, x)}, .workgroup = {64}});
    uint32_t i = sample_gid(b), word = vyre_build_load(b, x, i);
    uint32_t sum = vyre_build_var(b, "sum", vyre_build_i32(b, 7));
    uint32_t k = vyre_build_for(b, vyre_build_u32(b, 0), vyre_build_u32(b, 3), vyre_build_u32(b, 1),
                                0, NULL, NULL);
    uint32_t operands[VYRE_MATRIX_OPERANDS], results[VYRE_MATRIX_C];
    for (uint32_t n = 0; n < VYRE_MATRIX_OPERANDS; n++) {
        operands[n] = n < 3 ? word : n < 6 ? k : vyre_build_get(b, sum);
    }
    operands[9] = vyre_build_i32(b, -1);
    vyre_build_matrix_mad(b, operands, results);
    vyre_build_name(b, results[2], "third");
    vyre_build_set(b, sum, sample_op(b, VYRE_OP_ADD, results[0], results[2]));
    vyre_build_loop_end(b, 0, NULL);
    vyre_build_store(b, y, i, vyre_build_get(b, sum));
    vyre_build_phase_end(b);
}

/* Names and places of every kind. */
static inline void sample_named(vyre_builder *b) {
    vyre_build_file(b, "kernels/named.vyre");
    vyre_build_at(b, 1, 1, 7);
    uint32_t out =
        vyre_build_buffer(b, "out", VYRE_ACCESS_OUT, VYRE_TYPE_U32, vyre_build_size_const(b, 4));
    uint32_t kept = vyre_build_scratch(b, "kept", VYRE_TYPE_U32, vyre_build_size_const(b, 4));
    vyre_build_repeat(b, "again", vyre_build_size_const(b, 3));
    sample_phase(b, "work", 4, 0);
    vyre_build_at(b, 0xffffffff, 0xffffffff, 1); /* beyond what a place can hold */
    uint32_t i = sample_gid(b);
    vyre_build_name(b, i, "i");
    vyre_build_at(b, 7, 9, 2);
    vyre_build_scope(b, "outer");
    vyre_build_at(b, 20, 3, 2);
    vyre_build_scope(b, "inner");
    uint32_t sum = sample_op(b, VYRE_OP_ADD, i, i);
    vyre_build_name(b, sum, "not a name of the language: \xc3\xa9");
    vyre_build_scope_end(b);
    vyre_build_store(b, kept, i, sum);
    vyre_build_scope_end(b);
    vyre_build_store(b, out, i, vyre_build_load(b, kept, i));
    vyre_build_phase_end(b);
    vyre_build_repeat_end(b);
}

/* What it demands of its caller, and code from another file. */
static inline void sample_required(vyre_builder *b) {
    vyre_build_file(b, "kernels/required.vyre");
    uint32_t n = vyre_build_scalar(b, "n", VYRE_TYPE_U32);
    uint32_t x = vyre_build_buffer(b, "x", VYRE_ACCESS_IN, VYRE_TYPE_U32, VYRE_NONE);
    uint32_t y = vyre_build_buffer(b, "y", VYRE_ACCESS_INOUT, VYRE_TYPE_U32, VYRE_NONE);
    vyre_build_at(b, 2, 5, 7);
    uint32_t twice = vyre_build_size_op(b, VYRE_SIZE_MUL, vyre_build_size_param(b, n),
                                        vyre_build_size_const(b, 2));
    uint32_t kept = vyre_build_scratch(b, "kept", VYRE_TYPE_U32, twice);
    vyre_build_require(b, vyre_build_size_len(b, x), vyre_build_size_copy(b, twice));
    vyre_build_at(b, 3, 5, 7);
    vyre_build_scope_of(b, "far.copy", "ops/far.vyre");
    vyre_build_at(b, 1, 1, 1);
    vyre_build_require(b, vyre_build_size_len(b, y), vyre_build_size_len(b, x));
    vyre_build_phase(b,
                     &(vyre_phase_desc){.name = "far.copy", .domain = {vyre_build_size_len(b, x)}});
    uint32_t i = sample_gid(b);
    vyre_build_store(b, kept, i, vyre_build_load(b, x, i));
    vyre_build_scope(b, "inner");
    vyre_build_store(b, y, i, vyre_build_load(b, kept, i));
    vyre_build_scope_end(b);
    vyre_build_phase_end(b);
    vyre_build_scope_end(b);
}

/* Constant arrays, used in another order than they are declared in, and one not at all. */
static inline void sample_lookup(vyre_builder *b) {
    static const uint32_t numbers[] = {5, 6}, more[] = {7, 8, 9};
    static const bool choices[] = {true, false, true};
    uint32_t x = vyre_build_buffer(b, "x", VYRE_ACCESS_IN, VYRE_TYPE_U32, SAMPLE_NONE);
    uint32_t y = vyre_build_buffer(b, "y", VYRE_ACCESS_INOUT, VYRE_TYPE_U32, SAMPLE_NONE);
    uint32_t k = vyre_build_constant_array(b, "k", VYRE_TYPE_U32, 2, numbers);
    vyre_build_constant_array(b, "unused", VYRE_TYPE_U32, 3, more);
    vyre_build_phase(b, &(vyre_phase_desc){.domain = {vyre_build_size_len(b, y)}});
    uint32_t flags = vyre_build_constant_array(b, "flags", VYRE_TYPE_BOOL, 3, choices);
    uint32_t i = sample_gid(b), at = vyre_build_load(b, x, i);
    uint32_t flag = vyre_build_load(b, flags, at), number = vyre_build_load(b, k, at);
    uint32_t length = vyre_build_len(b, k);
    vyre_build_store(b, y, i, vyre_build_op(b, VYRE_OP_SELECT, flag, number, length));
    vyre_build_phase_end(b);
}

/* Sizes that use counters, swaps and branches. */
static inline void sample_turns(vyre_builder *b) {
    uint32_t n = vyre_build_scalar(b, "n", VYRE_TYPE_U32);
    uint32_t x = vyre_build_buffer(b, "x", VYRE_ACCESS_INOUT, VYRE_TYPE_I32, SAMPLE_NONE);
    uint32_t next = vyre_build_scratch(b, "next", VYRE_TYPE_I32, vyre_build_size_len(b, x));
    uint32_t spare = vyre_build_scratch(b, NULL, VYRE_TYPE_I32, vyre_build_size_len(b, x));
    uint32_t turn = vyre_build_repeat(b, "turn", vyre_build_size_param(b, n));
    uint32_t left = vyre_build_size_op(b, VYRE_SIZE_SUB, vyre_build_size_param(b, n),
                                       vyre_build_size_iteration(b, turn));
    vyre_build_phase(b, &(vyre_phase_desc){.domain = {left, vyre_build_size_iteration(b, turn)},
                                           .dimensions = 2});
    uint32_t at = vyre_build_position(b, VYRE_OP_GID, 1);
    vyre_build_store(b, next, at, vyre_build_load(b, x, sample_gid(b)));
    vyre_build_phase_end(b);
    vyre_build_swap(b, next, x);
    vyre_build_branch(b, x, vyre_build_size_iteration(b, turn));
    uint32_t inner = vyre_build_repeat(b, NULL, vyre_build_size_iteration(b, turn));
    vyre_build_phase(b, &(vyre_phase_desc){.domain = {vyre_build_size_iteration(b, inner)}});
    vyre_build_store(b, spare, sample_gid(b), vyre_build_i32(b, 3));
    vyre_build_phase_end(b);
    vyre_build_repeat_end(b);
    vyre_build_branch_else(b);
    vyre_build_swap(b, next, spare);
    vyre_build_branch_end(b);
    vyre_build_phase(
        b, &(vyre_phase_desc){.domain = {vyre_build_size_const(b, 4), vyre_build_size_len(b, x)},
                              .dimensions = 2,
                              .from_memory = true,
                              .from_resource = x,
                              .from_index = vyre_build_size_iteration(b, turn),
                              .workgroup = {8}});
    uint32_t size = vyre_build_size_op(b, VYRE_SIZE_MUL, vyre_build_size_param(b, n),
                                       vyre_build_size_len(b, x));
    uint32_t tile = vyre_build_shared_sized(b, "tile", VYRE_TYPE_I32, size);
    vyre_build_store(b, tile, vyre_build_position(b, VYRE_OP_LID, 0), vyre_build_i32(b, 1));
    vyre_build_store(b, spare, vyre_build_len(b, tile), vyre_build_i32(b, 2));
    vyre_build_phase_end(b);
    vyre_build_branch(b, spare, vyre_build_size_const(b, 0));
    vyre_build_swap(b, x, spare);
    vyre_build_branch_end(b);
    vyre_build_repeat_end(b);
}

/* Messages: with and without values, and two with the same text. */
static inline void sample_messages(vyre_builder *b) {
    uint32_t x = vyre_build_buffer(b, "x", VYRE_ACCESS_IN, VYRE_TYPE_F64, SAMPLE_NONE);
    vyre_build_phase(b, &(vyre_phase_desc){.domain = {vyre_build_size_len(b, x)}});
    uint32_t i = sample_gid(b), value = vyre_build_load(b, x, i);
    uint32_t shown[] = {i, value, i};
    uint32_t same = vyre_build_op(b, VYRE_OP_EQ, value, value, SAMPLE_NONE);
    vyre_build_print(b, "x[{}] = {}, \"{:x}\" {{}}\n", 3, shown);
    vyre_build_assert(b, same, "no number", 0, NULL);
    vyre_build_if(b, same);
    vyre_build_print(b, "no number", 0, NULL);
    vyre_build_if_end(b, 0, NULL);
    vyre_build_assert(b, vyre_build_bool(b, true), "{}", 1, &value);
    vyre_build_phase_end(b);
}

typedef struct sample_row {
    const char *name;
    void (*build)(vyre_builder *b);
} sample_row;

static const sample_row sample_rows[] = {
    {"saxpy", sample_saxpy},         {"empty", sample_empty},
    {"values", sample_values},       {"conversions", sample_conversions},
    {"constants", sample_constants}, {"memory", sample_memory},
    {"atomics", sample_atomics},     {"blocks", sample_blocks},
    {"variables", sample_variables}, {"steps", sample_steps},
    {"barriers", sample_barriers},   {"named", sample_named},
    {"matrix", sample_matrix},       {"required", sample_required},
    {"lookup", sample_lookup},       {"turns", sample_turns},
    {"messages", sample_messages},
};

#define SAMPLE_COUNT (sizeof sample_rows / sizeof *sample_rows)

/* Builds one; `build` may be anybody's. */
static inline vyre_status sample_build(const char *name, void (*build)(vyre_builder *b),
                                       vyre_program **out_program) {
    vyre_builder *b;
    *out_program = NULL;
    vyre_status status = vyre_builder_create(name, &b);
    if (!status) {
        build(b);
        status = vyre_builder_finish(b, NULL, out_program);
        vyre_builder_free(b);
    }
    return status;
}

static inline vyre_program *sample_program(size_t index) {
    vyre_program *program;
    vyre_status status = sample_build(sample_rows[index].name, sample_rows[index].build, &program);
    if (status) {
        fail_msg("%s: %s", sample_rows[index].name, vyre_status_text(status));
    }
    return program;
}

#endif
