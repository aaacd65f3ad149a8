#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# mpix_trace_check: by how much times are wrong in a trace of which this is known, that the trace it writes is right by
# all clocks, and what it counts in a trace of a program that ran. check_golden.sh has what it prints.
. "$(dirname "$0")/../../test/programs/run.sh"
. "$top/common/test/columns.sh"
clocks="local start linear global corrected"
need_tool mpix_trace_check
known=$scratch/known
"$checks/check_trace_check" "$known" || { echo "Bail out! there is no trace"; exit 1; }

check() {           # FOLDER OPTION...: all is well, and nothing is said of it
    succeeds run alone mpix_trace_check "$@"
    [ ! -s "$scratch/err" ] || complain "says something"
}

# COLUMN...: of the last run, of each row; what it is of comes first.
figures() {
    columns clock scope operation from to "$@" | awk -F, '{
        line = $1
        for (i = 2; i <= NF; i++) if (i > 5 || $i != "") line = line " " $i
        print line }'
}

# ---- A known trace: check_trace_check.c says by how much its clocks are wrong.

# CLOCK MEDIAN MAX, in nanoseconds: of all relations, but for the errors of the clock.
expect_late() {
    figures violation_median_ns violation_max_ns | awk -v clock="$1" -v median="$2" -v most="$3" '
        $1 == clock && $2 == "all" { n++; if (($3 - median)^2 > 500^2 || ($4 - most)^2 > 500^2) print }
        END { if (n != 1) print n + 0 " rows of all" }' >"$scratch/differences"
    [ ! -s "$scratch/differences" ] || complain "clock $1: not $2 and $3 ns: $(cat "$scratch/differences")"
}

# What the clock is off by, less the 3 us of a message.
check_lateness() {
    check "$known" --format csv
    expect_late local 17000 27000
    expect_late start 17000 27000
    expect_late linear 37000 37000
}

check_columns() {
    local format
    for format in $formats; do check "$known" --format "$format" --output "$scratch/check.$format"; done
    columns_page >"$scratch/columns.md"
    PYTHONDONTWRITEBYTECODE=1 "$python" "$top/common/test/check_results.py" "$scratch/columns.md" \
        "$scratch"/check.[cj]s* 2>&1
}

# OPTION...: these change what is written, which then is right by all clocks.
expect_written() {
    rm -rf "$scratch/written"
    check "$known" --corrected "$scratch/written" "$@"
    check "$scratch/written" --format csv "$@"
    for clock in $clocks; do echo "$clock all 105 0"; done >"$scratch/wanted"
    figures relations violations | grep ' all ' | diff "$scratch/wanted" - >"$scratch/differences" ||
        complain "not the rows (<: wanted): $(cat "$scratch/differences")"
}

# Each event has the bound that it had, and what it was moved by.
expect_bounds() {
    run alone mpix_trace_convert --format csv "$known" -o "$scratch/known.csv"
    succeeds run alone mpix_trace_convert --format csv "$scratch/written" -o "$scratch/written.csv"
    [ ! -s "$scratch/err" ] || complain "says something of the trace that was written"
    paste -d, "$scratch/known.csv" "$scratch/written.csv" | awk -F, '
        /^#/ || /^rank/ { next }
        { moved = $(NF / 2 + 6) - $6; wanted = $7 + moved; error = $(NF / 2 + 7) - wanted; n++ }
        error^2 > 2^2 { if (wrong++ < 3) print $1 ": " $3 " " $4 " at " $6 ": bound " $(NF / 2 + 7) ", not " wanted }
        moved > 0 { far++ }
        END { if (n < 300 || far < 50) print n " events, " far " of them moved" }' >"$scratch/problems"
    [ ! -s "$scratch/problems" ] || complain "bounds: $(cat "$scratch/problems")"
}

check_write() {
    cp -r "$known" "$scratch/before"
    expect_written
    expect_written --latency-ns 5000
    expect_bounds
    diff -r "$scratch/before" "$known" || complain "the trace is not as it was"
}

# ---- A program that runs

# Of its two processes: 40 messages have a relation each, and 40 allreduces two; MPI_Init and MPI_Finalize have none.
check_real() {
    succeeds run 2 mpix_trace -o "$scratch/real" "$checks/check_late"
    succeeds run alone mpix_trace_check "$scratch/real" --format csv
    [ "$(figures relations | grep -E '^(local|global|corrected) all')" = \
        "local all 120
global all 120
corrected all 120" ] || complain "not 120 relations"
    [ "$(figures beyond_bound | grep '^global all')" = "global all 0" ] || complain "beyond the bounds of the clock"
    [ "$(figures violations | grep '^corrected all')" = "corrected all 0" ] || complain "violations remain"
}

# ---- Tests

quick tap_check "mpix_trace_check: by how much" check_lateness
quick tap_check "mpix_trace_check: a corrected trace" check_write
quick tap_check_if "$python -c pass" "there is no Python 3" "mpix_trace_check: columns" check_columns
has_mpix_trace() { [ -x "${BUILDDIR:-.}/bin/mpix_trace" ]; }
tap_check_if has_mpix_trace "mpix_trace was not built" \
    "mpix_trace_check: a program that ran" check_real
tap_done
