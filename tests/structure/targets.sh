#!/usr/bin/env bash
# `ninja vyre` in a build folder makes all that `cmake --install` copies: every installed file that some
# command of the build writes is written on the way to `vyre`. Skipped where the build is not Ninja's.
#
#   targets.sh BUILD_FOLDER
set -euo pipefail

build=$(realpath "$1")
if [ ! -f "$build/build.ninja" ] || ! command -v ninja >/dev/null; then
    echo "skipped: not a build of Ninja"
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ninja -C "$build" -t commands all >"$work/all"
ninja -C "$build" -t commands vyre >"$work/vyre"

count=0
while read -r file; do
    # As a word of a command line, in the folder or with its path.
    pattern="(^|[ /])${file//./\\.}( |\$)"
    if ! grep -qE "$pattern" "$work/all"; then
        continue # written when the build is configured
    fi
    count=$((count + 1))
    if ! grep -qE "$pattern" "$work/vyre"; then
        echo "\`ninja vyre\` does not build $file, which is installed. Fix: see cmake/VyreGenerated.cmake" >&2
        exit 1
    fi
done < <(grep -oE "\"$build/[^\"\$]*\"" "$build/cmake_install.cmake" | tr -d '"' |
    grep -v '/CMakeFiles/\|/cmake_install\.cmake\|/generated/pages/' | sed "s|^$build/||" | sort -u)
echo "$count built files are installed"
if [ "$count" -lt 7 ]; then
    echo "expected libraries, command, man page and completions. Fix: how this test finds them" >&2
    exit 1
fi
