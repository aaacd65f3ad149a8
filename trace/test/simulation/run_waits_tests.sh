#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# mpix_trace and mpix_trace_report, with many processes under SimGrid's SMPI. One rank of a program is late at a place
# that is drawn. True times are known, and the same program runs without this delay, too: it must be the first cause of
# waits, and what is charged to it, and what it would gain to remove it, must be right. So must the first sentence of
# the report of the kinds of planted, in 7 processes or MH_PLANTED_RANKS; without the delay it names no cause.
#
# Usage, in the build directory: run_waits_tests.sh [RANKS]... (each at least 4; default 32). Skipped where SimGrid is
# missing, and with MPIX_TEST_BRIEF=yes or MPIX_TEST_QUICK=yes. Environment: MH_SEED (default 1), MH_ROUNDS (default 1),
# MH_WORK_US (default 10000: how long a phase is), MH_PLANTED_RANKS (default 7).
set -u
export LC_ALL=C

source_dir=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$source_dir/../../.." && pwd) tests=$top/test
. "$tests/tap.sh"
. "$tests/simulation/simgrid.sh"
seed=${MH_SEED:-1} rounds=${MH_ROUNDS:-1} work_us=${MH_WORK_US:-10000} planted_ranks=${MH_PLANTED_RANKS:-7}

[ "${MPIX_TEST_BRIEF-}" != yes ] || skip_all "MPIX_TEST_BRIEF=yes"
[ "${MPIX_TEST_QUICK-}" != yes ] || skip_all "MPIX_TEST_QUICK=yes"
for ranks; do
    [[ $ranks =~ ^[0-9]+$ && $((10#$ranks)) -ge 4 ]] || { echo "Bail out! RANKS is at least 4, not '$ranks'"; exit 1; }
done
problem=$(simgrid_problem)
[ -z "$problem" ] || skip_all "$problem"
[ -x bin/mpix_trace_report ] || skip_all "mpix_trace_report is not built: it takes the Jansson library"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
# Each process has a file.
ulimit -n "$(ulimit -Hn)"
simgrid_runner="timeout ${MPIX_TEST_TIMEOUT:-600}"

# To optimize the recorder takes longer than all that runs. Functions of the programs are inlined, because a call in
# another function is at another place. Each process has a copy of the program, so what is of a thread is of a process.
# The recorder calls functions by the names with P, which are not recorded here: it is no object of its own, by which
# its calls could be told. SMPI ends its processes before the program.
simgrid_cflags=(-w -D__thread= '-Dtls_model(x)=' -D_end=__ehdr_start -Ddestructor=used '-DFLAVOR="smpi"'
    -I"$work" -g -O0)
simgrid_ldflags=("$work/front.o" -Wl,-Bsymbolic
    -Wl,--wrap=dladdr -Wl,--wrap=smpi_clock_gettime -Wl,--wrap=pthread_key_create -Wl,--wrap=pthread_create)
build() {
    local sources program
    mkdir -p "$work/generated" && echo '#include <mpi.h>' >"$work/mpi.c" &&
        smpicc -E -P "$work/mpi.c" >"$work/mpi.i" &&
        awk -f "$top/trace/front/wrappers.awk" "$top/trace/front/meanings.txt" "$work/mpi.i" \
            >"$work/generated/functions.h" &&
        smpicc -std=gnu11 "${simgrid_cflags[@]}" -I"$top" -I"$top/lib" -I"$top/include" \
            -c "$top/trace/front/front.c" \
            -o "$work/front.o" &&
        objcopy --wildcard --localize-symbol='PMPI_*' "$work/front.o" || return
    mapfile -t sources < <(sed -n '/^interpose_back_sources/,/[^\\]$/p' "$top/trace/trace.am" |
        grep -ohE 'trace/[a-z_/]+\.c' | sort -u)
    simgrid_compile "$top" "$work/objects" lib "${sources[@]}" test/simulation/clock_simulated.c \
        trace/test/simulation/waits_front.c trace/front/frames.c || return
    simgrid_cflags+=(-O2)
    for program in trace/test/simulation/waits_program trace/test/planted; do
        mapfile -t sources < <(cd "$top" && printf '%s\n' "$program"*.c)
        simgrid_compile "$top" "$work/own" "${sources[@]}" &&
            simgrid_link "$work/${program##*/}" "$work"/{objects,own}/*.o || return
    done
}
build >"$work/log" 2>&1 || { cat "$work/log"; echo "Bail out! the recorder does not build with smpicc"; exit 1; }

# NAME RANKS [ARGUMENT]...: runs the program
run() {
    MH_SIMULATED_CLOCK=$(simgrid_clock "$seed") MPIX_HARMONIZE_CLOCK=simulated WAITS_PROGRAM=$work/waits_program \
        simgrid_run "$work" "$2" "$work/waits_program" "${@:3}" >"$work/$1" 2>&1 </dev/null || cat "$work/$1"
}

# The same, and which causes of waits the report names
trace() {
    rm -rf "$work/trace"
    mkdir "$work/trace"
    WAITS_TRACE=$work/trace run "$@" &&
        ./bin/mpix_trace_report "$work/trace" --format csv --show causes >"$work/$1.csv" || echo "there is no report"
}

# The program prints of each rank when it began and ended, and its time in MPI functions, in ns. In MPI_Finalize it
# waits until the last one has ended. What the delay adds to these times is its cost. Of causes, what they are charged
# without it, for noise and latencies, does not count.
judge() {           # RANKS PATTERN SEED
    simgrid_platform "$work" "$1"
    run without "$@" "$work_us"
    run with "$@" "$work_us" late
    trace traced_without "$@" "$work_us"
    trace traced "$@" "$work_us" late
    awk -v seed="$3" -v figures="$work/figures" '
        function limit_ns(true_ns, bound_ns) { return bound_ns > 0.01 * true_ns ? bound_ns : 0.01 * true_ns }
        function check(what, ns, least_ns, most_ns, bound_ns) {
            if (ns < least_ns - limit_ns(least_ns, bound_ns) || ns > most_ns + limit_ns(most_ns, bound_ns))
                printf "%s is %.0f ns, not %.0f to %.0f, with seed %d: late is rank %s\n", what, ns, least_ns,
                    most_ns, seed, late
            return ns < least_ns ? 100 * (ns / least_ns - 1) : ns > most_ns ? 100 * (ns / most_ns - 1) : 0
        }
        FNR == 1 { file++; titles = causes = 0; FS = file < 3 ? " " : ","; $0 = $0 }
        /^#/ { next }
        file < 3 && $1 == "ran" {
            begin[file] = $2
            in_calls[file] += $4
            ends[file] += $3
            ranks[file]++
            if ($3 > end[file]) end[file] = $3
        }
        file < 3 && $1 == "late" { late = $2 " before " $3 }
        file < 3 { next }
        !titles { for (titles = 1; titles <= NF; titles++) number[$titles] = titles; next }
        {
            where = $number["rank"] " " $number["does"] " " $number["from"] " " $number["to"]
            charged_ns[file, where] = $number["charged_ns"]
        }
        file == 4 && !causes++ {
            first = where
            bound_ns = $number["bound_ns"]
            gain_ns = $number["gain_ns"]
            split($number["to"], to, " at ")
            if ($number["does"] != "computes" || $number["rank"] " before " to[1] != late)
                print "the first cause is: " where ", with seed " seed ": late is rank " late
        }
        END {
            # In MPI_Finalize, all wait for the last one. Of a delay that nobody waited for until then, the trace shows
            # that the rank is late there, but not always of what.
            for (file = 1; file <= 2; file++)
                at_end[file] = ranks[file] * end[file] - ends[file]
            cost = in_calls[2] - in_calls[1]
            charge = check("the charge", charged_ns[4, first] - charged_ns[3, first], cost,
                           cost + at_end[2] - at_end[1], bound_ns)
            run = check("the run time without the delay", end[2] - begin[2] - gain_ns, end[1] - begin[1],
                        end[1] - begin[1], 0)
            print charge, run >>figures
        }' "$work"/{without,with,traced_without.csv,traced.csv}
}

check_pattern() {   # RANKS PATTERN
    local round
    for ((round = 0; round < rounds; round++)); do
        judge "$@" $((seed + round))
    done
}

# KIND STATE: a line of planted_not_yet.txt turns the answer around, if the program ran.
judge_planted() {
    local found launch reason status
    launch=$(simgrid_runner='printf %q\n' simgrid_run "$work" "$planted_ranks" --cfg=smpi/grow-injected-times:no \
        "$work/planted")
    found=$(MH_SIMULATED_CLOCK=$(simgrid_clock "$seed") MPIX_HARMONIZE_CLOCK=simulated WAITS_PROGRAM=$work/planted \
        PYTHONDONTWRITEBYTECODE=1 ${PYTHON:-python3} "$top/trace/test/check_planted.py" bin/mpix_trace_report \
        "env WAITS_TRACE=@TRACE@ $launch" "$planted_ranks" "$1" "$2" $((1 + seed % 2)) 30 "$seed" sleep exact 2>&1)
    status=$?
    [ "$status" -eq 0 ] || found=${found:-exit status $status}
    reason=$(sed -n "s/^$1|smpi|//p" "$top/trace/test/planted_not_yet.txt")
    if [ -z "$reason" ] || [ "$status" -ne 0 ]; then
        printf '%s' "$found"
    elif [ -z "$found" ]; then
        echo "$1 is answered: take its line out of planted_not_yet.txt, which says: $reason"
    fi
}

# The simulator does not tell a rank before MPI_Init, and looks less and less often in MPI_Testany.
if [ -x "$work/planted" ] && ${PYTHON:-python3} -c pass; then
    simgrid_platform "$work" "$planted_ranks"
    while IFS='|' read -r kind state lacks <&3; do
        case $kind in begin | testany) continue ;; esac
        name="planted in $kind: the first sentence names the rank, the place and the gain"
        tap_selects "$name" || continue
        complaints=${lacks:+"skip: the simulator has no $lacks"}
        [ -n "$complaints" ] || complaints=$(judge_planted "$kind" "$state")
        case $complaints in
        *'skip: '*) tap_skip "$name" "${complaints#*skip: }" ;;
        *) tap_expect_empty "$name" "$complaints" ;;
        esac
    done 3< <(simgrid_run "$work" 1 "$work/planted" 2>/dev/null)
fi

[ $# -gt 0 ] || set -- 32
for ranks; do
    for pattern in ring halo tree master workers pipeline collectives nonblocking; do
        count=$ranks
        # In the simulator, each process sends to each other one for this.
        [ "$pattern" != nonblocking ] || [ "$ranks" -lt 32 ] || count=8
        : >"$work/figures"
        tap_check "$pattern of $count: the delay is the first cause, its cost and gain are right" \
            check_pattern "$count" $pattern
        awk '{ for (i = 1; i <= 2; i++) if ($i ^ 2 > most[i] ^ 2) most[i] = $i }
            END { if (NR) printf "# of %d: off by up to %.3f %% and %.3f %%\n", NR, most[1], most[2] }' "$work/figures"
    done
done
tap_done
