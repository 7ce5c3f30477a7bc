#!/usr/bin/env bash
# The benchmarks that need a GPU, from a folder of programs that were built elsewhere (`./dev gpu-bench`
# makes build/carry): overheads beside the driver's own interface, compile times, and the workloads
# beside bench/gpu/baseline.cu, which is compiled here where it was not carried.
#
#   bench/gpu/run.sh [CARRY]
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 4
carry=$(realpath "${1:-build/carry}")
export KERNELS=$carry/kernels
work=$(mktemp -d)
status=0

part() {
    local seconds=$1
    shift
    echo "== $(basename "$1") ${*:2}"
    timeout -k 5 "$seconds" "$@" 2>&1 | tail -n 40 || { status=1 && echo "FAILED"; }
}

nvidia-smi --query-gpu=name,driver_version,clocks.sm,clocks.mem --format=csv,noheader 2>&1 | head -1
cd "$work" || exit 1
part 60 "$carry/gpu_bench" overheads
part 120 "$carry/gpu_bench" compile
baseline=$carry/baseline
if [ ! -x "$baseline" ] && command -v nvcc >/dev/null; then
    nvcc -O3 -arch=sm_90 --fmad=false "$carry/baseline.cu" -o "$work/baseline" -lcublas -lcuda &&
        baseline=$work/baseline
fi
if [ -x "$baseline" ]; then
    part 120 "$baseline"
else
    echo "== baseline: unavailable, neither carried nor can it be compiled here"
fi
part 240 "$carry/gpu_bench" workloads
part 200 "$carry/bench_library" cuda
rm -rf "$work"
exit $status
