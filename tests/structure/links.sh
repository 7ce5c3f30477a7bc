#!/usr/bin/env bash
# Every link of a Markdown page to another file of the tree leads somewhere, and README.md leads to every
# page of docs/.
set -euo pipefail
cd "$(dirname "$0")/../.."

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
    if ! links | grep -q "^\./README\.md:[0-9]*:$page\$"; then
        fail "README.md does not link to $page" "add it under \"Where things are\""
    fi
done

exit $failed
