#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# mpix_clock record on two and three hosts whose clocks drift, are slewed and set by known amounts, while one is
# stopped: timestamps of another program, converted by the records, against the truth.
#
# Usage, in the build directory: run_record_tests.sh                    the tests
#                                run_record_tests.sh HOSTS SECONDS PPB  one measurement
# Environment: MPIEXEC, CC, MPIX_TEST_BRIEF=yes to skip
#
# Functions are called by tap_check only, by name:
# shellcheck disable=SC2317
set -u

source_dir=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$source_dir/../../.." && pwd) tests=$top/test
. "$tests/tap.sh"
python=${PYTHON:-python3}
export MH_MPIEXEC=${MPIEXEC:-mpiexec} PYTHONPATH=$top/bindings/python PYTHONDONTWRITEBYTECODE=1
export MPIX_HARMONIZE_CLOCK=monotonic_raw MH_SKEW_BEGAN_NS MH_SKEW_PPB

# HOSTS SECONDS PPB: prints the table of check_truth.py.
record_hosts() {
    local hosts
    rm -f "$scratch"/records "$scratch"/stamps.*
    MH_SKEW_BEGAN_NS=$("$scratch/stamp") MH_SKEW_PPB=$3
    timeout $(($2 + 60)) "$tests/hosts/with_hosts.sh" "$1" "$tests/hosts/mpiexec_hosts.sh" -n "$1" \
        env LD_PRELOAD="$scratch/skewed.so" "$PWD/bin/mpix_clock" record -o "$scratch/records" --interval-s 2 -- \
        "$scratch/stamp" "$scratch/stamps" "$2" >"$scratch/log" 2>&1 </dev/null || cat "$scratch/log"
    mapfile -t hosts < <(seq -f host%g "$1")
    "$python" "$source_dir/check_truth.py" "$scratch/records" "$scratch/stamps" "${hosts[@]}" 2>&1
}

check_hosts() {
    local output
    output=$(record_hosts "$@") || printf '%s\n' "$output"
}

[ "${MPIX_TEST_BRIEF-}" != yes ] || skip_all "MPIX_TEST_BRIEF=yes"
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
for part in "-shared -fPIC -o skewed.so" "-DSTAMP -o stamp"; do
    # shellcheck disable=SC2086
    (cd "$scratch" && ${CC:-gcc} -O2 $part "$source_dir/skewed_clocks.c" -lm) >"$scratch/log" 2>&1 ||
        skip_all "clocks cannot be compiled: $(tail -n 1 "$scratch/log")"
done
command -v "$python" >/dev/null || skip_all "it takes python3"
if [ $# -gt 0 ]; then
    record_hosts "$@"
    exit
fi
problem=$(hosts_problem "$tests/hosts/with_hosts.sh")
[ -z "$problem" ] || skip_all "$problem"
tap_check "two hosts, 20 ppm" check_hosts 2 12 20000
tap_check "three hosts, 20 and 50 ppm" check_hosts 3 12 20000
tap_done
