#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Holds the rules of what is put into programs: what is loaded first, and the launcher, need no MPI library; neither
# part of the back knows the other; MPI is called by names that tools do not replace. And all of MPI is in front. To be
# run in the build directory.
#
# Environment: NM  (default: nm)
set -u
export LC_ALL=C

top=$(cd "$(dirname "$0")/../.." && pwd)
. "$top/test/tap.sh"
build=$PWD
cd "$top/trace" || exit 1

tap_expect_empty "the front and the launcher do not reach into the library" \
    "$(grep -HnE '^ *# *include *"' front/*.[ch] launcher/*.[ch] shared/*.[ch] |
        grep -vE '"(trace/(front|launcher|shared)/[a-z_]+|generated/functions|common/cli/options)\.h"' |
        grep -vE '"(pure/launcher|mpix_clock_reader)\.h"')"
tap_expect_empty "the launcher does not include mpi.h" \
    "$(grep -HnE '^ *# *include.*(mpi|interposer|twin)\.h[">]' launcher/*.[ch] shared/choices.[ch])"
tap_expect_empty "mpix_preload's part includes only what both share and the installed header" \
    "$(grep -HnE '^ *# *include *"' harmonize/*.[ch] |
        grep -vE '"(trace/(harmonize|back|shared)/[a-z_]+|mpix_harmonize)\.h"')"
tap_expect_empty "mpix_trace's part does not include that of mpix_preload" \
    "$(grep -HnE '^ *# *include *"trace/harmonize' record/*.[ch])"
start='^[^:]+:[0-9]+:(.*[^A-Za-z0-9_])?'
code=$("${AWK:-awk}" -f "$top/test/code.awk" back/*.c harmonize/*.c)
tap_expect_empty "the back calls MPI by its PMPI_ names only" \
    "$(grep -E "${start}MPIX?_[A-Z][a-z][a-z_0-9]* *\\(" <<<"$code" | grep -vE 'MPI_[A-Za-z_]+ *\( *\*|\(MPI_Comm\)')"

# LIBRARY...: functions of MPI, under both of their names. Those of Fortran and callbacks of attributes are in capitals.
mpi_functions() {
    ${NM:-nm} -D --defined-only "$@" | awk '$2 ~ /^[TWi]$/ { print $3 }' | sed 's/@.*//' | grep -E '^P?MPI_.*[a-z]' |
        sort -u
}

# What returns no error code. What MPI 3.0 removed: Open MPI has it, for old programs, but its header does not.
no_codes='^P?MPI_(Aint_(add|diff)|.*_(toint|fromint|c2f|f2c|c2f08|f082c|f082f|f2f08))$'
removed='^P?MPI_(Address|Errhandler_(create|get|set)|Type_(extent|hindexed|hvector|lb|struct|ub))$'
front=$(compgen -G "$build/bin/.libs/libmpix_interpose-*.so")
back=$(compgen -G "$build/bin/.libs/interpose-*.so")
mapfile -t linked < <([ -z "$back" ] || ldd "$back" 2>/dev/null | awk '$2 == "=>" && $3 ~ /^\// { print $3 }')
name="mpix_trace records each function of the MPI library that returns an error code"
if [ -z "$front" ] || [ ${#linked[@]} -eq 0 ]; then
    tap_skip "$name" "this build has no recorder, or there is no ldd"
else
    wanted=$(mpi_functions "${linked[@]}" | grep -vE -e "$no_codes" -e "$removed")
    tap_expect_empty "$name" "$(comm -23 <(echo "$wanted") <(mpi_functions "$front") | sed 's/$/ is not in the front/')"
    count=$(wc -w <<<"$wanted")
    tap_expect_empty "the MPI library has hundreds of functions" "$([ "$count" -gt 600 ] || echo "there are $count")"
fi
tap_done
