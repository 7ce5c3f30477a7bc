/* Sizes of steps, as a part of making a plan. */
#ifndef VYRE_RUNTIME_PLAN_STEPS_H
#define VYRE_RUNTIME_PLAN_STEPS_H

#include "runtime/plan.h"

/* Computes the sizes of all steps. Those that use counters of repeats are checked for all
 * iterations, and their largest value is kept. */
VYRE_MUST_USE vyre_status vyre_plan_size_steps(vyre_plan *plan);

#endif
