#!/usr/bin/env bash
# The pages that `./dev docs` writes are what the command says now.
#
#     pages.sh VYRE
set -euo pipefail
vyre=$1
cd "$(dirname "$0")/../.."

failed=0
read -ra topics < <(sed -nE 's/^generated="(.*)"$/\1/p' dev)
for topic in "${topics[@]}"; do
    if ! diff -u "docs/$topic.md" <("$vyre" help --docs "$topic"); then
        echo "docs/$topic.md is not what its table says. Fix: ./dev docs" >&2
        failed=1
    fi
done
exit $failed
