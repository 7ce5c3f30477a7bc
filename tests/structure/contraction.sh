#!/usr/bin/env bash
# What computes for kernels is compiled so that the compiler keeps every rounding: the evaluators, the
# reference backend and the folding of constants have -ffp-contract=off as the last word on contraction,
# and no option that lets the compiler reassociate, ignore NaN or the sign of zero, or compute in another
# precision.
#
#   contraction.sh COMPILE_COMMANDS
set -euo pipefail
cd "$(dirname "$0")/../.."

commands=$1
failed=0
fail() {
    echo "$1. Fix: $2" >&2
    failed=1
}

if [ ! -s "$commands" ]; then
    echo "$commands is missing. Fix: set CMAKE_EXPORT_COMPILE_COMMANDS in cmake/VyreFlags.cmake" >&2
    exit 1
fi

# A file's commands; CMake writes a key a line, the command before the file.
commands_of() {
    awk -v file="$PWD/$1" '
        /^ *"command": / { command = $0 }
        /^ *"file": / { sub(/^ *"file": "/, ""); sub(/",?$/, ""); if ($0 == file) print command }
    ' "$commands"
}

sources=(src/ir/eval*.c src/backend/reference/*.c src/text/plain.c)
if [ "${#sources[@]}" -lt 6 ]; then
    fail "only ${#sources[@]} sources were found" "name the files that compute in this script"
fi
for source in "${sources[@]}"; do
    found=$(commands_of "$source")
    if [ -z "$found" ]; then
        fail "$source is not compiled" "name its room in src/ROOMS, or configure the build again"
        continue
    fi
    while read -r command; do
        contraction=
        for option in $command; do
            case $option in
                -ffp-contract=*) contraction=${option#*=} ;;
                -ffast-math | -Ofast | -funsafe-math-optimizations | -fassociative-math | \
                    -freciprocal-math | -ffinite-math-only | -fno-signed-zeros | -fcx-limited-range | \
                    -fsingle-precision-constant | -ffp-model=fast | -mfpmath=*387* | -mno-sse*)
                    fail "$source is compiled with $option" "take it out: results would differ"
                    ;;
            esac
        done
        if [ "$contraction" != off ]; then
            fail "$source is compiled without -ffp-contract=off, or with another one after it" \
                "compile it with that option, as cmake/VyreFlags.cmake does"
        fi
    done <<<"$found"
done

exit $failed
