#!/usr/bin/env bash
# A dialect that is edited while `vyre ops watch` runs: each change is shown, a broken edit is refused with
# its place and a fix, and what was there before stays.
set -euo pipefail
: "${VYRE:?names the command to test}"

work=$(mktemp -d)
watcher=
finish() {
    if [ -n "$watcher" ]; then
        kill "$watcher" 2>/dev/null || true
        wait "$watcher" 2>/dev/null || true
    fi
    rm -rf "$work"
}
trap finish EXIT
mkdir "$work/d"
: >"$work/out"
export VYRE_DIALECT_PATH=none

fail() {
    echo "$1" >&2
    cat "$work/out" >&2
    exit 1
}

# Waits until the output has as many lines as are expected, and compares the last ones.
shown=0
expect() {
    local line
    for _ in $(seq 12000); do
        if [ "$(wc -l <"$work/out")" -ge $((shown + $#)) ]; then
            break
        fi
        sleep 0.05
    done
    for line in "$@"; do
        shown=$((shown + 1))
        local found
        found=$(sed -n "${shown}p" "$work/out" | sed -e "s|$work/||g")
        if [ "$found" != "$line" ]; then
            fail "line $shown is: $found, expected: $line"
        fi
    done
}

write() { # NAME TEXT: as an editor does
    printf '%s\n' "$2" >"$work/tmp"
    mv "$work/tmp" "$work/d/$1"
}

manifest='dialect = "greet"
version = "1.0.0"
doc = "Greets."

[[operation]]
id = "greet.twice"
doc = "Twice the number."
  [[operation.witness]]
  arguments = ["x=1"]
  expected = ["result=2"]'

# shellcheck disable=SC2016 # backquotes are what the command prints
watch_edits() {
    write greet.vyre 'fn twice(x: u32) -> u32 { return x * 2; }'
    write greet.toml "$manifest"
    "$VYRE" ops watch "$work/d" --timeout 3600 >"$work/out" 2>"$work/err" &
    watcher=$!
    expect 'added greet.twice(x: u32) -> (result: u32)'
    write greet.vyre 'fn twice(x: u32) -> u32 { return x + x; }'
    expect 'changed greet.twice(x: u32) -> (result: u32)'
    write greet.vyre 'fn twice(x: u32) -> u32 { return x + ; }'
    expect 'refused d/greet.toml; the operations stay as they were' \
        '    d/greet.vyre:1:38: V0102: expected an operand, found `;`. Fix: write a number, a name, a call or an expression in parentheses'
    write greet.vyre 'fn twice(x: u64) -> u64 { return x + x; }'
    expect 'restored d/greet.toml' 'changed greet.twice(x: u64) -> (result: u64)'
    write greet.toml "${manifest/witness]]/witnes]]}"
    expect 'refused d/greet.toml; the operations stay as they were' \
        '    d/greet.toml:8:15: there is no key of an operation "witnes". Fix: write one of id, source, entry, doc, laws, variant, witness, sample, work, types; perhaps `witness`' \
        '    d/greet.toml:6:6: `greet.twice` has no witness. Fix: add [[operation.witness]] with arguments = ["x=1,2,3"] and expected = ["total=6"]'
    rm "$work/d/greet.toml"
    expect 'removed greet.twice'
}
watch_edits

# As objects, a line each, and an end by itself.
write greet.toml "$manifest"
"$VYRE" ops watch "$work/d" --timeout 0.2 --format json >"$work/json" 2>/dev/null
if [ "$(cat "$work/json")" != '{"event": "added","name": "greet.twice"}' ]; then
    fail "as JSON: $(cat "$work/json")"
fi
if "$VYRE" ops watch "$work/none" 2>"$work/err"; then
    fail "a folder that is not there was watched"
fi
grep -q 'Fix: name an existing folder' "$work/err"
