#!/usr/bin/env bash
# Holds a command with planted mistakes (Mutants.cmake) against conformance: without any of them it
# passes, and each one is found and cut down to a program of few lines.
#
#   run.sh VYRE BACKEND [NAME...]     all mutants of BACKEND.toml, or those whose names contain a NAME
#
# Each has a line: what became of it, seconds, the seed that found it, the lines of the smallest
# program. MUTANTS_SHOW=1 prints the programs, too; MUTANTS_PROGRAMS is how many are tried at most.
set -euo pipefail

folder=$(dirname "${BASH_SOURCE[0]}")
most_lines=14 most_seconds=60

# What conform is asked to do for a backend: enough for each mutant, and few seconds without one.
options_for() {
    local programs=${MUTANTS_PROGRAMS:-2000}
    case $1 in
    reference) echo "-b reference --against cuda --suite random --tag small --programs $programs --runs 1" ;;
    cpu) echo "-b cpu --suite random --tag small --programs ${MUTANTS_PROGRAMS:-800} --runs 1" ;;
    *) echo "-b $1 --suite random --tag small --programs $programs --runs 1" ;;
    esac
}

# One mutant, or none for the name `none`: a line, and whether it is as it should be.
try() {
    local vyre=$1 backend=$2 name=$3 status=0 start answer lines found verdict
    answer=$(mktemp)
    start=$(date +%s%N)
    # shellcheck disable=SC2046
    MUTANT=${name#none} timeout "$most_seconds" "$vyre" conform $(options_for "$backend") \
        >"$answer" 2>"$answer.errors" || status=$?
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
names=$(sed -n "s/^name = '\(.*\)'$/\1/p" "$folder/$backend.toml")
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
