#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# mpix_trace_report: who waits for whom, and why, in random traces: a second computation by brute force finds the same,
# to the nanosecond. MH_SEED is the number of the first trace, MH_ROUNDS makes them as many times as many.
. "$(dirname "$0")/../../test/programs/run.sh"
[ "${MPIX_TEST_BRIEF-}" != yes ] || skip_all "MPIX_TEST_BRIEF=yes"
need_tool mpix_trace_report
need_tool mpix_trace_convert

check_traces() {    # COUNT
    local count
    count=$(awk -v count="$1" -v rounds="${MH_ROUNDS:-1}" 'BEGIN { printf "%d", count * rounds + 0.99 }')
    mkdir "$scratch/traces"
    "$checks/check_waits" "$scratch/traces" "${MH_SEED:-1}" "$count" || complain "there are no traces"
    PYTHONDONTWRITEBYTECODE=1 "$python" "$here/check_waits.py" "$programs" "$scratch"/traces/* 2>&1
    set -- "$scratch"/traces/*
    [ $# -eq "$count" ] || complain "there are $# traces, not $count"
}

count=100
[ "${MPIX_TEST_QUICK-}" != yes ] || count=15
quick tap_check_if "$python -c pass" "there is no Python 3" \
    "mpix_trace_report: causes of waits by a second computation" check_traces $count
tap_done
