#!/usr/bin/env bash
# Every command that a message, a Fix, a help text or a page names exists: the subcommand answers
# `--help`, which lists the options that are named and takes operands where some are given. Commands stand
# in backquotes, or in lines of their own in the shell blocks of pages.
#
#   commands.sh VYRE_COMMAND [drill]    drill: mistakes that this has to find
set -euo pipefail
cd "$(dirname "$0")/../.."

vyre=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The help of a subcommand, written once.
help_of() {
    if [ ! -f "$work/$1" ]; then
        "$vyre" "$1" --help >"$work/$1" 2>/dev/null || { rm -f "$work/$1" && return 1; }
    fi
}

# What is wrong with a command, the words behind `vyre`; nothing if it is fine.
judge() {
    local subcommand=$1 word usage before=''
    shift
    case $subcommand in
    --help | -h | --version) return ;;
    esac
    if ! help_of "$subcommand"; then
        echo "there is no subcommand $subcommand"
        return
    fi
    usage=$(sed -n 's/^usage: vyre [a-z]* *//p' "$work/$subcommand")
    for word in "$@"; do
        case $word in
        -*)
            word=${word%%=*}
            if ! grep -qE -e "^ *(-., )?$word( |\$)|^ *$word, --" "$work/$subcommand"; then
                echo "$subcommand has no option $word"
            fi
            ;;
        *)
            if [ "$usage" = '[OPTIONS]' ] && [ "${before#-}" = "$before" ]; then
                echo "$subcommand takes no operand $word"
            fi
            ;;
        esac
        before=$word
    done
    if [ "$subcommand" = help ] && [ $# = 1 ] && [[ $1 =~ ^[a-z]+$ ]] &&
        ! "$vyre" help "$1" >/dev/null 2>&1; then
        echo "there is no topic $1"
    fi
}

# Commands in backquotes, of sources whose strings are joined and of pages; then those of shell blocks.
# Names that stand for others, such as %s and ARGS, and the answer to shells are no commands.
collect() {
    find src include ops -type f \( -name '*.[ch]' -o -name '*.txt' -o -name '*.toml' \) -print0 |
        xargs -0 cat | sed -z 's/"[[:space:]]*"//g' >"$work/sources"
    pages=(README.md ARCHITECTURE.md CONTRIBUTING.md SECURITY.md CHANGELOG.md docs/*.md
        examples/*/README.md)
    # shellcheck disable=SC2016 # backquotes of Markdown
    {
        awk '/^ *```/ { inside = !inside; next } !inside' "${pages[@]}" | tr '\n' ' ' >"$work/pages"
        grep -hoE '`(\./dev )?vyre [^`]*`' "$work/sources" "$work/pages" | tr -d '`'
        awk '/^ *```/ { inside = /```sh/; next } inside' "${pages[@]}" | sed 's/^ *//' |
            grep -E '^(\./dev )?vyre [a-z]'
    } | sed -E 's/^(\.\/dev )?vyre //; s/ *([|>#;&\\]|[0-9]>).*//; s/[.,:]$//' |
        sed 's/%s$//' | grep -vE '^(%|ARGS|\$|complete )' | sort -u
}

if [ "${2:-}" = drill ]; then
    for wrong in 'cache clear' 'cash' 'run --hurry' 'help nothing' 'show -z' 'certify --route'; do
        read -ra words <<<"$wrong"
        if [ -z "$(judge "${words[@]}")" ]; then
            echo "\`vyre $wrong\` was not noticed" >&2
            exit 1
        fi
    done
    echo "all mistakes were noticed"
    exit
fi

count=0 failures=0
while read -r line; do
    count=$((count + 1))
    read -ra words <<<"$line"
    answer=$(judge "${words[@]}")
    if [ -n "$answer" ]; then
        echo "\`vyre $line\`: $answer" >&2
        failures=$((failures + 1))
    fi
done < <(collect)
echo "$count commands are named"
if [ "$failures" -gt 0 ] || [ "$count" -lt 50 ]; then
    echo "a text names a command that does not exist. Fix: the text, or how this test reads it" >&2
    exit 1
fi
