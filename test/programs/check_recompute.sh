#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Whether the figures of mpix_bench are those of its raw times, to the last digit, computed by another program; and
# whether they stay where they are when samples are left out by chance.
#
# Environment: BUILDDIR       the build directory (default: .)
#              MPIEXEC        the launcher (default: mpiexec)
#              MPIEXEC_FLAGS  its flags before -n
#              AWK            (default: awk)
#
# The functions are called by tap_check only, by name:
# shellcheck disable=SC2317,SC2016
set -u
LC_ALL=C
export LC_ALL

here=$(dirname "$0")
. "$here/../tap.sh"
programs=${BUILDDIR:-.}/examples
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM
# What MPI libraries leak is not of interest here.
export ASAN_OPTIONS="${ASAN_OPTIONS-detect_leaks=0}"

measure() {     # RANKS ARGUMENT...: leaves raw and csv, and what was said in err. A row without samples is no matter here.
    ranks=$1
    shift
    # The flags are words, and there may be none.
    # shellcheck disable=SC2086
    "${MPIEXEC:-mpiexec}" ${MPIEXEC_FLAGS-} -n "$ranks" "$programs/mpix_bench" "$@" --format csv --raw "$scratch/raw" \
        --output "$scratch/csv" </dev/null >"$scratch/err" 2>&1
    status=$?
    [ "$status" -le 1 ] || { echo "exit status $status:"; cat "$scratch/err"; }
}

recompute() {   # [-v VARIABLE=VALUE]...
    "${AWK:-awk}" -F, "$@" -f "$here/check_recompute.awk" "$scratch/raw" "$scratch/csv"
}

check_local() {
    measure 2 allreduce -m 4:1024 -i 150 -x 10 --release barrier --tail 1,50,99.9,100
    recompute
}

check_makespan() {
    measure 2 bcast -m 1:1024 -i 150 -x 10 --run-time makespan --time-slice-s 1
    recompute -v run_time=makespan
}

check_window() {
    measure 2 reduce -m 4:64 -i 100 -x 10 --release window --time-slice-s 1 --root rotate
    recompute
}

# Fewer samples than an interval takes.
check_few() {
    measure 2 alltoall -m 1,2,4 -i 5 -x 0 --release none
    recompute
}

# A third rank stands aside.
check_aside() {
    measure 3 allgather -m 1:16 -i 50 -x 5 --release barrier --barrier bruck --comm every:2
    recompute
}

# 30 %: as many valid samples as without, and the counts of the others are about right.
check_left_out() {
    measure 2 allreduce -m 4:1024 -i 150 -x 10 --release barrier --invalid-percent 30 --seed 3
    recompute -v unbiased=1
    grep -v '^#' "$scratch/csv" | "${AWK:-awk}" -F, '
        NR == 1 { for (i = 1; i <= NF; i++) place[$i] = i; next }
        { valid += $place["valid"]; missed += $place["missed"]; late += $place["late"] }
        $place["valid"] != 150 { print $place["valid"] " valid samples: " $0 }
        END {
            part = missed / (valid + missed)
            if (part < 0.25 || part > 0.35 || late != 0) print valid " valid, " missed " missed, " late " late"
        }'
}

quick tap_check "figures recomputed: local run times" check_local
tap_check "figures recomputed: makespans" check_makespan
tap_check "figures recomputed: windows" check_window
tap_check "figures recomputed: few samples" check_few
tap_check "figures recomputed: a rank stands aside" check_aside
tap_check "figures recomputed: samples left out by chance" check_left_out
tap_done
