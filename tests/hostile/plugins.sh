#!/usr/bin/env bash
# Hostile plugins (plugins.h): commands that meet one neither end by a signal nor hang, give no wrong
# byte, and `vyre doctor` says which plugin it is and what is wrong with it.
#
#   plugins.sh FOLDER [NAME...]     the libraries in FOLDER; all, or those named
set -euo pipefail

most_seconds=120 # far more than a plugin is given
program='program twice(x: buffer<u32>, y: out buffer<u32>[len(x)]) over x { y[gid] = x[gid] * 2; }'
right=$'y: u32[3]\n    2 4 6'

complain() {
    echo "$name: $1" >&2
    sed 's/^/    /' "$home/out" "$home/errors" | cut -c1-300 | head -20 >&2
    exit 1
}

# Runs a command, whose exit status is in $status. Only a status of the command's own will do.
vyre() {
    status=0
    timeout "$most_seconds" "$VYRE" "$@" >"$home/out" 2>"$home/errors" </dev/null || status=$?
    [ "$status" -lt 124 ] || complain "vyre $1 ended with $status"
    ! grep -qaF '(null)' "$home/out" "$home/errors" || complain "vyre $1 printed (null)"
}

# A run that succeeded gave the right bytes.
run() {
    vyre run "$home/twice.vyre" x=1,2,3 "$@"
    [ "$status" != 0 ] || [ "$(cat "$home/out")" = "$right" ] || complain "wrong bytes on $*"
}

try() {
    name=$1 when=$2 library=$3
    home=$(mktemp -d)
    trap 'rm -rf "$home"' EXIT
    [ -f "$library" ] || { echo "there is no $library. Fix: build it" >&2 && exit 1; }
    mkdir -p "$home/plugins"
    chmod 755 "$home" "$home/plugins"
    printf 'library = "%s"\n' "$library" >"$home/plugins/hostile.toml"
    echo "$program" >"$home/twice.vyre"
    export HOME=$home XDG_CONFIG_HOME=$home/config VYRE_BACKEND_PATH=$home/plugins
    export VYRE_CACHE_LIMIT=0 VYRE_ROUTES=off VYRE_DIALECT_PATH=none

    vyre doctor
    case $when in
        LOAD)
            [ "$status" = 1 ] || complain "doctor ended with $status"
            grep -qaE '^! +.*hostile\.toml: refused: .*Fix: ' "$home/out" || complain "doctor does not refuse it by name"
            ;;
        OPEN | REFUSE)
            [ "$status" = 1 ] || complain "doctor ended with $status"
            grep -qaE '^! hostile, .*Fix: ' "$home/out" || complain "doctor does not say what is wrong with it"
            ;;
        RUN)
            [ "$status" = 0 ] || complain "doctor ended with $status"
            ;;
    esac
    vyre ops reduce.sum_u32
    [ "$status" = 0 ] || complain "ops ended with $status"
    run -b reference
    [ "$status" = 0 ] || complain "a run on the reference ended with $status"
    vyre conform -b reference --suite small --programs 2 --runs 1
    [ "$status" = 0 ] || complain "conform ended with $status"
    if [ "$when" = REFUSE ] || [ "$when" = RUN ]; then
        run -b hostile
        [ "$status" != 0 ] || complain "a run on it succeeded"
        grep -qaF 'Fix: ' "$home/errors" || complain "its refusal has no Fix"
        vyre conform -b hostile --suite small --programs 3 --runs 1
        [ "$status" != 0 ] || complain "conform believed it"
    fi
    if [ "$name" = narrow ]; then # it scores best, and stands in nobody's way
        run -b auto
        [ "$status" = 0 ] || complain "auto ended with $status"
        grep -qE 'hostile. is skipped: ' "$home/errors" || complain "auto does not say that it skips it"
    fi
    echo "$name"
}

if [ "$1" = --try ]; then
    shift
    try "$@"
    exit
fi

folder=$1
shift
rows=$(sed -nE 's/^ *X\(([a-z_]+), ([A-Z]+)\).*/\1 \2/p' "$(dirname "${BASH_SOURCE[0]}")/plugins.h")
if [ $# -gt 0 ]; then
    rows=$(grep -E "^($(IFS='|' && echo "$*")) " <<<"$rows")
fi
start=$SECONDS
# Most of what takes time is waiting for those that sleep.
passed=$(awk -v folder="$folder" '{ print $1, $2, folder "/" $1 ".so" }' <<<"$rows" |
    xargs -P $((2 * $(nproc) + 4)) -L 1 bash "${BASH_SOURCE[0]}" --try | grep -c . || true)
total=$(grep -c . <<<"$rows")
echo "$passed of $total hostile plugins are survived and named, $((SECONDS - start)) s"
[ "$passed" = "$total" ]
