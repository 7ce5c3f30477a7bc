#!/usr/bin/env bash
# Compares what the shared library exports with debian/libvyreN.symbols, which Debian reads to find
# the oldest library that a program needs. N is the number in the library's SONAME.
#
#   debian_symbols.sh LIBRARY            fails if they differ
#   debian_symbols.sh LIBRARY --update   writes the file; symbols that it has keep their version
set -euo pipefail
cd "$(dirname "$0")/../.."

library=$1
soname=$(objdump -p "$library" | awk '$1 == "SONAME" { print $2 }')
file=debian/libvyre${soname#libvyre.so.}.symbols
version=$(sed -n 's/.*VYRE_VERSION_STRING "\(.*\)".*/\1/p' include/vyre/base.h)

wanted=$(mktemp)
trap 'rm -f "$wanted"' EXIT
{
    printf '%s %s #MINVER#\n* Build-Depends-Package: libvyre-dev\n' "$soname" "libvyre${soname#libvyre.so.}"
    nm -D --defined-only "$library" | awk '{ print $3 }' | LC_ALL=C sort | while read -r name; do
        since=$(sed -n "s/^ $name@Base //p" "$file" 2>/dev/null || true)
        printf ' %s@Base %s\n' "$name" "${since:-$version}"
    done
} >"$wanted"

if [ "${2:-}" = --update ]; then
    cp "$wanted" "$file"
elif ! diff -u "$file" "$wanted"; then
    echo "$file is not what the library exports. Fix: ./dev update; if a symbol of a release went away," \
        "raise SOVERSION in CMakeLists.txt and rename debian/libvyre* after it" >&2
    exit 1
fi
