#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# PAGE PROGRAMS: prints the manual page of a tool with the options that the tool has; nothing if it does not run by
# itself, or its page has no place for options.
tool=${1##*/} tool=${tool%.1}
case $tool in mpix_clock) commands='list drift check record' ;; *) commands=- ;; esac
grep -q '^\.\\" Made from the table of options' "$1" || exit 0
for command in $commands; do
    # shellcheck disable=SC2086
    options=$("$2/$tool" ${command#-} --help-manual 2>/dev/null </dev/null) && [ -n "$options" ] || exit 0
    printf '= %s\n%s\n' "$command" "$options"
done | ${AWK:-awk} -v tool="$tool" -f "${0%.sh}.awk" - "$1"
