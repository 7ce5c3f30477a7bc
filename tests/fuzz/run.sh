#!/usr/bin/env bash
# Runs a libFuzzer target, starting from its seeds: for some seconds, or on 5000 inputs, in the percentage
# that VYRE_TEST_WORK asks for.
#
#   run.sh TARGET SEEDS WORK [SECONDS]
#
# Inputs that reach new code gather in WORK/corpus/NAME and are used again the next time; an input that
# breaks the target is left in WORK/findings. NAME.dict beside this script is its dictionary, if any.
set -euo pipefail

target=$1 seeds=$2 work=$3 amount=-runs=$((5000 * ${VYRE_TEST_WORK:-100} / 100))
[ $# -lt 4 ] || amount=-max_total_time=$4
name=$(basename "$target")
here=$(dirname "$0")

if [ -z "$(ls "$seeds" 2>/dev/null)" ]; then
    echo "$name has no seed inputs. Fix: put some into $seeds" >&2
    exit 1
fi
mkdir -p "$work/corpus/$name" "$work/findings"
arguments=("$amount" -timeout=300 -rss_limit_mb=2048 -print_final_stats=1
    -artifact_prefix="$work/findings/$name-")
if [ -f "$here/${name#fuzz_}.dict" ]; then
    arguments+=(-dict="$here/${name#fuzz_}.dict")
fi
exec "$target" "${arguments[@]}" "$work/corpus/$name" "$seeds"
