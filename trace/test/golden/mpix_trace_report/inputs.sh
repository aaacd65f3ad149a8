# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Traces of which is known when processes come to calls: check_trace_report.c.
#
# Variables are those of test/programs/run.sh:
# shellcheck disable=SC2154
"$checks/check_trace_report" four 4 40
"$checks/check_trace_report" two 2 30
"$checks/check_trace_report" limited 2 30 "limit_ns 5000000"
"$checks/check_trace_report" chosen 2 30 "ranks $(seq -s , 1000 2 1100)"
"$checks/check_trace_report" doubtful 2 30 "call_ps 1" 1000000
