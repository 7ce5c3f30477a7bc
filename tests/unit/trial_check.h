/* Random programs for tests of what works on one program alone. */
#ifndef VYRE_TESTS_TRIAL_CHECK_H
#define VYRE_TESTS_TRIAL_CHECK_H

#include "base/alloc.h"
#include "conform/trial.h"
#include "pass/shared.h"
#include "runtime/shared.h"

/* A small program of records. */
static inline vyre_status trial_generate_records(uint64_t number, conform_trial *out_trial) {
    return conform_generate_small(12 * (2 * number + 1) + 1, out_trial);
}

/* conform_generate, with numbers in place of sizes of shared arrays. */
static inline vyre_status trial_generate(uint64_t seed, conform_trial *out_trial) {
    vyre_status status = conform_generate(seed, out_trial);
    if (status || !vyre_shared_is_sized(vyre_program_ir(out_trial->program))) {
        return status;
    }
    size_t count;
    vyre_plan plan;
    vyre_program *fixed = NULL;
    vyre_input *inputs = conform_trial_inputs(out_trial, out_trial->program, &count);
    status = vyre_plan_init(&plan, out_trial->program, inputs, count, &(vyre_dispatch_config){0});
    if (!status) {
        status = vyre_shared_program(&plan, 0, "a workgroup", &fixed);
        vyre_plan_deinit(&plan);
    }
    vyre_free(inputs);
    if (!status) {
        vyre_program_release(out_trial->program);
        out_trial->program = fixed;
    }
    return status;
}

#endif
