#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# mpix_trace and mpix_trace_report, with many processes under SimGrid's SMPI. One rank of a program is late at a place
# that is drawn. True times are known, and the same program runs without this delay, too: it must be the first cause of
# waits, and what is charged to it, and what it would gain to remove it, must be right.
#
# Usage, in the build directory: run_waits_tests.sh [RANKS]... (default 8 and 64; figures of doc/tracing.md: 8 64 256
# 1024). Skipped where SimGrid is missing, and with MPIX_TEST_BRIEF=yes; with MPIX_TEST_QUICK=yes there is only one
# test. Environment: MH_SEED (default 1), MH_ROUNDS (default 1).
set -u
export LC_ALL=C

source_dir=$(cd "$(dirname "$0")" && pwd)
top=$source_dir/../..
. "$source_dir/../tap.sh"
. "$source_dir/simgrid.sh"
seed=${MH_SEED:-1} rounds=${MH_ROUNDS:-1} us=${MH_WORK_US:-10000}

[ "${MPIX_TEST_BRIEF-}" != yes ] || skip_all "MPIX_TEST_BRIEF=yes"
problem=$(simgrid_problem)
[ -z "$problem" ] || skip_all "$problem"
[ -x tools/mpix_trace_report ] || skip_all "mpix_trace_report is not built: it takes the Jansson library"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
simgrid_runner="timeout ${MPIX_TEST_TIMEOUT:-600}"

# Each process has a copy of the program, so what is of a thread is of a process. The recorder calls functions by the
# names with P, which are not recorded here: it is no object of its own, by which its calls could be told. SMPI ends its
# processes before the program.
simgrid_cflags=(-w -D__thread= '-Dtls_model(x)=' -D_end=__ehdr_start -Ddestructor=used '-DFLAVOR="smpi"'
    -I"$work/generated")
simgrid_ldflags=("$work/front.o" -Wl,-Bsymbolic
    -Wl,--wrap=dladdr,--wrap=smpi_clock_gettime,--wrap=pthread_key_create)
build() {
    local sources
    mkdir -p "$work/generated/interpose" && echo '#include <mpi.h>' >"$work/mpi.c" &&
        smpicc -E -P "$work/mpi.c" >"$work/mpi.i" &&
        awk -f "$top/lib/interpose/wrappers.awk" "$top/lib/interpose/meanings.txt" "$work/mpi.i" \
            >"$work/generated/interpose/functions.h" &&
        smpicc -std=gnu11 -O2 "${simgrid_cflags[@]}" -I"$top/lib" -c "$top/lib/interpose/front.c" -o "$work/front.o" &&
        objcopy --wildcard --localize-symbol='PMPI_*' "$work/front.o" || return
    mapfile -t sources < <(grep -ohE 'lib/interpose/[a-z/]+\.c' "$top/lib/interpose/interpose.am" | sort -u |
        grep -vE '/(front|find|launcher|program)\.c')
    simgrid_build "$top" "$work/program" "${sources[@]}" test/simulation/{clock_simulated,waits_front,waits_program}.c
}
build >"$work/log" 2>&1 || { cat "$work/log"; echo "Bail out! the recorder does not build with smpicc"; exit 1; }

# NAME RANKS [ARGUMENT]...: runs the program
run() {
    MH_SIMULATED_CLOCK=$(simgrid_clock "$seed") MPIX_HARMONIZE_CLOCK=simulated WAITS_PROGRAM=$work/program \
        simgrid_run "$work" "$2" "$work/program" "${@:3}" >"$work/$1" 2>&1 </dev/null || cat "$work/$1"
}

# The same, and which causes of waits the report names
trace() {
    rm -rf "$work/trace"
    mkdir "$work/trace"
    WAITS_TRACE=$work/trace run "$@" &&
        ./tools/mpix_trace_report "$work/trace" --format csv --show causes >"$work/$1.csv" || echo "there is no report"
}

# The program prints of each rank when it began and ended, and its time in MPI functions, in ns. Waits in these are what
# the delay costs. Noise and latencies are charged to others, so of the causes, the difference counts.
judge() {           # RANKS PATTERN SEED
    simgrid_platform "$work" "$1"
    run without "$@" "$us"
    run with "$@" "$us" late
    trace recorded_without "$@" "$us"
    trace recorded "$@" "$us" late
    awk -v figures="$work/figures" '
        FNR == 1 { file++; titles = rows = 0; if (file == 3) FS = "," }
        /^#/ { next }
        file <= 2 && $1 == "ran" { if ($3 > end[file]) end[file] = $3; begin[file] = $2; in_calls[file] += $4 }
        file <= 2 && $1 == "late" { rank = $2; before = $3; said = $0 }
        file <= 2 { next }
        !titles { for (titles = 1; titles <= NF; titles++) number[$titles] = titles; next }
        {
            key = $number["rank"] " " $number["does"] " " $number["from"] " " $number["to"]
            charged[file, key] += $number["charged_ns"]
        }
        file == 4 && ++rows == 1 {
            first = key
            bound = $number["bound_ns"]; gain = $number["gain_ns"]
            if ($number["rank"] != rank || $number["does"] != "computes" || index($number["to"], before " at ") != 1)
                print "the first cause: " key ", " said
        }
        function percent(what, is, of, bound) {
            if ((is - of) ^ 2 > (0.01 * of + bound) ^ 2) print said ": " what " " is " ns, not " of
            return sprintf("%s %.3f of %.3f ms (%.3f %%)", what, is / 1e6, of / 1e6, 100 * is / of - 100)
        }
        END {
            charge = percent("charged", charged[4, first] - charged[3, first], in_calls[2] - in_calls[1], 0)
            print "# " said ": " charge ", " percent("runs", end[2] - begin[2] - gain, end[1] - begin[1], 0) ", " bound/1e6 >>figures
        }' "$work"/{without,with,recorded_without.csv,recorded.csv}
}

check_rounds() {    # RANKS PATTERN
    local round
    for ((round = 0; round < rounds; round++)); do
        judge "$@" $((seed + round))
    done
}

for ranks in "${@:-8 64}"; do
    for pattern in ring halo tree master pipeline collectives nonblocking; do
        : >"$work/figures"
        tap_check "$pattern of $ranks: a delay is the first cause of waits" check_rounds "$ranks" $pattern
        cat "$work/figures"
    done
done
tap_done
