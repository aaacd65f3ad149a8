#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# How narrow the bound of the global clock becomes in programs that start on a busy machine: two processes, beside a
# busy loop for each processor, pinned to cores and not. Prints a table in Markdown.
#
# Usage, in the build directory: run_start_bounds.sh [STARTS]. Environment: MPIEXEC, MPIEXEC_FLAGS, AWK.
set -u
export LC_ALL=C

starts=${1:-12}
. "$(dirname "$0")/median.sh"
launcher=${MPIEXEC:-mpiexec}
pin=-bind-to
"$launcher" --version 2>&1 | grep -q "Open MPI" && pin=--bind-to
scratch=$(mktemp) || exit 1
busy=()
end() { kill "${busy[@]}" 2>/dev/null; rm -f "$scratch"; }
trap end EXIT
trap 'exit 1' HUP INT TERM
for ((i = 0; i < $(nproc); i++)); do
    while :; do :; done &
    busy+=($!)
done

column() { "${AWK:-awk}" -v k="$1" '{ print $k }' "$scratch"; }

echo "| $starts starts | first call: median (ns) | largest | after 1 s | largest | after MPIX_Clock_sync | largest |"
echo "|---|---:|---:|---:|---:|---:|---:|"
for how in core none; do
    : >"$scratch"
    for ((i = 0; i < starts; i++)); do
        # The flags are a list of words.
        # shellcheck disable=SC2086
        "$launcher" ${MPIEXEC_FLAGS-} $pin $how -n 2 ./test/performance/start_bounds </dev/null >>"$scratch" || exit 1
    done
    [ $how = core ] && printf '| pinned |' || printf '| not pinned |'
    for k in 1 2 3; do printf ' %d | %d |' "$(column $k | median)" "$(column $k | sort -n | tail -n 1)"; done
    echo
done
