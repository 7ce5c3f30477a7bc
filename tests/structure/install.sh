#!/usr/bin/env bash
# Installs the build, moves the result elsewhere, and builds examples/embed against it in every way that
# its README tells: find_package with the shared and the static library, and pkg-config likewise. The
# C program of the project's README is built and run, too. examples/backend-plugin is built in the same
# way and held against the oracle by the installed command.
#
#   install.sh CMAKE BUILD_FOLDER C_COMPILER
set -euo pipefail
cd "$(dirname "$0")/../.."

cmake=$1 build=$2 cc=$3
umask 022 # a plugin that others may write to is refused
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
    share/doc/vyre/LICENSE-MIT share/doc/vyre/LICENSE-APACHE share/doc/vyre/LICENSE-XXHASH share/doc/vyre/README.md
    share/doc/vyre/docs/tutorial.md share/doc/vyre/examples/saxpy.vyre
    share/doc/vyre/examples/embed/README.md share/doc/vyre/editors/vim/README.md
    bin/vyre share/man/man1/vyre.1 share/bash-completion/completions/vyre
    share/zsh/site-functions/_vyre share/fish/vendor_completions.d/vyre.fish)
for file in "${expected[@]}"; do
    if [ ! -s "$prefix/$file" ]; then
        echo "$file was not installed, or is empty. Fix: see cmake/VyreInstall.cmake" >&2
        exit 1
    fi
done
bash tests/structure/links.sh "$prefix/share/doc/vyre"
if grep -rn -F './dev vyre' "$prefix/share/doc/vyre"; then
    echo "the installed pages above name a command of the source tree. Fix: see cmake/VyreInstall.cmake" >&2
    exit 1
fi
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
"$work/readme" | grep -x '3 5 7'

# Builds a source, which stands last, against the installed library, and runs it.
build_and_run() {
    # shellcheck disable=SC2046
    "$@" -Wall -Wextra -Werror $(pkg-config --cflags --libs vyre) -Wl,-rpath,"$prefix/lib" \
        -o "$work/program"
    "$work/program"
}
echo "examples/api:"
build_and_run "$cc" -std=c17 examples/api/run.c | grep -x '3 5 7'
build_and_run "$cc" -std=c17 examples/api/compile.c | tail -1 | grep -x 18
build_and_run "$cc" -std=c17 examples/api/resident.c | grep -x 'imported: 1 4, 10 16'
build_and_run "$cc" -std=c17 examples/api/operation.c | grep -x 6
build_and_run "$cc" -std=c17 examples/api/build.c | grep -x '0 1.5 0 4.5'
echo "from C++:"
build_and_run c++ -std=c++17 tests/structure/api.cpp | grep -x '4 8 12'

# A backend of somebody else: found by its build folder, then as part of the installation.
export XDG_CONFIG_HOME=$work/config XDG_CACHE_HOME=$work/cache
vyre=$prefix/bin/vyre
conform() {
    echo "examples/backend-plugin with $1:"
    "$vyre" backends | grep -w scalar
    "$vyre" conform -b scalar --programs 2000 --runs 1 | tee "$work/conform-$1"
    grep -Eq '^scalar: [1-9][0-9]* cases, the same bytes as the oracle; [1-9][0-9]* unsupported$' \
        "$work/conform-$1"
    saxpy=(examples/saxpy.vyre a=2 x=iota:8 y="1,1,1,1,1,1,1,1")
    "$vyre" run -b scalar "${saxpy[@]}" >"$work/saxpy-$1"
    "$vyre" run -b reference "${saxpy[@]}" | cmp - "$work/saxpy-$1"
}

if ! { "$cmake" -S examples/backend-plugin -B "$work/plugin" -DCMAKE_C_COMPILER="$cc" \
    -DCMAKE_PREFIX_PATH="$prefix" && "$cmake" --build "$work/plugin"; } >"$work/log" 2>&1; then
    cat "$work/log"
    exit 1
fi
VYRE_BACKEND_PATH=$work/plugin conform find_package

make -s -C examples/backend-plugin CC="$cc" OUT="$work/plugin-make"
mkdir -p "$prefix/lib/vyre/backends.d"
cp "$work/plugin-make/scalar.so" "$work/plugin-make/scalar.toml" "$prefix/lib/vyre/backends.d"
conform pkg-config

cat >"$work/acquire.c" <<'END'
#include <stdio.h>
#include <vyre/vyre.h>

int main(void) {
    vyre_device *device;
    vyre_status status = vyre_acquire("scalar", &device);
    puts(status ? vyre_status_text(status) : vyre_device_id(device));
    vyre_device_release(device);
    return status != NULL;
}
END
# shellcheck disable=SC2046
"$cc" -std=c17 -Wall -Wextra -Werror "$work/acquire.c" $(pkg-config --cflags --libs vyre) \
    -Wl,-rpath,"$prefix/lib" -o "$work/acquire"
echo "the same, through libvyre.so:"
"$work/acquire" | grep -x scalar

if [ "$(pkg-config --modversion vyre)" != "$(sed -n 's/.*VYRE_VERSION_STRING "\(.*\)".*/\1/p' include/vyre/base.h)" ]; then
    echo "vyre.pc has another version than include/vyre/base.h" >&2
    exit 1
fi
