#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# mpix_figures: its options, what it says where a figure cannot be made, charts of known data, and each figure once with a
# handful of calls at 2 ranks. No claim about speed is tested here, but of a simulation, whose time is not the machine's.
#
# Environment: BUILDDIR       where the programs are (default: examples)
#              MPIEXEC        the launcher (default: mpiexec)
#              MPIEXEC_FLAGS  its flags before -n
#              FIGURES        those to measure (default: all)
#
# Most functions are called by check only, by name:
# shellcheck disable=SC2317
set -u
export LC_ALL=C

. "$(dirname "$0")/../test/tap.sh"
figures=$(cd "${BUILDDIR:-examples}" && pwd)/mpix_figures || exit 1
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM

all_names="barrier-skew reduce-heatmap simulated-heatmap latency-sizes latency-ratio latency-ranks sync-duration \
sync-accuracy drift accuracy-duration allreduce-barriers barrier-imbalance osu-round-time"
launched=${FIGURES:-${all_names/simulated-heatmap /}}

# Programs that are somewhere on the path, all but those named: for machines that lack them.
path_without() {        # NAME...
    local directory=$scratch/path name
    rm -rf "$directory"
    mkdir "$directory"
    for name in bash sh awk mawk gawk sed grep tr sort date uname mkdir mktemp rm mv cat head tail cut dirname basename nproc \
        wc env tee ls find seq timeout gnuplot smpicc smpirun pkg-config; do
        [[ " $* " == *" $name "* ]] || ! command -v "$name" >/dev/null || ln -s "$(command -v "$name")" "$directory/$name"
    done
    echo "$directory"
}

# [OPTION]...: runs it into the directory out. Leaves $status, stdout and stderr.
run() {
    command="mpix_figures $*"
    "$figures" --output-dir "$scratch/out" "$@" >"$scratch/stdout" 2>"$scratch/stderr" </dev/null
    status=$?
}

complain() {    # WHAT
    echo "$command: $1"
    echo "exit status $status"
    sed 's/^/stdout: /' "$scratch/stdout"
    sed 's/^/stderr: /' "$scratch/stderr"
}
expect_status() {
    [ "$status" -eq "$1" ] || complain "exit status is not $1"
}
expect_message() {      # PART
    grep '^mpix_figures: ' "$scratch/stderr" | grep -qF -e "$1" || complain "no message with: $1"
}

check_answers() {
    run --help
    expect_status 0
    [ "$(grep -c '^Usage: mpix_figures' "$scratch/stdout")" -eq 1 ] || complain "no usage"
    run --version
    expect_status 0
    grep -qx 'mpix_figures [^ ]*' "$scratch/stdout" || complain "no version"
    run list
    expect_status 0
    [ "$(cut -d' ' -f1 "$scratch/stdout" | sort | tr '\n' ' ')" = "$(tr ' ' '\n' <<<"$all_names" | sort | tr '\n' ' ')" ] ||
        complain "other names"
    [ ! -e "$scratch/out" ] || complain "answers leave files"
}

check_refusals() {
    while read -r arguments; do
        # shellcheck disable=SC2086
        run $arguments
        expect_status 2
        [ "$(wc -l <"$scratch/stderr")" -eq 1 ] || complain "not one line"
        expect_message "$(awk '{ print $1 }' <<<"${arguments%%=*}")"
        [ ! -e "$scratch/out" ] || complain "leaves files"
    done <<'END'
--ranks 0 all
--ranks=2,,4 all
--ranks two drift
--format pdf drift
--quick=1 drift
--sources /nonexistent drift
--unknown
figure-eight
--format
END
    run
    expect_status 2
    # A file stands where the directory should be.
    : >"$scratch/file"
    run --output-dir "$scratch/file/out" drift
    expect_status 2
    expect_message --output-dir
}

check_cannot() {
    run --plot-only drift
    expect_status 3
    expect_message 'drift cannot be drawn: there is no '
    MPIEXEC=/nonexistent/mpiexec run --ranks 2 drift barrier-skew
    expect_status 3
    expect_message 'drift cannot be made: there is no MPI launcher'
    expect_message 'barrier-skew cannot be made'
    MPIEXEC=false run --ranks 1 drift
    expect_status 3
    expect_message 'it needs 2 ranks'
    PATH=$(path_without smpirun) run simulated-heatmap
    expect_status 3
    expect_message 'SimGrid is missing'
}

# A launcher that fails, and one that prints rubbish.
check_failures() {
    MPIEXEC=false run --ranks 2 barrier-skew drift
    expect_status 1
    expect_message 'barrier-skew: mpix_skew at 2 ranks failed'
    expect_message 'drift: measuring failed'
    [ ! -e "$scratch/out/barrier-skew.csv" ] || complain "leaves data of a measurement that failed"
}

known_heat_map() {
    mkdir -p "$scratch/out"
    cat >"$scratch/out/reduce-heatmap.csv" <<'END'
# library: Known MPI 1.0
algorithm,run,source,operation,sync,barrier,ranks,size_bytes,avg_ns
binomial,1,own,reduce,barrier,linear,8,4,500.0
binomial,1,own,reduce,harmonize,,8,4,1000.0
binomial,2,tree,reduce,barrier,library,8,4,2000.0
binomial,2,tree,reduce,harmonize,,8,4,1020.0
chain,1,own,reduce,barrier,linear,8,4,3000.0
chain,1,own,reduce,harmonize,,8,4,
END
}

check_known_heat_map() {
    known_heat_map
    run --plot-only --format svg reduce-heatmap
    expect_status 0
    for text in 'binomial: 0.50 to 2.00 us after barriers (4.00 times), 1.00 to 1.02 us harmonised (1.02 times in 2 runs).' \
        'chain: 3.00 to 3.00 us after barriers (1.00 times), harmonised without a valid sample.' 'What to look for: '; do
        grep -qF "$text" "$scratch/out/reduce-heatmap.txt" || complain "does not tell: $text"
        grep -qF "$text" "$scratch/stdout" || complain "does not print: $text"
    done
    for text in 'Known MPI 1.0, 8 ranks' binomial 'MPI: tree' linear 'harmonised 2' '0.50' '4.00' '1.02'; do
        grep -qF "$text" "$scratch/out/reduce-heatmap.svg" || complain "the chart does not show: $text"
    done
    [ ! -e "$scratch/out/reduce-heatmap.png" ] || complain "draws a format that was not asked for"
}

check_without_gnuplot() {
    known_heat_map
    PATH=$(path_without gnuplot) run --plot-only reduce-heatmap
    expect_status 3
    expect_message 'reduce-heatmap cannot be drawn: there is no gnuplot'
}

data_of() {             # FIGURE
    case $1 in
    latency-ratio) echo latency-sizes ;;
    sync-*) echo sync ;;
    *) echo "$1" ;;
    esac
}

check_figure() {        # NAME
    run --quick --ranks 2 "$1"
    # Where other programs take the processors, some rows may lack valid samples; that is told, and no failure.
    expect_status 0
    ! grep -v -e '^mpix_figures: ' -e '^\[1/1\]' "$scratch/stderr" || complain "says what it should not"
    for file in "$(data_of "$1").csv" "$1.gp" "$1.png" "$1.svg" "$1.txt"; do
        [ -s "$scratch/out/$file" ] || complain "leaves no $file"
    done
    [ "$(head -c 4 "$scratch/out/$1.png" | tail -c 3)" = PNG ] || complain "no PNG file"
    grep -q 'quick look' "$scratch/out/$1.svg" || complain "the chart does not tell that it is a quick look"
    ! grep -qiE '^[^$#"]*[0-9][, ]+-?(nan|inf)([, ]|$)' "$scratch/out/$(data_of "$1").csv" "$scratch/out/$1.gp" ||
        complain "no number among the data"
    grep -q '^# library: ' "$scratch/out/$(data_of "$1").csv" || complain "the data does not tell where it is from"
    cp "$scratch/out/$1.gp" "$scratch/before.gp"
    run --plot-only --format svg "$1"
    expect_status 0
    cmp -s "$scratch/out/$1.gp" "$scratch/before.gp" || complain "the same data gives another chart"
}

# 32 processes on two hosts. One reduction after two barriers, and harmonised by clocks of two seeds.
check_simulation() {
    run --quick simulated-heatmap
    expect_status 0
    [ -s "$scratch/out/simulated-heatmap.svg" ] || complain "no chart"
    awk '
        / after barriers / {
            rows++
            match($0, /\([0-9.]+ times\)/); barriers = substr($0, RSTART + 1) + 0
            match($0, /\([0-9.]+ times in/); harmonised = substr($0, RSTART + 1) + 0
            if (!(barriers >= 2)) print "barriers change the latency " barriers " times only: " $0
            if (!(harmonised >= 1 && harmonised <= 1.05)) print "harmonised runs differ: " $0
        }
        END { if (rows != 1) print rows + 0 " reductions" }' "$scratch/out/simulated-heatmap.txt" >"$scratch/problems"
    [ ! -s "$scratch/problems" ] || complain "$(cat "$scratch/problems")"
}

check() {       # NAME FUNCTION [ARGUMENT]...
    local name=$1
    shift
    tap_expect_empty "$name" "$("$@")"
    rm -rf "$scratch/out"
}

check "mpix_figures: help, version, list" check_answers
check "mpix_figures: bad options" check_refusals
check "mpix_figures: figures that cannot be made" check_cannot
check "mpix_figures: measurements that fail" check_failures
check "mpix_figures: no gnuplot" check_without_gnuplot
if ! command -v gnuplot >/dev/null; then
    tap_skip "mpix_figures: charts" "there is no gnuplot"
    tap_done
fi
check "mpix_figures: a heat map of known data" check_known_heat_map
launcher=${MPIEXEC:-mpiexec}
for name in $launched; do
    if [ "$(basename "$launcher")" = smpirun ]; then
        tap_skip "mpix_figures: $name" "simulated programs are not launched like this"
    else
        check "mpix_figures: $name" check_figure "$name"
    fi
done
if command -v smpicc >/dev/null && command -v smpirun >/dev/null; then
    check "mpix_figures: simulated-heatmap" check_simulation
else
    tap_skip "mpix_figures: simulated-heatmap" "SimGrid is missing (Debian package: libsimgrid-dev)"
fi
tap_done
