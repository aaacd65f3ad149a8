#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Counts what a newcomer would have to carry: lines, words, commands and options. `make census` prints it for this tree.
#
# Usage: census.sh [DIRECTORY]    another tree
set -u
export LC_ALL=C
cd "${1:-$(dirname "$0")/..}" || exit 1

sources='[.](c|h|hpp|cc|[fF]90|sh|bash|awk|py|js|json|css|gp)$|/[a-z_]+[.]in$|/(meanings|spellings)[.]txt$'

lines() {       # FOLDER...: of the sources in them
    find "$@" -type f 2>/dev/null | grep -E "$sources" | grep -vE '/(golden|corpus)/' | tr '\n' '\0' |
        xargs -0r cat | wc -l
}
commands() { find doc bench trace -name 'mpix_*.1' | sort; }
options() {     # those that a manual page shows at the beginning of a line, as PAGE OPTION
    commands | while read -r page; do
        sed -nE '/^\.(TP|BR?|IP)|^\\fB/s/\\-/-/gp' "$page" | grep -oE -e '(^|[^-a-z])--[a-z][-a-z0-9]*' |
            sed "s|^[^-]*|$page |" | sort -u
    done
}
row() { printf '| %-62s | %6d |\n' "$@"; }

printf '| %-62s | %6s |\n|%s|%s|\n' what number "$(printf -- '-%.0s' {1..64})" "-------:"
row "lines of the library: include, lib, bindings, examples" "$(lines include lib bindings examples)"
row "  its tests, without data" "$(lines test)"
for house in common bench trace; do
    row "lines of $house, without tests" "$(($(lines $house) - $(lines $house/test)))"
    row "  its tests, without data" "$(lines $house/test)"
done
row "words of README, HACKING and the pages" "$(find . -name '*.md' -not -path './build/*' -exec cat {} + | wc -w)"
row "  of README" "$(wc -w <README.md)"
row "installed commands" "$(commands | wc -l)"
row "options, those of each command" "$(options | wc -l)"
row "  names of options" "$(options | cut -d ' ' -f 2 | sort -u | wc -l)"
