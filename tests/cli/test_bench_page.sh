#!/usr/bin/env bash
# The page of `vyre bench --html`, opened in a real browser: of a run; of a made-up one that has crossovers, wrong bytes, an
# unavailable device and names that would be markup; and of made-up ones whose figures and names are extreme.
set -euo pipefail
for tool in chromium python3; do
    if ! command -v "$tool" >/dev/null; then
        echo "skipped, because there is no $tool here: the page of vyre bench"
        exit 77
    fi
done
tests=$PWD/tests/cli
vyre=$(realpath -e "${VYRE:?names the command to test}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/run" "$work/made"
export PYTHONDONTWRITEBYTECODE=1

VYRE_LLVM=none VYRE_CUDA=none "$vyre" bench 'linalg.axpy,reduce.sum_f32,sort.keys_u32' -b reference --sizes 4..8:2 \
    --seconds 0.01 --runs 5 --html "$work/run/page.html" --format json >"$work/run/report.json"
status=0
"$vyre" bench --read "$tests/bench_made.json" --compare "$tests/bench_made.json" --html "$work/made/page.html" --format json \
    >"$work/made/report.json" 2>/dev/null || status=$?
[ "$status" = 1 ] || { echo "wrong bytes must end with 1, not $status" && exit 1; }
python3 "$tests/test_bench_page.py" "$@" "$work/run" "$work/made"
mkdir "$work/extremes"
python3 "$tests/bench_extremes.py" "$work/extremes"
for made in "$work"/extremes/*.json; do
    folder=${made%.json}
    mkdir "$folder"
    "$vyre" bench --read "$made" --html "$folder/page.html" --format json >"$folder/report.json"
done
python3 "$tests/test_bench_page.py" --brief "$@" "$work"/extremes/*/
if [ -n "${KEEP:-}" ]; then
    cp -r "$work"/* "$KEEP"
fi
