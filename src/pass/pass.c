#include "pass/pass.h"

#include "base/status.h"
#include "ir/lookup.h"
#include "pass/decide.h"
#include "pass/message.h"
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

static vyre_status run_all(const vyre_program *program, const vyre_pass_id *ids, size_t count,
                           bool unrolls, vyre_program **out_program) {
    vyre_status status = VYRE_OK;
    vyre_program *current = NULL;
    for (size_t i = 0; i < count && !status; i++) {
        vyre_program *next;
        if (ids[i] == VYRE_PASS_UNROLL && !unrolls) {
            continue;
        }
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

static vyre_status run_pipeline(const vyre_program *program, bool unrolls,
                                vyre_program **out_program) {
    return run_all(program, pipeline, sizeof pipeline / sizeof *pipeline, unrolls, out_program);
}

vyre_status vyre_optimise(const vyre_program *program, vyre_program **out_program) {
    vyre_program *bare;
    *out_program = NULL;
    if (vyre_shared_is_sized(vyre_program_ir(program))) {
        return vyre_shared_refuse(program);
    }
    VYRE_TRY(vyre_messages_drop(program, &bare));
    vyre_status status = run_pipeline(bare ? bare : program, true, out_program);
    if (!status && !*out_program) {
        *out_program = bare;
        return VYRE_OK;
    }
    vyre_program_release(bare);
    return status;
}

vyre_status vyre_tidy(const vyre_program *program, vyre_program **out_program) {
    static const vyre_pass_id ids[] = {VYRE_PASS_FOLD, VYRE_PASS_CSE, VYRE_PASS_FOLD,
                                       VYRE_PASS_DCE};
    return run_all(program, ids, sizeof ids / sizeof *ids, false, out_program);
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
    vyre_status status = run_all(decided, rest, sizeof rest / sizeof *rest, false, out_program);
    if (status || *out_program) {
        vyre_program_release(decided);
    } else {
        *out_program = decided;
    }
    return status;
}

/* Compilers take time and memory for every instruction, and a short text can inline millions. An
 * elementary function becomes at least so many. */
static vyre_status check_size(const vyre_program *program) {
    enum { FUNCTION = 16 };
    const vyre_ir *ir = vyre_program_ir(program);
    uint64_t size = ir->inst_count;
    for (uint32_t i = 0; i < ir->inst_count; i++) {
        bool is_function = vyre_lookup_op(ir->insts[i].op)->rule == VYRE_RULE_ELEMENTARY;
        size += is_function ? FUNCTION - 1 : 0;
    }
    return size <= VYRE_LIMIT_COMPILED
               ? VYRE_OK
               : vyre_status_make(VYRE_STATUS_UNSUPPORTED,
                                  "inline less, use loops, or make several programs of it; backend "
                                  "`reference` runs it as it is",
                                  "`%s` has at least %llu instructions once its functions are "
                                  "expanded, and a program that is compiled has at most %d",
                                  vyre_program_name(program), (unsigned long long)size,
                                  VYRE_LIMIT_COMPILED);
}

/* Takes over what the elementary functions of `program` became. */
static vyre_status optimise_expanded(vyre_program *expanded, bool unrolls, bool own_domain,
                                     vyre_program **out_program) {
    vyre_program *optimised;
    vyre_status status = check_size(expanded);
    status = status ? status : run_pipeline(expanded, unrolls, &optimised);
    if (!status) {
        optimised = optimised ? optimised : vyre_program_retain(expanded);
        status = settle(optimised, own_domain, out_program);
        *out_program = status || *out_program ? *out_program : vyre_program_retain(optimised);
        vyre_program_release(optimised);
    }
    vyre_program_release(expanded);
    return status;
}

static vyre_status lower(const vyre_program *program, bool unrolls, bool own_domain,
                         vyre_program **out_program) {
    vyre_program *bare, *expanded;
    *out_program = NULL;
    VYRE_TRY(check_size(program));
    VYRE_TRY(vyre_messages_drop(program, &bare));
    bare = bare ? bare : vyre_program_retain((vyre_program *)(uintptr_t)program);
    vyre_status status = vyre_math_expand(bare, &expanded);
    if (status) {
        vyre_program_release(bare);
        return status;
    }
    if (expanded) {
        vyre_program_release(bare);
    }
    expanded = expanded ? expanded : bare;
    return optimise_expanded(expanded, unrolls, own_domain, out_program);
}

vyre_status vyre_lower_program(const vyre_program *program, bool own_domain,
                               vyre_program **out_program) {
    return lower(program, true, own_domain, out_program);
}

vyre_status vyre_lower_program_rolled(const vyre_program *program, bool own_domain,
                                      vyre_program **out_program) {
    return lower(program, false, own_domain, out_program);
}
