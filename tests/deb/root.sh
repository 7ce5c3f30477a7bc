#!/usr/bin/env bash
# Makes FOLDER/root.tar: a Debian 12 with only the essential packages, a compiler, CMake, make and
# pkg-config. Its folder /llvm has the packages of LLVM, which are not installed. All packages come
# from the sources of the machine's apt, once.
#
#     tests/deb/root.sh FOLDER
#
# Exit status 77: this machine cannot make the system.
set -euo pipefail
folder=$1
packages=gcc,libc6-dev,cmake,make,pkg-config
llvm=libllvm19
wanted="$packages $llvm"

if [ "$(cat "$folder/ready" 2>/dev/null)" = "$wanted" ]; then
    exit 0
fi

unavailable() {
    echo "no bare system: $1" >&2
    exit 77
}

[ "$(id -u)" = 0 ] || unavailable "only root can make one and change into it"
command -v mmdebstrap >/dev/null || unavailable "there is no mmdebstrap"
rm -rf "$folder"
mkdir -p "$folder"
# mmdebstrap runs this with the folder of the new system as $1.
# shellcheck disable=SC2016
keep_llvm='export APT_CONFIG="$MMDEBSTRAP_APT_CONFIG"
    rm "$1"/var/cache/apt/archives/*.deb
    apt-get -q -y --no-install-recommends --download-only install '"$llvm"'
    mkdir "$1/llvm"
    mv "$1"/var/cache/apt/archives/*.deb "$1/llvm"'
mmdebstrap --mode=root --variant=minbase --include="$packages" --aptopt='Acquire::Retries "2"' \
    --customize-hook="set -e; $keep_llvm" bookworm "$folder/root.tar" >"$folder/log" 2>&1 ||
    unavailable "$(tail -1 "$folder/log")"
echo "$wanted" >"$folder/ready"
