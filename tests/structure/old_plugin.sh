#!/usr/bin/env bash
# Builds examples/backend-plugin against tests/abi/1.0, the contract as it was in version 1.0, and holds
# the plugin against the reference: what was built then runs unchanged. Arguments: the compiler, and the
# folder of libvyre.so. VYRE is the command.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
cc=$1 libraries=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

grep '^#define VYRE_ABI_MINOR 0$' tests/abi/1.0/vyre/backend.h >/dev/null
"$cc" -std=c17 -O1 -shared -fPIC -fvisibility=hidden -ffp-contract=off -D_POSIX_C_SOURCE=200809L \
    -Itests/abi/1.0 -Iinclude examples/backend-plugin/*.c -L"$libraries" -lvyre -Wl,-rpath,"$libraries" \
    -lm -o "$work/scalar.so"
cp examples/backend-plugin/scalar.toml "$work"

export VYRE_BACKEND_PATH=$work VYRE_CACHE_LIMIT=0 VYRE_ROUTES=off
"$VYRE" run examples/saxpy.vyre a=2 x=iota:1000 y=iota:1000 -b all --verify | tee "$work/runs"
grep -E "^saxpy +scalar .*the oracle's" "$work/runs" >/dev/null || {
    echo "the plugin did not run, or gave other bytes. Fix: keep what ABI 1.0 promised (vyre/backend.h)"
    exit 1
}
"$VYRE" conform -b scalar --suite small,random --programs 150
