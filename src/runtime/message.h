/* Messages: runs that record what a program prints and asserts, and what the host makes of it. */
#ifndef VYRE_RUNTIME_MESSAGE_H
#define VYRE_RUNTIME_MESSAGE_H

#include "runtime/device.h"

/* The kinds of messages that a run of a pipeline with this config records; 0 if none. */
uint32_t vyre_messages_wanted(const vyre_pipeline *pipeline, const vyre_dispatch_config *config);

/* The same for a run that starts: its `prints` have left out nothing yet. */
uint32_t vyre_messages_start(const vyre_pipeline *pipeline, const vyre_dispatch_config *config);

/* How to run a pipeline; the same as the functions of pipeline.h. `outputs` are those of the
 * caller where the form is VYRE_RUN_INTO, and new ones else. */
typedef struct vyre_message_run {
    vyre_run_form form;
    const vyre_input *inputs;
    size_t input_count;
    const vyre_dispatch_config *config;
    vyre_outputs *outputs;
    vyre_timing *timing;
} vyre_message_run;

/* Runs and hands out messages of these kinds. The inputs have been checked against the program. */
VYRE_MUST_USE vyre_status vyre_messages_run(vyre_pipeline *pipeline, uint32_t kinds,
                                            const vyre_message_run *run);

/* The same on resident buffers, which have been checked, too. The run is over when it returns.
 * Since it changes its arguments, it runs once: where a log has no room for all messages of its
 * kind, the host tells their number alone, so that what it tells does not depend on the schedule.
 */
VYRE_MUST_USE vyre_status vyre_messages_run_resident(vyre_pipeline *pipeline, uint32_t kinds,
                                                     const vyre_binding *bindings, size_t count,
                                                     const vyre_dispatch_config *config,
                                                     vyre_timing *out_timing);

/* Refuses a config that asks for prints of a run that has none. */
VYRE_MUST_USE vyre_status vyre_messages_refuse(const vyre_program *program,
                                               const vyre_dispatch_config *config);

#endif
