#!/usr/bin/env bash
# `vyre show -b`: the code of a device, with what is corrected there. $VYRE is the command.
set -euo pipefail
unset VYRE_OPENCL VYRE_VULKAN VYRE_OPENCL_OPTIONS
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME=$work
kernel=examples/saxpy.vyre
lacking=()

# expect PATTERN ARGUMENT...: a line of what `vyre show` prints.
expect() {
    local pattern=$1
    shift
    "$VYRE" show "$@" >"$work/out" 2>&1 || true
    grep -qE "$pattern" "$work/out" || {
        echo "no line with $pattern in what vyre show $* prints:"
        cat "$work/out"
        exit 1
    }
}

has() {
    "$VYRE" run "$kernel" a=1 x=1 y=1 -b "$1" >/dev/null 2>&1
}

if has opencl; then
    expect '^// for .*, corrects f32: .*; f64: ' "$kernel" --stage opencl -b opencl
    plain=$(wc -l <"$work/out")
    VYRE_OPENCL_OPTIONS=-cl-denorms-are-zero \
        expect '^// for .*, corrects f32: .*subnormals' "$kernel" --stage opencl -b opencl:0
    [ "$(wc -l <"$work/out")" -gt $((plain + 10)) ] || { echo "nothing is corrected:" && cat "$work/out" && exit 1; }
    expect 'the stage .opencl. is of the backend .opencl.' "$kernel" --stage opencl -b reference
else
    lacking+=(opencl)
fi
if has vulkan; then
    expect '^; for .*, corrects f32: .*; f64: ' "$kernel" --stage spirv -b vulkan
    expect '^; phase 1$' bench/kernels/dot.vyre --stage spirv -b vulkan
else
    lacking+=(vulkan)
fi
expect 'the stage .ptx. is the same for all devices. Fix: remove -b' "$kernel" --stage ptx -b cuda
expect 'the stage .ir. is the same for all devices. Fix: remove -b' "$kernel" -b opencl
VYRE_VULKAN=none expect '^vyre show: .*VYRE_VULKAN is .none.' "$kernel" --stage spirv -b vulkan
if [ ${#lacking[@]} != 0 ]; then
    echo "skipped: no device of ${lacking[*]}"
    exit 77
fi
