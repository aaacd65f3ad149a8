#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# ./quickstart and ./quickstart check in minimal systems of each release of Debian that people use, with each MPI
# library. Prints a table for doc/testing.md. Exits with 1 if something fails.
#
# Usage: check_systems.sh [full]   full: all tests, by ./quickstart check --all
#
# Environment: SYSTEMS  what to try (default: bookworm/mpich bookworm/openmpi trixie/mpich trixie/openmpi sid/mpich
#                       sid/openmpi sid/abi); and that of run_fresh_tests.sh
set -u

source_dir=$(cd "$(dirname "$0")" && pwd)
case ${1-} in
'') ;;
full) export MPIX_TEST_FRESH_ALL=yes ;;
*) echo "usage: check_systems.sh [full]" >&2; exit 2 ;;
esac
rows=() status=0
for system in ${SYSTEMS:-bookworm/mpich bookworm/openmpi trixie/mpich trixie/openmpi sid/mpich sid/openmpi sid/abi}; do
    echo "# $system"
    before=${#rows[@]}
    while IFS= read -r line; do
        case $line in
        '# | '*) rows+=("${line#\# }") ;;
        'not ok'* | '1..0'*) status=1 ;;
        esac
        printf '%s\n' "$line"
    done < <(MPIX_TEST_FRESH_SUITE=${system%/*} MPIX_TEST_FRESH_MPI=${system#*/} \
        bash "$source_dir/run_fresh_tests.sh" system)
    [ ${#rows[@]} -gt "$before" ] || status=1
done
echo
echo "| Debian | MPI library | gcc | ./quickstart (s) | passed | failed | skipped | ./quickstart check (s) |"
echo "|---|---|---|---:|---:|---:|---:|---:|"
printf '%s\n' "${rows[@]}"
exit $status
