#!/usr/bin/env bash
# A switch over operations lists every one of them, so that the compiler points at it when there is a
# new one: it has no `default`, and its file is compiled with -Wswitch-enum. Plants a switch that does
# not to see that it is found.
#
#     operations.sh COMPILE_COMMANDS
set -euo pipefail
commands=$1
cd "$(dirname "$0")/../.."

# Prints each `default` of a switch that has operations for labels. Labels stand below `switch`, as
# clang-format puts them.
find_defaults() {
    # shellcheck disable=SC2016
    find "$1" -name '*.[ch]' -print0 | sort -z | xargs -0 awk '
        function indent() { match($0, /^ */); return RLENGTH }
        FNR == 1 { depth = 0 }
        /^ *switch \(/ { depth++; column[depth] = indent(); over_operations[depth] = 0; found[depth] = 0 }
        depth && indent() == column[depth] {
            if (/^ *case VYRE_(OP_|ANY_OF\(|ONE_OF\()/) over_operations[depth] = 1
            if (/^ *default:/) found[depth] = FNR
            if (/^ *}/) {
                if (over_operations[depth] && found[depth]) print FILENAME ":" found[depth]
                depth--
            }
        }'
}

# Prints each file with labels that are operations and without the warning.
find_unwatched() {
    local file
    while read -r file; do
        if ! grep -F "\"command\":" "$commands" | grep -F -- "$PWD/$file" | grep -F -- -Wswitch-enum >/dev/null; then
            echo "$file"
        fi
    done < <(grep -rlE --include='*.c' 'case VYRE_(OP_|ANY_OF\(|ONE_OF\()' "$1" | sort)
}

failed=0
while read -r place; do
    echo "$place: a switch over operations has a default. Fix: list the others (src/ir/cases.h)" >&2
    failed=1
done < <(find_defaults src)
while read -r file; do
    echo "$file: has a switch over operations, and is compiled without -Wswitch-enum. Fix: name it in" \
        "CMakeLists.txt" >&2
    failed=1
done < <(find_unwatched src)

planted=$(mktemp -d)
trap 'rm -rf "$planted"' EXIT
cat > "$planted/planted.c" << 'END'
static int cost(vyre_op op, int kind) {
    switch (kind) {
    case 1:
        switch (op) {
        case VYRE_ONE_OF(DIV, REM): return 12;
        default: return 1;
        }
    default: return 0;
    }
}
END
if [ "$(find_defaults "$planted")" != "$planted/planted.c:6" ]; then
    echo "a planted default is not found. Fix: find_defaults of this script" >&2
    failed=1
fi
if [ "$(cd "$planted" && find_unwatched .)" != "./planted.c" ]; then
    echo "a planted file without the warning is not found. Fix: find_unwatched of this script" >&2
    failed=1
fi
exit $failed
