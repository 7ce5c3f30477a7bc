#!/usr/bin/env bash
# The backend contract, include/vyre/backend.h, is what it was when its version was frozen:
# tests/abi/backend-X.Y.abi describes each one. The header is exactly that of its own version, and
# has only grown since the older ones of the same major number: fields at the end of tables,
# enumerators, reserved words that were taken.
#
#   abi.sh C_COMPILER          compares
#   abi.sh C_COMPILER write    describes a new version; one that is described is not written again
#   abi.sh C_COMPILER drill    changes copies of the header, and sees to it that this notices
set -euo pipefail
cd "$(dirname "$0")/../.."

cc=$1
mode=${2:-compare}
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT

die() {
    echo "$1" >&2
    exit 1
}

for tool in abidw abidiff; do
    [ -n "$(command -v $tool)" ] || die "$tool is missing. Fix: install the package abigail-tools (packages.txt names it)"
done

# Fields may be added to these; all others keep their size.
tables=" vyre_host vyre_backend_slots vyre_pipeline_slots vyre_run_slots vyre_registration vyre_precedence vyre_capability vyre_bundle "

# version INCLUDES: X.Y, as the header says.
version() {
    awk '$2 == "VYRE_ABI_MAJOR" { major = $3 } $2 == "VYRE_ABI_MINOR" { minor = $3 } END { print major "." minor }' \
        "$1/vyre/backend.h"
}

# build INCLUDES LIBRARY
build() {
    "$cc" -std=c17 -g -shared -fPIC -fvisibility=hidden -I"$1" tests/abi/contract.c -o "$2"
}

# describe LIBRARY FILE: without paths, compilers or machines.
describe() {
    abidw --no-architecture --no-corpus-path --no-comp-dir-path --no-show-locs --no-elf-needed --no-parameter-names \
        --type-id-style hash --out-file "$2" "$1"
}

# differences DESCRIPTION LIBRARY REPORT [OPTION]: whether there are any.
differences() {
    local status=0
    abidiff --no-architecture --leaf-changes-only --harmless --no-show-locs ${4:+"$4"} "$1" "$2" >"$3" || status=$?
    [ $((status & 3)) = 0 ] || die "abidiff failed with status $status: $(cat "$3")"
    [ "$status" != 0 ]
}

# grown REPORT: prints the lines that are not growth; fails if there is one. abidiff's suppressions
# would hide other changes of the same structure.
grown() {
    awk -v tables="$tables" '
        function refuse() { print; bad = 1 }
        /summary: / || /^ *$/ { next }
        /^'\''(struct|enum) [a-z_]+'\'' changed:$/ { kind = substr($1, 2); name = substr($2, 1, length($2) - 1); words = 0; next }
        kind == "" { refuse(); next }
        /^  type size hasn.t changed$/ { size = -1; next }
        /^  type size changed from [0-9]+ to [0-9]+ \(in bits\)$/ && index(tables, " " name " ") { size = $5; next }
        kind == "enum" && /^  [0-9]+ enumerator insertions?:$/ { next }
        kind == "enum" && /^    '\''[a-zA-Z_0-9:]+'\'' value '\''[0-9]+'\''$/ { next }
        kind == "struct" && /^  [0-9]+ data member insertions?:$/ { next }
        kind == "struct" && match($0, /^    '\''.*'\'', at offset [0-9]+ \(in bits\)$/) {
            offset = $(NF - 2)
            if (size < 0) { taken[name] = taken[name] "\n" $0 } else if (offset < size) { refuse() }
            next
        }
        # Words of `reserved`: it gives way at its front, and nothing else moves.
        kind == "struct" && size < 0 && /^  there are data member changes:$/ { next }
        kind == "struct" && size < 0 && $0 ~ "^    type .uint64_t\\[[0-9]+\\]. of ." name "::reserved. changed:$" { words = 1; delete taken[name]; next }
        words && /^      type name changed from .uint64_t\[[0-9]+\]. to .uint64_t\[[0-9]+\].$/ { next }
        words && /^      array type size changed from [0-9]+ to [0-9]+$/ && $8 < $6 { next }
        words && /^      array type subrange 1 changed length from [0-9]+ to [0-9]+$/ { next }
        words && /^    and offset changed from [0-9]+ to [0-9]+ \(in bits\) \(by \+[0-9]+ bits\)$/ { words = 0; next }
        { refuse() }
        END {
            for (name in taken) { print name ":" taken[name]; bad = 1 } # in the padding
            exit bad
        }' "$1"
}

# compare INCLUDES DESCRIPTIONS: says what is wrong, and fails.
compare() {
    local now major file old failed=0
    now=$(version "$1")
    major=${now%.*}
    build "$1" "$room/contract.so"
    [ -f "$2/backend-$now.abi" ] ||
        die "ABI $now of the backend contract is not described. Fix: once it is final, run bash tests/structure/abi.sh $cc write"
    if differences "$2/backend-$now.abi" "$room/contract.so" "$room/report"; then
        cat "$room/report"
        die "include/vyre/backend.h is not the ABI $now that was frozen. Fix: undo that, or add it to the next minor version: raise VYRE_ABI_MINOR, then run bash tests/structure/abi.sh $cc write"
    fi
    for file in "$2/backend-$major".*.abi; do
        old=${file##*/backend-}
        old=${old%.abi}
        [ "${old#*.}" -lt "${now#*.}" ] || continue
        if differences "$file" "$room/contract.so" "$room/report" --no-added-syms && ! grown "$room/report" >"$room/wrong"; then
            cat "$room/report"
            echo "not growth:"
            cat "$room/wrong"
            echo "ABI $now breaks plugins that were built for $old. Fix: add fields at the end of tables only, or take words of \`reserved\`" >&2
            failed=1
        fi
    done
    return $failed
}

# Types that contract.c forgets would not be compared.
check_complete() {
    local name missing=
    while read -r name; do
        grep -qF "X($name)" tests/abi/contract.c || missing+=" $name"
    done < <(sed -nE 's/^(typedef )?(struct|enum) (vyre_[a-z_]+) \{.*/\3/p' include/vyre/backend.h)
    [ -z "$missing" ] || die "tests/abi/contract.c does not show$missing. Fix: add them to its lists"
}

# drill: each change is made to a copy of the header, first in the same version, then in the next.
refused=0 accepted=0
change() { # NAME (growth|break) PERL
    local includes=$room/changed/include descriptions=$room/changed/abi now next
    rm -rf "$room/changed"
    mkdir -p "$includes/vyre" "$descriptions"
    cp include/vyre/backend.h "$includes/vyre"
    cp tests/abi/*.abi "$descriptions"
    perl -0pi -e "$3" "$includes/vyre/backend.h"
    if cmp -s include/vyre/backend.h "$includes/vyre/backend.h"; then
        die "the drill's change \"$1\" does not fit the header any more. Fix: write it anew"
    fi
    if (compare "$includes" "$descriptions") >"$room/said" 2>&1; then
        die "a frozen header was changed (\"$1\"), and nobody noticed"
    fi
    now=$(version include)
    next=${now%.*}.$((${now#*.} + 1))
    perl -pi -e "s/(VYRE_ABI_MINOR) \\d+/\$1 ${next#*.}/" "$includes/vyre/backend.h"
    build "$includes" "$room/next.so"
    describe "$room/next.so" "$descriptions/backend-$next.abi"
    if (compare "$includes" "$descriptions") >"$room/said" 2>&1; then
        [ "$2" = growth ] || die "ABI $next breaks $now (\"$1\"), and nobody noticed"
        accepted=$((accepted + 1))
    else
        [ "$2" = break ] || die "ABI $next only grew (\"$1\"), and was refused: $(cat "$room/said")"
        refused=$((refused + 1))
    fi
}

# shellcheck disable=SC2016 # the $1 are perl's
drill() {
    local end='(\};\s*#define VYRE_BACKEND_HEAD)'
    change "a slot at the end" growth "s/$end/void (*later)(void); \$1/"
    change "two slots at the end" growth "s/$end/void (*later)(void); int (*last)(int); \$1/"
    change "a service at the end" growth 's/(void \(\*program_release\)[^;]*;)/$1 void (*later)(void);/'
    change "a field of a row" growth 's/(uint32_t rank;)(\s*\} vyre_precedence)/$1 uint64_t later[2];$2/'
    change "an enumerator" growth 's/(VYRE_FAIL_BACKEND = 12)/$1, VYRE_FAIL_LATER = 13/'
    change "a flag" growth 's/(X\(IS_SOFTWARE, 14, "is_software"\))/$1 X(IS_LATER, 15, "is_later")/'
    change "a reserved word" growth 's/uint64_t reserved\[4\];(\s*\} vyre_timing)/uint64_t later_ns; uint64_t reserved[3];$1/'
    change "a slot in the middle" break 's/(const char \*\(\*version\)\(const vyre_backend)/int (*early)(void); $1/'
    change "a slot less" break 's/    vyre_status \(\*ticket_wait\)[^;]*;//'
    change "two slots the other way round" break 's/(    bool \(\*ticket_done\)[^;]*;)(\s*)(vyre_status \(\*ticket_wait\)[^;]*;)/$3$2$1/'
    change "one more parameter" break 's/(\(\*resident_free\)\(const vyre_backend \*backend, uint64_t buffer)/$1, int how/'
    change "another result" break 's/uint32_t (\(\*features\))/uint64_t $1/'
    change "a slot at the end and another one changed" break "s/$end/void (*later)(void); \$1/; s/uint32_t (\\(\\*features\\))/uint64_t \$1/"
    change "another name" break 's/max_output_bytes/most_output_bytes/g'
    change "another type" break 's/uint64_t wall_ns/int64_t wall_ns/'
    change "a longer structure" break 's/(uint64_t reserved\[4\];)(\s*\} vyre_call)/$1 uint64_t later;$2/'
    change "a field in the padding" break 's/(bool dispatches;)/$1 bool later;/'
    change "another number" break 's/VYRE_FAIL_BACKEND = 12/VYRE_FAIL_BACKEND = 13/'
    change "a longer set of operations" break 's/words\[16\]/words[32]/'
    change "reserved words gone" break 's/uint64_t reserved\[2\]; \/\* zero \*\///'
    echo "$accepted changes accepted, $refused refused"
}

check_complete
case $mode in
    compare) compare include tests/abi ;;
    write)
        file=tests/abi/backend-$(version include).abi
        [ ! -e "$file" ] || die "$file is frozen. Fix: raise VYRE_ABI_MINOR in include/vyre/backend.h"
        build include "$room/contract.so"
        describe "$room/contract.so" "$file"
        ;;
    drill) drill ;;
    *) die "unknown mode $mode. Fix: write, drill, or nothing" ;;
esac
