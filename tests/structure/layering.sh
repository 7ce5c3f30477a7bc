#!/usr/bin/env bash
# Holds the tree against src/ROOMS. A room includes headers of itself, of the rooms it names there,
# and public ones. At link time, too: every symbol that an object file of a room needs is defined in
# that room, in one it names, or outside of the project. A room that is named is used. Public headers
# include public headers and the C standard library alone; backend.h not even those of ours.
#
#   layering.sh OBJECTS         checks; OBJECTS lists the object files, one a line
#   layering.sh OBJECTS drill   breaks each rule in a copy, and sees to it that this notices
set -euo pipefail
cd "$(dirname "$0")/../.."

objects=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "$1. Fix: $2" >&2
    failed=1
}

# "ROOM USED" of each #include of a room, which go to $work/uses.
check_includes() {
    local room folder file line included above
    for folder in $(find src -name '*.[ch]' -printf '%h\n' | sort -u); do
        room=${folder#src/}
        if [ -z "${allowed[$room]:-}" ]; then
            fail "src/$room is not a room" "name it in src/ROOMS with the rooms it may use"
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
                fail "$file:$line includes \"$included\", and $room may not use $above" \
                    "move what is needed down, or ask for it through an argument"
            fi
            echo "$room $above" >>"$work/uses"
        done < <(grep -nHE '^ *# *include "' "src/$room"/*.[ch] |
            sed -E 's/^([^:]*:[0-9]+:) *# *include "([^"]*)".*/\1\2/')
    done
}

# "ROOM OBJECT SYMBOL DEFINED_IN..." of each symbol that an object needs and the project defines.
list_symbols() {
    xargs nm -A -g --format=posix <"$1" | awk '
        {
            object = $1
            sub(/:$/, "", object)
            room = object
            sub(/.*\/(src|generated)\//, "", room)
            sub(/\/[^\/]*$/, "", room)
            if ($3 == "U" || $3 == "w" || $3 == "v") {
                needed[++count] = room " " object " " $2
                symbol[count] = $2
            } else {
                rooms[$2] = rooms[$2] " " room
            }
        }
        END {
            for (i = 1; i <= count; i++) {
                if (symbol[i] in rooms) { print needed[i] rooms[symbol[i]] }
            }
        }'
}

check_symbols() {
    local room object symbol defined in_room is_allowed
    while read -r room object symbol defined; do
        is_allowed=
        for in_room in $defined; do
            echo "$room $in_room"
            [[ "${allowed[$room]:-}" != *" $in_room "* ]] || is_allowed=1
        done >>"$work/uses"
        if [ -z "$is_allowed" ]; then
            fail "${object##*/} of $room needs $symbol, which $defined defines, and $room may not use it" \
                "hand it over as an argument or a table, or move it down"
        fi
    done < <(list_symbols "$1")
}

# What is allowed beyond that hides the next violation.
check_used() {
    local room used
    sort -u "$work/uses" -o "$work/uses"
    for room in "${!allowed[@]}"; do
        for used in ${allowed[$room]}; do
            if [ "$used" != "$room" ] && ! grep -qxF "$room $used" "$work/uses"; then
                fail "src/ROOMS lets $room use $used, which it does not" "take it out"
            fi
        done
    done
}

# The headers of C11; what a public header may rest on.
standard=" assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal
 stdalign stdarg stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string tgmath threads time
 uchar wchar wctype "
standard=${standard//$'\n'/}
check_public_headers() {
    local header line included name
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
}

# check OBJECTS: the tree in the working directory.
check() {
    local room rest failed=0
    declare -A allowed
    while IFS=: read -r room rest; do
        allowed[$room]=" $room $rest "
    done < <(grep -E '^[a-z]' src/ROOMS)
    : >"$work/uses"
    check_includes
    check_symbols "$1"
    check_used
    check_public_headers
    return $failed
}

# Drills work in a copy of the tree. A violation is planted, must be told in so many words, and is
# taken back.
missed=0
expect() { # WHAT WORDS OBJECTS
    if check "$3" 2>"$work/told" || ! grep -qF "$2" "$work/told"; then
        echo "not noticed: $1" >&2
        cat "$work/told" >&2
        missed=1
    fi
    rm -rf src include
    cp -r "$work/tree/." .
}

# object ROOM NAME TEXT: an object file, added to those of $work/objects.
object() {
    mkdir -p "$work/planted/src/$1"
    "${CC:-cc}" -x c -c -o "$work/planted/src/$1/$2.c.o" - <<<"$3"
    { cat "$objects" && find "$work/planted" -name '*.o'; } >"$work/objects"
}

drill() {
    mkdir "$work/tree" "$work/copy"
    cp -r src include "$work/tree"
    cp -r src include "$work/copy"
    cd "$work/copy"
    check "$objects" # a copy without a violation

    echo '#include "dialect/guard.h"' >>src/text/lexer.c
    expect "an include of a higher room" 'src/text/lexer.c:' "$objects"
    echo '#include "guard.h"' >>src/dialect/guard.c
    expect "an include without its room" 'includes "guard.h"' "$objects"
    mkdir src/attic && touch src/attic/attic.c
    expect "a folder that is no room" 'src/attic is not a room' "$objects"
    sed -i 's/^wire: base/& text/' src/ROOMS
    expect "a room that is allowed without need" 'lets wire use text' "$objects"
    echo '#include <unistd.h>' >>include/vyre/text.h
    expect "a public header of the system" 'include/vyre/text.h:' "$objects"

    object dialect above 'int drill_above(void) { return 1; }'
    object text below 'int drill_above(void); int drill_below(void) { return drill_above(); }'
    expect "a symbol of a higher room" 'below.c.o of text needs drill_above, which dialect defines' "$work/objects"
    object text below 'extern int drill_above __attribute__((weak)); int *drill_below(void) { return &drill_above; }'
    expect "a weak symbol of a higher room" 'below.c.o of text needs drill_above' "$work/objects"
    object base same 'int drill_above(void) { return 2; }' # now a lower room has it, too
    object dialect above 'int drill_below(void); int drill_over(void) { return drill_below(); }'
    check "$work/objects" # which points downwards
    return $missed
}

if [ "${2:-}" = drill ]; then
    drill
else
    check "$objects"
fi
