/* The machine: runs a program of one phase, one invocation after the other. */
#ifndef SCALAR_MACHINE_H
#define SCALAR_MACHINE_H

#include <vyre/backend.h>
#include <vyre/program.h>

typedef struct machine_array {
    unsigned char *data;
    uint64_t length; /* elements */
} machine_array;

typedef struct machine {
    const vyre_host *host;
    const vyre_ir *ir;
    const vyre_call *call;
    machine_array *arrays; /* by resource */
    uint64_t *values;      /* by instruction */
    uint64_t *carried;     /* room for what one loop carries */
    uint32_t gid[3];
    uint32_t steps;     /* until the clock is looked at */
    uint64_t end_ns;    /* 0: no timeout */
    vyre_status status; /* what ends the run early */
} machine;

/* Runs all invocations. Everything but `gid`, `steps`, `end_ns` and `status` is set. */
vyre_status machine_run(machine *m);

#endif
