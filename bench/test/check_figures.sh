#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# mpix_figures: its options, what it says where a figure cannot be made, how it launches, charts of known data, and
# each figure once with a handful of calls at 2 ranks. No claim about speed is tested here, but of a simulation, whose
# time is not the machine's.
#
# Environment: FIGURES          those to measure (default: all)
. "$(dirname "$0")/../../test/programs/run.sh"
command -v python3 >/dev/null || skip_all "it takes python3"
tap_limit_s=${MPIX_TEST_TIMEOUT:-1800} # for all launches of a figure

launched=$("$programs/mpix_figures" list | sed '/^simulated-\|^tuning-/d; s/ .*//')
# They take mpix_trace, and a tool that is left out where its library is missing.
[ -x "${BUILDDIR:-.}/bin/mpix_trace" ] && [ -x "${BUILDDIR:-.}/bin/mpix_trace_report" ] ||
    launched=$(grep -vx 'gantt\|violations' <<<"$launched")
command -v tcpdump >/dev/null || launched=$(grep -vx delays <<<"$launched")
launched=${FIGURES:-$launched}

# NAME: the path of all programs but this one.
path_without() {
    local directory=$scratch/path folder
    rm -rf "$directory"
    mkdir "$directory"
    while read -r folder; do
        ln -s "$folder"/* "$directory" 2>/dev/null # the first of a name counts
    done < <(tr : '\n' <<<"$PATH")
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
--ranks=2,,4 all
--ranks two drift
--ranks , drift
--ranks= drift
--format pdf drift
--format , drift
--format= drift
--format png, drift
--quick=1 drift
--trace /nonexistent gantt
figure-eight
--format
|
--output $scratch/file/out drift
END
    [ ! -e "$scratch/figures" ] || complain "leaves files"
}

expect_cannot() {       # PART [OPTION]...
    draw "${@:2}"
    expect_status 3
    expect_message "$1"
}
check_cannot() {
    expect_cannot 'drift cannot be drawn: there is no ' --plot-only drift
    MPIEXEC=/nonexistent/mpiexec expect_cannot 'drift cannot be made: there is no MPI launcher' \
        --ranks 2 drift barrier-skew gantt
    expect_message 'barrier-skew cannot be made'
    expect_message 'gantt cannot be made'
    MPIEXEC=false expect_cannot 'it needs 2 ranks' --ranks 1 drift
    PATH=$(path_without smpirun) expect_cannot 'SimGrid is missing' simulated-heatmap
    known_heat_map
    PATH=$(path_without gnuplot) expect_cannot 'reduce-heatmap cannot be drawn: there is no gnuplot' \
        --plot-only reduce-heatmap
}

# Launchers that fail.
check_failures() {
    MPIEXEC=false draw --ranks 2 barrier-skew drift
    expect_status 1
    expect_message 'barrier-skew: mpix_skew at 2 ranks failed'
    expect_message 'drift: measuring failed'
    [ ! -e "$scratch/figures/barrier-skew.csv" ] || complain "leaves data of a measurement that failed"
}

# BODY: a launcher that notes its arguments and what chooses algorithms, a line each, in the file launches, and then
# does this.
fake_launcher() {
    cat >"$scratch/launcher" <<END
#!/bin/sh
echo "\$*" \$(env | grep -E '^(MPIR_CVAR|OMPI_MCA_coll)_' | sort) >>"$scratch/launches"
$1
END
    chmod +x "$scratch/launcher"
    : >"$scratch/launches"
}
draw_with_fake() {      # FIGURE...
    MPIEXEC=$scratch/launcher MPIEXEC_FLAGS='' draw --quick --ranks 2 "$@"
}
# What mpix_bench would print.
one_row='printf "operation,release,ranks,size_bytes,avg_ns,max_mean_ns\nreduce,barrier,2,4,100.0,200.0\n"'

# What a launcher has printed before a signal ended it.
check_killed() {
    fake_launcher "$one_row; kill -KILL \$\$"
    rm -f "$scratch/figures/reduce-heatmap.csv"
    draw_with_fake reduce-heatmap
    expect_status 1
    [ ! -e "$scratch/figures/reduce-heatmap.csv" ] || complain "keeps what a launch that was killed has left"
}

# While the barrier varies, what the library makes of the reduction by itself does not change.
check_algorithms() {
    local variables='MPIR_CVAR_([A-Z]+_)?DEVICE_COLLECTIVES?|[A-Za-z_]*_algorithm|[A-Z_]*_ALGORITHM'
    fake_launcher "$one_row"
    draw_with_fake reduce-heatmap
    [ -s "$scratch/launches" ] || complain "nothing is launched"
    grep -v -i 'reduce_\(intra_\)\?algorithm' "$scratch/launches" | sed -E 's/[A-Za-z_]*barrier[A-Za-z_]*=[^ ]*//Ig' |
        grep -E " ($variables)=" && complain "another reduction without being asked for"
}

# A program that ends before its last row is no program with doubtful rows, by which it ends with the same status.
check_rows_missing() {
    local why
    for why in 'cannot write the results: No space' 'rank 1: out of memory' 'MPI_Reduce failed on rank 0: so'; do
        fake_launcher "$one_row; printf 'mpix_bench: %s\n' '$why' so >&2; exit 1"
        draw_with_fake reduce-heatmap
        expect_status 1
        expect_message 'reduce-heatmap: measuring failed'
        [ ! -e "$scratch/figures/reduce-heatmap.csv" ] || complain "$why: leaves data of which rows are missing"
    done
    fake_launcher "$one_row; echo 'mpix_bench: one row is doubtful' >&2; exit 1"
    draw_with_fake reduce-heatmap
    expect_message 'not all rows have figures, or good ones (mpix_bench at 2 ranks: one row is doubtful)'
    [ -e "$scratch/figures/reduce-heatmap.csv" ] || complain "leaves no data"
}

# Processors may be more than cores: that a rank can be bound does not say that more can.
check_binding() {
    fake_launcher "case \"\$*\" in *'bind-to core -n 2'*) exit 1;; *true) ;; *) $one_row;; esac"
    (
        unset MPIEXEC_FLAGS
        MPIEXEC=$scratch/launcher succeeds draw --quick --ranks 1,2 latency-ranks
    )
    # Only the two libraries whose launchers are known bind.
    ! grep -q 'bind-to core -n 1 true' "$scratch/launches" ||
        grep -q 'bind-to core -n 1 .*mpix_bench' "$scratch/launches" || complain "1 rank is not bound"
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
        fake_launcher "echo \$\$ >>'$scratch/pids'; exec sleep 100"
        rm -f "$scratch/pids"
        mkdir -p "$scratch/tmp"
        # Without control of jobs, those in the background ignore SIGINT.
        set -m
        command="mpix_figures, signal $signal" status=0
        TMPDIR=$scratch/tmp MPIEXEC=$scratch/launcher MPIEXEC_FLAGS='' \
            "${heeding[@]}" "$programs/mpix_figures" --output "$scratch/figures" --ranks 2 drift \
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
    cat >"$scratch/figures/reduce-heatmap.csv" <<'END'
# library: Known MPI 1.0
algorithm,run,source,operation,release,barrier,ranks,size_bytes,avg_ns,makespan_ns
binomial,1,own,reduce,barrier,linear,8,4,500.0,50000.0
binomial,1,own,reduce,barrier,bruck,8,4,1000.0,4050.0
binomial,1,own,reduce,harmonize,,8,4,1000.0,4000.0
binomial,2,tree,reduce,barrier,library,8,4,2000.0,8000.0
binomial,2,tree,reduce,harmonize,,8,4,1020.0,4000.0
chain,1,own,reduce,barrier,linear,8,4,3000.0,5000.0
chain,1,own,reduce,harmonize,,8,4,,
END
}

check_known_heat_map() {
    known_heat_map
    succeeds draw --plot-only --format svg reduce-heatmap
    while read -r text; do
        grep -qF "$text" "$scratch/figures/reduce-heatmap.txt" || complain "does not tell: $text"
        grep -qF "$text" "$scratch/out" || complain "does not print: $text"
    done <<'END'
binomial, mean of means: 0.50 to 2.00 us after barriers (4.00 times), 1.00 to 1.02 us harmonized (1.02 times in 2 runs).
binomial, makespan: 4.05 to 50.00 us after barriers (12.35 times), 4.00 to 4.00 us harmonized (1.00 times in 2 runs).
chain, mean of means: 3.00 to 3.00 us after barriers (1.00 times), harmonized without a valid sample.
Barriers after which each latency is within 5 % of the harmonized one: bruck.
What to look for:
END
    for text in 'Known MPI 1.0, 8 ranks' binomial MPI_Barrier tree linear 'run 2' '0.50' '4.00' '1.02' \
        '50.0 ▲' 'one after: bruck'; do
        grep -qF "$text" "$scratch/figures/reduce-heatmap.svg" || complain "the chart does not show: $text"
    done
    [ ! -e "$scratch/figures/reduce-heatmap.png" ] || complain "draws a format that was not asked for"
}

# Drawing does not touch the record of the measurement.
check_drawing_again() {
    known_heat_map
    echo measured >"$scratch/figures/mpix_figures.log"
    succeeds draw --plot-only --format svg reduce-heatmap
    grep -qx measured "$scratch/figures/mpix_figures.log" || complain "the record is gone"
}

# What does not fit on the disk leaves what is there as it is, and no part of itself.
check_full_disk() {
    known_heat_map
    rm -rf "$scratch/disk.before"
    cp -R "$scratch/figures" "$scratch/disk.before"
    on_full_disk "$programs/mpix_figures" --plot-only --output "$scratch/disk" reduce-heatmap
    expect_status 1
    expect_message "$scratch/disk/reduce-heatmap"
    fake_launcher "$one_row; seq -f 'reduce,barrier,2,%.0f,100.0,200.0' 2000"
    MPIEXEC=$scratch/launcher MPIEXEC_FLAGS='' on_full_disk "$programs/mpix_figures" --quick --ranks 2 \
        --output "$scratch/disk" reduce-heatmap
    expect_status 1
    expect_message "cannot write $scratch/disk/reduce-heatmap.csv"
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

data_of() {             # FIGURE
    case $1 in
    latency-ratio) echo latency-sizes ;;
    sync-*) echo sync ;;
    violations) echo gantt ;;
    *) echo "$1" ;;
    esac
}

# What a figure before it has measured is not measured again.
check_figure() {        # NAME
    if [ -e "$scratch/figures/$(data_of "$1").csv" ]; then
        draw --plot-only "$1"
    else
        rm -rf "$scratch/figures"
        draw --quick --ranks 2 "$1"
    fi
    # Where other programs take the processors, some rows may lack valid samples; that is told, and no failure.
    expect_status 0
    ! grep -v -e '^mpix_figures: ' -e '^\[1/1\]' "$scratch/err" || complain "says what it should not"
    for file in "$(data_of "$1").csv" "$1.gp" "$1.png" "$1.svg" "$1.txt"; do
        [ -s "$scratch/figures/$file" ] || complain "leaves no $file"
    done
    [ "$(head -c 4 "$scratch/figures/$1.png" | tail -c 3)" = PNG ] || complain "no PNG file"
    grep -q 'quick look' "$scratch/figures/$1.svg" || complain "the chart does not tell that it is a quick look"
    ! grep -qiE '^[^$#"]*[0-9][, ]+-?(nan|inf)([, ]|$)' "$scratch/figures/$(data_of "$1").csv" \
        "$scratch/figures/$1.gp" ||
        complain "no number among the data"
    grep -q '^# library: ' "$scratch/figures/$(data_of "$1").csv" || complain "the data does not tell where it is from"
    cp "$scratch/figures/$1.gp" "$scratch/before.gp"
    succeeds draw --plot-only --format svg "$1"
    cmp -s "$scratch/figures/$1.gp" "$scratch/before.gp" || complain "the same data gives another chart"
}

# 32 processes on two hosts. One reduction after two barriers, and harmonized by clocks of two seeds.
check_simulation() {
    # Where the programs of the simulator run is not where files go.
    cd "$scratch" || return
    succeeds draw --quick --output figures simulated-heatmap
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
check "mpix_figures: a launch that is killed" check_killed
check "mpix_figures: rows that are missing" check_rows_missing
check "mpix_figures: a figure's algorithms are for that figure" check_algorithms
check "mpix_figures: ranks are bound where they can be" check_binding
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
    check "mpix_figures: an odd trace" check_odd_trace
else
    tap_skip "mpix_figures: a given trace" "mpix_trace_report was not built, for want of the Jansson library"
fi
launcher=${MPIEXEC:-mpiexec}
for name in $launched; do
    if [ "$(basename "$launcher")" = smpirun ]; then
        tap_skip "mpix_figures: $name" "simulated programs are not launched like this"
    elif [[ $name == gantt || $name == violations || $name == delays ]] && [ -n "$(made_hosts_problem)" ]; then
        tap_skip "mpix_figures: $name" "$(made_hosts_problem)"
    else
        # Each MPI library chooses its algorithms in its own way.
        [ "$name" != reduce-heatmap ] || tap_tier=quick
        tap_check "mpix_figures: $name" check_figure "$name"
        tap_tier=full
    fi
done
rm -rf "$scratch/figures"
if command -v smpicc >/dev/null && command -v smpirun >/dev/null; then
    check "mpix_figures: simulated-heatmap" check_simulation
else
    tap_skip "mpix_figures: simulated-heatmap" "SimGrid is missing (Debian package: libsimgrid-dev)"
fi
tap_done
