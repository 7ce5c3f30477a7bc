/* Launches of the fake driver, run by the machine. */
#ifndef VYRE_TESTS_PTX_LAUNCH_H
#define VYRE_TESTS_PTX_LAUNCH_H

#include "tests/fake_cuda/fake.h"

fake_result ptx_launch_fake(const fake_launch *launch);
/* Frees what is kept from launch to launch. */
void ptx_launch_forget(void);

#endif
