/* Fork: tells a process from the children that fork() makes of it.
 *
 * A child inherits memory and locks as they are, but only the thread that called fork(). An object
 * that has threads, or locks that other threads may hold, notes the count when it is made and is
 * refused where the count has changed. */
#ifndef VYRE_BASE_FORK_H
#define VYRE_BASE_FORK_H

#include <stdint.h>

#include <vyre/base.h>

/* Starts counting, once in a process. False without memory. */
VYRE_MUST_USE bool vyre_fork_watch(void);

/* How many times fork() made a new process on the way to this one, since counting began. Never
 * blocks. */
uint32_t vyre_fork_count(void);

#endif
