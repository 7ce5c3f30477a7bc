#!/usr/bin/env bash
# The benchmarks that need a GPU, from a folder of programs that were built elsewhere (`./dev gpu-bench`
# makes build/carry): overheads beside the driver's own interface, compile times, and the workloads
# beside bench/gpu/baseline.cu, which is compiled here where it was not carried; and what routing by
# measurement gains over each device alone, whose report and table go to $OUT, else the current folder.
#
#   bench/gpu/run.sh [CARRY] [overheads|waits|compile|transfer|baseline|workloads|library|routing ...]
#
# Each workload has GPU_WORKLOAD_SECONDS, 25, on each of GPU_DEVICES, and GPU_WORKLOADS names some.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 4
carry=$(realpath "${1:-build/carry}")
out=$(realpath "${OUT:-.}")
shift
parts=" ${*:-overheads waits compile transfer baseline workloads library routing} "
bench=$PWD/bench
export KERNELS=$carry/kernels
work=$(mktemp -d)
status=0

part() {
    local seconds=$1
    shift
    echo "== $(basename "$1") ${*:2}"
    timeout -k 5 "$seconds" "$@" 2>&1 | tail -n 80 || { status=1 && echo "FAILED"; }
}

# The same on each backend of the GPU.
on_each() {
    local device
    for device in ${GPU_DEVICES:-cuda opencl vulkan}; do
        echo "== $device"
        GPU_DEVICE=$device part "$@"
    done
}

wanted() {
    [[ $parts = *" $1 "* ]]
}

baseline() {
    local program=$carry/baseline
    if [ ! -x "$program" ] && command -v nvcc >/dev/null; then
        nvcc -O3 -arch=sm_90 --fmad=false "$carry/baseline.cu" -o "$work/baseline" -lcublas -lcuda &&
            program=$work/baseline
    fi
    if [ -x "$program" ]; then
        part 120 "$program"
    else
        echo "== baseline: unavailable, neither carried nor can it be compiled here"
    fi
}

# Row by row on each backend, so that what is compared is measured at about the same time, and a slow
# compiler loses its row alone. The ratio is that of the time to the first backend's.
workloads() {
    local name device first line ms code
    for name in ${GPU_WORKLOADS:-$("$carry/gpu_bench" names)}; do
        first=
        for device in ${GPU_DEVICES:-cuda opencl vulkan}; do
            line=$(GPU_DEVICE=$device timeout -k 5 "${GPU_WORKLOAD_SECONDS:-25}" "$carry/gpu_bench" workloads "$name" 2>&1) ||
                { code=$? && status=1 && line="$name FAILED with $code ${line//$'\n'/ }"; }
            ms=$(awk '$3 == "ms" { print $2 }' <<<"$line")
            first=${first:-${ms:-0}}
            awk -v device="$device" -v ms="${ms:-0}" -v first="$first" '{
                printf "%-7s %s", device, substr($0, 1, 300)
                if (ms > 0 && first > 0) printf "  %.2f", ms / first
                print "" }' <<<"$line"
        done
    done
}

# Copies of host memory, with all CPUs and with fewer, beside those of torch where it is installed.
transfers() {
    part 120 "$carry/gpu_bench" transfer
    local cpus
    for cpus in 4 8 12; do
        if [ "$(nproc)" -gt $cpus ]; then
            part 120 taskset -c 0-$((cpus - 1)) "$carry/gpu_bench" transfer pageable
        fi
    done
    if python3 -c 'import torch' 2>/dev/null; then
        part 120 python3 "$bench/gpu/transfer_peers.py"
    else
        echo "== transfer_peers.py: unavailable, there is no torch"
    fi
}

# The table is made first, by certification; what is measured then only goes by it.
routing() {
    local operations=linalg.axpy,reduce.dot_f32,reduce.sum_f32,scan.inclusive_u32,reduce.histogram_u8
    operations+=,sort.keys_u32,linalg.matmul,linalg.conv3x3,model.mandelbrot,model.black_scholes
    operations+=,hash.fnv1a32_words,hash.crc32_words,match.dfa_words,graph.bfs,model.nbody_step
    local devices=${ROUTING_DEVICES:-cpu,cuda} sizes=${ROUTING_SIZES:-6..26:2}
    rm -f "$out/routes.toml"
    part 90 "$carry/vyre" certify "$operations" -b "$devices" --sizes "$sizes" --budget 1 --routes "$out/routes.toml"
    echo "== vyre bench -b $devices,auto --sizes $sizes"
    timeout -k 5 120 "$carry/vyre" bench "$operations" -b "$devices,auto" --sizes "$sizes" --seconds 0.2 --runs 20 \
        --routes "$out/routes.toml" --html "$out/routing.html" --format json >"$out/routing.json" || status=1
    "$carry/vyre" bench --read "$out/routing.json" --format md >"$out/routing.md" || status=1
    sed -n '/^## Crossovers/,$p' "$out/routing.md"
}

nvidia-smi --query-gpu=name,driver_version,clocks.sm,clocks.mem --format=csv,noheader 2>&1 | head -1
. tests/gpu/drivers.sh
register_drivers "$carry"
cd "$work" || exit 1
if wanted overheads; then part 60 "$carry/gpu_bench" overheads; fi
if wanted waits; then on_each 60 "$carry/gpu_bench" waits; fi
if wanted compile; then on_each 120 "$carry/gpu_bench" compile; fi
if wanted transfer; then transfers; fi
if wanted baseline; then baseline; fi
if wanted workloads; then workloads; fi
if wanted library; then part 200 "$carry/bench_library" cuda; fi
if wanted routing; then routing; fi
rm -rf "$work"
exit $status
