/* Preloaded, it makes a process find no libLLVM, as on a machine where none is installed. */
#define _GNU_SOURCE /* RTLD_NEXT */

#include <dlfcn.h>
#include <string.h>

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): the C library's names */
void *dlopen(const char *name, int mode) {
    static void *(*next)(const char *, int);
    if (name && !strncmp(name, "libLLVM", 7)) {
        return NULL;
    }
    *(void **)(void *)&next = dlsym(RTLD_NEXT, "dlopen");
    return next(name, mode);
}
