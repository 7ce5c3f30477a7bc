#!/usr/bin/env bash
# Holds the vulkan backend against the oracle: samples of all suites. VYRE_TEST_WORK scales the
# number of random programs.
#
#   conform.sh VYRE
set -euo pipefail
unset VYRE_VULKAN
if ! reason=$("$1" run examples/saxpy.vyre a=1 x=1 y=1 -b vulkan 2>&1); then
    echo "skipped: $reason"
    exit 77
fi
work=${VYRE_TEST_WORK:-100}
"$1" conform -b vulkan --suite sizes,special,floats --runs 1 --no-progress
"$1" conform -b vulkan --suite small --programs $((120 * work / 100 + 1)) --runs 1 --no-progress
"$1" conform -b vulkan --suite random --programs $((10 * work / 100 + 1)) --runs 1 --no-progress
