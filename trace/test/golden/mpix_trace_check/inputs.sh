# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# A trace whose violations are known by each clock: check_trace_check.c.
#
# Variables are those of test/programs/run.sh:
# shellcheck disable=SC2154
"$checks/check_trace_check" known
