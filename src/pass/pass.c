#include "pass/pass.h"

#include "pass/decide.h"

#include "base/status.h"

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

static vyre_status run_all(const vyre_program *program, const vyre_pass_id *ids, size_t count,
                           vyre_program **out_program) {
    vyre_status status = VYRE_OK;
    vyre_program *current = NULL;
    for (size_t i = 0; i < count && !status; i++) {
        vyre_program *next;
        status = vyre_passes[ids[i]].run(current ? current : program, &next);
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

vyre_status vyre_optimise(const vyre_program *program, vyre_program **out_program) {
    return run_all(program, pipeline, sizeof pipeline / sizeof *pipeline, out_program);
}

/* What is decided, and what follows; NULL if nothing is. */
static vyre_status settle(const vyre_program *program, bool own_domain,
                          vyre_program **out_program) {
    static const vyre_pass_id rest[] = {VYRE_PASS_FOLD, VYRE_PASS_CSE, VYRE_PASS_DCE};
    VYRE_TRY(vyre_decide(program, own_domain, out_program));
    if (!*out_program) {
        return VYRE_OK;
    }
    vyre_program *decided = *out_program;
    vyre_status status = run_all(decided, rest, sizeof rest / sizeof *rest, out_program);
    if (status) {
        vyre_program_release(decided);
    } else if (*out_program) {
        vyre_program_release(decided);
    } else {
        *out_program = decided;
    }
    return status;
}

vyre_status vyre_lower_program(const vyre_program *program, bool own_domain,
                               vyre_program **out_program) {
    vyre_program *expanded, *optimised;
    *out_program = NULL;
    VYRE_TRY(vyre_math_expand(program, &expanded));
    if (!expanded) {
        expanded = vyre_program_retain((vyre_program *)(uintptr_t)program);
    }
    vyre_status status = vyre_optimise(expanded, &optimised);
    if (!status) {
        optimised = optimised ? optimised : vyre_program_retain(expanded);
        status = settle(optimised, own_domain, out_program);
        *out_program = status || *out_program ? *out_program : vyre_program_retain(optimised);
        vyre_program_release(optimised);
    }
    vyre_program_release(expanded);
    return status;
}
