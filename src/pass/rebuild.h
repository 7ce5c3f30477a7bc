/* Rebuild: a program copied through the builder, instruction by instruction, so that a pass can put
 * something else in an instruction's place. Programs never change; every pass gives a new one.
 *
 *     vyre_rebuild hooks = {.replace = my_replacement, .user = &my_state};
 *     status = vyre_rebuild_run(program, hooks, &result);
 */
#ifndef VYRE_PASS_REBUILD_H
#define VYRE_PASS_REBUILD_H

#include <vyre/builder.h>

#include "ir/lookup.h"

typedef struct vyre_rebuild vyre_rebuild;

/* What a record becomes: so many integers. */
typedef struct vyre_record_unit {
    vyre_type type;
    uint32_t count; /* 0: no buffer of records */
} vyre_record_unit;

struct vyre_rebuild {
    /* Hooks, all of which may be NULL.
     *
     * May build anything in place of an instruction that holds no block, and then sets
     * values[inst], or those of the results behind it; what stands in place of the end of a block
     * ends it, too. False leaves it to the copy. */
    bool (*replace)(vyre_rebuild *rebuild, uint32_t inst);
    /* The same for an instruction that holds blocks, together with those and the results behind
     * them, whose values it sets. What it builds and leaves to the copy comes in front of it. */
    bool (*replace_block)(vyre_rebuild *rebuild, uint32_t inst);
    /* The same for the phase of a step: anything that can stand between phases. */
    bool (*replace_phase)(vyre_rebuild *rebuild, uint32_t step);
    /* Declares arguments behind those of `from`. */
    void (*declare)(vyre_rebuild *rebuild);
    const bool *left_out;    /* by resource: arrays of phases that nothing mentions */
    const uint32_t *lengths; /* by resource: those of shared arrays, in place of their sizes */
    /* By resource: the records of buffers become integers; accesses to them are replaced. */
    const vyre_record_unit *units;
    void *user;

    const vyre_program *from;
    const vyre_ir *ir;
    vyre_builder *to;
    uint32_t *values;    /* by instruction of `from`: its value in `to` */
    uint32_t *resources; /* by resource */
    uint32_t *scalars;   /* by argument: its handle */
    uint32_t *repeats;   /* by step */
    uint32_t next_name;  /* in value_names */
    uint32_t unknown;    /* an instruction that nothing here copies, or VYRE_NONE */
};

/* A copy of `from`, with what the hooks put in place of its parts. */
VYRE_MUST_USE vyre_status vyre_rebuild_run(const vyre_program *from, vyre_rebuild hooks,
                                           vyre_program **out_program);
/* The same step by step, for passes that do more between the steps. Hooks are set before. */
VYRE_MUST_USE vyre_status vyre_rebuild_init(vyre_rebuild *rebuild, const vyre_program *from);
void vyre_rebuild_build(vyre_rebuild *rebuild);
VYRE_MUST_USE vyre_status vyre_rebuild_finish(vyre_rebuild *rebuild, vyre_program **out_program);
void vyre_rebuild_deinit(vyre_rebuild *rebuild);

/* An operand of `from` as a value of `to`. */
uint32_t vyre_rebuild_operand(vyre_rebuild *rebuild, uint32_t operand);

/* The parts of a copy, for passes that put a program together in another order. */

/* A size of `from` as one of `to`, which may be used once; VYRE_NONE for VYRE_NONE. */
/* At least, or at most, what a size is in any iteration; without counters of repeats. */
uint32_t vyre_rebuild_size_bound(vyre_rebuild *rebuild, uint32_t size, bool upper);
uint32_t vyre_rebuild_size(vyre_rebuild *rebuild, uint32_t size);
/* What a phase is to be opened with. */
vyre_phase_desc vyre_rebuild_phase_desc(vyre_rebuild *rebuild, uint32_t step);
/* Opens a phase, with its arrays. */
void vyre_rebuild_phase_begin(vyre_rebuild *rebuild, uint32_t step);
/* Declares the constant arrays of `from`. The builder leaves out those that nothing uses. */
void vyre_rebuild_constants(vyre_rebuild *rebuild);
/* Declares a shared or private array of `from` in the phase that is open. */
void vyre_rebuild_array(vyre_rebuild *rebuild, uint32_t resource);
/* The instructions of a block or of a part of one, with the blocks that they own. */
void vyre_rebuild_code(vyre_rebuild *rebuild, vyre_block code);
/* One instruction that owns none. */
void vyre_rebuild_one(vyre_rebuild *rebuild, uint32_t inst);
/* An instruction that holds blocks, in three steps: opens its first block, copies the code of all,
 * and closes the last. Between the steps a pass may do something of its own. */
void vyre_rebuild_open(vyre_rebuild *rebuild, uint32_t owner);
void vyre_rebuild_blocks(vyre_rebuild *rebuild, uint32_t owner);
void vyre_rebuild_close(vyre_rebuild *rebuild, uint32_t owner);
/* Opens a loop that carries other values; `out_args` are its args but for the counter, which is
 * set. vyre_rebuild_end closes the blocks of any owner, with other results. */
void vyre_rebuild_loop(vyre_rebuild *rebuild, uint32_t loop, uint32_t count,
                       const uint32_t *carried, uint32_t *out_args);
void vyre_rebuild_end(vyre_rebuild *rebuild, uint32_t owner, uint32_t count, uint32_t *out_results);
/* A terminator with these values of `to`. */
void vyre_rebuild_jump(vyre_rebuild *rebuild, uint32_t jump, uint32_t count,
                       const uint32_t *values);
/* The instruction `at`, which owns no block, on values of `to`; `array` is what an access goes to.
 * Gives its value, VYRE_NONE if it has none or several. */
uint32_t vyre_rebuild_inst(vyre_rebuild *rebuild, uint32_t at, uint32_t array,
                           const uint32_t *operands);
/* The names of the values of a phase; phases come in their order. */
void vyre_rebuild_names(vyre_rebuild *rebuild, const vyre_phase *phase);
/* The file, the flags and the calls that places point to: what stands in front of the rest. */
void vyre_rebuild_head(vyre_rebuild *rebuild);
/* Declares a buffer with elements like those of a buffer or scratch array; bytes for bools. */
uint32_t vyre_rebuild_buffer(vyre_rebuild *rebuild, uint32_t resource, const char *name,
                             vyre_access access, uint32_t size);
/* The name of an array or a step of `from`; NULL if it has none. */
const char *vyre_rebuild_resource_name(const vyre_rebuild *rebuild, uint32_t resource);
const char *vyre_rebuild_step_name(const vyre_rebuild *rebuild, uint32_t step);

/* Copies the code of a program of one phase into the place where `to` stands, with these values for
 * its scalar arguments. What it stores in element 0 of its one output is the result. `name` is the
 * function's, for people. */
uint32_t vyre_rebuild_splice(vyre_builder *to, const vyre_program *function, const char *name,
                             const uint32_t *arguments);

#endif
