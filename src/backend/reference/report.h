/* What the sanitizer found, put into words. All return false without memory. */
#ifndef VYRE_REFERENCE_REPORT_H
#define VYRE_REFERENCE_REPORT_H

#include "backend/reference/machine.h"

bool report_race(machine *m, uint32_t resource, uint64_t index, const stamp *before,
                 const stamp *now);
bool report_bounds(machine *m, uint32_t resource, uint64_t index, const stamp *now);
bool report_unwritten(machine *m, uint32_t resource, uint64_t index, const stamp *now);

/* A barrier is reached by lane `present` and not by `missing` of the same workgroup. */
bool report_missing_lane(machine *m, const fiber *f, uint32_t at, uint32_t present,
                         uint32_t missing);
bool report_missing_group(machine *m, const fiber *f, const fiber *other);

vyre_findings *sanitizer_findings(const machine *m);

#endif
