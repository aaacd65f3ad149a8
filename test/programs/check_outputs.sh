#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# What the programs do where there is no room for more than a stream (check_conduct.sh has those): they say so, name the
# file, and fail. Charts. And how programs end after a bad option.
#
# Environment: CC  compiles what is preloaded (default: mpicc)
. "$(dirname "$0")/run.sh"

# ---- No room

# What is measured after an output was lost, is lost too: no call of 2 operations, in turns or one after the other.
check_early_end() {
    printf 'bcast\nreduce\nreduce --comm every:1\n' >"$scratch/jobs"
    run alone mpix_bench --jobs "$scratch/jobs" -m 8:64 -i 3 -x 0 --output /dev/full --raw "$scratch/calls"
    expect_lost /dev/full
    [ "$(grep -vc "^#" "$scratch/calls")" -eq 1 ] || complain "measures though the results are lost"
}

[ ! -c /dev/full ] || quick tap_check "mpix_bench: no measurement after a device is full" check_early_end

# A chart that is there stays, whatever room a new one lacks, and nothing is left beside it.
check_chart_on_disk() {
    local chart=$scratch/disk/chart.svg
    mkdir -p "$scratch/disk.before" && echo old >"$scratch/disk.before/chart.svg"
    on_full_disk "$programs/mpix_clock" list --reads 100 --plot "$chart"
    expect_lost "$chart"
    expect_disk_kept
}

# Folders, and what other libraries write. OTF2 may be missing.
check_traces_on_disk() {
    local words
    "$checks/check_trace_report" "$scratch/trace" 4 40
    "$programs/mpix_trace_convert" --format otf2 "$scratch/trace" >/dev/null 2>&1
    while read -r -a words; do
        [ ${#words[@]} -gt 0 ] || continue
        on_full_disk "$programs/${words[0]}" "${words[@]:1}" "$scratch/disk/traced" "$scratch/trace"
        expect_lost "$scratch/disk/traced"
    done <<END
mpix_trace_check --corrected
$([ "$formats" = csv ] || echo mpix_trace_convert --format perfetto --output)
$([ ! -e "$scratch/trace.otf2" ] || echo mpix_trace_convert --format otf2 --output)
END
}

if on_full_disk true && [ "$status" -eq 0 ]; then
    quick tap_check "mpix_trace_...: a disk that is full" check_traces_on_disk
    quick tap_check_if have_plots "there is no gnuplot" "a chart on a disk that is full" check_chart_on_disk
else
    tap_skip "a disk that is full" "it takes a user namespace, which is not allowed here"
fi

# ---- A gnuplot that fails, though it seemed to work

# With a chart before it, and without.
check_gnuplot() {
    local does
    mkdir -p "$scratch/bin"
    for does in "echo '<svg'; exit 1" "echo '<svg'; kill -KILL \$\$" "exit 0"; do
        printf '#!/bin/sh\nif grep -q multiplot "$2" 2>/dev/null; then %s; fi\n' "$does" >"$scratch/bin/gnuplot"
        chmod +x "$scratch/bin/gnuplot"
        for chart in old.svg new.svg; do
            echo old >"$scratch/old.svg"
            PATH=$scratch/bin:$PATH run alone mpix_clock list --reads 100 --plot "$scratch/$chart"
            expect_lost "$scratch/$chart"
            [ "$(cat "$scratch/old.svg")" = old ] && [ ! -e "$scratch/new.svg" ] || complain "leaves a chart"
        done
    done
}
quick tap_check "gnuplot fails, is killed, draws nothing" check_gnuplot

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
