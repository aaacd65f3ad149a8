#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs the example triad briefly, and checks what it prints and how it exits.
. "$(dirname "$0")/run.sh"

# An upper bound, a lower one, and limits around the time.
check_triad() {
    succeeds run 2 triad 4096 5
    awk '/slowest/ { low = $5 } /first start/ { time = $6; first = $9; last = $11 } /between barriers  / { high = $3 }
        END { if (!(low > 0 && low <= time + 1e3 && first <= time && time <= last && low <= high)) print "order" }
        ' "$scratch/out" | grep -q . && complain "times out of order"
    run 2 triad 7
    expect_status 2
}

# Variables of the launcher of another MPI library. The program is told at its first call, once, and goes on.
check_launcher() {
    case ${MPI_LIBRARY:-$(sed -n 's/^MPI_LIBRARY = //p' "$build/Makefile")} in
    Open*) export PMI_SIZE=3 PMI_RANK=0 ;;
    *) export OMPI_COMM_WORLD_SIZE=3 OMPI_COMM_WORLD_RANK=0 ;;
    esac
    succeeds run alone triad 1024 5
    [ "$(grep -cE '^libmpix_harmonize: .* started 3 processes' "$scratch/err")" -eq 1 ] || complain "not one line"
    # The world is never used.
    command="mpix_test self"
    succeeds capture "$build/test/mpi/mpix_test" self
    [ "$(grep -cE '^libmpix_harmonize: .* started 3 processes' "$scratch/err")" -eq 1 ] || complain "not one line"
}

quick tap_check "triad: bounds" check_triad
quick tap_check "a launcher of another MPI library" check_launcher
tap_done
