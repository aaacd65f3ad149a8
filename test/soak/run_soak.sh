#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Random mixes of calls for a while, with every invariant checked (soak.c): once with clocks that are one but for their
# steps, once with clocks that drift apart. Prints the tables.
#
# Usage, in the build directory: run_soak.sh.
#
# Environment:
#   MPIEXEC, MPIEXEC_FLAGS   launcher and its flags
#   SOAK_SECONDS             how long altogether (default 20; make soak: 1200)
#   SOAK_RANKS               number of processes (default 2)
#   SOAK_SEED                of the first run (default 1, another each time by "date"); that of the second is one more
#   MPIX_TEST_BRIEF          yes: skip
#   MPIX_TEST_QUICK          yes: skip
set -u

source_dir=$(cd "$(dirname "$0")" && pwd)
. "$source_dir/../tap.sh"
program=./test/soak/soak
launcher=${MPIEXEC:-mpiexec}
ranks=${SOAK_RANKS:-2}
seed=${SOAK_SEED:-1}
seconds=$((${SOAK_SECONDS:-20} / 2))

for tier in BRIEF QUICK; do
    variable=MPIX_TEST_$tier
    [ "${!variable-}" != yes ] || skip_all "$variable=yes"
done
[ -x "$program" ] || { echo "Bail out! $program is missing in $PWD"; exit 1; }
case $(basename "$launcher") in
smpirun) skip_all "the soak needs processes that share memory" ;;
esac

soak() {            # NAME SEED
    tap_selects "$1" || return 0
    local output=$(mktemp) status
    tap_again="$launcher ${MPIEXEC_FLAGS-} -n $ranks $program $seconds $2"
    # A run that hangs is ended by the process id of its launcher.
    # shellcheck disable=SC2086
    timeout -k 10 $((seconds + 45)) "$launcher" ${MPIEXEC_FLAGS-} -n "$ranks" "$program" "$seconds" "$2" \
        </dev/null >"$output" 2>&1
    status=$?
    sed 's/^/# /' "$output"
    if [ $status -eq 0 ]; then
        tap_ok "$1"
    else
        tap_not_ok "$1" "exit status $status"
        # Whoever sees the last lines only has the reason, too.
        grep -m 5 '^soak: ' "$output" | sed 's/^/#   /'
        awk -F'|' 'NF == 6 && $4 + 0 > 0 { print "#  " $2 "violated" $4 "times of" $3 "worst" $5 }' "$output"
    fi
    rm -f "$output"
}

soak "soak, clocks that are one" $((seed + seed % 2))
soak "soak, clocks that drift apart" $((seed + 1 - seed % 2))
tap_done
