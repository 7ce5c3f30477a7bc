#!/usr/bin/env bash
# What it costs to have the library: its size without symbols, and what loading it does.
#
#   library.sh SHARED_LIBRARY
set -euo pipefail

library=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

strip -o "$work/libvyre.so" "$library"
size=$(stat -c %s "$work/libvyre.so")
echo "libvyre.so: $size bytes without symbols"
# Vectors and structs, and the answers to the words of other languages, took it from 2.0 to 2.1 MB.
# OpenCL, and corrections of floats for devices that are not exact, took it to 2.6 MB.
if [ "$size" -ge 3000000 ]; then
    echo "that is not under 3 MB. Fix: see what became larger, with nm --size-sort" >&2
    exit 1
fi

# What the loader does before anything is called: relocations, and functions that run by themselves. The
# one of a C library without any of its own is the compiler's.
relocations=$(readelf -Wr "$library" | grep -c ' R_')
functions=$(readelf -WS "$library" | awk '$2 == ".init_array" || $3 == ".init_array" { print $0 }' |
    sed -E 's/.*\.init_array +INIT_ARRAY +[0-9a-f]+ +[0-9a-f]+ +([0-9a-f]+) .*/0x\1/')
echo "libvyre.so: $relocations relocations, $((functions / 8)) functions when it is loaded"
if [ "$relocations" -ge 5000 ] || [ $((functions / 8)) -gt 1 ]; then
    echo "that is not under 5000, and at most 1. Fix: tables of offsets in place of pointers, and no constructors" >&2
    exit 1
fi
