#include "pass/correct.h"

#include "base/status.h"
#include "ir/lookup.h"
#include "pass/correct_code.h"
#include "pass/pass.h"

typedef vyre_status (*step)(const vyre_program *program, correct_state *state,
                            vyre_program **out_program);

/* Runs a step on what the last one left, `*current` or else `program`. */
static vyre_status run(step function, const vyre_program *program, correct_state *state,
                       vyre_program **current) {
    vyre_program *next;
    VYRE_TRY(function(*current ? *current : program, state, &next));
    if (next) {
        vyre_program_release(*current);
        *current = next;
    }
    return VYRE_OK;
}

static vyre_status check_size(const vyre_program *program) {
    uint32_t count = vyre_program_ir(program)->inst_count;
    return count <= VYRE_LIMIT_COMPILED
               ? VYRE_OK
               : vyre_status_make(VYRE_STATUS_UNSUPPORTED,
                                  "make several programs of it, use fewer floats of types that the "
                                  "device lacks, or another device",
                                  "`%s` has %u instructions once its arithmetic is corrected for "
                                  "this device, and a program that is compiled has at most %d",
                                  vyre_program_name(program), (unsigned)count, VYRE_LIMIT_COMPILED);
}

/* The arithmetic of f32 that stands in place of that of bf16 is corrected, too. Numbers that come
 * from f16 are never subnormal in f32, so most of f16 is replaced last, and its arithmetic stays as
 * it is. */
vyre_status vyre_correct(const vyre_program *program, const vyre_corrections *needed,
                         vyre_program **out_program) {
    vyre_program *current = NULL;
    *out_program = NULL;
    if (needed->f32 & VYRE_CORRECT_ABSENT) {
        return vyre_status_make(VYRE_STATUS_UNSUPPORTED, "use another device",
                                "the device has no arithmetic on f32");
    }
    correct_state state = {.needed = *needed};
    vyre_status status = run(correct_halves, program, &state, &current);
    status = status ? status : run(correct_wide, program, &state, &current);
    state.is_last = true;
    status = status ? status : run(correct_halves, program, &state, &current);
    status = status || !current ? status : check_size(current);
    if (status) {
        vyre_program_release(current);
        current = NULL;
    }
    *out_program = current;
    return status;
}

vyre_status vyre_lower_corrected(const vyre_program *program, bool own_domain,
                                 const vyre_corrections *needed, vyre_program **out_program) {
    vyre_program *lowered, *corrected, *tidied;
    *out_program = NULL;
    VYRE_TRY(vyre_lower_program(program, own_domain, &lowered));
    vyre_status status = vyre_correct(lowered, needed, &corrected);
    if (status || !corrected) {
        *out_program = status ? NULL : vyre_program_retain(lowered);
        vyre_program_release(lowered);
        return status;
    }
    vyre_program_release(lowered);
    status = vyre_tidy(corrected, &tidied);
    *out_program = status ? NULL : vyre_program_retain(tidied ? tidied : corrected);
    vyre_program_release(corrected);
    vyre_program_release(tidied);
    return status;
}
