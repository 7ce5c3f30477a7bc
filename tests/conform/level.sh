#!/usr/bin/env bash
# Runs a test with the features of one level of x86-64, on a quarter of its usual work.
#
#   level.sh LEVEL COMMAND...
export VYRE_CPU_FEATURES=$1 VYRE_TEST_WORK=$((${VYRE_TEST_WORK:-100} / 4))
shift
exec "$@"
