#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Holds the rules of the houses: a file of a house includes files of its house and of common/, the installed headers,
# and of the library only lib/pure/, which has neither MPI nor clocks. Tests may include more: what the library's tests
# share.
set -u
export LC_ALL=C

top=$(cd "$(dirname "$0")/../.." && pwd)
. "$top/test/tap.sh"
cd "$top" || exit 1

# What trace/ puts into a process has the library in it. These are the headers of the library that it uses beside pure/.
in_process='trace/(back|record|harmonize)/'
its_headers='lib/(base/host|clock/base_clock|make_state|settings)\.h'

mapfile -t files < <(find common bench trace -name '*.[ch]' 2>/dev/null | sort)
[ ${#files[@]} -gt 0 ] || { echo "Bail out! no sources of houses"; exit 1; }
includes=$(grep -HoE '^[[:space:]]*#[[:space:]]*include[[:space:]]+"[^"]+' "${files[@]}" |
    sed -E 's/^([^:]+):.*"/\1 /' | while read -r file included; do
    for folder in "" "${file%/*}/" lib/ include/ test/ generated/; do
        [ ! -e "$folder$included" ] || { echo "$file $folder$included"; continue 2; }
    done
    # Made while building.
    [[ $included == generated/* ]] || echo "$file nowhere: $included"
done)
allowed() {     # FILE INCLUDED
    case $2 in include/* | lib/pure/* | common/* | "${1%%/*}"/*) return 0 ;; esac
    [[ $1 =~ ^$in_process && $2 =~ ^$its_headers$ ]] && return
    # Tests may look at what a simulated clock or a test of the library looks at.
    [[ $1 == */test/* && $2 =~ ^(lib|test)/ ]]
}
tap_expect_empty "a house includes itself, common/, the installed headers and lib/pure/" \
    "$(while read -r file included; do
        allowed "$file" "$included" || echo "$file includes $included"
    done <<<"$includes")"
tap_expect_empty "common/ includes no other house" "$(grep -E '^common/' <<<"$includes" | grep -E ' (bench|trace)/')"
# The source and the header of a name are one file here.
tap_expect_empty "no file includes one that includes it" \
    "$(sed -E 's/\.[ch] / /; s/\.h$//; s/_private\>//g' <<<"$includes" | tsort 2>&1 >/dev/null)"
tap_expect_empty "MPI is called below common/mpi alone, in common/" \
    "$(grep -nE '^ *# *include *<mpi\.h>' $(find common -name '*.[ch]' ! -path 'common/mpi/*' ! -path 'common/test/*'))"
tap_done
