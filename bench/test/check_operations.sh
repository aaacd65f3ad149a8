#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs check_operations at several rank counts: results that are right, and results that were made wrong.
#
# Environment: MPIX_TEST_WRAPPER  what to run it under, such as "valgrind -q --error-exitcode=1"
. "$(dirname "$0")/../../test/programs/run.sh"
give_way

check() {       # NAME RANKS [faults | threads]
    tap_selects "$1, ranks: $2" || return 0
    # The flags and the wrapper are words, and there may be none.
    # shellcheck disable=SC2086
    output=$(limited ${MPIEXEC:-mpiexec} ${MPIEXEC_FLAGS-} -n "$2" "${yielding[@]}" ${MPIX_TEST_WRAPPER-} \
        "$checks/check_operations" "${@:3}" </dev/null 2>&1)
    status=$?
    summary=$(echo "$output" | sed -n 's/^\([1-9][0-9]* checks\), 0 complaints$/\1/p')
    if [ "$status" -eq 77 ]; then
        tap_skip "$1, ranks: $2" "the MPI library has no threads"
    elif [ "$status" -eq 0 ] && [ -n "$summary" ]; then
        tap_ok "$1, ranks: $2 ($summary)"
    else
        tap_not_ok "$1, ranks: $2" "$(echo "$output" | tail -n 30)
exit status $status"
    fi
}

right="the results of all operations are right, and plans that cannot be are refused"
wrong="elements made wrong are counted"
check "$right" 1
quick check "$right" 2
check "$right" 3
check "$wrong" 1 faults
quick check "$wrong" 2 faults
check "the same of messages of several threads" 2 threads

tap_done
