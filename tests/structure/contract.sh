#!/usr/bin/env bash
# Counts the statements of the driver contract that the tests prove. A statement's number stands in the
# names of its tests, as in acquire_S12_unknown_id. It is proven if at least one of them passed, and none
# failed, ended early or did not run; a test may be skipped where another one passed.
#
#   contract.sh STATEMENTS REPORT SOURCE...   REPORT is what ctest --output-junit wrote
#   contract.sh drill                         holds the count against made-up reports
#
# The first line is the count; each statement that is not proven follows with what it lacks.
set -euo pipefail

count() {
    local statements=$1 report=$2
    shift 2
    awk -v most="$statements" '
        # Writes a text into a list, for every statement that the name of a test has.
        function note(list, name, text,   rest) {
            for (rest = name; match(rest, /_S[0-9]+/); rest = substr(rest, RSTART + RLENGTH)) {
                list[substr(rest, RSTART + 2, RLENGTH - 2) + 0] = name " " text
            }
        }
        FILENAME != report {
            if (match($0, /^static void [A-Za-z0-9_]+_S[0-9]+[A-Za-z0-9_]*\(void \*\*/)) {
                name = substr($0, 13)
                sub(/\(.*/, "", name)
                defined[name] = 1
            }
            next
        }
        match($0, /\[ *(RUN|OK|FAILED|ERROR|SKIPPED) *\] [A-Za-z0-9_]+$/) {
            split(substr($0, RSTART + 1), part, /[][ ]+/)
            what = part[1] ? part[1] : part[2]
            name = part[1] ? part[2] : part[3]
            if (what == "RUN") {
                begun[name]++
            } else if (name in begun) {
                ended[name] += what == "OK" || what == "FAILED" || what == "SKIPPED"
                good[name] += what == "OK"
                bad[name] += what == "FAILED" || what == "ERROR"
            }
        }
        END {
            for (name in defined) {
                if (!begun[name]) {
                    note(lacks, name, "did not run")
                } else if (bad[name]) {
                    note(lacks, name, "failed")
                } else if (ended[name] < begun[name]) {
                    note(lacks, name, "did not end")
                } else if (good[name]) {
                    note(passed, name, "passed")
                } else {
                    note(skipped, name, "was skipped")
                }
            }
            for (number = 1; number <= most; number++) {
                if (number in lacks) {
                    missing = missing "\nS" number ": " lacks[number]
                } else if (number in passed) {
                    proven++
                } else {
                    missing = missing "\nS" number ": " \
                        (number in skipped ? skipped[number] : "no test has its number")
                }
            }
            print proven + 0 missing
        }' report="$report" "$@" "$report"
}

# drill REPORT-LINES EXPECTED: two statements, of which S1 has two tests and S2 one.
drill() {
    printf '%s\n' "$1" >"$work/report"
    local found
    found=$(count 2 "$work/report" "$work/test.c")
    if [ "$found" != "$2" ]; then
        printf 'found:\n%s\nexpected:\n%s\nin:\n%s\n' "$found" "$2" "$1" >&2
        exit 1
    fi
}

if [ "$1" != drill ]; then
    count "$@"
    exit
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
printf 'static void %s(void **state) {\n}\n' one_S1_a one_S1_b two_S2 >"$work/test.c"
ran() {
    printf '[ RUN      ] %s\n[%s] %s\n' "$1" "$2" "$1"
}
ok='       OK ' failed='  FAILED  ' skipped='  SKIPPED '
all=$(ran one_S1_a "$ok"; ran one_S1_b "$ok"; ran two_S2 "$ok")
drill "$all" 2
drill "$(ran one_S1_a "$ok"; ran one_S1_b "$failed"; ran two_S2 "$ok")" $'1\nS1: one_S1_b failed'
drill "$all"$'\n'"$(ran one_S1_a "$failed")" $'1\nS1: one_S1_a failed' # in a second run of the test
drill "$(ran one_S1_a "$ok"; ran two_S2 "$ok")" $'1\nS1: one_S1_b did not run'
drill "$all"$'\n[ RUN      ] two_S2' $'1\nS2: two_S2 did not end'
drill "$(ran one_S1_a "$ok"; ran one_S1_b "$skipped"; ran two_S2 "$ok")" 2
drill "$(ran one_S1_a "$ok"; ran one_S1_b "$ok"; ran two_S2 "$skipped")" $'1\nS2: two_S2 was skipped'
printf 'static void one_S1_a(void **state) {\n}\n' >"$work/test.c"
drill "$(ran one_S1_a "$ok")" $'1\nS2: no test has its number'
drill "" $'0\nS1: one_S1_a did not run\nS2: no test has its number'
echo "9 made-up reports are counted as they should be"
