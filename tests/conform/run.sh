#!/usr/bin/env bash
# Runs `vyre conform ARGS` with that many random programs of each kind, in the percentage that
# VYRE_TEST_WORK asks for. Skipped where the CPU lacks the features that VYRE_CPU_FEATURES names.
#
#   run.sh PROGRAMS ARGS...       $VYRE is the command
set -euo pipefail

programs=$(($1 * ${VYRE_TEST_WORK:-100} / 100))
shift
if [ -n "${VYRE_CPU_FEATURES:-}" ] && ! why=$("$VYRE" backends cpu 2>&1); then
    echo "skipped, because $(sed -n 's/^ *reason *//p' <<<"$why")"
    exit 77
fi
exec "$VYRE" conform --programs $((programs > 0 ? programs : 1)) "$@"
