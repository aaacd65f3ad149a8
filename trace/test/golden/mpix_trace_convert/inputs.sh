# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Traces of known programs, of which one met each second, others seldom, once or never: check_trace_convert.c.
#
# Variables are those of test/programs/run.sh:
# shellcheck disable=SC2154
while read -r name period_ns; do
    "$checks/check_trace_convert" "$name" "$period_ns"
done <<'END'
known 1e9
rare 3e9
once -1
never -2
early -3
END
