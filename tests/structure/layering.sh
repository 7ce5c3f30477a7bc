#!/usr/bin/env bash
# Holds every #include of the tree against src/ROOMS: a room includes itself, the rooms it names there,
# and public headers. Public headers include public headers and the C standard library alone;
# backend.h not even those of ours.
set -euo pipefail
cd "$(dirname "$0")/../.."

failed=0
fail() {
    echo "$1. Fix: $2" >&2
    failed=1
}

declare -A allowed
while IFS=: read -r room rest; do
    allowed[$room]=" $room $rest "
done < <(grep -E '^[a-z]' src/ROOMS)

# A room is a folder with sources.
for folder in $(find src -name '*.[ch]' -printf '%h\n' | sort -u); do
    room=${folder#src/}
    if [ -z "${allowed[$room]:-}" ]; then
        fail "src/$room is not a room" "name it in src/ROOMS with the rooms it may include"
        continue
    fi
    if [ ! -f "src/$room/README.md" ]; then
        fail "src/$room has no README.md" "say in ten lines what the room owns"
    fi
    while IFS=: read -r file line included; do
        above=${included%/*}
        if [ "$above" = "$included" ] || [ "$above" = ".." ]; then
            fail "$file:$line includes \"$included\"" 'write it from src/ on: "room/header.h"'
        elif [[ "${allowed[$room]}" != *" $above "* ]]; then
            fail "$file:$line includes \"$included\", and $room may not include $above" \
                "move what is needed down, or ask for it through an argument"
        fi
    done < <(grep -nHE '^ *# *include "' "src/$room"/*.[ch] |
        sed -E 's/^([^:]*:[0-9]+:) *# *include "([^"]*)".*/\1\2/')
done

# The headers of C11; what a public header may rest on.
standard=" assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal
 stdalign stdarg stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string tgmath threads time
 uchar wchar wctype "
standard=${standard//$'\n'/}
for header in include/vyre/*.h; do
    while IFS=: read -r line included; do
        case $included in
            \<vyre/*)
                if [ "$header" = include/vyre/backend.h ]; then
                    fail "$header:$line includes $included" "backend.h stands alone"
                fi
                ;;
            *)
                name=${included#<}
                name=${name%.h>}
                if [[ $standard != *" $name "* ]]; then
                    fail "$header:$line includes $included" \
                        "public headers use <vyre/...> and the C standard library alone"
                fi
                ;;
        esac
    done < <(grep -nE '^ *# *include' "$header" |
        sed -E 's/^([0-9]+:) *# *include *([<"][^>"]*[>"]).*/\1\2/')
    name=$(basename "$header")
    if [ "$name" != vyre.h ] && [ "$name" != backend.h ] &&
        ! grep -q "#include <vyre/$name>" include/vyre/vyre.h; then
        fail "include/vyre/vyre.h does not include $name" "add it: vyre.h includes them all"
    fi
done

exit $failed
