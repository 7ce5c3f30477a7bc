#!/usr/bin/env bash
# Installs the build, moves the result elsewhere, and builds examples/embed against it in every way that
# its README tells: find_package with the shared and the static library, and pkg-config likewise. The
# C program of the project's README is built and run, too.
#
#   install.sh CMAKE BUILD_FOLDER C_COMPILER
set -euo pipefail
cd "$(dirname "$0")/../.."

cmake=$1 build=$2 cc=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$cmake" --install "$build" --prefix "$work/first" >"$work/log"
mkdir "$work/moved"
mv "$work/first" "$work/moved/prefix"
prefix=$work/moved/prefix

echo "installed:"
(cd "$prefix" && find . -type f -o -type l | sort)
expected=(
    include/vyre/vyre.h lib/libvyre.a lib/libvyre.so lib/pkgconfig/vyre.pc
    lib/cmake/vyre/vyreConfig.cmake lib/cmake/vyre/vyreConfigVersion.cmake
    share/doc/vyre/LICENSE-MIT share/doc/vyre/LICENSE-APACHE
    bin/vyre share/man/man1/vyre.1 share/bash-completion/completions/vyre
    share/zsh/site-functions/_vyre share/fish/vendor_completions.d/vyre.fish)
for file in "${expected[@]}"; do
    if [ ! -s "$prefix/$file" ]; then
        echo "$file was not installed, or is empty. Fix: see cmake/VyreInstall.cmake" >&2
        exit 1
    fi
done
if grep -rIl -e "$work/first" -e "$build" -e "$PWD/include" "$prefix"; then
    echo "the files above know where they were built. Fix: write paths relative to their own" >&2
    exit 1
fi
"$prefix/bin/vyre" --version
bash -n "$prefix/share/bash-completion/completions/vyre"
grep -q '^\.TH' "$prefix/share/man/man1/vyre.1"

embed() {
    echo "examples/embed with $1:"
    "$2" | tee "$work/output-$1"
    cmp "$work/output-$1" "$work/output-find_package"
}

if ! { "$cmake" -S examples/embed -B "$work/cmake" -DCMAKE_C_COMPILER="$cc" \
    -DCMAKE_PREFIX_PATH="$prefix" && "$cmake" --build "$work/cmake"; } >"$work/log" 2>&1; then
    cat "$work/log"
    exit 1
fi
embed find_package "$work/cmake/embed"
embed find_package-static "$work/cmake/embed_static"

export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
make -s -C examples/embed CC="$cc" OUT="$work/embed"
embed pkg-config "$work/embed"
make -s -C examples/embed CC="$cc" OUT="$work/embed-static" STATIC=1
embed pkg-config-static "$work/embed-static"

awk '/^```c$/ { inside = 1; next } /^```$/ { inside = 0 } inside' README.md >"$work/readme.c"
# shellcheck disable=SC2046
"$cc" -std=c17 -Wall -Wextra -Werror "$work/readme.c" $(pkg-config --cflags --libs vyre) \
    -Wl,-rpath,"$prefix/lib" -o "$work/readme"
echo "the C program of README.md:"
"$work/readme" | grep -x '3 4 6'

if [ "$(pkg-config --modversion vyre)" != "$(sed -n 's/.*VYRE_VERSION_STRING "\(.*\)".*/\1/p' include/vyre/base.h)" ]; then
    echo "vyre.pc has another version than include/vyre/base.h" >&2
    exit 1
fi
