#!/usr/bin/env bash
# All hostile input in one go: damaged caches, mutants of programs in both forms, plugins made to do
# harm, limits on memory, and kernels that are slow to compile. Nothing may end by a signal, hang or
# give a wrong byte. The tests hostile_* run a part of each.
#
#   run.sh BUILD [TIMES]     some minutes; TIMES as long, with other random numbers each time
set -euo pipefail
cd "$(dirname "$0")/../.."

if [ $# -lt 1 ] || [ ! -x "$1/vyre" ]; then
    echo "usage: tests/hostile/run.sh BUILD [TIMES], with BUILD such as build/release" >&2
    exit 2
fi
build=$(realpath "$1") times=${2:-1} failed=0 start=$SECONDS
export VYRE=$build/vyre VYRE_ROUTES=off VYRE_DIALECT_PATH=none

part() {
    local began=$SECONDS
    printf '== %s\n' "$1"
    shift
    if ! "$@"; then
        echo "FAILED: $*" >&2
        failed=$((failed + 1))
    fi
    printf '   %d s\n' $((SECONDS - began))
}

for ((seed = 1; seed <= times; seed++)); do
    part "2,000 damaged caches, 20,000 mutants of the binary form, 6,000 of texts" \
        "$build/tests/hostile_files" 2000 20000 6000 "$seed"
    part "plugins" bash tests/hostile/plugins.sh "$build/hostile"
    part "500 random limits on memory" bash tests/hostile/memory.sh "$VYRE" random 500 "$seed"
    part "100 kernels that are slow to compile" \
        "$build/tests/hostile_compile" --timed 100 $((100 * seed - 100))
done
echo "$failed parts failed, $((SECONDS - start)) s"
[ "$failed" = 0 ]
