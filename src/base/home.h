/* Where a user's own files lie, as the XDG Base Directory Specification says. Everything that vyre
 * reads without being told to (routes, plugins, dialects, compiled programs) is found here, and
 * never in the working directory. */
#ifndef VYRE_BASE_HOME_H
#define VYRE_BASE_HOME_H

#include "base/strbuf.h"

/* X(name, variable, folder below HOME without it) */
#define VYRE_HOMES(X)                                                                              \
    X(CONFIG, "XDG_CONFIG_HOME", "/.config")                                                       \
    X(CACHE, "XDG_CACHE_HOME", "/.cache")

typedef enum vyre_home {
#define ROW(name, variable, folder) VYRE_HOME_##name,
    VYRE_HOMES(ROW)
#undef ROW
} vyre_home;

/* Appends the path of `name` in the folder `vyre` there, and returns the variable that decides
 * where that is. Returns NULL and appends nothing where there is no such place: neither variable is
 * an absolute path, or the process has more rights than its user. Callers check the owner of what
 * they find there, with base/trust.h. */
const char *vyre_home_path(vyre_home home, const char *name, vyre_strbuf *path);

#endif
