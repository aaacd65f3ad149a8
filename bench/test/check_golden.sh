#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# What the tools print that measure, compare and choose: transcripts in golden/.
. "$(dirname "$0")/../../common/test/golden.sh"

# With a second MPI library, not those that run no MPI.
[ "${MPIX_TEST_BRIEF-}" = yes ] || quick golden mpix_clock_convert mpix_compare mpix_report mpix_campaign
quick golden mpix_osu mpix_skew mpix_clock mpix_tune
golden mpix_bench
tap_done
