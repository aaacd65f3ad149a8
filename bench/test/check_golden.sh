#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# What mpix_compare, mpix_report and others print: transcripts in golden/.
. "$(dirname "$0")/../../common/test/golden.sh"

quick golden mpix_compare
tap_done
