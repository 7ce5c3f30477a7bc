/* The bandwidth of memory, measured: what all threads together read in a second.
 *
 * It is asked for whenever a device is opened, and measuring takes tens of milliseconds, so the two
 * are apart: `vyre backends` and `vyre doctor` measure, and the number is kept beside the compiled
 * programs, by the name of the CPU and the number of threads. */
#ifndef VYRE_CPU_RUNTIME_BANDWIDTH_H
#define VYRE_CPU_RUNTIME_BANDWIDTH_H

#include <vyre/base.h>

/* In GB/s, where this process or an earlier one has measured it; 0 where it is not known. */
uint64_t cpu_bandwidth_known(void);

/* Measures it where it is not known. Trouble, such as too little memory, leaves it unknown. */
void cpu_bandwidth_learn(void);

#endif
