#!/usr/bin/env bash
# What the library gives to and takes from others: it exports the functions that include/vyre declares
# VYRE_API and no other symbol, needs the C library alone, and calls nothing that prints, ends the process or goes
# around the allocator hook.
#
#   symbols.sh SHARED_LIBRARY STATIC_LIBRARY
set -euo pipefail
cd "$(dirname "$0")/../.."

shared=$1 static=$2
failed=0
fail() {
    echo "$1. Fix: $2" >&2
    failed=1
}

# The name in front of the first parenthesis behind VYRE_API; comments and macros taken out first.
declared=$(cat include/vyre/*.h | sed -e '/^ *#/d' -e 's@/\*.*\*/@@' -e '/\/\*/,/\*\//d' | tr '\n' ' ' |
    grep -oE 'VYRE_API [^;(]*[a-z0-9_]+\(' | sed -E 's/.*[^a-z0-9_]([a-z0-9_]+)\($/\1/' | sort -u)
exported=$(nm -D --defined-only --format=posix "$shared" | cut -d' ' -f1 | sort -u)
while read -r name; do
    fail "$name is declared VYRE_API, but the library does not export it" \
        "define it, or take it out of include/vyre"
done < <(comm -23 <(echo "$declared") <(echo "$exported") | grep .)
while read -r name; do
    fail "the library exports $name, which include/vyre does not declare VYRE_API" \
        "declare it there, or leave it hidden"
done < <(comm -13 <(echo "$declared") <(echo "$exported") | grep .)

needed=$(objdump -p "$shared" | awk '$1 == "NEEDED" && $2 !~ /^(libc|libm|ld-linux.*)\.so/ { print $2 }')
if [ -n "$needed" ]; then
    fail "the library needs $needed at run time" "do without it, or open it at run time"
fi

# nm lists undefined symbols object by object: "alloc.c.o:" and then "         U malloc".
while read -r object name; do
    case $name in
        malloc | calloc | realloc | free | aligned_alloc | posix_memalign | strdup | strndup | asprintf)
            if [ "$object" != alloc.c.o ]; then
                fail "$object calls $name" "use base/alloc.h, so that the allocator hook sees it"
            fi
            ;;
        printf | puts | putchar | perror | stdout | stderr | __printf_chk)
            fail "$object uses $name" "the library does not print; return a status or log"
            ;;
        longjmp | __longjmp_chk)
            if [ "$object" != llvm_compile.c.o ]; then
                fail "$object calls $name" "return a status; only out of LLVM there is no other way"
            fi
            ;;
        _exit)
            if [ "$object" != probe.c.o ]; then
                fail "$object calls $name" "return a status; only the child of a probe ends itself"
            fi
            ;;
        abort | exit | _Exit | quick_exit | __assert_fail | raise)
            fail "$object calls $name" "the library does not end the process; return a status"
            ;;
    esac
done < <(nm -u "$static" | awk '/:$/ { object = substr($1, 1, length($1) - 1) } $1 == "U" { print object, $2 }')

exit $failed
