#!/usr/bin/env bash
# "Write a dialect" of CONTRIBUTING.md, word for word: its files are made, its commands are run in order, and what
# they print is what stands there.
set -euo pipefail
: "${VYRE:?names the command to test}"
vyre=$(realpath "$VYRE")
if ! "$vyre" backends 2>/dev/null | grep '^preferred selection takes `' >/dev/null; then
    echo "no backend that runs by itself"
    exit 77
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin" "$work/home"
ln -s "$vyre" "$work/bin/vyre"

# Blocks as files: NUMBER.KIND, and NUMBER.name where the text in front names a file.
awk -v out="$work" '
    /^## / { inside = $0 == "## Write a dialect" }
    !inside { next }
    /^ *```/ {
        if (kind != "") {
            close(file)
            kind = ""
            next
        }
        kind = $0
        sub(/^ *```/, "", kind)
        indent = index($0, "`") - 1
        file = sprintf("%s/%02d.%s", out, ++count, kind)
        printf "" >file
        if (kind == "vyre" || kind == "toml") {
            print name >(file ".name")
            close(file ".name")
        }
        next
    }
    kind != "" { print substr($0, indent + 1) >file; next }
    match($0, /`[a-z]+\.(vyre|toml)`/) { name = substr($0, RSTART + 1, RLENGTH - 2) }
' CONTRIBUTING.md

folder=.config/vyre/dialects
ran=0
for path in "$work"/[0-9]*; do
    block=$(basename "$path")
    case $block in
        *.vyre | *.toml)
            install -m 644 "$work/$block" "$work/home/$folder/$(cat "$work/$block.name")"
            ;;
        *.sh)
            # Commands of one place follow each other until what they print is shown.
            if ! (umask 022 && cd "$work/home" && { [ ! -d $folder ] || cd $folder; } &&
                env -u VYRE_DIALECT_PATH -u XDG_CONFIG_HOME HOME="$work/home" PATH="$work/bin:$PATH" VYRE_LOG=error \
                    bash -eu "$work/$block" >"$work/printed" 2>"$work/err"); then
                echo "block $block failed:" >&2
                cat "$work/$block" "$work/err" >&2
                exit 1
            fi
            ran=$((ran + 1))
            ;;
        *.text)
            if ! diff -u "$work/$block" "$work/printed" >&2; then
                echo "CONTRIBUTING.md says otherwise. Fix: correct block $block of it" >&2
                exit 1
            fi
            ;;
    esac
done
if [ "$ran" -lt 4 ]; then
    echo "only $ran blocks of CONTRIBUTING.md were run" >&2
    exit 1
fi
