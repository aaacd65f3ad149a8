#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# mpix_trace_check: what it counts in a trace whose violations are known by each clock, that the trace it writes has
# none, what is said of bad traces and options; and in a trace of a program that ran.
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

expect_rows() {     # stdin: what `figures relations violations` prints
    cat >"$scratch/wanted"
    figures relations violations >"$scratch/found"
    diff "$scratch/wanted" "$scratch/found" >"$scratch/differences" ||
        complain "not the rows (<: wanted): $(cat "$scratch/differences")"
}

# ---- A known trace: check_trace_check.c says by how much its clocks are wrong.

# 10 messages each way, 5 barriers and 5 broadcasts are too early where the clock is off; and none without an error.
check_counts() {
    check "$known" --format csv
    expect_rows <<END
local all 105 55
local operation message 60 30
local operation MPI_Barrier 30 15
local operation MPI_Bcast 15 10
local pair 0 1 60 40
local pair 1 0 45 15
start all 105 35
start operation message 60 20
start operation MPI_Barrier 30 10
start operation MPI_Bcast 15 5
start pair 0 1 60 20
start pair 1 0 45 15
linear all 105 15
linear operation message 60 10
linear operation MPI_Barrier 30 5
linear operation MPI_Bcast 15 0
linear pair 1 0 45 15
global all 105 0
global operation message 60 0
global operation MPI_Barrier 30 0
global operation MPI_Bcast 15 0
corrected all 105 0
corrected operation message 60 0
corrected operation MPI_Barrier 30 0
corrected operation MPI_Bcast 15 0
END
}

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

# Messages of 3 us that should take 5 us at least: by the global clock all are too early, by more than its bounds.
check_latency() {
    check "$known" --latency-ns 5000 --format csv
    expect_late global 2000 2000
    [ "$(figures violations beyond_bound | grep '^global all')" = "global all 105 105" ] ||
        complain "not all are beyond the bounds by the clock global"
    [ "$(figures violations | grep '^corrected all')" = "corrected all 0" ] || complain "violations remain"
    figures moved moved_median_ns moved_max_ns |
        awk '$1 == "corrected" && $2 == "all" { good = $3 > 0 && $4 > 0 && $5 >= $4 } END { exit !good }' ||
        complain "nothing was moved"
    check "$known" --latency-ns 2500 --format csv
    [ "$(figures violations beyond_bound moved | grep -E '^(global|corrected) all')" = \
        "global all 0 0 
corrected all 0  0" ] || complain "2.5 us are too much for messages of 3 us"
}

check_formats() {
    check "$known"
    check_table 13 25
    [ "$(head -n 1 "$scratch/out")" = \
        "# By the global clock, none of 105 events comes before what it had to wait for." ] ||
        complain "begins with: $(head -n 1 "$scratch/out")"
    check "$known" --latency-ns 5000
    grep -q '^# By the global clock, 105 of 105 events come before .*, 105 of them by more than its bounds\.$' \
        "$scratch/out" || complain "begins with: $(head -n 1 "$scratch/out")"
    check "$known" --format csv --output "$scratch/check.csv"
    [ ! -s "$scratch/out" ] || complain "with --output, something is on stdout"
    [ "$formats" != csv ] || return
    check "$known" --format json --output "$scratch/check.json"
    [ "$(grep -c '"clock":' "$scratch/check.json")" -eq 25 ] || complain "not 25 rows of JSON"
    grep -q '"clock":"local","scope":"pair","operation":null,"from":0,"to":1,"relations":60,"violations":40,' \
        "$scratch/check.json" || complain "JSON lacks a row: local clock, from 0 to 1"
}

check_columns() {
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

# ---- Refusals

check_bad_options() {
    refuses "give one folder" run alone mpix_trace_check
    expect_refusals alone mpix_trace_check "$known" <<END
give one folder|$known
--latency-ns -1
--latency-ns 1.5
--latency-ns 1000000001
--format html
--output $scratch/absent/rows.csv
--corrected $known/../known
END
    run alone mpix_trace_check "$known" --corrected "$scratch/absent/folder"
    expect_status 1
    own_messages | grep -qF "$scratch/absent/folder" || complain "does not name the folder that cannot be made"
}

# What was written before a program was killed is read. test_trace.c has what is refused.
check_bad_traces() {
    refuses "$scratch/absent" run alone mpix_trace_check "$scratch/absent"
    cp -r "$known" "$scratch/torn"
    truncate -s -100 "$scratch/torn/rank-1.mpixtrace"
    succeeds run alone mpix_trace_check "$scratch/torn" --format csv
    own_messages | grep -qE 'rank 1: the file ends within a block' || complain "does not say what is torn"
    own_messages | grep -qF 'not checked: 30 sends and 30 receives alone, 30 calls' ||
        complain "does not say what is not checked"
    for clock in $clocks; do echo "$clock all 0 0"; done | expect_rows
    rm "$scratch/torn/rank-1.mpixtrace"
    refuses "$scratch/torn/rank-1.mpixtrace" run alone mpix_trace_check "$scratch/torn"
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

quick tap_check "mpix_trace_check: bad options" check_bad_options
quick tap_check "mpix_trace_check: bad traces" check_bad_traces
quick tap_check "mpix_trace_check: violations of a known trace by each clock" check_counts
quick tap_check "mpix_trace_check: by how much" check_lateness
quick tap_check "mpix_trace_check: the least latency, bounds, what was moved" check_latency
quick tap_check "mpix_trace_check: formats" check_formats
quick tap_check "mpix_trace_check: a corrected trace" check_write
quick tap_check_if "$python -c pass" "there is no Python 3" "mpix_trace_check: columns" check_columns
has_mpix_trace() { [ -x "${BUILDDIR:-.}/bin/mpix_trace" ]; }
tap_check_if has_mpix_trace "mpix_trace was not built" \
    "mpix_trace_check: a program that ran" check_real
tap_done
