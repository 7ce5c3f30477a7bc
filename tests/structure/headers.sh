#!/usr/bin/env bash
# Every public header compiles by itself as C11, C17 and, with the machine's c++, as C++17, without a
# warning.
#
#   headers.sh C_COMPILER
set -euo pipefail
cd "$(dirname "$0")/../.."

cc=$1
warnings=(-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wundef -Werror)
failed=0
for header in include/vyre/*.h; do
    source="#include <vyre/$(basename "$header")>"
    for language in c11 c17 c++17; do
        case $language in
            c++*) compiler=(c++ -x c++) ;;
            *) compiler=("$cc" -x c) ;;
        esac
        if ! "${compiler[@]}" -std=$language "${warnings[@]}" -Iinclude -fsyntax-only - <<<"$source"; then
            echo "$header does not compile alone as $language. Fix: see the messages above" >&2
            failed=1
        fi
    done
done
exit $failed
