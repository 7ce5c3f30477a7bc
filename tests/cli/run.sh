#!/usr/bin/env bash
# Runs cases of the command: transcripts that carry commands and what is expected of them. Each file is
# run in an empty folder of its own and written again with what came out; the test passes if nothing
# changed.
#
#   run.sh [--update] [FILE.case ...]       $VYRE is the command; --update keeps what came out
#
# The lines of a case:
#
#   # ...              a comment
#   file NAME          makes a file of the lines that follow, which start with |
#   needs TOOL ...     the next command is skipped, and that is said, where one is not installed
#   $ COMMAND          is run by bash; lines that follow and start with > belong to it
#   out| ...           a line of its stdout; out~ is a last one without its newline
#   err| ...           the same for stderr
#   exit N             its exit status, where that is not 0
#
# An escape character shows as \e. $TREE is the root of the sources. Besides `vyre` there are
# `terminal COMMAND`, which gives it one, `powerless COMMAND`, which lets the permissions of files
# hold even for root, and `plugin FOLDER NAME...`, which puts backends of tests/plugins there. What LLVM,
# GPU and loaders the machine has does not matter: there are none, but for commands that unset VYRE_LLVM,
# VYRE_CUDA, VYRE_OPENCL or VYRE_VULKAN. $FAKE_CUDA is a driver for cuda whose GPU computes nothing.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

update=0
if [ "${1:-}" = --update ]; then
    update=1
    shift
fi
if [ $# = 0 ]; then
    set -- "$here"/*.case
fi
: "${VYRE:?names the command to test, as in VYRE=build/release/vyre}"
vyre=$(realpath -e "$VYRE")
tree=$(realpath "$here/../..")
plugins=$(dirname "$vyre")/plugins # where the build puts them
fake_cuda=$(dirname "$vyre")/fake/fake_cuda.so

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin"
ln -s "$vyre" "$work/bin/vyre"
cat >"$work/bin/terminal" <<'END'
#!/usr/bin/env bash
set -o pipefail
script -qefc "$*" /dev/null </dev/null | tr -d '\r'
END
cat >"$work/bin/powerless" <<'END'
#!/usr/bin/env bash
if [ "$(id -u)" = 0 ]; then
    exec setpriv --bounding-set=-dac_override,-dac_read_search "$@"
fi
exec "$@"
END
cat >"$work/bin/plugin" <<'END'
#!/usr/bin/env bash
set -e
folder=$1
shift
install -d -m 755 "$folder"
for name in "$@"; do
    install -m 644 "$PLUGINS/$name.so" "$folder"
    echo "library = \"$name.so\"" >"$folder/$name.toml"
    chmod 644 "$folder/$name.toml"
done
END
chmod +x "$work/bin/terminal" "$work/bin/powerless" "$work/bin/plugin"

# Prints a stream line by line behind a prefix.
show() {
    local line
    while IFS= read -r line; do
        printf '%s| %s\n' "$1" "$line"
    done <"$2"
    if [ -n "$line" ]; then
        printf '%s~ %s\n' "$1" "$line"
    fi
}

# Runs a command in the current folder and prints what came of it.
run() {
    local status=0
    env -i PATH="$work/bin:$PATH" HOME="$PWD" TREE="$tree" PLUGINS="$plugins" LC_ALL=C TERM=xterm SHELL=/bin/bash \
        FAKE_CUDA="$fake_cuda" VYRE_LLVM=none VYRE_CUDA=none VYRE_OPENCL=none VYRE_VULKAN=none ASAN_OPTIONS="${ASAN_OPTIONS:-}" UBSAN_OPTIONS="${UBSAN_OPTIONS:-}" \
        timeout 1200 bash -c "$1" </dev/null >"$work/out" 2>"$work/err" || status=$?
    { show out "$work/out" && show err "$work/err"; } | sed -e 's/\x1b/\\e/g' -e 's/ $//'
    if [ "$status" != 0 ]; then
        echo "exit $status"
    fi
}

# Reads a case and prints it again with what came of its commands.
replay() {
    local lines at=0 line name command skip='' tool
    mapfile -t lines <"$1"
    while [ $at -lt ${#lines[@]} ]; do
        line=${lines[at++]}
        printf '%s\n' "$line"
        case $line in
            'file '*)
                name=${line#file }
                : >"$name"
                while [[ ${lines[at]:-} = '|'* ]]; do
                    line=${lines[at++]}
                    printf '%s\n' "$line"
                    line=${line#|}
                    printf '%s\n' "${line# }" >>"$name"
                done
                ;;
            'needs '*)
                for tool in ${line#needs }; do
                    command -v "$tool" >/dev/null || skip=$tool
                done
                ;;
            '$ '*)
                command=${line#$ }
                while [[ ${lines[at]:-} = '>'* ]]; do
                    line=${lines[at++]}
                    printf '%s\n' "$line"
                    line=${line#>}
                    command+=$'\n'${line# }
                done
                if [ -z "$skip" ]; then
                    run "$command"
                else
                    echo "skipped, because there is no $skip here: $command" >&2
                    skipped=$((skipped + 1))
                fi
                while [[ ${lines[at]:-} =~ ^(out|err)[\|~]|^exit\  ]]; do
                    if [ -n "$skip" ]; then
                        printf '%s\n' "${lines[at]}"
                    fi
                    at=$((at + 1))
                done
                skip=''
                ;;
        esac
    done
}

failed=0 skipped=0
mapfile -t cases < <(realpath -e "$@")
[ ${#cases[@]} = $# ] || exit 1
for case in "${cases[@]}"; do
    mkdir "$work/folder"
    cd "$work/folder"
    replay "$case" >"$work/replayed"
    cd "$work"
    rm -rf "$work/folder"
    if cmp -s "$case" "$work/replayed"; then
        continue
    fi
    if [ "$update" = 1 ]; then
        cp "$work/replayed" "$case"
        echo "updated: $case"
    else
        diff -u --label expected --label found "$case" "$work/replayed" || true
        echo "$case: something else came out. Fix: the command, or tests/cli/run.sh --update" >&2
        failed=1
    fi
done
if [ "$skipped" != 0 ]; then
    echo "[  SKIPPED ] $skipped test(s)" # as cmocka counts them
fi
exit $failed
