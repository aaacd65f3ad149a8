#!/usr/bin/env bash
# The address, leak and undefined-behavior sanitizers over the unit tests and the MPI tests: builds in analysis/asan,
# below the current directory; fails on any report.
#
# Environment:
#   CC                       MPI compiler wrapper (default mpicc.mpich, or mpicc)
#   MPIEXEC, MPIEXEC_FLAGS   launcher and its flags
#   ANALYSIS_RANKS           rank counts of the MPI tests (default 2)
set -u
export LC_ALL=C

source_dir=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$source_dir/../.." && pwd)
. "$source_dir/../tap.sh"
. "$source_dir/scratch.sh"

scratch=$PWD/analysis/asan
use_launcher
scratch_build "$scratch" --enable-sanitizers CFLAGS='-g -O1' -- all || exit 1
unit_tests=$(cd "$scratch" && list_unit_tests)
# shellcheck disable=SC2086
scratch_build "$scratch" --enable-sanitizers CFLAGS='-g -O1' -- \
    $unit_tests test/mpi/mpix_test test/mpi/wrapper_test || exit 1

cd "$scratch" || exit 1
# hwloc's plugins, loaded and closed again in MPI_Init, do not free all that they take.
export HWLOC_PLUGINS_PATH=/nonexistent
export ASAN_OPTIONS="detect_leaks=1 detect_stack_use_after_return=1" UBSAN_OPTIONS=print_stacktrace=1
for test in $unit_tests; do
    output=$("$test" 2>&1 </dev/null) && tap_ok "$test" || tap_not_ok "$test" "$(tail -n 60 <<<"$output")"
done
export MPIX_TEST_TIMEOUT=${MPIX_TEST_TIMEOUT:-600} MPIX_TEST_RANKS=${ANALYSIS_RANKS:-2}
output=$(bash "$top/test/mpi/run_mpi_tests.sh" 2>&1) && tap_ok "MPI tests: $(tail -n 1 <<<"$output")" ||
    tap_not_ok "MPI tests" "$(grep -vE '^ok ' <<<"$output" | head -n 400)"
tap_done
