/* A device of the cuda backend on the fake, whose kernels really compute: each phase is run by the
 * reference backend on the memory that its frame names. Programs are made known first:
 *
 *     fake_device_start();
 *     vyre_program *program = fake_device_program(ADD);
 *     vyre_device *device = fake_device_open(0);
 */
#ifndef VYRE_TESTS_FAKE_CUDA_DEVICE_H
#define VYRE_TESTS_FAKE_CUDA_DEVICE_H

#include "tests/fake_cuda/fake.h"
#include "tests/unit/contract_check.h"

/* Opens the fake as the backend's libcuda; first thing in main. */
const fake_cuda *fake_device_start(void);

/* Parses a program and makes it known, until fake_device_forget. */
vyre_program *fake_device_program(const char *text);
void fake_device_know(const vyre_program *program);
void fake_device_forget(void);

/* Runs a phase as the device would; programs called `endless` go on until they are told to stop,
 * and those called `fault` end the context. */
fake_result fake_device_run(const fake_launch *launch);

vyre_device *fake_device_open(uint32_t index);

#endif
