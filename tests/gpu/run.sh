#!/usr/bin/env bash
# The tests that need a GPU, from a folder of programs that were built elsewhere (`./dev gpu-test` makes
# build/carry). Every part runs whatever became of the others, within its own time; the last lines say
# what came out.
#
# The parts of a device run for each of GPU_DEVICES, by default cuda, opencl and vulkan on the same GPU.
# PARTs choose some: a name (opencl_floats), a device (opencl), or what it does on every device (floats).
#
#   tests/gpu/run.sh [CARRY [PART...]]      build/carry, all parts
#
# GPU_PROGRAMS random programs of each kind, 20000, from seed GPU_SEED on, 1; GPU_VECTORS of operands for
# each operation on floats, 4000000; GPU_JOBS processes, as many as there are CPUs. GPU_LIMIT: the seconds
# that the call may take; what has no time left is told, and counts as failed. GPU_SECONDS: those of each
# part that can stop in time and keep what it found, 140. Certificates go to $OUT, the logs, too.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 4
carry=$(realpath "${1:-build/carry}")
shift
parts=("$@")
programs=${GPU_PROGRAMS:-20000} seed=${GPU_SEED:-1} vectors=${GPU_VECTORS:-4000000} processes=${GPU_JOBS:-$(nproc)}
most=${GPU_SECONDS:-140} limit=${GPU_LIMIT:-0}
devices=${GPU_DEVICES:-cuda opencl vulkan}
export KERNELS=$carry/kernels VYRE_CACHE_LIMIT=0
logs=${OUT:-$(mktemp -d)}
mkdir -p "$logs"
passed=() failed=() cut=()
cut_short=75

# Whether a part is asked for.
wanted() {
    local part
    for part in "${parts[@]}"; do
        [[ $1 == "$part" || $1 == "${part}"_* || $1 == *_"$part" ]] && return 0
    done
    [ ${#parts[@]} = 0 ]
}

# part NAME SECONDS COMMAND...: its last lines, and whether it went well. It sees its SECONDS.
part() {
    local name=$1 seconds=$2 start=$SECONDS code=0
    shift 2
    wanted "$name" || return 0
    if [ "$limit" != 0 ] && [ $((limit - SECONDS)) -lt "$seconds" ]; then
        seconds=$((limit - SECONDS))
    fi
    if [ "$seconds" -lt 5 ]; then
        failed+=("$name")
        echo "== $name: did not run, the time is over"
        return
    fi
    export part_seconds=$seconds
    timeout -k 5 "$seconds" "$@" >"$logs/$name.log" 2>&1 || code=$?
    if [ $code = 0 ]; then
        passed+=("$name")
        echo "== $name: passed, $((SECONDS - start)) s"
    elif [ $code = "$cut_short" ]; then
        cut+=("$name")
        echo "== $name: cut short, right so far, $((SECONDS - start)) s"
    else
        failed+=("$name")
        echo "== $name: FAILED with $code, $((SECONDS - start)) s"
    fi
    grep -v '^unsupported: ' "$logs/$name.log" | tail -n 14 | cut -c1-400
}

# Suites in several processes, and a certificate. It stops before its time is over: what has not run by
# then counts as skipped, and what has is kept.
suites() {
    local device=$1 name=$2 suites=$3 code=0
    "$carry/vyre" conform -b "$device" --suite "$suites" --jobs "$processes" --programs "$programs" --seed "$seed" \
        --vectors "$vectors" --runs 1 --seconds $((part_seconds * 3 / 4)) --no-progress \
        --cert "$logs/$device-$name.toml" || code=$?
    if [ $code = 0 ] && grep -q 'the time that --seconds gives was over' "$logs/$device-$name.toml"; then
        return $cut_short
    fi
    return $code
}

# The kernels of the workloads, each output against its known hash.
workload_bytes() {
    PEER_DEVICE=$1 bench/peers/run --hashes --add "ours=$carry/ours"
}

# The library's operations in all their forms, against their oracles.
operations() {
    local device=$1 test status=0
    for test in "$carry"/tests/test_ops_*; do
        LD_LIBRARY_PATH=$carry/tests VYRE_TEST_DEVICES=$device "$test" 2>&1 || status=1
    done
    return $status
}

# What the backend claims, held against the code that it emits for this device.
honesty() {
    LD_LIBRARY_PATH=$carry/tests "$carry/tests/test_contract_honesty" 2>&1 | tee "$logs/honesty.all"
    [ "${PIPESTATUS[0]}" = 0 ] && grep -q '^cuda is honest' "$logs/honesty.all"
}

# What a driver's compiler has got wrong.
known() {
    local program
    "$carry/vyre" run tests/gpu/known.vyre unused_acquire x=full:7:2 -b all --verify || return 1
    for program in {return,else,then}_{u32,u64}; do
        "$carry/vyre" run tests/gpu/known.vyre "$program" xs=full:7:4 ys=1,2,77,90 zs=5,3,100,9 z=zeros:40 \
            -b all --verify || return 1
    done
}

# The examples of the language's larger constructs, on all devices.
examples() {
    local folder
    folder=$(mktemp -d) && head -c 3200000 /dev/urandom >"$folder/noise" || return 1
    example() { "$carry/vyre" run -b all --verify "examples/$1.vyre" "${@:2}"; }
    example particles "p=@$folder/noise" dt=0.01 &&
        example sha256 size=100 n=32000 "data=@$folder/noise" &&
        example lu n=64 a=iota:4096 &&
        example heat steps=33 rod=iota:100000 &&
        example jacobi width=300 height=200 turns=9 plate=iota:60000 &&
        example pi n=10000 darts=100 &&
        example weights kind=full:7:100000 weight=iota:100000 &&
        example adamw rate=0.001 beta1=0.9 beta2=0.999 epsilon=1e-8 decay=0.01 correction1=0.1 correction2=0.001 \
            seed=7 "gradients=iota:1000" parameters=ones:1000 m=zeros:1000 v=ones:1000
    local status=$?
    rm -r "$folder"
    return $status
}

sanitized() {
    compute-sanitizer --tool memcheck --error-exitcode 9 "$carry/vyre" conform -b cuda --suite small,random --programs 40 --seed 1 --runs 1
}

preferred() {
    "$carry/vyre" backends | grep "preferred selection takes .cuda"
}

# timeout(1) starts programs, so parts that are functions run in a bash of their own.
export -f suites workload_bytes operations honesty known examples sanitized preferred
export carry programs seed vectors processes logs cut_short

# What holds for every device; its parts are called DEVICE_PART.
device_parts() {
    local device=$1
    export GPU_DEVICE=$device
    echo "== $device"
    "$carry/vyre" backends "$device" | head -20
    part "${device}_suites" "$most" bash -c "suites $device suites operations,special,sizes,laws,library"
    part "${device}_floats" "$most" bash -c "suites $device floats floats"
    part "${device}_small" "$most" bash -c "suites $device small small"
    part "${device}_random" "$most" bash -c "suites $device random random"
    part "${device}_workload_bytes" 200 bash -c "workload_bytes $device"
    part "${device}_operations" 200 bash -c "operations $device"
    part "${device}_laws" 200 "$carry/vyre" ops check -b "$device"
}

cuda_parts() {
    local drill
    part preferred 60 bash -c preferred
    part honesty 120 bash -c honesty
    for drill in artifact turns arithmetic halves share copies timeout trap cancel memory; do
        part "$drill" 120 "$carry/gpu_drills" "$drill"
    done
}

nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader 2>&1 | head -4
. tests/gpu/drivers.sh
register_drivers "$carry"
for device in $devices; do
    device_parts "$device"
done
GPU_DEVICE=cuda
case " $devices " in *" cuda "*) cuda_parts ;; esac
part known 60 bash -c known
part examples 120 bash -c examples
if command -v compute-sanitizer >/dev/null; then
    part sanitizer 120 bash -c sanitized
else
    echo "== sanitizer: unavailable, there is no compute-sanitizer"
fi
echo "passed: ${passed[*]}"
echo "cut short: ${cut[*]:-none}"
echo "failed: ${failed[*]:-none}"
[ ${#failed[@]} = 0 ] && [ ${#cut[@]} = 0 ]
