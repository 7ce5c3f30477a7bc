#!/usr/bin/env bash
# Runs the command under limits on its address space. Whatever the limit, it ends with a result or a
# status, never by a signal, and it never hangs. Where it succeeds, the bytes are the right ones.
#
#   memory.sh VYRE [FIRST LAST STEP]       in MB; every limit from 100 to 600 in steps of 2 if not given
#   memory.sh VYRE random COUNT [SEED]     limits drawn from 10 to 900 MB
set -euo pipefail
cd "$(dirname "$0")/../.."

vyre=$1
if [ "${2:-}" = random ]; then
    RANDOM=${4:-1}
    limits=$(for ((i = 0; i < $3; i++)); do echo $((10 + RANDOM % 891)); done)
else
    limits=$(seq "${2:-100}" "${4:-2}" "${3:-600}")
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME=$work/cache VYRE_ROUTES=off VYRE_DIALECT_PATH=none VYRE_CACHE_LIMIT=0
failed=0 runs=0 succeeded=0

# try MB NAME COMMAND...: 0 if it succeeded
try() {
    local limit=$1 name=$2 status=0
    shift 2
    runs=$((runs + 1))
    (
        ulimit -c 0
        ulimit -v $((limit * 1024))
        exec timeout 60 "$@"
    ) >"$work/out" 2>"$work/err" || status=$?
    if [ "$status" -ge 124 ]; then
        echo "$name under $limit MB ended with $status, which is a signal or a hang:" >&2
        tail -3 "$work/err" >&2
        failed=1
    elif [ "$status" != 0 ] && [ "$name" != doctor ] && ! grep -q 'Fix: ' "$work/err"; then
        echo "$name under $limit MB ended with $status and without advice:" >&2
        tail -3 "$work/err" >&2
        failed=1
    elif grep -q 'no libLLVM was found' "$work/out" "$work/err"; then
        echo "$name under $limit MB says that there is no libLLVM, where there is one" >&2
        failed=1
    fi
    [ "$status" = 0 ]
}

expected=$'y: f32[4]\n    1.0 3.0 5.0 7.0'
for limit in $limits; do
    for backend in reference cpu; do
        if try "$limit" "run on $backend" \
            "$vyre" run examples/saxpy.vyre a=2 x=iota:4 y=1,1,1,1 -b "$backend"; then
            succeeded=$((succeeded + 1))
            if [ "$(cat "$work/out")" != "$expected" ]; then
                echo "run on $backend under $limit MB printed something else:" >&2
                cat "$work/out" >&2
                failed=1
            fi
        fi
    done
    try "$limit" doctor "$vyre" doctor || true
done
echo "$runs runs under $(wc -w <<<"$limits") limits, $succeeded of them with a result"
exit $failed
