/* Rebuild: a program copied through the builder, instruction by instruction, so that a pass can put
 * something else in an instruction's place. Programs never change; every pass gives a new one.
 *
 *     rebuild r;
 *     status = vyre_rebuild_init(&r, program);
 *     r.replace = my_replacement;   // gives true where it has dealt with the instruction
 *     status = vyre_rebuild_run(&r, &result);
 *     vyre_rebuild_deinit(&r);
 */
#ifndef VYRE_PASS_REBUILD_H
#define VYRE_PASS_REBUILD_H

#include <vyre/builder.h>

typedef struct vyre_rebuild vyre_rebuild;

struct vyre_rebuild {
    const vyre_program *from;
    const vyre_ir *ir;
    vyre_builder *to;
    uint32_t *values;    /* by instruction of `from`: its value in `to` */
    uint32_t *resources; /* by resource */
    uint32_t *scalars;   /* by argument: its handle */
    uint32_t *repeats;   /* by step */
    uint32_t next_name;  /* in value_names */

    /* May build anything in place of an instruction that holds no block and ends none, and then
     * sets values[inst]. False leaves it to the copy. NULL copies everything. */
    bool (*replace)(vyre_rebuild *rebuild, uint32_t inst);
    void *user;
};

VYRE_MUST_USE vyre_status vyre_rebuild_init(vyre_rebuild *rebuild, const vyre_program *from);
VYRE_MUST_USE vyre_status vyre_rebuild_run(vyre_rebuild *rebuild, vyre_program **out_program);
void vyre_rebuild_deinit(vyre_rebuild *rebuild);

/* An operand of `from` as a value of `to`. */
uint32_t vyre_rebuild_operand(vyre_rebuild *rebuild, uint32_t operand);

/* Copies the code of a program of one phase into the place where `to` stands, with these values for
 * its scalar arguments. What it stores in element 0 of its one output is the result. `name` is the
 * function's, for people. */
uint32_t vyre_rebuild_splice(vyre_builder *to, const vyre_program *function, const char *name,
                             const uint32_t *arguments);

#endif
