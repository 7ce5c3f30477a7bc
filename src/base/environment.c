#ifdef __linux__
#define _GNU_SOURCE /* secure_getenv, which asks the kernel's AT_SECURE */
#endif

#include "base/environment.h"

#include <stdlib.h>
#include <unistd.h>

#ifdef __linux__

const char *vyre_environment_get(const char *name) {
    return secure_getenv(name);
}

#else

const char *vyre_environment_get(const char *name) {
    return getuid() == geteuid() && getgid() == getegid() ? getenv(name) : NULL;
}

#endif
