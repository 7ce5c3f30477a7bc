#!/usr/bin/env bash
# The walks of ARCHITECTURE.md: each function is in the object file of the file that the page names,
# and a run of the example under gdb enters them in this order for the first time. A hop that is "on
# a thread" of its own comes behind those before it; what follows does not wait for it.
#
#   walks.sh OBJECTS STATIC_LIBRARY C_COMPILER         checks; OBJECTS lists the object files
#   walks.sh OBJECTS STATIC_LIBRARY C_COMPILER drill   breaks the page, and sees to it that this notices
# shellcheck disable=SC2016 # backticks are Markdown here
set -euo pipefail
cd "$(dirname "$0")/../.."

objects=$1 library=$2 cc=$3
page=ARCHITECTURE.md
most=12
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "$1. Fix: $2" >&2
    failed=1
}

if ! gdb -nx -q -batch -ex run /bin/true 2>&1 | grep 'exited normally' >/dev/null; then
    echo "skipped, because gdb cannot run a program here"
    exit 77
fi

# hops PAGE TITLE: "FUNCTION FILE [thread]" of a walk, a line each.
hops() {
    awk -v title="### $2" '
        /^#/ { inside = $0 == title }
        inside && /^[0-9]+\. / { if (hop) print hop; hop = $0 }
        inside && /^ +/ { hop = hop " " $0 }
        END { if (hop) print hop }' "$1" |
        sed -nE 's/^[0-9]+\. `([a-z_0-9]+)` in `([a-z_0-9\/]+\.c)`(, on a thread)?.*/\1 \2 \3/p' |
        sed 's/, on a thread/thread/'
}

# first_entries PROGRAM ARGUMENT FUNCTION...: the functions in the order of their first entry.
first_entries() {
    local program=$1 argument=$2 function
    shift 2
    for function in "$@"; do
        printf 'tbreak %s\ncommands\nsilent\nprintf "entered %s\\n"\ncontinue\nend\n' "$function" "$function"
    done >"$work/commands"
    echo "run $argument >'$work/output'" >>"$work/commands"
    env VYRE_ROUTES=off VYRE_CUDA=none VYRE_OPENCL=none VYRE_VULKAN=none VYRE_CACHE_LIMIT=0 VYRE_DIALECT_PATH=none \
        gdb -nx -q -batch -ex 'set pagination off' -x "$work/commands" "$program" >"$work/entered" 2>&1 || true
    sed -n 's/^entered //p' "$work/entered"
}

# check_walk PAGE TITLE EXAMPLE ARGUMENT
check_walk() {
    local function file thread place last=0 names=() entries
    while read -r function file thread; do
        names+=("$function")
        if ! grep "/src/$file\.o$" "$objects" | xargs -r nm | grep " [Tt] $function$" >/dev/null; then
            fail "$2: src/$file does not define $function" "name the function and its file"
        fi
    done < <(hops "$1" "$2")
    if [ ${#names[@]} -lt 3 ] || [ ${#names[@]} -gt $most ]; then
        fail "$2: the walk has ${#names[@]} hops that can be read" "write 3 to $most, each as \`function\` in \`room/file.c\`"
        return
    fi
    "$cc" -Iinclude "examples/api/$3.c" "$library" -lm -o "$work/$3"
    entries=$(first_entries "$work/$3" "$4" "${names[@]}")
    while read -r function file thread; do
        place=$(grep -nxF "$function" <<<"$entries" | cut -d: -f1 || true)
        if [ -z "$place" ]; then
            fail "$2: examples/api/$3.c $4 does not enter $function" "see which way it goes now: $(tail -3 "$work/entered" | tr '\n' ' ')"
        elif [ "$place" -lt "$last" ]; then
            fail "$2: $function is entered before the hop in front of it" "put the hops in their order: ${entries//$'\n'/, }"
        elif [ -z "$thread" ]; then
            last=$place
        fi
    done < <(hops "$1" "$2")
}

check() {
    local failed=0
    check_walk "$1" "Run a text on cpu" run cpu
    check_walk "$1" "Enqueue on resident buffers" resident cpu
    check_walk "$1" "An operation with \`auto\`" operation auto
    return $failed
}

# Each change of the page must be told in so many words.
missed=0
change() { # WHAT WORDS SED
    sed -E "$3" $page >"$work/page.md"
    if cmp -s $page "$work/page.md"; then
        echo "the drill's change \"$1\" does not fit $page any more. Fix: write it anew" >&2
        missed=1
    elif check "$work/page.md" 2>"$work/told" || ! grep -qF "$2" "$work/told"; then
        echo "not noticed: $1" >&2
        cat "$work/told" >&2
        missed=1
    fi
}

if [ "${4:-}" = drill ]; then
    change "a function in another file" 'does not define vyre_verify' 's|(vyre_verify` in `)ir/verify.c|\1ir/print.c|'
    change "a function that is not called" 'does not enter cuda_emit' 's|`cpu_emit` in `backend/cpu/codegen/emit.c|`cuda_emit` in `backend/cuda/codegen/emit.c|'
    change "hops in another order" 'is entered before' '/^4\. `vyre_builder_finish/s|`[^`]*` in `[^`]*`|`vyre_plan_init` in `runtime/plan.c`|'
    change "a hop too many" 'has 13 hops' 's|^(1\. `vyre_run` .*)|\1\n2. `vyre_run` in `route/run.c`|'
    exit $missed
fi
check $page
