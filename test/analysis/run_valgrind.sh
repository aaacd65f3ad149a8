#!/usr/bin/env bash
# valgrind over a small program, without suppressions: no report (bad access, value that depends on uninitialized
# memory, leak) may have a stack frame of this library. What the MPI library does by itself is counted, not judged.
# Builds in analysis/valgrind, below the current directory. Before that, a library with a fault has to be reported.
#
# Environment: as for scratch.sh
. "$(dirname "$0")/scratch.sh"

command -v valgrind >/dev/null || { echo "1..0 # SKIP no valgrind (Debian package: valgrind)"; exit 0; }
scratch=$PWD/analysis/valgrind
program=./test/analysis/small_program
# valgrind runs one thread at a time: a process that waits has to give its processor away.
export MPIX_HARMONIZE_YIELD=always
use_launcher

run_valgrind() {    # DIRECTORY: sets status; reports are in DIRECTORY/report.PID
    rm -f "$1"/report.*
    # MPIEXEC_FLAGS is a list of words.
    # shellcheck disable=SC2086
    output=$(cd "$1" && timeout -k 5 60 $MPIEXEC ${MPIEXEC_FLAGS-} -n 2 \
        valgrind --leak-check=full --show-leak-kinds=definite,indirect --errors-for-leak-kinds=definite,indirect \
        --num-callers=40 --log-file=report.%p "$program" 2>&1 </dev/null)
    status=$?
}

# Prints the reports that have a frame of a source file of lib/. A report is a run of lines, ended by an empty one.
reports_of_ours() { # DIRECTORY
    local names
    names=$(cd "$top/lib" && find . -name '*.c' -printf '%f|')
    cat "$1"/report.* | sed 's/^==[0-9]*== \?//' | "${AWK:-awk}" -v RS= -v names="(${names%|})" \
        '$0 ~ "[( ]" names ":[0-9]+\\)" && /^[A-Z0-9]/ && /(at|by) 0x/ { print $0 "\n" }'
}

count_reports() {
    cat "$1"/report.* | sed -n 's/.*ERROR SUMMARY: \([0-9]*\) errors.*/\1/p' |
        "${AWK:-awk}" '{ sum += $1 } END { print sum + 0 }'
}

build() {           # DIRECTORY [NAME=VALUE...], the latter for make
    local directory=$1
    shift
    scratch_build "$directory" CFLAGS='-g -O1' -- test/analysis/small_program "$@" || exit 1
}

build "$scratch-fault" CFLAGS="-g -O1 -D_GNU_SOURCE= -include $source_dir/without_zeros.h"
run_valgrind "$scratch-fault"
tap_expect_empty "a library that allocates without setting to zero is reported" \
    "$(reports_of_ours "$scratch-fault" | grep -q . || printf '%s\n' "it is not" "$output")"

build "$scratch"
run_valgrind "$scratch"
tap_expect_empty "the program succeeds" "$([ $status -eq 0 ] || printf '%s\n' "status $status" "$output")"
processes=$(find "$scratch" -name 'report.*' | wc -l)
tap_expect_empty "two processes ran under valgrind" "$([ "$processes" -eq 2 ] || echo "$processes reports")"
tap_expect_empty "no report of $(count_reports "$scratch") has a frame of the library" "$(reports_of_ours "$scratch")"
tap_done
