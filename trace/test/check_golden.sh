#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# What the tools print that make and read traces: transcripts in golden/.
. "$(dirname "$0")/../../common/test/golden.sh"

# With a second MPI library, not those that run no MPI.
[ "${MPIX_TEST_BRIEF-}" = yes ] || quick golden mpix_trace_check mpix_trace_report mpix_trace_convert
# What sanitizers have built cannot be loaded into an ordinary program.
[ "${sanitizers:-no}" != no ] || quick golden mpix_preload mpix_trace
tap_done
