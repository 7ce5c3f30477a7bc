#!/usr/bin/env bash
# Every operation of the standard library that has a program is held against an oracle of its own:
# the tests beside this one name those that they run.
set -euo pipefail

tested=$(for test in "$(dirname "$VYRE")"/tests/test_ops_*; do
    VYRE_TEST_LIST=1 "$test" 2>/dev/null
done | sed -n 's/^operation //p' | sort -u)
listed=$(VYRE_DIALECT_PATH=none "$VYRE" ops --format csv 2>/dev/null |
    sed -n 's/^\([^,]*\),[^,]*,[^,]*,composite,.*/\1/p' | sort)
[ -n "$listed" ] || { echo "the command lists no operation" && exit 1; }
missing=$(comm -13 <(echo "$tested") <(echo "$listed"))
[ -z "$missing" ] || { printf 'without a test:\n%s\n' "$missing" && exit 1; }
