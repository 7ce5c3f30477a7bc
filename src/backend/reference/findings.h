/* The list that a sanitized run fills. */
#ifndef VYRE_REFERENCE_FINDINGS_H
#define VYRE_REFERENCE_FINDINGS_H

#include <vyre/sanitize.h>

VYRE_MUST_USE vyre_status vyre_findings_create(vyre_findings **out_findings);

/* Counts one if the same kind met at the same two instructions before. True if nothing is left to
 * be done: it was so, or there are as many as are kept. */
bool vyre_findings_again(vyre_findings *findings, const vyre_finding *found);

/* Adds a new one. False without memory. */
bool vyre_findings_add(vyre_findings *findings, const vyre_finding *found, const char *fix,
                       const char *format, ...) VYRE_PRINTF(4, 5);

#endif
