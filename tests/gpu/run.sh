#!/usr/bin/env bash
# The tests that need a GPU, from a folder of programs that were built elsewhere (`./dev gpu-test` makes
# build/carry). Every part runs whatever became of the others, within its own time; the last lines say
# what came out.
#
#   tests/gpu/run.sh [CARRY [PROGRAMS [PROCESSES]]]      build/carry, 20000 random programs, 16 processes
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 4
carry=$(realpath "${1:-build/carry}")
programs=${2:-20000}
processes=${3:-16}
device=${GPU_DEVICE:-cuda}
export GPU_DEVICE=$device KERNELS=$carry/kernels VYRE_CACHE_LIMIT=0
logs=${OUT:-$(mktemp -d)}
mkdir -p "$logs"
passed=() failed=()

# part NAME SECONDS COMMAND...: its last lines, and whether it went well.
part() {
    local name=$1 seconds=$2 start=$SECONDS code=0
    shift 2
    timeout -k 5 "$seconds" "$@" >"$logs/$name.log" 2>&1 || code=$?
    if [ $code = 0 ]; then
        passed+=("$name")
        echo "== $name: passed, $((SECONDS - start)) s"
    else
        failed+=("$name")
        echo "== $name: FAILED with $code, $((SECONDS - start)) s"
    fi
    tail -n 6 "$logs/$name.log" | cut -c1-400
}

# Random programs in several processes, each with seeds of its own.
conform() {
    local each=$(((programs + processes - 1) / processes)) i status=0 jobs=()
    for ((i = 0; i < processes; i++)); do
        "$carry/vyre" conform -b "$device" --suite small,random --programs "$each" --seed $((1 + i * each)) --runs 1 \
            >"$logs/conform.$i" 2>&1 &
        jobs+=($!)
    done
    for i in "${!jobs[@]}"; do
        wait "${jobs[i]}" || { status=1 && echo "seeds from $((1 + i * each)) on:" && tail -n 12 "$logs/conform.$i"; }
    done
    echo "$((each * processes)) small and as many large programs in $processes processes, status $status"
    return $status
}

# The kernels of the workloads, each output against its known hash.
workload_bytes() {
    PEER_DEVICE=$device bench/peers/run --hashes --add "ours=$carry/ours"
}

# The library's operations in all their forms, against their oracles.
operations() {
    local test status=0
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

# Values that a branch has shown to be a number.
known() {
    local program
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
    compute-sanitizer --tool memcheck --error-exitcode 9 "$carry/vyre" conform -b "$device" --suite small,random --programs 40 --seed 1 --runs 1
}

preferred() {
    "$carry/vyre" backends | grep "preferred selection takes .cuda"
}

# timeout(1) starts programs, so parts that are functions run in a bash of their own.
export -f conform workload_bytes operations honesty known examples sanitized preferred
export carry programs processes device logs

nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader 2>&1 | head -4
"$carry/vyre" backends "$device" | head -20
part preferred 60 bash -c preferred
part artifact 60 "$carry/gpu_drills" artifact
part honesty 120 bash -c honesty
part conform_some 300 "$carry/vyre" conform -b "$device" --programs 200 --seed 900001 --runs 1
part known 60 bash -c known
part examples 120 bash -c examples
part workload_bytes 200 bash -c workload_bytes
part operations 200 bash -c operations
part laws 200 "$carry/vyre" ops check -b "$device"
part turns 90 "$carry/gpu_drills" turns
part arithmetic 90 "$carry/gpu_drills" arithmetic
part halves 90 "$carry/gpu_drills" halves
part share 60 "$carry/gpu_drills" share
part copies 120 "$carry/gpu_drills" copies
part timeout 60 "$carry/gpu_drills" timeout
part trap 60 "$carry/gpu_drills" trap
part cancel 90 "$carry/gpu_drills" cancel
part memory 60 "$carry/gpu_drills" memory
part conform 400 bash -c conform
if command -v compute-sanitizer >/dev/null; then
    part sanitizer 120 bash -c sanitized
else
    echo "== sanitizer: unavailable, there is no compute-sanitizer"
fi
echo "passed: ${passed[*]}"
echo "failed: ${failed[*]:-none}"
[ ${#failed[@]} = 0 ]
