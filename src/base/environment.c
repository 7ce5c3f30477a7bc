#ifdef __linux__
#define _GNU_SOURCE /* secure_getenv, which asks the kernel's AT_SECURE */
#endif

#include "base/environment.h"

#include <stdlib.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/auxv.h>

const char *vyre_environment_get(const char *name) {
    return secure_getenv(name);
}

bool vyre_environment_is_foreign(void) {
    return getauxval(AT_SECURE) != 0;
}

#else

const char *vyre_environment_get(const char *name) {
    return vyre_environment_is_foreign() ? NULL : getenv(name);
}

bool vyre_environment_is_foreign(void) {
    return getuid() != geteuid() || getgid() != getegid();
}

#endif
