/* The rule of preferred selection: how candidates are scored and ordered. */
#ifndef VYRE_REGISTRY_SELECT_H
#define VYRE_REGISTRY_SELECT_H

#include <time.h>

#include <vyre/registry.h>

/* At most 66. */
uint32_t vyre_capability_score(const vyre_profile *profile);

/* 0 to 3; 0 for a quality that is not known here. */
uint32_t vyre_timing_score(uint32_t timing_quality);

/* Less than 0 if `left` is preferred. */
int vyre_candidate_compare(const vyre_candidate *left, const vyre_candidate *right);

/* Backends that others are held against: they run only when they are named. */
bool vyre_is_oracle(const char *id);

/* Whether an id matches one of the patterns, which commas separate. */
bool vyre_id_matches(const char *patterns, const char *id);

/* 0 if it ended before it began; UINT64_MAX if it took longer than that. */
uint64_t vyre_elapsed_ns(struct timespec begin, struct timespec end);

#endif
