#!/usr/bin/env bash
# Adds an operation to a copy of the tree as "Adding an operation" of CONTRIBUTING.md says: the steps
# are in add_operation.txt, one for each item of the page, which names every file that they change.
# Conformance passes on all backends then. With each file as it was before, in turn, what
# its step names fails, and says that it is for this operation.
#
#     add_operation.sh CMAKE COMPILER
set -euo pipefail
cmake=$1 compiler=$2
tree=$(cd "$(dirname "$0")/../.." && pwd)
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
build=$copy/build
export VYRE=$build/vyre VYRE_CUDA=$build/fake/ptx_cuda.so VYRE_OPENCL='' VYRE_VULKAN=''

fail() {
    echo "$1. Fix: $2" >&2
    exit 1
}

# The edits of add_operation.txt, by number, and the checks of files.
steps=() files=() old=() new=()
declare -A check_of step_of
read_steps() {
    local line step='' file='' part='' text=''
    while IFS= read -r line; do
        if [[ -z $part && $line =~ ^===\ ([0-9]+)\ ([^:]+):\ (.*)$ ]]; then
            step=${BASH_REMATCH[1]} file=${BASH_REMATCH[2]}
            check_of[$file]=${BASH_REMATCH[3]} step_of[$file]=$step
        elif [[ $line == '<<<' ]]; then
            part=old text=''
        elif [[ $part == old && $line == '---' ]]; then
            old+=("${text%$'\n'}")
            part=new text=''
        elif [[ $part == new && $line == '>>>' ]]; then
            new+=("${text%$'\n'}")
            steps+=("$step") files+=("$file")
            part=''
        elif [[ -n $part ]]; then
            text+=$line$'\n'
        fi
    done <"$tree/tests/structure/add_operation.txt"
}

# Replaces a text that stands in a file once.
replace() {
    local file=$1 from=$2 to=$3 text rest
    text=$(cat "$file" && echo x)
    text=${text%x}
    rest=${text#*"$from"}
    if [ "$rest" = "$text" ] || [ "${rest#*"$from"}" != "$rest" ]; then
        fail "${file#"$copy/"} does not have this once: $from" "bring add_operation.txt in step"
    fi
    printf %s "${text%%"$from"*}$to$rest" >"$file"
}

# Every file of a step stands in the item of the page, and every item has a step.
check_page() {
    local page file items last=0
    page=$(sed -n '/^## Adding an operation$/,/^## Adding a diagnostic$/p' "$tree/CONTRIBUTING.md")
    for file in "${!step_of[@]}"; do
        [ "${step_of[$file]}" -le "$last" ] || last=${step_of[$file]}
        awk -v wanted="${step_of[$file]}." '/^[0-9]+\. / { item = $1 } /^$/ { item = "" }
            item == wanted' <<<"$page" | grep -qF "\`$file\`" ||
            fail "item ${step_of[$file]} of \"Adding an operation\" does not name $file" "CONTRIBUTING.md"
    done
    items=$(grep -cE '^[0-9]+\. ' <<<"$page")
    [ "$items" = "$last" ] ||
        fail "the page has $items items, and there are $last steps" "bring add_operation.txt in step"
}

make() {
    "$cmake" --build "$build" --target "$@"
}

# Compiles a file without writing anything.
compile() {
    local command
    command=$(grep -F '"command": ' "$build/compile_commands.json" | grep -F -- "-c $copy/$1" | head -1 |
        sed -E 's/^ *"command": "(.*)",$/\1/; s/\\(.)/\1/g')
    [ -n "$command" ] || fail "$1 is not compiled" "name another file in add_operation.txt"
    (cd "$build" && bash -c "$command -fsyntax-only")
}

# What a step names, as a command that succeeds if the step was taken.
check() {
    case $1 in
        compile) compile "$2" ;;
        test) make "$2" && "$build/tests/$2" ;;
        conform) make vyre_command && "$VYRE" conform -b "$2" '*.avg_floor*' --no-progress ;;
        page) make vyre_command && diff "docs/$2.md" <("$VYRE" help --docs "$2") ;;
        case) make vyre_command && bash tests/cli/run.sh "tests/cli/$2.case" ;;
    esac
}

read_steps
check_page
tar -C "$tree" --exclude=./build --exclude=./.git -cf - . | tar -C "$copy" -xf -
cd "$copy"
for ((i = 0; i < ${#files[@]}; i++)); do
    replace "$copy/${files[i]}" "${old[i]}" "${new[i]}"
done

# Without optimisation: what the code computes is the question here.
"$cmake" -G Ninja -S "$copy" -B "$build" -DCMAKE_C_COMPILER="$compiler" -DCMAKE_BUILD_TYPE=None \
    -DCMAKE_C_FLAGS=-O0 -DVYRE_WERROR=ON -DVYRE_BENCH=OFF >/dev/null
make vyre_command ptx_cuda fake_cuda test_suite test_wire_document test_backend_plugin \
    test_semantics_document test_eval_integer test_text_lexer >"$build/log" ||
    { cat "$build/log" && fail "the steps do not compile" "see above"; }

# The generated files, as ./dev docs and ./dev update write them.
"$VYRE" help --docs operations >docs/operations.md
"$build/tests/test_suite" --update >/dev/null 2>&1
make vyre_command >/dev/null
bash tests/cli/run.sh --update tests/cli/help.case >/dev/null

for backend in reference cpu cuda opencl vulkan; do
    case $backend in opencl | vulkan)
        why=$("$VYRE" backends "$backend" 2>&1) || { echo "skipped, because $(sed -n 's/^ *reason *//p' <<<"$why")" && continue; } ;;
    esac
    check conform "$backend" >"$build/log" 2>&1 ||
        { cat "$build/log" && fail "conformance fails on $backend" "the steps, or the page"; }
    grep '^[a-z]*: [0-9]* cases, the same bytes' "$build/log" ||
        { cat "$build/log" && fail "no case of the operation ran on $backend" "the steps"; }
done

for file in "${!check_of[@]}"; do
    read -r kind what <<<"${check_of[$file]}"
    check "$kind" "$what" >"$build/log" 2>&1 ||
        { cat "$build/log" && fail "\`$kind $what\` fails with all steps taken" "the steps"; }
    cp -p "$file" "$build/kept"
    cp "$tree/$file" "$file"
    if check "$kind" "$what" >"$build/log" 2>&1; then
        fail "\`$kind $what\` does not notice that step ${step_of[$file]} leaves out $file" "the test"
    elif ! grep -qiE 'avg_floor|new operation' "$build/log"; then
        cat "$build/log"
        fail "\`$kind $what\` fails without $file, and not for the operation" "the test"
    fi
    if [ "$kind" = compile ]; then
        cp -p "$build/kept" "$file" # nothing was built of the other one, so nothing is out of date
    else
        cp "$build/kept" "$file"
    fi
    echo "without $file: \`$kind $what\` fails"
done
