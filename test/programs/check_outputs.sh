#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# What the programs do where an output cannot be written: they say so, name the file, and fail. And how they end after
# a bad option.
#
# Environment: CC  compiles what is preloaded (default: mpicc)
. "$(dirname "$0")/run.sh"

expect_failure() {  # NAME OF WHAT CANNOT BE WRITTEN
    [ "$status" -ne 0 ] || complain "exit status is 0"
    grep -F "cannot" "$scratch/err" | grep -qF "$1" || complain "no message names $1"
}

# ---- Files

# Each program that writes one, with the options that make it brief. FILE is replaced.
raw_outputs() {
    cat <<END
alone mpix_bench bcast -m 8 -i 3 -x 0 --output FILE
alone mpix_bench bcast -m 8 -i 3 -x 0 --raw FILE
2 mpix_skew -i 10 -x 1 --output FILE
2 mpix_skew -i 10 -x 1 --raw FILE
2 mpix_clock drift --duration-s 0.1 --interval-s 0.02 --clocks monotonic --output FILE
2 mpix_clock drift --duration-s 0.1 --interval-s 0.02 --clocks monotonic --raw FILE
2 mpix_clock check --sync none --ages-s 0 --output FILE
2 mpix_clock check --sync none --ages-s 0 --raw FILE
alone mpix_clock list --reads 100 --output FILE
alone mpix_clock list --reads 100 --raw FILE
alone mpix_trace_check $scratch/trace --output FILE
alone mpix_trace_convert --format csv $scratch/trace --output FILE
END
    [ "$formats" = csv ] || cat <<END
alone mpix_trace_report $scratch/trace --output FILE
alone mpix_trace_report $scratch/trace --page FILE
alone mpix_trace_report $scratch/trace --write-arrivals FILE
alone mpix_trace_convert --format perfetto $scratch/trace --output FILE
alone mpix_compare $scratch/bench.json $scratch/bench.json --output FILE
alone mpix_report $scratch/bench.json --output FILE
END
}
charts() {
    cat <<END
alone mpix_clock list --reads 100 --plot FILE
alone mpix_bench bcast barrier -m 64:128 -i 2 --plot FILE
2 mpix_skew -i 50 -x 5 --plot FILE
2 mpix_clock check --sync none --ages-s 0 --plot FILE
2 mpix_clock drift --duration-s 0.1 --interval-s 0.02 --clocks monotonic --plot FILE
END
}

check_file() {      # FILE RANKS PROGRAM OPTION...
    local file=$1
    shift
    run "${@//FILE/$file}"
    expect_failure "$file"
    [ "$file" != /dev/full ] || grep -qF 'cannot write /dev/full: No space left on device' "$scratch/err" ||
        complain "does not say why"
}

# What is measured after an output was lost, is lost too: no call of 2 operations, in turns or one after the other.
check_early_end() {
    printf 'bcast\nreduce\nreduce --comm every:1\n' >"$scratch/jobs"
    run alone mpix_bench --jobs "$scratch/jobs" -m 8:64 -i 3 -x 0 --output /dev/full --raw "$scratch/calls"
    expect_failure /dev/full
    [ "$(grep -vc "^#" "$scratch/calls")" -eq 1 ] || complain "measures though the results are lost"
}

try_each() {        # LIST FILE WHERE
    local words typed
    while read -r -a words <&3; do
        typed=${words[*]:1}
        case ${words[1]} in mpix_skew | mpix_clock) tap_tier=full ;; *) tap_tier=quick ;; esac
        tap_check "${typed//"$scratch/"/}: $3" check_file "$2" "${words[@]}"
    done 3< <($1)
    tap_tier=full
}

have_plots() {
    [ -n "$(command -v gnuplot)" ] && echo 'set terminal svg' | gnuplot >/dev/null 2>&1
}

"$checks/check_trace_report" "$scratch/trace" 4 40 || echo "# there is no trace"
"$programs/mpix_bench" bcast -m 8 -i 3 -x 0 --format json >"$scratch/bench.json" 2>/dev/null </dev/null
if [ -c /dev/full ]; then
    try_each raw_outputs /dev/full "a device that is full"
    quick tap_check "mpix_bench: no measurement after a device is full" check_early_end
    ln -s /dev/full "$scratch/full.svg"
    if have_plots; then
        try_each charts "$scratch/full.svg" "a device that is full"
    else
        tap_skip "charts" "there is no gnuplot"
    fi
else
    tap_skip "a device that is full" "there is no /dev/full"
fi

# COMMAND...: in a namespace of its own, where disk in the scratch folder is a file system of one page that is full.
on_full_file_system() {
    "${own_mounts[@]}" sh -c 'mount -t tmpfs -o size=4k none "$1" || exit
        head -c 8192 /dev/zero >"$1/filler" 2>/dev/null
        shift
        exec "$@"' sh "$scratch/disk" "$@"
}

check_on_disk() {   # FILE PROGRAM OPTION...: with the ranks that it can have by itself
    local file=$1
    shift
    command="$* (full file system)"
    on_full_file_system "$programs/$1" "${@:2}" >"$scratch/out" 2>"$scratch/err" </dev/null
    status=$?
    expect_failure "$file"
}

# A chart that is there stays, whatever room a new one lacks, and nothing is left beside it.
check_chart_on_disk() { # PROGRAM OPTION...
    command="$* --plot $scratch/disk/old.svg (full file system with a chart)"
    # The variables are those of the shell in the namespace.
    # shellcheck disable=SC2016
    on_full_file_system sh -c 'truncate -s 0 "$0/filler" && echo old >"$0/old.svg" && cat /dev/zero >>"$0/filler"
        "$@" --plot "$0/old.svg"
        status=$?
        echo "kept: $(cat "$0/old.svg"), files:" $(ls "$0")
        exit $status' "$scratch/disk" "$programs/$1" "${@:2}" >"$scratch/out" 2>"$scratch/err" </dev/null
    status=$?
    expect_failure "$scratch/disk/old.svg"
    grep -qx 'kept: old, files: filler old.svg' "$scratch/out" || complain "the old chart is lost, or a part is left"
}

# Folders that tools write, of which OTF2 takes a library that may be missing.
check_folders_on_disk() {   # FOLDER
    check_on_disk "$1" mpix_trace_check --corrected "$1" "$scratch/trace"
    ! "$programs/mpix_trace_convert" --format otf2 "$scratch/trace" >/dev/null 2>&1 ||
        check_on_disk "$1" mpix_trace_convert --format otf2 --output "$1" "$scratch/trace"
}

# With data there is no room for a figure.
check_figures() {   # THE BEGINNING OF THE FILES' NAMES
    command="mpix_figures --plot-only (full file system)"
    "${own_mounts[@]}" sh -c 'mount -t tmpfs -o size=64k none "$1" && cp "$2"/*.csv "$1" || exit
        head -c 131072 /dev/zero >"$1/filler" 2>/dev/null
        exec "$3" --plot-only --output "$1" barrier-skew' \
        sh "$scratch/disk" "$scratch/figures" "$programs/mpix_figures" >"$scratch/out" 2>"$scratch/err" </dev/null
    status=$?
    [ "$status" -eq 1 ] || complain "exit status is not 1"
    grep '^mpix_figures: ' "$scratch/err" | grep -qF "$1" || complain "no message names $1"
}

# The data of an earlier run stays where new data, which takes more room, does not fit, and nothing is left beside it.
check_figure_data() {
    command="mpix_figures (full file system with data)"
    cat >"$scratch/launcher" <<'END'
#!/bin/sh
echo operation,release,ranks,size_bytes,avg_ns,max_mean_ns
seq -f 'reduce,barrier,2,%.0f,100.0,200.0' 1000
END
    chmod +x "$scratch/launcher"
    # The variables are those of the shell in the namespace.
    # shellcheck disable=SC2016
    MPIEXEC=$scratch/launcher MPIEXEC_FLAGS='' on_full_file_system sh -c '
        truncate -s 0 "$0/filler" && echo old >"$0/reduce-heatmap.csv" && cat /dev/zero >>"$0/filler"
        "$@" --output "$0" reduce-heatmap
        status=$?
        echo "kept: $(cat "$0/reduce-heatmap.csv"), files:" $(ls "$0")
        exit $status' "$scratch/disk" "$programs/mpix_figures" --quick --ranks 2 \
        >"$scratch/out" 2>"$scratch/err" </dev/null
    status=$?
    [ "$status" -eq 1 ] || complain "exit status is not 1"
    grep -qx "mpix_figures: .*: cannot write $scratch/disk/reduce-heatmap.csv" "$scratch/err" || complain "no message"
    grep -qx 'kept: old, files: filler mpix_figures.log reduce-heatmap.csv' "$scratch/out" ||
        complain "the old data is lost, or a part is left"
}

mkdir "$scratch/disk"
if on_full_file_system true 2>/dev/null; then
    quick tap_check "mpix_trace_...: a file system that is full" check_folders_on_disk "$scratch/disk/traced"
    if have_plots; then
        quick tap_check "mpix_clock list --plot: a chart on a file system that is full" \
            check_chart_on_disk mpix_clock list --reads 100
    else
        tap_skip "charts on a file system that is full" "there is no gnuplot"
    fi
    quick tap_check "mpix_figures: data on a file system that is full" check_figure_data
    if have_plots && run alone mpix_figures --quick --ranks 2 --output "$scratch/figures" barrier-skew &&
        [ "$status" -eq 0 ]; then
        quick tap_check "mpix_figures: a file system that is full" check_figures "$scratch/disk/barrier-skew"
    else
        tap_skip "mpix_figures: a file system that is full" "the figure cannot be made here"
    fi
else
    tap_skip "a file system that is full" "it takes a user namespace, which is not allowed here"
fi

# ---- A gnuplot that fails, though it seemed to work

check_gnuplot() {   # WHAT IT DOES WHERE IT IS TO DRAW
    mkdir -p "$scratch/bin"
    printf '#!/bin/sh\nif grep -q multiplot "$2" 2>/dev/null; then %s; fi\n' "$1" >"$scratch/bin/gnuplot"
    chmod +x "$scratch/bin/gnuplot"
    PATH=$scratch/bin:$PATH run alone mpix_clock list --reads 100 --plot "$scratch/chart.svg"
    expect_failure "$scratch/chart.svg"
    [ ! -e "$scratch/chart.svg" ] || complain "leaves a chart"
}
quick tap_check "gnuplot fails" check_gnuplot "echo '<svg'; exit 1"
tap_check "gnuplot is killed" check_gnuplot "echo '<svg'; kill -KILL \$\$"
tap_check "gnuplot draws nothing" check_gnuplot "exit 0"

check_old_chart() {
    echo old >"$scratch/chart.svg"
    check_gnuplot "echo '<svg'; exit 1" >/dev/null
    expect_failure "$scratch/chart.svg"
    [ "$(cat "$scratch/chart.svg")" = old ] || complain "changes a chart though it has no other"
}
tap_check "gnuplot fails where there is a chart" check_old_chart

# One of which the real gnuplot would say that it is too old.
check_old_gnuplot() {
    rm -f "$scratch/chart.svg"
    printf '#!/bin/sh\nexec %s "$1" "$2" "$(echo "$3" | sed "s/5\\.4/99/")"\n' "$(command -v gnuplot)" \
        >"$scratch/bin/gnuplot"
    PATH=$scratch/bin:$PATH refuses --plot run alone mpix_clock list --reads 100 --plot "$scratch/chart.svg"
}

# ---- A gnuplot that works

# TEXTS RANKS PROGRAM [OPTION]...: the picture is whole, has each of the TEXTS between semicolons, and the first curve
# is a line there and in the key.
check_chart() {
    local text picture=$scratch/drawn.svg
    succeeds run "${@:2}" --plot "$picture"
    grep -q '</svg>' "$picture" || complain "no whole picture"
    while read -r -d ';' text; do
        grep -qF "$text" "$picture" || complain "the chart does not tell $text"
    done <<<"$1;"
    [ "$(grep -F "stroke='rgb(  0, 114, 178)" "$picture" | grep -o 'L[0-9]' | wc -l)" -ge 2 ] || complain "no line"
}
if have_plots; then
    tap_check "a gnuplot that is too old" check_old_gnuplot
    tap_check "mpix_bench: a chart" check_chart \
        "Run times of MPI operations;bcast, harmonize" alone mpix_bench bcast -m 8:64 -i 5
    printf 'bcast -m 64,8\nbcast -m 64,8 --root rotate\nbarrier\n' >"$scratch/jobs"
    quick tap_check "mpix_bench: a chart of jobs" check_chart \
        "1:bcast, harmonize;2:bcast, harmonize;3:barrier, harmonize" alone mpix_bench --jobs "$scratch/jobs" -i 5
    tap_check "mpix_skew: a chart" check_chart "barrier;exit skew (ns)" 2 mpix_skew --release barrier -i 50 -x 5
    tap_check "mpix_skew: a chart of no skew at all" check_chart "barrier" 2 mpix_skew --release barrier -i 10 -x 1
else
    tap_skip "charts" "there is no gnuplot"
fi

# ---- After a bad option

# In MPI_Finalize of each process, says whether its last call before was a barrier. Freed communicators do not count.
cat >"$scratch/end.c" <<'END'
#include <mpi.h>
#include <stdio.h>

static int has_met;

int MPI_Barrier(MPI_Comm comm)
{
    has_met = 1;
    return PMPI_Barrier(comm);
}

int MPI_Bcast(void *data, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    has_met = 0;
    return PMPI_Bcast(data, count, type, root, comm);
}

int MPI_Finalize(void)
{
    fprintf(stderr, "end: %s\n", has_met ? "met" : "alone");
    return PMPI_Finalize();
}
END

check_end() {       # PROGRAM
    export LD_PRELOAD=$scratch/end.so
    run 2 "$1" --no-such-option
    unset LD_PRELOAD
    expect_status 2
    [ "$(grep -c '^end: met' "$scratch/err")" -eq 2 ] || complain "processes do not meet before they finalize"
}

if ${CC:-mpicc} -shared -fPIC -o "$scratch/end.so" "$scratch/end.c" >"$scratch/log" 2>&1; then
    quick tap_check "processes meet before they finalize after a bad option" check_end mpix_bench
else
    tap_skip "processes meet before they finalize after a bad option" "nothing can be compiled to be preloaded"
fi
tap_done
