/* Probe: tries code of a plugin in a child process, so that a crash or a hang there is a status
 * here. */
#ifndef VYRE_REGISTRY_PROBE_H
#define VYRE_REGISTRY_PROBE_H

#include <vyre/registry.h>
#include <vyre/status.h>

/* A plugin that takes longer has failed. */
enum { VYRE_PROBE_SECONDS = 10 };

/* Calls a function in a child process, whose output goes nowhere. Fails if the function does not
 * return there: the status says of `what` how it ended. */
VYRE_MUST_USE vyre_status vyre_probe(const char *what, void (*function)(const void *subject),
                                     const void *subject);

/* Counts the devices, opens one and releases it, in a child process. Succeeds also where the
 * backend refuses with a status, which opening it here tells. */
VYRE_MUST_USE vyre_status vyre_registration_probe(const vyre_registration *registration,
                                                  uint32_t device);

#endif
