#!/usr/bin/env bash
# The address, leak and undefined-behavior sanitizers over the unit tests, the MPI tests, the recorder of traces and
# the programs that read them: builds in analysis/asan, below the current directory; fails on any report.
#
# Environment: as for scratch.sh, and
#   ANALYSIS_RANKS   rank counts of the MPI tests (default 2)
. "$(dirname "$0")/scratch.sh"

scratch=$PWD/analysis/asan
build_tests "$scratch" --enable-sanitizers CFLAGS='-g -O1'
# hwloc's plugins, loaded and closed again in MPI_Init, do not free all that they take.
export HWLOC_PLUGINS_PATH=/nonexistent
export ASAN_OPTIONS="detect_leaks=1 detect_stack_use_after_return=1" UBSAN_OPTIONS=print_stacktrace=1
run_tests "${ANALYSIS_RANKS:-2}"
sanitizers=address,undefined run_programs trace trace_check trace_convert trace_report
tap_done
