#!/usr/bin/env bash
# Runs a libFuzzer target for some seconds, starting from its seeds.
#
#   run.sh TARGET SEEDS WORK SECONDS
#
# Inputs that reach new code gather in WORK/corpus/NAME and are used again the next time; an input that
# breaks the target is left in WORK/findings. NAME.dict beside this script is its dictionary, if any.
set -euo pipefail

target=$1 seeds=$2 work=$3 seconds=$4
name=$(basename "$target")
here=$(dirname "$0")

if [ -z "$(ls "$seeds" 2>/dev/null)" ]; then
    echo "$name has no seed inputs. Fix: put some into $seeds" >&2
    exit 1
fi
mkdir -p "$work/corpus/$name" "$work/findings"
arguments=(-max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1
    -artifact_prefix="$work/findings/$name-")
if [ -f "$here/${name#fuzz_}.dict" ]; then
    arguments+=(-dict="$here/${name#fuzz_}.dict")
fi
exec "$target" "${arguments[@]}" "$work/corpus/$name" "$seeds"
