#!/usr/bin/env bash
# Holds the tests of the driver contract against planted mistakes (contract.toml, Mutants.cmake): each
# statement S1 to S120 has at least one, no test fails without any, and each mistake fails a test that
# has the statement's number in its name.
#
#   contract.sh FOLDER [NAME...]     the tests in FOLDER; all mutants, or those whose names contain a NAME
set -euo pipefail
export VYRE_CACHE_LIMIT=0 VYRE_DIALECT_PATH=none VYRE_ROUTES=off # a cache would keep a mutant's code

statements=120
list=$(dirname "${BASH_SOURCE[0]}")/contract.toml

# One mutant: a line, and whether it is as it should be. A mutant meets only the tests with its number, or its
# first word, in their name (only.c). It is found if one fails, or if the process ends or stands still. These
# tests must pass without it (the name none-WORD), and all tests of the program (the name none).
try() {
    local folder=$1 name=$2 test=$3 status=0 word=${2#none-} answer verdict
    word=${word%%-*}
    [[ $word == S[0-9]* ]] && word+=_ # S9 is not S97
    [[ $name == none* ]] || export MUTANT=$name
    [ "$name" = none ] || export MUTANT_TESTS="*_$word*"
    answer=$(mktemp)
    timeout 60 "$folder/$test" >"$answer" 2>&1 || status=$?
    if ! grep -q '^\[ RUN ' "$answer"; then
        verdict=NO-TEST # none has it in its name
    elif [[ $name == none* ]]; then
        verdict=$([ "$status" = 0 ] && echo passes || echo WRONG)
    else
        verdict=$([ "$status" = 0 ] && echo SURVIVES || echo found)
    fi
    printf '%-9s %-45s %s\n' "$verdict" "$name" "$test"
    [[ $verdict == found || $verdict == passes ]] || tail -n 12 "$answer" | sed 's/^/    /'
    rm -f "$answer"
    [[ $verdict == found || $verdict == passes ]]
}

if [ "$1" = --try ]; then
    try "$2" "$3" "$4"
    exit
fi

folder=$1
shift
# Lines of a name and its test.
rows=$(awk -F"'" '/^name = / { name = $2 } /^test = / { print name, $2 }' "$list")
missing=
for ((i = 1; i <= statements; i++)); do
    grep -q "^S$i-" <<<"$rows" || missing+=" S$i"
done
if [ -n "$missing" ]; then
    echo "contract.toml has no mutant for$missing. Fix: add one for each statement" >&2
    exit 1
fi
if [ $# -gt 0 ]; then
    rows=$(grep -F "$(printf '%s\n' "$@")" <<<"$rows")
fi
report=$(mktemp)
start=$SECONDS
without=$(awk '{ print "none", $2; sub(/-.*/, "", $1); print "none-" $1, $2 }' <<<"$rows" | sort -u)
printf '%s\n' "$without" "$rows" |
    xargs -P "$(nproc)" -L 1 bash "${BASH_SOURCE[0]}" --try "$folder" >"$report" || true
grep -vE '^(found|passes) ' "$report" || true
total=$(grep -c . <<<"$rows") good=$(grep -c '^found ' "$report" || true)
runs=$(grep -c . <<<"$without") passed=$(grep -c '^passes ' "$report" || true)
rm -f "$report"
printf 'contract: %d of %d mutants found, %d of %d runs pass without one, %d s\n' "$good" "$total" "$passed" \
    "$runs" $((SECONDS - start))
[ "$good" = "$total" ] && [ "$passed" = "$runs" ]
