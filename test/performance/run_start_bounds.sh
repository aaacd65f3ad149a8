#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# How narrow the bound of the global clock becomes in programs that start on a busy machine: two processes, beside a
# busy loop for each processor, pinned to cores and not. Prints a table in Markdown.
#
# Usage, in the build directory: run_start_bounds.sh [STARTS]. Environment: MPIEXEC, MPIEXEC_FLAGS, AWK.
. "$(dirname "$0")/launches.sh"

starts=${1:-12}
busy=()
trap 'kill "${busy[@]}" 2>/dev/null; rm -rf "$scratch"' EXIT
for ((i = 0; i < $(nproc); i++)); do
    while :; do :; done &
    busy+=($!)
done

column() { $awk -v k="$1" '{ print $k }' "$scratch/rows"; }

echo "| $starts starts | first call: median (ns) | largest | after 1 s | largest | after MPIX_Clock_sync | largest |"
echo "|---|---:|---:|---:|---:|---:|---:|"
for how in core none; do
    pin=(--bind-to $how)
    for ((i = 0; i < starts; i++)); do launch ./test/performance/start_bounds || exit 1; done >"$scratch/rows"
    [ $how = core ] && printf '| pinned |' || printf '| not pinned |'
    for k in 1 2 3; do printf ' %d | %d |' "$(column $k | median)" "$(column $k | sort -n | tail -n 1)"; done
    echo
done
