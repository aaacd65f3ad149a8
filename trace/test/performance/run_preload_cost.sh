#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# What mpix_preload does to an MPI program as it is, such as a benchmark of another project: how far apart its processes
# leave a barrier, and how long the barrier takes, without and with mpix_preload; and how many barriers were valid. Of
# barriers of all processes. mpix_trace tells when they are entered and left. Then what MPI_Wtime costs.
#
# Usage, in the build directory: run_preload_cost.sh [RANKS PROGRAM [ARGUMENT]...]     without them, only MPI_Wtime
# Environment: CC, MPIEXEC, MPIEXEC_FLAGS
. "$(dirname "$0")/../../../test/performance/launches.sh"

preload=./bin/mpix_preload
ranks=2

refuse() {          # MESSAGE
    echo "run_preload_cost.sh: $1" >&2
    exit 2
}

# Prints what the program prints, or all that there is if it fails.
run() {             # COMMAND...
    launch "$@" >"$scratch/out" 2>"$scratch/err" && cat "$scratch/out" ||
        { cat "$scratch/out" "$scratch/err" >&2; return 1; }
}

# FIGURE WAY NUMBER in each line: a row for each figure, with its quantile for each way, and their ratio.
print_rows() {      # FIGURE:QUANTILE:TITLE...
    local row figure fraction title plain replaced
    cat >"$scratch/figures"
    numbers() { awk -v figure="$figure" -v way="$1" '$1 == figure && $2 == way { print $3 }' "$scratch/figures"; }
    for row in "$@"; do
        IFS=: read -r figure fraction title <<<"$row"
        plain=$(numbers plain | quantile "$fraction") && replaced=$(numbers replaced | quantile "$fraction") || return 1
        awk -v title="${title//-/ }" -v plain="$plain" -v replaced="$replaced" 'BEGIN {
            printf "%-22s %12.1f %12.1f %8.2f\n", title, plain, replaced, plain ? replaced / plain : 0
        }'
    done
    figure=skew
    [ -z "$(numbers plain)" ] ||
        printf '%-22s %12d %12d\n' barriers "$(numbers plain | wc -l)" "$(numbers replaced | wc -l)"
}

# From a trace as comma-separated values: how far apart the processes left each barrier of all of them, and the time
# from the last process to come to the last one to leave.
measure_barriers() {    # WAY
    awk -F, -v way="$1" -v ranks="$ranks" '
        /^#/ { next }
        !titles++ { for (i = 1; i <= NF; i++) column[$i] = i; next }
        $column["name"] != "MPI_Barrier" { next }
        { thread = $column["rank"] "," $column["thread"]; now_ns = $column["global_ns"] }
        $column["event"] == "enter" { entered_ns[thread] = now_ns }
        $column["event"] == "collective" { call[thread] = $column["collective"] }
        $column["event"] == "leave" {
            c = call[thread]
            if (!processes[c]++) { come_ns[c] = entered_ns[thread]; first_ns[c] = last_ns[c] = now_ns }
            if (entered_ns[thread] > come_ns[c]) come_ns[c] = entered_ns[thread]
            if (now_ns < first_ns[c]) first_ns[c] = now_ns
            if (now_ns > last_ns[c]) last_ns[c] = now_ns
        }
        END {
            for (c in processes)
                if (processes[c] == ranks)
                    print "skew", way, last_ns[c] - first_ns[c] "\ntime", way, last_ns[c] - come_ns[c]
        }'
}
record() {          # WAY [WRAPPER]...
    run "${@:2}" ./bin/mpix_trace --only Barrier -o "$scratch/$1" "${program[@]}" >/dev/null &&
        ./bin/mpix_trace_convert --format csv "$scratch/$1" 2>/dev/null | measure_barriers "$1"
}

compare_barriers() {
    { record plain && record replaced "$preload" --quiet; } >"$scratch/barriers" || exit 1
    if ! print_rows skew:0.5:exit-skew-p50 skew:0.9:exit-skew-p90 skew:0.99:exit-skew-p99 time:0.5:time-p50 \
        time:0.9:time-p90 <"$scratch/barriers"; then
        echo "run_preload_cost.sh: ${program[0]} calls no barrier of all processes" >&2
        exit 1
    fi
    run "$preload" --report "$scratch/report" "${program[@]}" >/dev/null || exit 1
}

[ $# -ne 1 ] || refuse "give the number of processes and the program"
case ${1-2} in *[!0-9]* | '' | 0*) refuse "\"$1\" is no number of processes" ;; esac
[ $# -eq 0 ] || command -v "$2" >/dev/null || refuse "there is no program $2"
[ -x "$preload" ] && [ -e bin/.libs ] || refuse "there is no mpix_preload in $PWD"
# Compilers are lists of words.
# shellcheck disable=SC2086
${CC:-mpicc} -O2 "$source_dir/wtime_cost.c" -o "$scratch/wtime_cost" || exit 1

printf '%-22s %12s %12s %8s\n' "ns" "plain" "mpix_preload" "ratio"
if [ $# -gt 0 ]; then
    ranks=$1 program=("${@:2}")
    [ "$ranks" -le "$(nproc)" ] || pin=()
    compare_barriers
fi
run "$preload" --quiet "$scratch/wtime_cost" >"$scratch/turns" || exit 1
awk '{ print "wtime plain", $1 "\nwtime replaced", $2 }' "$scratch/turns" | print_rows wtime:0.5:MPI_Wtime
[ $# -eq 0 ] || cat "$scratch/report"
