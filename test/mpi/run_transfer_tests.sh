#!/usr/bin/env bash
# Runs count_transfers with more processes than there are processors: as many as fat nodes have, if the launcher lets
# them share processors without waiting for milliseconds in each message. With MPICH, yielding.c does so.
#
# Environment: as for program.sh; MPI_LIBRARY, MPIX_TEST_QUICK, MPIX_TEST_ONLY
program=./test/mpi/count_transfers
. "$(dirname "$0")/program.sh"

! uses_simulator || skip_all "simulated processes share no memory"

# Only reads of the library are counted.
yielding=$PWD/test/mpi/.libs/yielding.so
[ "${sanitizers:-no}" = no ] && [ -e "$yielding" ] || yielding=

count_with() {  # RANKS
    local name="lines of shared memory that $1 processes read" output
    tap_selects "$name" || return 0
    # The flags are a list of words.
    # shellcheck disable=SC2086
    output=$(limited $launcher ${MPIEXEC_FLAGS:-} -n "$1" ${yielding:+env "LD_PRELOAD=$yielding"} $program \
        </dev/null 2>&1)
    tap_program "$name" $? "$output"
    sed 's/^/# /' <<<"$output"
}

quick count_with 3
count_with 8
count_with 12
case ${MPI_LIBRARY-} in
"Open MPI"*)
    count_with 32
    count_with 128 ;;
esac
tap_done
