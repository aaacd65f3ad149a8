#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Whether the figures of mpix_bench are those of its raw times, to the last digit, computed by another program.
. "$(dirname "$0")/../../test/programs/run.sh"
give_way
command -v "$python" >/dev/null || skip_all "it takes python3"

measure() {     # RANKS ARGUMENT...: leaves the files raw and csv. A row without samples is no matter here.
    ranks=$1
    shift
    run "$ranks" "${measured:-mpix_bench}" "$@" --format csv --raw "$scratch/raw" --output "$scratch/csv"
    [ "$status" -le 1 ] || complain "exit status is above 1"
}

recompute() {
    "$python" "$here/check_recompute.py" "$scratch/raw" "$scratch/csv" 2>&1
}

# RANKS ARGUMENT...
check_figures() {
    measure "$@"
    recompute
}

# Some flags are 0, and known. No others, on a busy machine either: the tolerance is a second.
check_flags() {
    measured=check_faults CHECK_FAULT=flags CHECK_LOG=$scratch/log MPIX_HARMONIZE_TOLERANCE_NS=1000000000
    export CHECK_FAULT CHECK_LOG MPIX_HARMONIZE_TOLERANCE_NS
    measure 2 reduce -m 64:64 -i 499 -x 20
    unset measured CHECK_FAULT CHECK_LOG MPIX_HARMONIZE_TOLERANCE_NS
    expect_status 0
    recompute
}

# The flag of the call before each measured start, in the log of the same rank, is what the mark says.
check_marks() {
    check_flags
    for rank in 0 1; do
        from=raw columns rank start_ns mark call >"$scratch/marks"
        awk -F, -v rank=$rank '
            FILENAME ~ /log/ { exit_ns[++n] = $2; flag[n] = $3; next }
            $1 == rank {
                while (i < n && exit_ns[i + 1] <= $2) i++
                rows++
                zeros += !flag[i]
                if (flag[i] != ($3 == "valid")) { print "rank " rank ", call " $4 ": " $3; exit }
            }
            END { if (rows < 499 || zeros < 60) print "rank " rank ": " rows + 0 " rows, " zeros + 0 " flags are 0" }
        ' "$scratch/log.$rank" "$scratch/marks"
    done
}

quick tap_check "figures recomputed: local run times" check_figures \
    2 allreduce -m 4:1024 -i 150 -x 10 --release barrier --tail 1,50,99.9,100
tap_check "figures recomputed: makespans" check_figures \
    2 bcast -m 1:1024 -i 150 -x 10 --run-time makespan --time-slice-s 1
tap_check "figures recomputed: windows" check_figures \
    2 reduce -m 4:64 -i 100 -x 10 --release window --time-slice-s 1 --root rotate
tap_check "figures recomputed: too few samples for an interval" check_figures \
    2 alltoall -m 1,2,4 -i 5 -x 0 --release none
tap_check "figures recomputed: a third rank stands aside" check_figures \
    3 allgather -m 1:16 -i 50 -x 5 --release barrier --barrier bruck --comm every:2
tap_check "figures recomputed: known flags, and marks that are the flags of the call before" check_marks
tap_done
