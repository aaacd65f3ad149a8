#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Holds the rules of what is put into programs: what is loaded first, and the launcher, need no MPI library; neither
# part of the back knows the other; MPI is called by names that tools do not replace.
set -u
export LC_ALL=C

top=$(cd "$(dirname "$0")/../.." && pwd)
. "$top/test/tap.sh"
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
tap_done
