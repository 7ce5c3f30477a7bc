#!/usr/bin/env bash
# Installs the packages of `./dev deb` on a bare Debian 12, uses them as a C programmer would, removes
# them, and looks for files that they leave behind.
#
#     tests/deb/run.sh PACKAGES ROOT_TAR
#
# PACKAGES is the folder of the .deb files, ROOT_TAR the file that root.sh made. Exit status 77: this
# machine cannot run the test.
# shellcheck disable=SC2016 # the shell of the other system expands what is in single quotes
set -euo pipefail
cd "$(dirname "$0")/../.."
packages=$1 tar=$2

if [ "$(id -u)" != 0 ]; then
    echo "the packages are not tried: only root can change into another system" >&2
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root
mkdir "$root"
tar -xf "$tar" -C "$root"

# Runs a command in the system, without the variables of this one. Nothing is mounted in it: a
# container that CI runs in may not mount.
inside() {
    env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
        chroot "$root" "$@"
}

# Runs a command, and shows its output only if it fails.
quietly() {
    "$@" >"$work/log" 2>&1 || { cat "$work/log" >&2 && return 1; }
}

# Lists all files, except the records of dpkg and ldconfig and the folders of this test.
files() {
    (cd "$root" && find . \( -path ./try -o -path ./llvm -o -path ./var/lib/dpkg -o -path ./var/log \
        -o -path ./var/cache/ldconfig \) -prune -o -print | LC_ALL=C sort)
}

files >"$work/before"
mkdir "$root/try"
cp "$packages"/{libvyre0,libvyre-dev,vyre}_*.deb "$root/try"
quietly inside sh -c 'dpkg -i --force-unsafe-io /try/*.deb'
echo "installed: $(inside dpkg-query -W -f '${Package} ${Version}, ' 'libvyre*' vyre)"
bash tests/structure/links.sh "$root/usr/share/doc/vyre"
if grep -rIlF "$PWD" "$root/usr/share/doc/vyre" "$root/usr/include/vyre" || strings -a "$root/usr/bin/vyre" \
    "$root"/usr/lib/*/libvyre.{a,so} | grep -F "$PWD"; then
    echo "the packages know where they were built. Fix: see -ffile-prefix-map in build/deb" >&2
    exit 1
fi

saxpy='vyre run examples/saxpy.vyre a=2 x=iota:8 y=1,1,1,1,1,1,1,1'
run_saxpy() {
    inside sh -c "cd /usr/share/doc/vyre && $saxpy $*" 2>"$work/told" | tee "$work/saxpy"
    grep -qx '    1.0 3.0 5.0 7.0 9.0 11.0 13.0 15.0' "$work/saxpy"
}
echo "the command without LLVM:"
run_saxpy -b reference
if run_saxpy -b cpu; then
    echo "the cpu backend ran without LLVM, so this system is not bare" >&2
    exit 1
fi
grep -F 'Fix: ' "$work/told"

echo "the command with the LLVM that the packages recommend:"
llvm=$(inside sh -c 'dpkg-deb -f /llvm/libllvm*.deb Package')
inside dpkg-query -W -f '${Recommends}\n' vyre libvyre0 | grep -cw "$llvm" | grep -qx 2
quietly inside sh -c 'dpkg -i --force-unsafe-io /llvm/*.deb'
run_saxpy -b cpu
inside vyre run sort.keys_u32 --sample 1000 -b cpu --verify

echo "the C program of README.md, with pkg-config:"
awk '/^```c$/ { inside = 1; next } /^```$/ { inside = 0 } inside' README.md >"$root/try/readme.c"
inside sh -c 'cd /try && cc -std=c17 -Wall -Wextra -Werror readme.c $(pkg-config --cflags --libs vyre) -o readme'
inside /try/readme | grep -x '3 5 7'
echo "examples/embed with CMake, shared and static:"
cp -r "$root/usr/share/doc/vyre/examples/embed" "$root/try/embed"
quietly inside sh -c 'cmake -S /try/embed -B /try/build && cmake --build /try/build'
inside /try/build/embed | tee "$work/embed"
inside /try/build/embed_static | cmp - "$work/embed"
inside ldd /try/build/embed | grep -F libvyre.so.0

quietly inside dpkg --purge vyre libvyre-dev libvyre0
quietly inside sh -c 'dpkg --purge $(for p in /llvm/*.deb; do dpkg-deb -f $p Package; done)'
rm -rf "$root/root/.cache" "$root/root/.config"
files >"$work/after"
if ! diff "$work/before" "$work/after"; then
    echo "the files above were left, or went away, when the packages were removed" >&2
    exit 1
fi
echo "removed: no file is left"
