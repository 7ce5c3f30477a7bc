/* The process environment, as far as it can be trusted. */
#ifndef VYRE_BASE_ENVIRONMENT_H
#define VYRE_BASE_ENVIRONMENT_H

#include <vyre/base.h>

/* The variable's value; NULL if it is not set, and always NULL in a process that runs with more
 * rights than its user (setuid, file capabilities), because there the environment is a stranger's.
 * Valid until the process changes its environment. */
const char *vyre_environment_get(const char *name);

/* Whether this is such a process. */
bool vyre_environment_is_foreign(void);

#endif
