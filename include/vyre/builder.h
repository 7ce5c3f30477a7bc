/* Builder: makes programs by calls instead of text.
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
 * Calls check their arguments at once. A call with a mistake records a diagnostic and returns
 * VYRE_NONE. Later calls accept VYRE_NONE silently, so one mistake gives one diagnostic. Callers
 * need not check anything until vyre_builder_finish, which fails if there was a mistake.
 *
 * VYRE_NONE as an operand without an earlier mistake is itself a mistake. A frontend therefore
 * records its own mistakes with vyre_build_report.
 *
 * Arguments, resources, sizes, values and variables are handles: numbers that belong to one
 * builder. The builder copies names. NULL means no name; programs, scalars and buffers need one.
 * One thread at a time may use a builder. */
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

/* Discards the program, finished or not, and starts another one in the same memory. After an error
 * the builder can only be freed. */
VYRE_API VYRE_MUST_USE vyre_status vyre_builder_reset(vyre_builder *builder, const char *name);

/* Verifies and returns the program, which the caller releases. All phases and blocks must be
 * closed. The builder can then only be reset or freed. `diagnostics` may be NULL; it receives all
 * errors and warnings. The status carries the first error in any case. */
VYRE_API VYRE_MUST_USE vyre_status vyre_builder_finish(vyre_builder *builder,
                                                       vyre_diagnostics *diagnostics,
                                                       vyre_program **out_program);

/* Returns the number of mistakes so far. A frontend need not report their consequences. */
VYRE_API size_t vyre_builder_errors(const vyre_builder *builder);

/* These set the source place of the following instructions, for diagnostics and debug information.
 * vyre_build_scope starts an inlined call of a function in the same file, at the current place.
 * vyre_build_scope_end ends it. */
VYRE_API void vyre_build_file(vyre_builder *builder, const char *file);
VYRE_API void vyre_build_at(vyre_builder *builder, uint32_t line, uint32_t column, uint32_t length);
VYRE_API void vyre_build_scope(vyre_builder *builder, const char *function);
/* Like vyre_build_scope, for a function in another file. */
VYRE_API void vyre_build_scope_of(vyre_builder *builder, const char *function, const char *file);
VYRE_API void vyre_build_scope_end(vyre_builder *builder);

/* Claims that the program's output does not depend on the schedule. */
VYRE_API void vyre_build_deterministic(vyre_builder *builder);

/* Declare the arguments, in order, and scratch arrays. A scalar returns an argument handle; a
 * buffer and a scratch array return a resource handle. `size` is required for `out` buffers and
 * scratch arrays. For other buffers it states the length that the caller must pass, or is
 * VYRE_NONE. */
VYRE_API uint32_t vyre_build_scalar(vyre_builder *builder, const char *name, vyre_type type);
VYRE_API uint32_t vyre_build_buffer(vyre_builder *builder, const char *name, vyre_access access,
                                    vyre_type type, uint32_t size);
VYRE_API uint32_t vyre_build_scratch(vyre_builder *builder, const char *name, vyre_type type,
                                     uint32_t size);

/* Declares a constant array, at any time: `length` elements of `type`, laid out as in C. The
 * builder copies them. Equal arrays are merged. An array that no instruction uses is left out. */
VYRE_API uint32_t vyre_build_constant_array(vyre_builder *builder, const char *name, vyre_type type,
                                            uint32_t length, const void *elements);

/* Declares a buffer whose elements are records of `bytes` bytes. Instructions access them through
 * fields. A field is an array as long as the buffer; its elements lie at `offset` in each record. A
 * field may be declared at any time, also twice; the call returns a resource handle. `offset` and
 * `bytes` are multiples of the type's size. Fields of different types must not overlap. */
VYRE_API uint32_t vyre_build_records(vyre_builder *builder, const char *name, vyre_access access,
                                     uint32_t bytes, uint32_t size);
VYRE_API uint32_t vyre_build_field(vyre_builder *builder, uint32_t buffer, vyre_type type,
                                   uint32_t offset);

/* Sizes: expressions that the host evaluates before the run. Each handle may be used once, as an
 * operand or in a declaration. */
VYRE_API uint32_t vyre_build_size_const(vyre_builder *builder, uint64_t value);
VYRE_API uint32_t vyre_build_size_len(vyre_builder *builder, uint32_t buffer);
VYRE_API uint32_t vyre_build_size_param(vyre_builder *builder, uint32_t scalar);
VYRE_API uint32_t vyre_build_size_op(vyre_builder *builder, vyre_size_op op, uint32_t left,
                                     uint32_t right);
/* The counter of an open repeat. Only domains, indices and counts inside of that repeat use it. */
VYRE_API uint32_t vyre_build_size_iteration(vyre_builder *builder, uint32_t repeat);
/* Returns a copy of a size, which may already be used. */
VYRE_API uint32_t vyre_build_size_copy(vyre_builder *builder, uint32_t size);

/* Requires two sizes to be equal; otherwise the program does not start. Sizes that are always equal
 * add nothing. Constants that differ are a mistake. */
VYRE_API void vyre_build_require(vyre_builder *builder, uint32_t left, uint32_t right);

/* A phase. Zero means the default. */
typedef struct vyre_phase_desc {
    const char *name;
    uint32_t domain[3];  /* one size for each dimension */
    uint32_t dimensions; /* 1 to 3; 0 means 1 */
    bool from_memory;    /* the domain is in `from_resource`, at most `domain`: one element for each
                          * dimension, from element `from_index` on */
    uint32_t from_resource, from_index;
    uint32_t workgroup[3]; /* 0: no workgroup clause; missing dimensions are 1 */
    uint32_t subgroup;     /* width; 0 means 32 */
} vyre_phase_desc;

VYRE_API void vyre_build_phase(vyre_builder *builder, const vyre_phase_desc *desc);
VYRE_API void vyre_build_phase_end(vyre_builder *builder);

/* Repeat the following phases `count_size` times, or while element `index_size` of `resource` is
 * not 0. They return a handle for vyre_build_iteration. */
VYRE_API uint32_t vyre_build_repeat(vyre_builder *builder, const char *name, uint32_t count_size);
VYRE_API uint32_t vyre_build_repeat_while(vyre_builder *builder, const char *name,
                                          uint32_t resource, uint32_t index_size);
VYRE_API void vyre_build_repeat_end(vyre_builder *builder);

/* Exchanges the contents of two arrays, which have the same type and length: scratch, and buffers
 * that are not read-only. */
VYRE_API void vyre_build_swap(vyre_builder *builder, uint32_t first, uint32_t second);

/* Runs the following steps if element `index_size` of `resource` is not 0. The steps behind
 * vyre_build_branch_else run otherwise. */
VYRE_API void vyre_build_branch(vyre_builder *builder, uint32_t resource, uint32_t index_size);
VYRE_API void vyre_build_branch_else(vyre_builder *builder);
VYRE_API void vyre_build_branch_end(vyre_builder *builder);

/* Declare arrays of the current phase: one per workgroup, or one per invocation. */
VYRE_API uint32_t vyre_build_shared(vyre_builder *builder, const char *name, vyre_type type,
                                    uint32_t length);
/* A shared array whose length the host computes before the run. */
VYRE_API uint32_t vyre_build_shared_sized(vyre_builder *builder, const char *name, vyre_type type,
                                          uint32_t size);
VYRE_API uint32_t vyre_build_private(vyre_builder *builder, const char *name, vyre_type type,
                                     uint32_t length);

/* Constants. Bits beyond the width of the type are ignored. */
VYRE_API uint32_t vyre_build_const(vyre_builder *builder, vyre_type type, uint64_t bits);
VYRE_API uint32_t vyre_build_u32(vyre_builder *builder, uint32_t value);
VYRE_API uint32_t vyre_build_i32(vyre_builder *builder, int32_t value);
VYRE_API uint32_t vyre_build_f32(vyre_builder *builder, float value);
VYRE_API uint32_t vyre_build_bool(vyre_builder *builder, bool value);

/* Built-in values. `op` is GID, LID, WID or NUM_WORKGROUPS with a dimension from 0, or IN_DOMAIN,
 * LANE or SUBGROUP_ID with dimension 0. */
VYRE_API uint32_t vyre_build_position(vyre_builder *builder, vyre_op op, uint32_t dimension);
VYRE_API uint32_t vyre_build_param(vyre_builder *builder, uint32_t scalar);
VYRE_API uint32_t vyre_build_iteration(vyre_builder *builder, uint32_t repeat);
VYRE_API uint32_t vyre_build_len(vyre_builder *builder, uint32_t resource);

/* Adds an operation with one to three value operands whose types determine the result type. Unused
 * operands are VYRE_NONE. */
VYRE_API uint32_t vyre_build_op(vyre_builder *builder, vyre_op op, uint32_t a, uint32_t b,
                                uint32_t c);
/* Returns `value` itself if it already has that type. */
VYRE_API uint32_t vyre_build_convert(vyre_builder *builder, vyre_type type, uint32_t value);
VYRE_API uint32_t vyre_build_bitcast(vyre_builder *builder, vyre_type type, uint32_t value);
/* Adds a subgroup REDUCE, SCAN or SCAN_EXCLUSIVE. */
VYRE_API uint32_t vyre_build_combine(vyre_builder *builder, vyre_op op, vyre_combination how,
                                     uint32_t value);

/* Adds MATRIX_MAD. `operands` are the lane's words of a, then b, then c. `results` receives its
 * elements of the sum. */
VYRE_API void vyre_build_matrix_mad(vyre_builder *builder,
                                    const uint32_t operands[VYRE_MATRIX_OPERANDS],
                                    uint32_t results[VYRE_MATRIX_C]);

/* Memory. An index may have any integer type. */
VYRE_API uint32_t vyre_build_load(vyre_builder *builder, uint32_t resource, uint32_t index);
VYRE_API uint32_t vyre_build_uniform_load(vyre_builder *builder, uint32_t resource, uint32_t index);
VYRE_API void vyre_build_store(vyre_builder *builder, uint32_t resource, uint32_t index,
                               uint32_t value);
VYRE_API void vyre_build_clear(vyre_builder *builder, uint32_t resource);
/* Adds an atomic operation. `value` is VYRE_NONE for ATOMIC_LOAD. For ATOMIC_CAS `value` is the
 * expected and `desired` the new value; otherwise `desired` is VYRE_NONE. On shared arrays the
 * scope is always the workgroup. */
VYRE_API uint32_t vyre_build_atomic(vyre_builder *builder, vyre_op op, uint32_t resource,
                                    uint32_t index, uint32_t value, uint32_t desired,
                                    vyre_ordering ordering, vyre_scope scope);
VYRE_API void vyre_build_barrier(vyre_builder *builder, vyre_op barrier_or_grid_barrier);

/* Messages: `print` and `assert` of the language. The text is UTF-8 with a placeholder, `{}` or
 * `{:x}`, for each value, and `{{` or `}}` for a brace. The builder copies it. */
VYRE_API void vyre_build_print(vyre_builder *builder, const char *text, uint32_t count,
                               const uint32_t *values);
VYRE_API void vyre_build_assert(vyre_builder *builder, uint32_t condition, const char *text,
                                uint32_t count, const uint32_t *values);

/* Control flow. Values leave a block in two ways: through the explicit lists below, or through
 * variables, for which the builder makes the lists.
 *
 * An `if` without values needs no yield, and its else block is optional. A loop without explicit
 * values continues by itself at the end of its block. `results` and `args` receive handles. More
 * than VYRE_LIMIT_CARRIED values are a mistake; the lists are then left untouched. */
VYRE_API void vyre_build_if(vyre_builder *builder, uint32_t condition);
VYRE_API void vyre_build_else(vyre_builder *builder);
VYRE_API void vyre_build_if_end(vyre_builder *builder, uint32_t count, uint32_t *results);

VYRE_API void vyre_build_loop(vyre_builder *builder, uint32_t count, const uint32_t *initial,
                              uint32_t *args);
/* Counts from `first` up to, but not including, `end`. A step of 0 or less gives no iteration. All
 * three have the same integer type. Returns the counter. */
VYRE_API uint32_t vyre_build_for(vyre_builder *builder, uint32_t first, uint32_t end, uint32_t step,
                                 uint32_t count, const uint32_t *initial, uint32_t *args);
VYRE_API void vyre_build_loop_end(vyre_builder *builder, uint32_t count, uint32_t *results);

VYRE_API void vyre_build_inline(vyre_builder *builder);
VYRE_API void vyre_build_inline_end(vyre_builder *builder, uint32_t count, uint32_t *results);

VYRE_API void vyre_build_yield(vyre_builder *builder, uint32_t count, const uint32_t *values);
VYRE_API void vyre_build_break(vyre_builder *builder, uint32_t count, const uint32_t *values);
VYRE_API void vyre_build_continue(vyre_builder *builder, uint32_t count, const uint32_t *values);
VYRE_API void vyre_build_return(vyre_builder *builder, uint32_t count, const uint32_t *values);

/* Returns whether the next instruction can be reached. */
VYRE_API bool vyre_build_reachable(const vyre_builder *builder);

/* Variables live until the end of the block that declares them. */
VYRE_API uint32_t vyre_build_var(vyre_builder *builder, const char *name, uint32_t initial);
VYRE_API uint32_t vyre_build_get(vyre_builder *builder, uint32_t variable);
VYRE_API void vyre_build_set(vyre_builder *builder, uint32_t variable, uint32_t value);

/* Names a value, for diagnostics and printing. */
VYRE_API void vyre_build_name(vyre_builder *builder, uint32_t value, const char *name);

/* Returns the type of a value; void for VYRE_NONE. */
VYRE_API vyre_type vyre_build_type(const vyre_builder *builder, uint32_t value);

/* Records a diagnostic of the frontend at the current place. */
VYRE_API void vyre_build_report(vyre_builder *builder, uint32_t code, const char *fix,
                                const char *format, ...) VYRE_PRINTF(4, 5);

#ifdef __cplusplus
}
#endif

#endif
