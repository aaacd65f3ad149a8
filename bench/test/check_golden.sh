#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# What mpix_compare, mpix_report and others print: transcripts in golden/.
. "$(dirname "$0")/../../common/test/golden.sh"

# With a second MPI library, not those that run no MPI.
[ "${MPIX_TEST_BRIEF-}" = yes ] || quick golden mpix_compare mpix_report
tap_done
