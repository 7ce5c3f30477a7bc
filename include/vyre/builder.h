/* Builder: programs made by calls instead of text.
 *
 * Calls check types and places at once. A mistake is remembered with its code and the operand it
 * names, and the call gives VYRE_NONE. VYRE_NONE as an operand is passed over silently once there
 * is a mistake, so that one mistake is one diagnostic; before, it is itself a mistake. A frontend
 * therefore reports its own mistakes through vyre_build_report. Nothing has to be tested until
 * vyre_builder_finish, which reports all of them or hands out a verified program.
 *
 *     vyre_builder *b;
 *     status = vyre_builder_create("saxpy", &b);
 *     uint32_t a = vyre_build_scalar(b, "a", VYRE_TYPE_F32);
 *     uint32_t x = vyre_build_buffer(b, "x", VYRE_ACCESS_IN, VYRE_TYPE_F32, VYRE_NONE);
 *     uint32_t y = vyre_build_buffer(b, "y", VYRE_ACCESS_INOUT, VYRE_TYPE_F32, VYRE_NONE);
 *     uint32_t n = vyre_build_size_len(b, y);
 *     vyre_build_phase(b, &(vyre_phase_desc){.domain = {n}});
 *     uint32_t i = vyre_build_position(b, VYRE_OP_GID, 0);
 *     uint32_t factor = vyre_build_param(b, a);
 *     uint32_t xi = vyre_build_load(b, x, i);
 *     uint32_t yi = vyre_build_load(b, y, i);
 *     vyre_build_store(b, y, i, vyre_build_op(b, VYRE_OP_FMA, factor, xi, yi));
 *     vyre_build_phase_end(b);
 *     status = vyre_builder_finish(b, NULL, &program);
 *     vyre_builder_free(b);
 *
 * Handles are plain numbers that belong to one builder: of arguments, resources, sizes, values and
 * variables. Names are copied; NULL is no name, which is a mistake for a program, a scalar and a
 * buffer. A builder belongs to one thread at a time.
 */
#ifndef VYRE_BUILDER_H
#define VYRE_BUILDER_H

#include <vyre/diagnostic.h>
#include <vyre/program.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vyre_builder vyre_builder;

VYRE_API VYRE_MUST_USE vyre_status vyre_builder_create(const char *name,
                                                       vyre_builder **out_builder);
VYRE_API void vyre_builder_free(vyre_builder *builder); /* NULL is allowed */

/* Starts over with another program, finished or not, and keeps memory for it. After an error the
 * builder can only be freed. */
VYRE_API VYRE_MUST_USE vyre_status vyre_builder_reset(vyre_builder *builder, const char *name);

/* Makes the program. All phases and blocks must be closed; the builder is spent afterwards and can
 * only be freed. `diagnostics`, if given, receives errors and warnings; the status carries the
 * first error either way. */
VYRE_API VYRE_MUST_USE vyre_status vyre_builder_finish(vyre_builder *builder,
                                                       vyre_diagnostics *diagnostics,
                                                       vyre_program **out_program);

/* How many mistakes have been reported so far; a frontend need not repeat what made them. */
VYRE_API size_t vyre_builder_errors(const vyre_builder *builder);

/* Where the next instructions come from, for diagnostics and the debug section. A scope is an
 * inlined call that starts at the current place; its function stands in the same file as the call.
 * Leave it with vyre_build_scope_end. */
VYRE_API void vyre_build_file(vyre_builder *builder, const char *file);
VYRE_API void vyre_build_at(vyre_builder *builder, uint32_t line, uint32_t column, uint32_t length);
VYRE_API void vyre_build_scope(vyre_builder *builder, const char *function);
/* The same for a function of another file than the caller's. */
VYRE_API void vyre_build_scope_of(vyre_builder *builder, const char *function, const char *file);
VYRE_API void vyre_build_scope_end(vyre_builder *builder);

/* The author's claim that the program's bytes do not depend on the schedule. */
VYRE_API void vyre_build_deterministic(vyre_builder *builder);

/* The interface, in declaration order. A scalar gives an argument, a buffer a resource. The size of
 * an `out` buffer is required; elsewhere it states the length that the caller must bring, or is
 * VYRE_NONE. */
VYRE_API uint32_t vyre_build_scalar(vyre_builder *builder, const char *name, vyre_type type);
VYRE_API uint32_t vyre_build_buffer(vyre_builder *builder, const char *name, vyre_access access,
                                    vyre_type type, uint32_t size);
VYRE_API uint32_t vyre_build_scratch(vyre_builder *builder, const char *name, vyre_type type,
                                     uint32_t size);

/* Sizes. Each may be used once, as an operand or in a declaration. */
VYRE_API uint32_t vyre_build_size_const(vyre_builder *builder, uint64_t value);
VYRE_API uint32_t vyre_build_size_len(vyre_builder *builder, uint32_t buffer);
VYRE_API uint32_t vyre_build_size_param(vyre_builder *builder, uint32_t scalar);
VYRE_API uint32_t vyre_build_size_op(vyre_builder *builder, vyre_size_op op, uint32_t left,
                                     uint32_t right);
/* The same size once more, whether it is in use or not. */
VYRE_API uint32_t vyre_build_size_copy(vyre_builder *builder, uint32_t size);

/* Two sizes that must be equal, or the program does not start. Those that always are add nothing;
 * constants that are not are a mistake. */
VYRE_API void vyre_build_require(vyre_builder *builder, uint32_t left, uint32_t right);

/* Steps. Zero in a descriptor means the default. */
typedef struct vyre_phase_desc {
    const char *name;
    uint32_t domain[3];  /* sizes; a phase has as many dimensions as there are, at least one */
    uint32_t dimensions; /* 0 is 1 */
    bool from_memory; /* the domain is element `from_index` of `from_resource`, at most domain[0] */
    uint32_t from_resource, from_index;
    uint32_t workgroup[3]; /* 0: no workgroup clause; missing dimensions are 1 */
    uint32_t subgroup;     /* 0 is 32 */
} vyre_phase_desc;

VYRE_API void vyre_build_phase(vyre_builder *builder, const vyre_phase_desc *desc);
VYRE_API void vyre_build_phase_end(vyre_builder *builder);

/* A repeat gives a handle for vyre_build_iteration. */
VYRE_API uint32_t vyre_build_repeat(vyre_builder *builder, const char *name, uint32_t count_size);
VYRE_API uint32_t vyre_build_repeat_while(vyre_builder *builder, const char *name,
                                          uint32_t resource, uint32_t index_size);
VYRE_API void vyre_build_repeat_end(vyre_builder *builder);

/* Arrays of the phase. */
VYRE_API uint32_t vyre_build_shared(vyre_builder *builder, const char *name, vyre_type type,
                                    uint32_t length);
VYRE_API uint32_t vyre_build_private(vyre_builder *builder, const char *name, vyre_type type,
                                     uint32_t length);

/* Constants. `bits` beyond the type's width are ignored. */
VYRE_API uint32_t vyre_build_const(vyre_builder *builder, vyre_type type, uint64_t bits);
VYRE_API uint32_t vyre_build_u32(vyre_builder *builder, uint32_t value);
VYRE_API uint32_t vyre_build_i32(vyre_builder *builder, int32_t value);
VYRE_API uint32_t vyre_build_f32(vyre_builder *builder, float value);
VYRE_API uint32_t vyre_build_bool(vyre_builder *builder, bool value);

/* Surroundings. `op` is GID, LID, WID or NUM_WORKGROUPS with a dimension from 0; or IN_DOMAIN, LANE
 * or SUBGROUP_ID with 0. */
VYRE_API uint32_t vyre_build_position(vyre_builder *builder, vyre_op op, uint32_t dimension);
VYRE_API uint32_t vyre_build_param(vyre_builder *builder, uint32_t scalar);
VYRE_API uint32_t vyre_build_iteration(vyre_builder *builder, uint32_t repeat);
VYRE_API uint32_t vyre_build_len(vyre_builder *builder, uint32_t resource);

/* Any operation whose operands are one to three values and whose result type follows from theirs;
 * operands it does not take are VYRE_NONE. */
VYRE_API uint32_t vyre_build_op(vyre_builder *builder, vyre_op op, uint32_t a, uint32_t b,
                                uint32_t c);
/* The value itself where it has that type already. */
VYRE_API uint32_t vyre_build_convert(vyre_builder *builder, vyre_type type, uint32_t value);
VYRE_API uint32_t vyre_build_bitcast(vyre_builder *builder, vyre_type type, uint32_t value);
/* REDUCE, SCAN or SCAN_EXCLUSIVE. */
VYRE_API uint32_t vyre_build_combine(vyre_builder *builder, vyre_op op, vyre_combination how,
                                     uint32_t value);

/* MATRIX_MAD: the lane's words of a, of b and of c. `results` receives its elements of the sum. */
VYRE_API void vyre_build_matrix_mad(vyre_builder *builder,
                                    const uint32_t operands[VYRE_MATRIX_OPERANDS],
                                    uint32_t results[VYRE_MATRIX_C]);

/* Memory. An index has any integer type. */
VYRE_API uint32_t vyre_build_load(vyre_builder *builder, uint32_t resource, uint32_t index);
VYRE_API uint32_t vyre_build_uniform_load(vyre_builder *builder, uint32_t resource, uint32_t index);
VYRE_API void vyre_build_store(vyre_builder *builder, uint32_t resource, uint32_t index,
                               uint32_t value);
VYRE_API void vyre_build_clear(vyre_builder *builder, uint32_t resource);
/* Any atomic operation. `value` is VYRE_NONE for ATOMIC_LOAD; `desired` is for ATOMIC_CAS alone,
 * where `value` is what is expected, and VYRE_NONE elsewhere. Scope is the workgroup's on shared
 * arrays, whatever is asked for. */
VYRE_API uint32_t vyre_build_atomic(vyre_builder *builder, vyre_op op, uint32_t resource,
                                    uint32_t index, uint32_t value, uint32_t desired,
                                    vyre_ordering ordering, vyre_scope scope);
VYRE_API void vyre_build_barrier(vyre_builder *builder, vyre_op barrier_or_grid_barrier);

/* Control flow. Values may leave blocks in two ways: explicitly, by the lists below, or by
 * variables, which the builder turns into such lists itself.
 *
 * An `if` without values needs no yield, and its else part may be left out; a loop whose block
 * reaches its end continues by itself if it carries no explicit values. `results` and `args`
 * receive handles. More than VYRE_LIMIT_CARRIED values are a mistake, and no list is touched. */
VYRE_API void vyre_build_if(vyre_builder *builder, uint32_t condition);
VYRE_API void vyre_build_else(vyre_builder *builder);
VYRE_API void vyre_build_if_end(vyre_builder *builder, uint32_t count, uint32_t *results);

VYRE_API void vyre_build_loop(vyre_builder *builder, uint32_t count, const uint32_t *initial,
                              uint32_t *args);
/* Counts from `first` up to but not including `end`; a step that is not positive gives no
 * iteration. All three have one integer type. Returns the counter. */
VYRE_API uint32_t vyre_build_for(vyre_builder *builder, uint32_t first, uint32_t end, uint32_t step,
                                 uint32_t count, const uint32_t *initial, uint32_t *args);
VYRE_API void vyre_build_loop_end(vyre_builder *builder, uint32_t count, uint32_t *results);

VYRE_API void vyre_build_inline(vyre_builder *builder);
VYRE_API void vyre_build_inline_end(vyre_builder *builder, uint32_t count, uint32_t *results);

VYRE_API void vyre_build_yield(vyre_builder *builder, uint32_t count, const uint32_t *values);
VYRE_API void vyre_build_break(vyre_builder *builder, uint32_t count, const uint32_t *values);
VYRE_API void vyre_build_continue(vyre_builder *builder, uint32_t count, const uint32_t *values);
VYRE_API void vyre_build_return(vyre_builder *builder, uint32_t count, const uint32_t *values);

/* Whether the next instruction could be reached. */
VYRE_API bool vyre_build_reachable(const vyre_builder *builder);

/* Variables live until the block they were made in ends. */
VYRE_API uint32_t vyre_build_var(vyre_builder *builder, const char *name, uint32_t initial);
VYRE_API uint32_t vyre_build_get(vyre_builder *builder, uint32_t variable);
VYRE_API void vyre_build_set(vyre_builder *builder, uint32_t variable, uint32_t value);

/* Names a value, for people. */
VYRE_API void vyre_build_name(vyre_builder *builder, uint32_t value, const char *name);

/* The type of a value; void for VYRE_NONE. */
VYRE_API vyre_type vyre_build_type(const vyre_builder *builder, uint32_t value);

/* Adds a diagnostic of one's own at the current place, as a frontend does for its language. */
VYRE_API void vyre_build_report(vyre_builder *builder, uint32_t code, const char *fix,
                                const char *format, ...) VYRE_PRINTF(4, 5);

#ifdef __cplusplus
}
#endif

#endif
