#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# mpix_clock record on two and three hosts whose clocks drift, are slewed and set by known amounts, while one is
# stopped; a host that is suspended; a recorder that dies, or is started again with one host more: timestamps of another
# program, converted by the records, against the truth.
#
# Usage, in the build directory: run_record_tests.sh                    the tests
#                                run_record_tests.sh HOSTS SECONDS PPB  one measurement, MH_STOP_S=S, MH_SLEEP_S=S and
#                                                                       MH_SKEW_ONLY=drift as in skewed_clocks.c
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
export MPIX_HARMONIZE_CLOCK=monotonic_raw MH_SKEW_BEGAN_NS MH_SKEW_PPB=20000 MH_SLEEP_FILE

# ---- On the hosts

# HOSTS: timestamps of these, until end_stamps, by processes in $stamps
stamp() {
    local i
    stamps=()
    for ((i = 1; i <= $1; i++)); do
        "$tests/hosts/on_host.sh" "host$i" env LD_PRELOAD="$scratch/skewed.so" "$scratch/stamp" "$scratch/stamps" 60 \
            </dev/null &
        stamps+=($!)
    done
}

end_stamps() {
    touch "$scratch/stamps.end"
    wait "${stamps[@]}"
}

# HOSTS FILE [OPTION]...
record() {
    "$tests/hosts/mpiexec_hosts.sh" -n "$1" "$scratch/skewed" "$PWD/bin/mpix_clock" record \
        -o "$scratch/$2" --interval-s 1 "${@:3}" </dev/null
}

restart() {
    local status=0
    stamp 3
    record 2 records --duration-s 2 && record 3 records2 --duration-s 2 || status=1
    end_stamps
    return $status
}

# The other one ends or waits, as its MPI library does, until the hosts end.
die() {
    local count
    stamp 2
    record 2 records &
    for _ in {1..300}; do
        count=$(grep -cs '"host2", "raw"' "$scratch/records")
        [ "${count:-0}" -lt 5 ] || break
        sleep 0.1
    done
    # shellcheck disable=SC2016 # for the shell on the host
    "$tests/hosts/on_host.sh" host2 'for process in /proc/[0-9]*; do
        [ "$(cat $process/comm)" != mpix_clock ] || kill -KILL ${process#/proc/}; done'
    sleep 2.5
    end_stamps
}

if [ "${1-}" = --inside ]; then
    scratch=$2
    "$3"
    exit
fi

# ---- Checks

# HOSTS WHAT: likewise, of timestamps that are taken beside recorders
watch_hosts() {
    local hosts records=$scratch/records
    rm -f "$scratch"/records* "$scratch"/stamps.* "$scratch/asleep"
    MH_SKEW_BEGAN_NS=$("$scratch/stamp")
    timeout $tap_limit_s "$tests/hosts/with_hosts.sh" "$1" bash "$0" --inside "$scratch" "$2" >"$scratch/log" 2>&1 || {
        cat "$scratch/log"
        return 1
    }
    mapfile -t hosts < <(seq -f host%g "$1")
    [ ! -e "$scratch/records2" ] || records+=,$scratch/records2
    "$python" "$source_dir/check_truth.py" "$records" "$scratch/stamps" "${hosts[@]}" 2>&1
}

# HOSTS SECONDS PPB: prints the table of check_truth.py.
record_hosts() {
    local hosts
    rm -f "$scratch"/records* "$scratch"/stamps.* "$scratch/asleep"
    MH_SKEW_BEGAN_NS=$("$scratch/stamp") MH_SKEW_PPB=$3
    : >"$scratch/asleep"
    timeout $(($2 + tap_limit_s)) "$tests/hosts/with_hosts.sh" "$1" "$tests/hosts/mpiexec_hosts.sh" -n "$1" \
        "$scratch/skewed" "$PWD/bin/mpix_clock" record -o "$scratch/records" --interval-s 2 -- \
        "$scratch/stamp" "$scratch/stamps" "$2" >"$scratch/log" 2>&1 </dev/null || cat "$scratch/log"
    mapfile -t hosts < <(seq -f host%g "$1")
    "$python" "$source_dir/check_truth.py" "$scratch/records" "$scratch/stamps" "${hosts[@]}" 2>&1
}

# COMMAND...: what it prints, if it fails
unless_good() {
    local output
    output=$("$@") || printf '%s\n' "$output"
}
check_hosts() { MH_STOP_S=0.5 unless_good record_hosts "$@"; }
check_suspended() { MH_SLEEP_S=2 MH_SKEW_ONLY=drift unless_good record_hosts "$@"; }
# Before the first look and after the last one, no clock may be set.
check_watched() { MH_SKEW_ONLY=slews unless_good watch_hosts "$@"; }

# What was recorded of host2 ends well before its timestamps do. Where a process is killed, MPICH's proxy may fail by an
# assertion of its own: then again.
check_dead() {
    local complaint recorded stamped
    for _ in 1 2 3; do
        complaint=$(check_watched 2 die)
        grep -q 'pmip_cb.c:.*assert' "$scratch/log" || break
    done
    printf '%s' "$complaint"
    recorded=$(sed -n 's/.*"host2", "raw": \[\([0-9]*\),.*/\1/p' "$scratch/records" | tail -n 1)
    stamped=$(sed -n 's/^monotonic_raw,\([0-9]*\),.*/\1/p' "$scratch/stamps.host2" | tail -n 1)
    [ $((stamped - recorded)) -gt 2000000000 ] ||
        echo "the recorder of host2 did not die: the last record is of $recorded, the last timestamp of $stamped"
}

. "$source_dir/skewed.sh"
MH_SLEEP_FILE=$scratch/asleep
if [ $# -gt 0 ]; then
    record_hosts "$@"
    exit
fi
problem=$(hosts_problem "$tests/hosts/with_hosts.sh")
[ -z "$problem" ] || skip_all "$problem"
tap_check "three hosts, 20 and 50 ppm" check_hosts 3 8 20000
tap_check "a host is suspended for 3 s" check_suspended 2 7 20000
tap_check "a recorder dies" check_dead
tap_check "a recorder is started again, with one host more" check_watched 3 restart
tap_done
