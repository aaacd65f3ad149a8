#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# mpix_figures: its options, what it says where a figure cannot be made, what becomes of programs that fail, charts of
# known data, and each figure once with a handful of calls. No claim about speed is tested here, but of a simulation,
# whose time is not the machine's.
#
# Environment: FIGURES          those to make (default: all)
. "$(dirname "$0")/../../test/programs/run.sh"
command -v python3 >/dev/null || skip_all "it takes python3"
tap_limit_s=${MPIX_TEST_TIMEOUT:-1800} # for all launches of a figure

# NAME: the path of all programs but this one, and those that were left out before.
path_without() {
    local directory=$scratch/path folder
    if mkdir "$directory" 2>/dev/null; then
        while read -r folder; do
            ln -s "$folder"/* "$directory" 2>/dev/null # the first of a name counts
        done < <(tr : '\n' <<<"$PATH" | xargs -d '\n' realpath -q -- | awk '!seen[$0]++')
    fi
    rm -f "$directory/$1"
    echo "$directory"
}

# [OPTION]...: runs it into the directory figures.
draw() {
    run alone mpix_figures --output "$scratch/figures" "$@"
}

check_answers() {
    succeeds draw list
    [ ! -e "$scratch/figures" ] || complain "answers leave files"
}

check_refusals() {
    : >"$scratch/file"
    expect_refusals alone mpix_figures --output "$scratch/figures" <<END
--ranks 0 all
--ranks 2,4 all
--ranks two delays
--ranks= delays
--format pdf delays
--format , delays
--format= delays
--format png, delays
--quick=1 delays
--trace /nonexistent gantt
figure-eight
--format
|
--output $scratch/file/out delays
END
    [ ! -e "$scratch/figures" ] || complain "leaves files"
}

expect_cannot() {       # PART [OPTION]...
    draw "${@:2}"
    expect_status 3
    expect_message "$1"
}
check_cannot() {
    expect_cannot 'delays cannot be drawn: there is no ' --plot-only delays
    MPIEXEC=/nonexistent/mpiexec expect_cannot 'delays cannot be made: there is no MPI launcher' delays gantt
    expect_message 'gantt cannot be made'
    PATH=$(path_without smpirun) expect_cannot 'SimGrid is missing' simulated-heatmap
    known_heat_map
    PATH=$(path_without gnuplot) expect_cannot 'simulated-heatmap cannot be drawn: there is no gnuplot' \
        --plot-only simulated-heatmap
}

# NAME BODY: a made-up program of this name, which comes first in $fakes.
fakes=$scratch/fakes:$PATH
fake() {
    mkdir -p "$scratch/fakes"
    printf '#!/bin/sh\n%s\n' "$2" >"$scratch/fakes/$1"
    chmod +x "$scratch/fakes/$1"
}
# BODY: a simulator that does this. What it would run is there, and newer than the sources.
fake_simulator() {
    mkdir -p "$scratch/built"
    touch "$scratch/built/mpix_bench_simulated"
    fake smpicc ''
    fake pkg-config ''
    fake smpirun "$1"
}
draw_with_fake() {      # FIGURE...
    PATH=$fakes draw --quick --build-dir "$scratch/built" "$@"
}
# What mpix_bench would print.
one_row='printf "operation,release,barrier,ranks,size_bytes,avg_ns\nreduce,barrier,linear,32,4,100.0\n"'

# Each figure is tried.
check_failures() {
    fake_simulator 'exit 1'
    draw_with_fake simulated-heatmap tuning-regret
    expect_status 1
    expect_message 'simulated-heatmap: mpix_bench simulated with reduce ompi_binomial failed'
    expect_message 'tuning-regret: measuring failed'
    [ ! -e "$scratch/figures/simulated-heatmap.csv" ] || complain "leaves data of a measurement that failed"
    draw_with_fake --ranks 1 simulated-heatmap
    expect_status 3
    expect_message 'it needs 2 ranks'
}

# What a program has printed before a signal ended it.
check_killed() {
    fake_simulator "$one_row; kill -KILL \$\$"
    draw_with_fake simulated-heatmap
    expect_status 1
    [ ! -e "$scratch/figures/simulated-heatmap.csv" ] || complain "keeps what a program that was killed has left"
}

# A program that ends before its last row is no program with doubtful rows, by which it ends with the same status.
check_rows_missing() {
    local why
    for why in 'cannot write the results: No space' 'rank 1: out of memory' 'MPI_Reduce failed on rank 0: so'; do
        fake_simulator "$one_row; printf 'mpix_bench: %s\n' '$why' so >&2; exit 1"
        draw_with_fake simulated-heatmap
        expect_status 1
        expect_message 'simulated-heatmap: measuring failed'
        [ ! -e "$scratch/figures/simulated-heatmap.csv" ] || complain "$why: leaves data of which rows are missing"
    done
    fake_simulator "$one_row; echo 'mpix_bench: one row is doubtful' >&2; exit 1"
    draw_with_fake simulated-heatmap
    expect_message 'not all rows have figures, or good ones: mpix_bench: one row is doubtful'
    [ -e "$scratch/figures/simulated-heatmap.csv" ] || complain "leaves no data"
}

has_ended() { ! kill -0 "$1"; }

# A signal ends it although a launch is under way, and nothing of either is left.
check_signal() {
    local job signal signals=(TERM) heeding=()
    # In the background of a shell without job control a check starts with SIGINT ignored, which no shell can trap then.
    if env --default-signal=INT true 2>/dev/null; then
        signals+=(INT)
        heeding=(env --default-signal=INT)
    fi
    for signal in "${signals[@]}"; do
        fake launcher "echo \$\$ >>'$scratch/pids'; exec sleep 100"
        rm -f "$scratch/pids"
        mkdir -p "$scratch/tmp"
        # Without control of jobs, those in the background ignore SIGINT.
        set -m
        command="mpix_figures, signal $signal" status=0
        TMPDIR=$scratch/tmp MPIEXEC=$scratch/fakes/launcher MPIEXEC_FLAGS='' \
            "${heeding[@]}" "$programs/mpix_figures" --output "$scratch/figures" --ranks 2 gantt \
            >"$scratch/out" 2>"$scratch/err" </dev/null &
        job=$!
        set +m
        comes_true [ -s "$scratch/pids" ]
        kill -s $signal $job
        if ! comes_true has_ended $job; then
            complain "does not end"
            kill -KILL $job
        fi
        wait $job
        status=$?
        expect_status 1
        ! kill "$(cat "$scratch/pids")" 2>/dev/null || complain "leaves a launch"
        [ -z "$(ls "$scratch/tmp")" ] || complain "leaves files"
    done
}

known_heat_map() {
    mkdir -p "$scratch/figures"
    cat >"$scratch/figures/simulated-heatmap.csv" <<'END'
# library: Known MPI 1.0
algorithm,run,operation,release,barrier,ranks,size_bytes,avg_ns,makespan_ns
binomial,1,reduce,barrier,linear,8,4,500.0,50000.0
binomial,1,reduce,barrier,bruck,8,4,1000.0,4050.0
binomial,1,reduce,barrier,tree,8,4,2000.0,8000.0
binomial,1,reduce,harmonize,,8,4,1000.0,4000.0
binomial,2,reduce,harmonize,,8,4,1020.0,4000.0
chain,1,reduce,barrier,linear,8,4,3000.0,5000.0
chain,1,reduce,harmonize,,8,4,,
END
}

check_known_heat_map() {
    known_heat_map
    succeeds draw --plot-only --format svg simulated-heatmap
    while read -r text; do
        grep -qF "$text" "$scratch/figures/simulated-heatmap.txt" || complain "does not tell: $text"
        grep -qF "$text" "$scratch/out" || complain "does not print: $text"
    done <<'END'
binomial, mean of means: 0.50 to 2.00 us after barriers (4.00 times), 1.00 to 1.02 us harmonized (1.02 times in 2 runs).
binomial, makespan: 4.05 to 50.00 us after barriers (12.35 times), 4.00 to 4.00 us harmonized (1.00 times in 2 runs).
chain, mean of means: 3.00 to 3.00 us after barriers (1.00 times), harmonized without a valid sample.
Barriers after which each latency is within 5 % of the harmonized one: bruck.
What to look for:
END
    for text in 'Known MPI 1.0, 8 ranks' binomial 'barriers of mpix_bench' tree linear 'run 2' '0.50' '4.00' '1.02' \
        '50.0 ▲' 'one after: bruck'; do
        grep -qF "$text" "$scratch/figures/simulated-heatmap.svg" || complain "the chart does not show: $text"
    done
    [ ! -e "$scratch/figures/simulated-heatmap.png" ] || complain "draws a format that was not asked for"
}

# Drawing does not touch the record of the measurement.
check_drawing_again() {
    known_heat_map
    echo measured >"$scratch/figures/mpix_figures.log"
    succeeds draw --plot-only --format svg simulated-heatmap
    grep -qx measured "$scratch/figures/mpix_figures.log" || complain "the record is gone"
}

# What does not fit on the disk leaves what is there as it is, and no part of itself.
check_full_disk() {
    known_heat_map
    rm -rf "$scratch/disk.before"
    cp -R "$scratch/figures" "$scratch/disk.before"
    on_full_disk "$programs/mpix_figures" --plot-only --output "$scratch/disk" simulated-heatmap
    expect_status 1
    expect_message "$scratch/disk/simulated-heatmap"
    fake_simulator "$one_row; seq -f 'reduce,barrier,linear,32,%.0f,100.0' 2000"
    PATH=$fakes on_full_disk "$programs/mpix_figures" --quick --build-dir "$scratch/built" --output "$scratch/disk" \
        simulated-heatmap
    expect_status 1
    expect_message "cannot write $scratch/disk/simulated-heatmap.csv"
    expect_disk_kept --exclude=mpix_figures.log
}
can_fill_disk() { on_full_disk true && [ "$status" -eq 0 ]; }

# A trace of four hosts that is known: by the global clock, no call is wrong.
check_given_trace() {
    "$build/trace/test/check_trace_report" "$scratch/four" 4 40 || complain "there is no trace"
    succeeds draw --format svg --trace "$scratch/four" gantt violations
    for name in gantt violations; do
        [ -s "$scratch/figures/$name.svg" ] || complain "leaves no $name.svg"
        grep -qF 'By the global clock, a process seems to leave before all have come in 0 of 40 calls.' \
            "$scratch/figures/$name.txt" || complain "$name: does not tell of 40 calls"
    done
    [ "$(grep -c '^4,global,1,' "$scratch/figures/gantt.csv")" -eq 160 ] || complain "not 40 calls of 4 ranks"
    grep -qF 'time since rank 0 came (us)' "$scratch/figures/gantt.svg" || complain "gantt: does not say since when"
    rm "$scratch/four/rank-2.mpixtrace"
    draw --trace "$scratch/four" gantt
    expect_status 1
    grep -q 'rank-2.mpixtrace' "$scratch/err" || complain "does not name the file that is missing"
}

# Hosts on which the launcher starts ranks are traced there.
check_launched_trace() {
    "$build/trace/test/check_trace_report" "$scratch/two" 2 40 || complain "there is no trace"
    fake launcher "case \$* in *hostname) echo a; echo b ;; *) echo \"\$*\" >'$scratch/launched'
        cp -R '$scratch/two' '$scratch/figures/gantt.trace' ;; esac"
    MPIEXEC=$scratch/fakes/launcher MPIEXEC_FLAGS='' succeeds draw --quick --ranks 2 --format svg gantt
    grep -q '^-n 2 .*/mpix_trace -o .*/gantt.trace .*/mpix_bench allreduce ' "$scratch/launched" ||
        complain "launches something else"
    [ -s "$scratch/figures/gantt.svg" ] || complain "leaves no gantt.svg"
}

# Fewer calls than the chart has rows, and a host whose name is a command and has a quotation mark.
check_odd_trace() {
    "$build/trace/test/check_trace_report" "$scratch/few" 2 5 || complain "there is no trace"
    succeeds draw --format svg --trace "$scratch/few" gantt
    sed -i "s|^# hosts: .*|# hosts: a\`touch $scratch/has_run\`\"|" "$scratch/figures/gantt.csv"
    succeeds draw --format svg --plot-only gantt
    [ -s "$scratch/figures/gantt.svg" ] && [ ! -e "$scratch/has_run" ] || complain "runs what stands in the data"
}

# Why two hosts cannot be made of this machine, if so.
made_hosts_problem() {
    if [ "${sanitizers:-no}" = no ]; then
        hosts_problem "$tests/hosts/with_hosts.sh"
    else
        echo "what sanitizers have built cannot be loaded into an ordinary program"
    fi
}

# What a figure before it has measured is not measured again.
check_figure() {        # NAME
    local data=$scratch/figures/${1/violations/gantt}.csv file
    if [ -e "$data" ]; then
        draw --plot-only "$1"
    else
        rm -rf "$scratch/figures"
        draw --quick --ranks 2 --build-dir "$scratch/simulator" "$1"
    fi
    # Where other programs take the processors, some rows may lack valid samples; that is told, and no failure.
    expect_status 0
    ! grep -v -e '^mpix_figures: ' -e '^\[1/1\]' "$scratch/err" || complain "says what it should not"
    for file in "$data" "$scratch/figures/$1".{gp,png,svg,txt}; do
        [ -s "$file" ] || complain "leaves no $file"
    done
    [ "$(head -c 4 "$scratch/figures/$1.png" | tail -c 3)" = PNG ] || complain "no PNG file"
    grep -q 'quick look' "$scratch/figures/$1.svg" || complain "the chart does not tell that it is a quick look"
    ! grep -qiE '^[^$#"]*[0-9][, ]+-?(nan|inf)([, ]|$)' "$data" "$scratch/figures/$1.gp" ||
        complain "no number among the data"
    grep -q '^# library: ' "$data" || complain "the data does not tell where it is from"
    cp "$scratch/figures/$1.gp" "$scratch/before.gp"
    succeeds draw --plot-only --format svg "$1"
    cmp -s "$scratch/figures/$1.gp" "$scratch/before.gp" || complain "the same data gives another chart"
}

# 32 processes on two hosts. One reduction after two barriers, and harmonized by clocks of two seeds.
check_simulation() {
    # Where the programs of the simulator run is not where files go.
    cd "$scratch" || return
    succeeds draw --quick --output figures --build-dir simulator simulated-heatmap
    [ -s "$scratch/figures/simulated-heatmap.svg" ] || complain "no chart"
    awk '
        / after barriers / {
            rows++
            match($0, /\([0-9.]+ times\)/); barriers = substr($0, RSTART + 1) + 0
            match($0, /\([0-9.]+ times in/); harmonized = substr($0, RSTART + 1) + 0
            if (!(barriers >= 2)) print "barriers change the latency " barriers " times only: " $0
            if (!(harmonized >= 1 && harmonized <= 1.05)) print "harmonized runs differ: " $0
        }
        END { if (rows != 2) print rows / 2 " reductions" }' "$scratch/figures/simulated-heatmap.txt"
}

check() {       # NAME FUNCTION [ARGUMENT]...
    tap_check "$@"
    rm -rf "$scratch/figures"
}

quick check "mpix_figures: help, version, list" check_answers
quick check "mpix_figures: bad options" check_refusals
check "mpix_figures: figures that cannot be made" check_cannot
check "mpix_figures: measurements that fail" check_failures
check "mpix_figures: a program that is killed" check_killed
check "mpix_figures: rows that are missing" check_rows_missing
quick check "mpix_figures: signals" check_signal
if ! command -v gnuplot >/dev/null; then
    tap_skip "mpix_figures: charts" "there is no gnuplot"
    tap_done
fi
quick check "mpix_figures: a heat map of known data" check_known_heat_map
check "mpix_figures: drawing again" check_drawing_again
quick tap_check_if can_fill_disk "it takes a user namespace, which is not allowed here" \
    "mpix_figures: a full disk" check_full_disk
if [ -x "${BUILDDIR:-.}/bin/mpix_trace_report" ]; then
    quick check "mpix_figures: a given trace" check_given_trace
    check "mpix_figures: a trace of hosts that the launcher reaches" check_launched_trace
    check "mpix_figures: an odd trace" check_odd_trace
else
    tap_skip "mpix_figures: a given trace" "mpix_trace_report was not built, for want of the Jansson library"
fi
check_made() {          # FIGURE REASON TEST [ARGUMENT]...: unless there is a reason not to make it
    case " ${FIGURES:-$1} " in *" $1 "*) tap_check_unless "$2" "mpix_figures: $1" "${@:3}" ;; esac
}
no_hosts=$(made_hosts_problem)
launches || no_hosts="simulated programs are not launched like this"
# They take a tool that is left out where its library is missing.
no_trace=$no_hosts
[ -x "$build/bin/mpix_trace" ] && [ -x "$build/bin/mpix_trace_report" ] || no_trace="mpix_trace_report was not built"
no_packets=$no_hosts
command -v tcpdump >/dev/null || no_packets="tcpdump is missing (Debian package: tcpdump)"
no_simulator=
command -v smpicc >/dev/null && command -v smpirun >/dev/null ||
    no_simulator="SimGrid is missing (Debian package: libsimgrid-dev)"
# What is built for the simulator, whose time is not the machine's, need not be fast.
rm -rf "$scratch/fakes"
[ -n "$no_simulator" ] || fake smpicc "exec '$(command -v smpicc)' \"\$@\" -O0"
PATH=$fakes
check_made gantt "$no_trace" check_figure gantt
check_made violations "$no_trace" check_figure violations
check_made delays "$no_packets" check_figure delays
check_made simulated-heatmap "$no_simulator" check_simulation
check_made simulated-arrivals "$no_simulator" check_figure simulated-arrivals
check_made tuning-regret "$no_simulator" check_figure tuning-regret
tap_done
