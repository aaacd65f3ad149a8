#!/usr/bin/env bash
# The library without the counter of the processor (configure --disable-tsc), as on a processor that has none: the unit
# tests and the MPI tests, and no instruction that reads the counter. Builds in analysis/no_counter, below the current
# directory.
#
# Environment: as for scratch.sh, and
#   ANALYSIS_RANKS   rank counts of the MPI tests (default 2)
. "$(dirname "$0")/scratch.sh"

build_tests "$PWD/analysis/no_counter" --disable-tsc
run_tests "${ANALYSIS_RANKS:-2}"

# What is installed of libraries and programs
mapfile -t files < <(find lib bin -path '*/.libs/*' -type f \( -name '*.so*' -o -name 'mpix_*' -perm -100 \))
find_readings() {
    [ ${#files[@]} -gt 0 ] || echo "nothing is built"
    objdump -d "${files[@]}" | grep -E 'file format|\srdtscp?\b|cntvct_el0' | grep -B 1 -v 'file format'
}
tap_check_if "command -v objdump" "objdump is missing (Debian package: binutils)" "no instruction reads the counter" \
    find_readings
tap_done
