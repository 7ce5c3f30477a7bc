#!/usr/bin/env bash
# The commands of README.md's tour, word for word: each must end with 0. In a copy of the tree, with a
# home of its own, so that no setting or cache of the user's takes part. $VYRE is the command.
set -euo pipefail
: "${VYRE:?names the command to test}"
VYRE=$(realpath -e "$VYRE")

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/tree" "$work/home"
tar -c --exclude=./build --exclude=./.git . | tar -x -C "$work/tree"
cd "$work/tree"
mkdir build

# The first block of code behind the heading.
mapfile -t commands < <(awk '/^## / { in_tour = $0 == "## A tour" } /^```/ { if (in_block) exit; in_block = in_tour; next } in_block' README.md)
if [ ${#commands[@]} -lt 5 ]; then
    echo "README.md has ${#commands[@]} commands under \"## A tour\". Fix: keep them there, one a line" >&2
    exit 1
fi

failed=0
for command in "${commands[@]}"; do
    began=$SECONDS status=0
    env -i PATH="$PATH" HOME="$work/home" XDG_CONFIG_HOME="$work/home/config" XDG_CACHE_HOME="$work/home/cache" \
        LC_ALL=C TERM=dumb VYRE="$VYRE" bash -c "$command" </dev/null >"$work/output" 2>&1 || status=$?
    printf '%3d seconds, status %d: %s\n' $((SECONDS - began)) "$status" "${command%% #*}"
    if [ "$status" != 0 ]; then
        cat "$work/output"
        failed=1
    fi
done

# What they say they leave behind.
for file in build/demo/mandelbrot.png build/demo/report.html build/report.html build/cpu.toml build/trace.json; do
    if [ ! -s "$file" ]; then
        echo "There is no $file afterwards. Fix: the command of the tour that makes it" >&2
        failed=1
    fi
done
exit $failed
