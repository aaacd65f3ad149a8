#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Counts what a newcomer would have to carry: lines, words, commands and options. `make census` prints it for this tree.
#
# Usage: census.sh [DIRECTORY]    another tree, of any age: what moved is looked for in its old places, too
set -u
export LC_ALL=C
cd "${1:-$(dirname "$0")/..}" || exit 1

sources='[.](c|h|hpp|cc|[fF]90|sh|bash|awk|py|js|json|css|gp)$|/[a-z_]+[.]in$|/(meanings|spellings)[.]txt$'

lines() {       # FOLDER...: of the sources in them
    find "$@" -type f 2>/dev/null | grep -E "$sources" | grep -vE '/(golden|corpus)/' | tr '\n' '\0' |
        xargs -0r cat | wc -l
}
commands() { find doc/man -name 'mpix_*.1' | sort; }
options() {     # those that a manual page shows at the beginning of a line, as PAGE OPTION
    commands | while read -r page; do
        sed -nE '/^\.(TP|BR?|IP)|^\\fB/s/\\-/-/gp' "$page" | grep -oE -e '(^|[^-a-z])--[a-z][-a-z0-9]*' |
            sed "s|^[^-]*|$page |" | sort -u
    done
}
row() { printf '| %-62s | %6d |\n' "$@"; }

printf '| %-62s | %6s |\n|%s|%s|\n' what number "$(printf -- '-%.0s' {1..64})" "-------:"
row "lines of lib, tools and examples" "$(lines lib tools examples)"
row "  lib without what is loaded into unmodified programs" \
    "$(($(lines lib) - $(lines lib/preload lib/trace lib/interpose)))"
row "  preload, trace and their launchers" "$(lines lib/preload lib/trace lib/interpose)"
row "lines of test, without data" "$(lines test)"
row "words of README, HACKING and doc/*.md" "$(find README.md HACKING.md doc -name '*.md' -exec cat {} + | wc -w)"
row "  of README" "$(wc -w <README.md)"
row "installed commands" "$(commands | wc -l)"
row "options, those of each command" "$(options | wc -l)"
row "  names of options" "$(options | cut -d ' ' -f 2 | sort -u | wc -l)"
