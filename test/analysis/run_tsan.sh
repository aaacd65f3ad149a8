#!/usr/bin/env bash
# The thread sanitizer over what threads do: builds in analysis/tsan, below the current directory; fails on any report.
# Before that it takes the library's locks away, and expects races to be reported.
#
# Environment: as for scratch.sh
. "$(dirname "$0")/scratch.sh"

subtests=(threads readers readers_beside_frees threads_first_use threads_info threads_passing clock_resync)
suites=(test_slots test_global_clock)
recorder=(bin/{libmpix_interpose,interpose}-mpich.la bin/mpix_trace)
is_open_mpi && recorder=("${recorder[@]/mpich/openmpi}")
scratch=$PWD/analysis/tsan

# exitcode: also where the program would end well. Open MPI is not built for the sanitizer and has locks of its own.
export TSAN_OPTIONS="suppressions=$source_dir/tsan.supp exitcode=66 halt_on_error=0"
is_open_mpi && TSAN_OPTIONS+=" detect_deadlocks=0 ignore_noninstrumented_modules=1"
# Else UCX, below MPICH, patches functions that gcc's sanitizer has taken over, and crashes.
export UCX_MEM_EVENTS=no
# Processes are ten times as slow.
export MPIX_TEST_RANKS=2 CK_FORK=no CK_DEFAULT_TIMEOUT=0
use_launcher

build() {       # DIRECTORY [NAME=VALUE...], the latter for make
    local directory=$1
    shift
    scratch_build "$directory" --enable-sanitizers=thread CFLAGS='-g -O1' -- \
        test/unit/unit_tests test/mpi/mpix_test "$@" || exit 1
}

build "$scratch-without-locks" CFLAGS="-g -O1 -D_GNU_SOURCE= -include $source_dir/without_locks.h"
output=$(cd "$scratch-without-locks" && bash "$top/test/mpi/run_mpi_tests.sh" threads_first_use 2>&1)
tap_expect_empty "the races of a library without locks are reported" \
    "$(grep -q 'WARNING: ThreadSanitizer: data race' <<<"$output" &&
        grep -qE '#[0-9]+ .*/lib/[a-z_/]*\.c' <<<"$output" ||
        { echo "they are not:"; head -n 200 <<<"$output"; })"

build "$scratch" "${recorder[@]}"
cd "$scratch" || exit 1
for test in "${suites[@]}"; do run_test "$test" test/unit/unit_tests "$test"; done
for subtest in "${subtests[@]}"; do
    run_test "$subtest at 2 ranks" bash "$top/test/mpi/run_mpi_tests.sh" "$subtest"
done
for name in threads "threads that make communicators"; do
    sanitizers=thread MPIX_TEST_ONLY=$name run_programs trace
done
tap_done
