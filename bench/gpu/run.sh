#!/usr/bin/env bash
# The benchmarks that need a GPU, from a folder of programs that were built elsewhere (`./dev gpu-bench`
# makes build/carry): overheads beside the driver's own interface, compile times, and the workloads
# beside bench/gpu/baseline.cu, which is compiled here where it was not carried; and what routing by
# measurement gains over each device alone, whose report and table go to $OUT, else the current folder.
#
#   bench/gpu/run.sh [CARRY] [overheads|compile|transfer|baseline|workloads|library|routing ...]
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 4
carry=$(realpath "${1:-build/carry}")
out=$(realpath "${OUT:-.}")
shift
parts=" ${*:-overheads compile transfer baseline workloads library routing} "
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
if wanted compile; then on_each 120 "$carry/gpu_bench" compile; fi
if wanted transfer; then transfers; fi
if wanted baseline; then baseline; fi
if wanted workloads; then on_each 240 "$carry/gpu_bench" workloads; fi
if wanted library; then part 200 "$carry/bench_library" cuda; fi
if wanted routing; then routing; fi
rm -rf "$work"
exit $status
