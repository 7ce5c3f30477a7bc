/* A backend as the driver sees it: a name, and a way to run a program. */
#ifndef VYRE_DRIVER_BACKEND_H
#define VYRE_DRIVER_BACKEND_H

#include "driver/plan.h"

typedef struct vyre_backend vyre_backend;

struct vyre_backend {
    const char *id;
    const char *alias; /* another name it goes by; NULL if there is none */
    const void *state; /* its own */
    /* Runs the plan's program. Outputs lie in the caller's memory, of the plan's sizes and with
     * anything in it before; all of it is written unless the run fails. */
    vyre_status (*run)(const vyre_backend *self, const vyre_plan *plan, const vyre_input *inputs,
                       const vyre_dispatch_config *config, vyre_output *outputs);
};

/* Checks the inputs, makes room for outputs and runs. `config` may be NULL. */
VYRE_MUST_USE vyre_status vyre_backend_run(const vyre_backend *backend, const vyre_program *program,
                                           const vyre_input *inputs, size_t input_count,
                                           const vyre_dispatch_config *config,
                                           vyre_outputs *out_outputs);

#endif
