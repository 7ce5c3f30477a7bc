#!/usr/bin/env bash
# Holds a command with planted mistakes (Mutants.cmake) against conformance: without any of them it
# passes, and each one is found and cut down to a program of few lines.
#
#   run.sh VYRE BACKEND [NAME...]     all mutants of BACKEND.toml, or those whose names contain a NAME
#
# Each has a line: what became of it, seconds, the program that found it, the lines of the smallest
# one. The first `seed` that finds a mutant stands in its list and is tried first, which saves time;
# if it does not, or with MUTANTS_WHOLE=1, all programs are tried from 1 on. MUTANTS_SHOW=1 prints
# the smallest programs, too; MUTANTS_PROGRAMS is how many are tried at most.
set -euo pipefail

folder=$(dirname "${BASH_SOURCE[0]}")
most_lines=14 fewest=15
hang_seconds=1200 # a mutant may loop for ever; nothing that ends comes near

# What conform is asked to do for a backend: enough for each mutant, and few seconds without one.
options_for() {
    local programs=1000 against='' device=$1
    [ "$1" != spirv ] || device=vulkan
    [ "$1" != cpu ] || programs=800
    [ "$1" != opencl ] || programs=120 # each is compiled by a driver, which takes most of a second
    [ "$1" != reference ] || against='--against cuda'
    echo "-b $device $against --suite small --runs 1 --programs ${MUTANTS_PROGRAMS:-$programs}"
}

# The seed that is known to find a mutant, if one is.
seed_of() {
    [ -n "${MUTANTS_WHOLE:-}" ] ||
        awk -F' = ' -v name="'$2'" '$1 == "name" { on = $2 == name } on && $1 == "seed" { print $2 }' "$folder/$1.toml"
}

# One mutant, or none for the name `none`: a line, and whether it is as it should be.
try() {
    local vyre=$1 backend=$2 name=$3 status=0 start answer lines found verdict seed options
    answer=$(mktemp)
    start=$(date +%s%N)
    seed=$(seed_of "$backend" "$name")
    for options in ${seed:+"--seed $seed --programs 1"} ''; do
        status=0
        # shellcheck disable=SC2046,SC2086
        MUTANT=${name#none} timeout "$hang_seconds" "$vyre" conform $(options_for "$backend") $options \
            >"$answer" 2>"$answer.errors" || status=$?
        [ "$status" = 0 ] || break
    done
    local ms=$((($(date +%s%N) - start) / 1000000))
    found=$(sed -nE 's/^failed: ([^:]*):.*/\1/p' "$answer" | head -1)
    lines=$(awk '/^\/\/ arguments:/ { on = 1; next } on && /^$/ { exit } on { n++ } END { print n + 0 }' "$answer")
    if [ "$name" = none ]; then
        verdict=$([ "$status" = 0 ] && echo passes || echo WRONG)
    elif [ "$status" = 0 ]; then
        verdict=SURVIVES
    elif [ "$status" != 1 ] || [ "$lines" = 0 ]; then
        verdict="BROKEN($status)"
    else
        verdict=$([ "$lines" -le "$most_lines" ] && echo found || echo LONG)
    fi
    printf '%-9s %-50s %3d.%d s  %-32s %3d lines\n' "$verdict" "$backend: ${name#"$backend"-}" \
        $((ms / 1000)) $((ms / 100 % 10)) "$found" "$lines"
    if [ -n "${MUTANTS_SHOW:-}" ] || [[ $verdict == WRONG || $verdict == BROKEN* ]]; then
        sed 's/^/    /' "$answer"
        tail -3 "$answer.errors" | sed 's/^/    /'
    fi
    rm -f "$answer" "$answer.errors"
    [[ $verdict == found || $verdict == passes ]]
}

if [ "$1" = --try ]; then
    shift
    try "$@"
    exit
fi

vyre=$1 backend=$2
shift 2
export VYRE_CACHE_LIMIT=0
# In vectors on every CPU: by itself the backend would take scalars for some programs on some CPUs.
export VYRE_CPU_LANES=${VYRE_CPU_LANES:-8}
if [ -n "${VYRE_CPU_FEATURES:-}" ] && ! why=$("$vyre" backends cpu 2>&1); then
    echo "skipped, because $(sed -n 's/^ *reason *//p' <<<"$why")"
    exit 77
fi
if [ "$backend" = opencl ] && ! why=$("$vyre" backends opencl 2>&1); then
    echo "skipped, because $(sed -n 's/^ *reason *//p' <<<"$why")"
    exit 77
fi
if [ "$backend" = opencl ]; then
    # The probe would find mistakes itself, and have them corrected: here it is done once, without any.
    XDG_CACHE_HOME=$(mktemp -d)
    export XDG_CACHE_HOME
    unset VYRE_CACHE_LIMIT
    trap 'rm -rf "$XDG_CACHE_HOME"' EXIT
    "$vyre" conform -b opencl 'operations.bool.and' >/dev/null 2>&1 || true
fi
names=$(sed -n "s/^name = '\(.*\)'$/\1/p" "$folder/$backend.toml")
# What is not seen here would not be tried.
planted=$(grep -c '^\[\[mutant\]\]' "$folder/$backend.toml")
if [ "$(grep -c . <<<"$names")" != "$planted" ] || [ "$planted" -lt "$fewest" ]; then
    echo "$backend.toml has $planted mutants, and this sees the names of $(grep -c . <<<"$names"). Fix: write name = 'NAME', for $fewest or more" >&2
    exit 1
fi
if [ $# -gt 0 ]; then
    names=$(grep -F "$(printf '%s\n' "$@")" <<<"$names")
fi
start=$SECONDS
report=$(mktemp)
{ printf '%s\n' none; printf '%s\n' "$names"; } |
    xargs -P "$(nproc)" -I{} bash "${BASH_SOURCE[0]}" --try "$vyre" "$backend" {} | tee "$report" || true
total=$(wc -l <<<"$names") good=$(grep -c '^found ' "$report" || true)
printf '%s: %d of %d mutants found and cut down to %d lines or less, %d s\n' "$backend" "$good" "$total" \
    "$most_lines" $((SECONDS - start))
passes=$(grep -c '^passes ' "$report" || true)
rm -f "$report"
[ "$good" = "$total" ] && [ "$passes" = 1 ]
