#!/usr/bin/env bash
# What it costs to have the library: its size without symbols, and the time to load it.
#
#   library.sh SHARED_LIBRARY C_COMPILER
set -euo pipefail

library=$1 cc=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

strip -o "$work/libvyre.so" "$library"
size=$(stat -c %s "$work/libvyre.so")
echo "libvyre.so: $size bytes without symbols"
if [ "$size" -ge 2000000 ]; then
    echo "that is not under 2 MB. Fix: see what became larger, with nm --size-sort" >&2
    exit 1
fi

cat >"$work/load.c" <<'C'
#include <dlfcn.h>
#include <stdio.h>
#include <time.h>

static double now_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

/* The best of many, since other processes may get in between. */
int main(int argc, char **argv) {
    double best = 1e9;
    for (int i = 0; i < 200 && argc > 1; i++) {
        double start = now_us();
        void *library = dlopen(argv[1], RTLD_NOW);
        double took = now_us() - start;
        if (!library) {
            fprintf(stderr, "%s\n", dlerror());
            return 1;
        }
        best = took < best ? took : best;
        dlclose(library);
    }
    printf("libvyre.so: loaded in %.0f us\n", best);
    return best < 1000 ? 0 : 1;
}
C
"$cc" -O2 "$work/load.c" -o "$work/load"
if ! "$work/load" "$work/libvyre.so"; then
    echo "loading takes 1 ms or more. Fix: see what runs when it is loaded: relocations, constructors" >&2
    exit 1
fi
