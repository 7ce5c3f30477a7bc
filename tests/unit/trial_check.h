/* Random programs for tests of what works on one program alone. */
#ifndef VYRE_TESTS_TRIAL_CHECK_H
#define VYRE_TESTS_TRIAL_CHECK_H

#include "base/alloc.h"
#include "conform/trial.h"
#include "pass/message.h"
#include "pass/shared.h"
#include "runtime/shared.h"

/* A small program of records. */
static inline vyre_status trial_generate_records(uint64_t number, conform_trial *out_trial) {
    return conform_generate_small(12 * (2 * number + 1) + 1, out_trial);
}

static inline void trial_take(conform_trial *trial, vyre_program *program) {
    if (program) {
        vyre_program_release(trial->program);
        trial->program = program;
    }
}

/* conform_generate, without messages, and with numbers in place of sizes of shared arrays. */
static inline vyre_status trial_generate(uint64_t seed, conform_trial *out_trial) {
    vyre_program *fixed = NULL;
    vyre_status status = conform_generate(seed, out_trial);
    if (!status) {
        status = vyre_messages_drop(out_trial->program, &fixed);
    }
    trial_take(out_trial, fixed);
    if (status || !vyre_shared_is_sized(vyre_program_ir(out_trial->program))) {
        return status;
    }
    size_t count;
    vyre_plan plan;
    fixed = NULL;
    vyre_input *inputs = conform_trial_inputs(out_trial, out_trial->program, &count);
    status = vyre_plan_init(&plan, out_trial->program, inputs, count, &(vyre_dispatch_config){0});
    if (!status) {
        status = vyre_shared_program(&plan, 0, "a workgroup", &fixed);
        vyre_plan_deinit(&plan);
    }
    vyre_free(inputs);
    trial_take(out_trial, fixed);
    return status;
}

#endif
