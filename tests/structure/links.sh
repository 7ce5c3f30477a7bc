#!/usr/bin/env bash
# Every link of a Markdown page to another file leads somewhere, and docs/README.md leads to every page
# of docs/. With a folder as argument, such as the installed documentation, looks at the pages there.
#
#   links.sh [FOLDER]
set -euo pipefail
cd "${1:-$(dirname "$0")/../..}"

failed=0
fail() {
    echo "$1. Fix: $2" >&2
    failed=1
}

# "page:line:target" of each link that is not an address of the web.
links() {
    find . -name '*.md' -not -path './build/*' -not -path './.git/*' -print0 |
        xargs -0 grep -noE '\]\([^)#]+' | sed -E 's/\]\(//' | grep -vE ':[a-z]+://' | sort
}

while IFS=: read -r page line target; do
    if [ ! -e "$(dirname "$page")/$target" ]; then
        fail "$page:$line links to $target, which does not exist" "correct the link"
    fi
done < <(links)

for page in docs/*.md; do
    if [ "$page" != docs/README.md ] && ! links | grep "^\./docs/README\.md:[0-9]*:${page#docs/}\$" >/dev/null; then
        fail "docs/README.md does not link to $page" "add it to one of the tables there"
    fi
done

exit $failed
