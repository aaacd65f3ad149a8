#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Parts of the benchmark suite that need MPI, each by a small program of its own.
#
# Environment: BUILDDIR       where the programs are (default: examples)
#              MPIEXEC        the launcher (default: mpiexec)
#              MPIEXEC_FLAGS  its flags before -n
#              MPI_LIBRARY    the MPI library; Open MPI gets more ranks than there are cores
set -u
LC_ALL=C
export LC_ALL

. "$(dirname "$0")/../test/tap.sh"
programs=${BUILDDIR:-examples}

run() {     # RANKS PROGRAM [ARGUMENT]...
    ranks=$1 program=$2
    shift 2
    # The flags are words, and there may be none.
    # shellcheck disable=SC2086
    "${MPIEXEC:-mpiexec}" ${MPIEXEC_FLAGS-} -n "$ranks" "$programs/$program" "$@" </dev/null 2>&1
}

check_barriers() {  # RANKS
    output=$(run "$1" check_barriers) || echo "exit status $?"
    [ -z "$output" ] || echo "$output"
}

# Elsewhere, waiting ranks may keep the others from the processors.
case ${MPI_LIBRARY-} in
Open*) counts="1 2 3 4 5 8" ;;
*) counts="1 2 3" ;;
esac
for ranks in $counts; do
    tap_expect_empty "barriers: $ranks ranks" "$(check_barriers "$ranks")"
done
tap_done
