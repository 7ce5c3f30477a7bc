#include "pass/pass.h"

#include "base/status.h"
#include "pass/shared.h"

const vyre_pass vyre_passes[VYRE_PASS_COUNT] = {
#define ROW(id, name, function, about) {name, function, about},
    VYRE_PASSES(ROW)
#undef ROW
};

/* In this order: what folds may make a range constant, iterations of a loop make indices so, and
 * arrays of these are values then. Values leave loops before equal ones are looked for, and those
 * that turn out to be equal may make something simple. */
static const vyre_pass_id pipeline[] = {VYRE_PASS_FOLD,    VYRE_PASS_UNROLL, VYRE_PASS_FOLD,
                                        VYRE_PASS_PROMOTE, VYRE_PASS_LICM,   VYRE_PASS_CSE,
                                        VYRE_PASS_FOLD,    VYRE_PASS_DCE};

vyre_status vyre_optimise(const vyre_program *program, vyre_program **out_program) {
    *out_program = NULL;
    if (vyre_shared_is_sized(vyre_program_ir(program))) {
        return vyre_shared_refuse(program);
    }
    vyre_status status = VYRE_OK;
    vyre_program *current = NULL;
    for (size_t i = 0; i < sizeof pipeline / sizeof *pipeline && !status; i++) {
        vyre_program *next;
        status = vyre_passes[pipeline[i]].run(current ? current : program, &next);
        if (!status && next) {
            vyre_program_release(current);
            current = next;
        }
    }
    if (status) {
        vyre_program_release(current);
        current = NULL;
    }
    *out_program = current;
    return status;
}

vyre_status vyre_lower_program(const vyre_program *program, vyre_program **out_program) {
    vyre_program *expanded, *optimised;
    *out_program = NULL;
    VYRE_TRY(vyre_math_expand(program, &expanded));
    if (!expanded) {
        expanded = vyre_program_retain((vyre_program *)(uintptr_t)program);
    }
    vyre_status status = vyre_optimise(expanded, &optimised);
    if (!status) {
        *out_program = optimised ? optimised : vyre_program_retain(expanded);
    }
    vyre_program_release(expanded);
    return status;
}
