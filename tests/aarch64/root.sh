#!/usr/bin/env bash
# Unpacks into FOLDER/root what programs for AArch64 are built against and need to run: Debian's packages of
# that architecture, fetched once, beside those of the system and unknown to it.
#
#     tests/aarch64/root.sh FOLDER
#
# Exit status 77: the packages are not to be had here.
set -euo pipefail
folder=$1
packages=(libc6-dev libgcc-12-dev libllvm19 libcmocka-dev libmpfr-dev libxxhash-dev zlib1g-dev
    libvulkan-dev opencl-c-headers python3-dev python3-numpy)
wanted="${packages[*]}"

if [ "$(cat "$folder/ready" 2>/dev/null)" = "$wanted" ]; then
    exit 0
fi

unavailable() {
    echo "no packages of arm64: $1" >&2
    exit 77
}

for tool in apt-get dpkg-deb qemu-aarch64; do
    command -v "$tool" >/dev/null || unavailable "there is no $tool"
done
rm -rf "$folder"
mkdir -p "$folder"/root "$folder"/apt/{state/lists/partial,cache/archives/partial}
: >"$folder/apt/status" # nothing is installed, so that all that is needed is fetched

fetch() {
    apt-get -q -o Dir::State="$PWD/$folder/apt/state" -o Dir::State::status="$PWD/$folder/apt/status" \
        -o Dir::Cache="$PWD/$folder/apt/cache" -o APT::Architecture=arm64 -o APT::Architectures=arm64 \
        -o APT::Sandbox::User="$(id -un)" -o Acquire::Retries=2 -o Acquire::http::Timeout=20 "$@" \
        >"$folder/apt/log" 2>&1
}
fetch update || unavailable "see $folder/apt/log"
fetch install -y --no-install-recommends --download-only "${packages[@]}" || unavailable "see $folder/apt/log"
for package in "$folder"/apt/cache/archives/*.deb; do
    dpkg-deb -x "$package" "$folder/root"
done
# Links lead to where the packages would be installed.
find "$folder/root" -type l -lname '/*' | while read -r link; do
    ln -sfnr "$folder/root$(readlink "$link")" "$link"
done
rm -rf "$folder/apt"
echo "$wanted" >"$folder/ready"
