/* Probe: what a device's arithmetic needs corrections for. A backend compiles the program for the
 * device without corrections, runs it on the operands, and has the results judged.
 *
 *     vyre_probe_program(has_f64, &program);
 *     vyre_probe_inputs(has_f64, &probe);
 *     ... dispatch: probe.count inputs, then as many outputs ...
 *     vyre_probe_judge(&probe, outputs, &corrections);
 *     vyre_probe_deinit(&probe);
 *
 * The program has no float in its interface: buffers are of u32 and u64, so bits travel as they
 * are. It runs one invocation for each of VYRE_PROBE_COUNT operand triples. */
#ifndef VYRE_PASS_PROBE_H
#define VYRE_PASS_PROBE_H

#include <vyre/program.h>

#include "pass/correct.h"

enum { VYRE_PROBE_COUNT = 6144 };

/* Arguments in the order of the program: first the inputs, then the outputs. Without f64 there is
 * one input and one output, with it two of each. */
enum { VYRE_PROBE_ARRAYS = 2 };

typedef struct vyre_probe {
    uint32_t count;                         /* inputs, and as many outputs */
    const void *inputs[VYRE_PROBE_ARRAYS];  /* read-only, as long as the probe */
    size_t input_bytes[VYRE_PROBE_ARRAYS];  /* of each input */
    size_t output_bytes[VYRE_PROBE_ARRAYS]; /* of each output */
} vyre_probe;

/* The program; release it. */
VYRE_MUST_USE vyre_status vyre_probe_program(bool has_f64, vyre_program **out_program);

/* Its inputs; deinit frees them. */
VYRE_MUST_USE vyre_status vyre_probe_inputs(bool has_f64, vyre_probe *out_probe);
void vyre_probe_deinit(vyre_probe *probe);

/* Compares what the device gave with the arithmetic of ir/eval, and sets the corrections that are
 * needed. Without f64 that type is ABSENT. UNSUPPORTED if no correction helps, because the device
 * computes integers wrongly. */
VYRE_MUST_USE vyre_status vyre_probe_judge(const vyre_probe *probe, const void *const *outputs,
                                           vyre_corrections *out_needed);

#endif
