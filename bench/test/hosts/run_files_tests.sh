#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# mpix_clock_convert on files of programs that others wrote: strace, node, LTTng, perf and tcpdump watch two hosts, of
# which the clocks of the second one drift, while these talk to each other over UDP. No answer is before its question,
# and delays are right.
#
# What the kernel takes, for perf and tcpdump, has one clock on all hosts that are namespaces of a machine. So these
# files of the second host get its clock afterwards, and what they were before is the truth.
#
# Usage, in the build directory: run_files_tests.sh                    the tests; without some of the programs, fewer
#                                run_files_tests.sh delays TIMES FILE  one-way delays of captured packets, as CSV
# Environment: MPIEXEC, CC, MPIX_TEST_BRIEF=yes to skip
#
# Functions are called by tap_check only, by name:
# shellcheck disable=SC2317
set -u

source_dir=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$source_dir/../../.." && pwd) tests=$top/test
. "$tests/tap.sh"
python=${PYTHON:-python3}
export MH_MPIEXEC=${MPIEXEC:-mpiexec} PYTHONDONTWRITEBYTECODE=1
export MPIX_HARMONIZE_CLOCK=monotonic_raw MH_SKEW_BEGAN_NS MH_SKEW_PPB=20000 MH_SKEW_ONLY=drift MH_UTC_US=500

# ---- On the hosts

on() { "$tests/hosts/on_host.sh" "$@"; }   # HOST COMMAND...

# NAME TIMES WORD...: a question and its answer so many times; the words come before the programs, and %h in them is the
# host. One port after the other.
port=7000
talk() {
    local name=$1 times=$2 words server
    shift 2
    port=$((port + 1)) words="env LD_PRELOAD=$scratch/skewed.so $*"
    on host2 "${words//%h/host2} answer $port" >"$scratch/$name.host2.log" 2>&1 </dev/null &
    server=$!
    on host1 "${words//%h/host1} ask host2 $port $times" >"$scratch/$name.host1.log" 2>&1 </dev/null
    wait $server
}

talk_with_tcpdump() {
    local host
    for host in host1 host2; do
        # shellcheck disable=SC2016 # for the shell on the host
        on $host "sh -c 'echo \$\$ >$scratch/tcpdump.$host.pid
            exec tcpdump -Z root -i eth0 -U --immediate-mode --time-stamp-precision=nano -w $scratch/$host.pcap udp'" \
            >"$scratch/tcpdump.$host.log" 2>&1 </dev/null &
    done
    for host in host1 host2; do
        for _ in {1..600}; do
            ! grep -q "listening on" "$scratch/tcpdump.$host.log" || break
            sleep 0.1
        done
    done
    talk tcpdump "$1" "$python" "$source_dir/talk.py"
    sleep 0.2
    for host in host1 host2; do on $host kill -INT "$(<"$scratch/tcpdump.$host.pid")"; done
    skew packets "$scratch/host2.pcap" realtime
}

# WHAT FILE CLOCK: the file of the kernel's times gets the clock of host2; as it was, it is FILE.true.
skew() {
    mv "$2" "$2.true"
    "$python" "$source_dir/check_files.py" stamps "$1" "$2.true" >"$scratch/stamps"
    on host2 "$scratch/stamp --skew $3 <$scratch/stamps >$scratch/skewed"
    "$python" "$source_dir/check_files.py" restamp "$1" "$2.true" "$2" "$scratch/skewed"
}

# Daemons of LTTng have a folder of their own on each host, which ends with it.
talk_with_lttng() {
    local host
    for host in host1 host2; do
        on $host "mkdir -p /run/lttng && mount -t tmpfs tmpfs /run/lttng && export LTTNG_HOME=$scratch/lttng.$host &&
            mkdir -p \$LTTNG_HOME && lttng-sessiond --daemonize --no-kernel &&
            lttng create talk --output $scratch/lttng.$host/trace &&
            lttng enable-event --userspace lttng_ust_libc:malloc && lttng start"
    done >"$scratch/lttng.log" 2>&1 </dev/null
    talk lttng "$1" env LTTNG_HOME="$scratch/lttng.%h" \
        LD_PRELOAD="$scratch/skewed.so:liblttng-ust-libc-wrapper.so.1" "$python" "$source_dir/talk.py"
    for host in host1 host2; do
        on $host "LTTNG_HOME=$scratch/lttng.$host lttng destroy"
        babeltrace2 --clock-cycles "$scratch/lttng.$host/trace" >"$scratch/lttng.$host.txt"
    done >>"$scratch/lttng.log" 2>&1 </dev/null
}

has() { command -v "$1" >/dev/null; }
has_lttng() { has lttng-sessiond && has lttng && has babeltrace2 && ldconfig -p | grep -q liblttng-ust-libc-wrapper; }

talk_all() {
    local host
    ! has strace || talk strace 500 strace -f -ttt -e trace=sendto -o "$scratch/strace.%h.log" \
        "$python" "$source_dir/talk.py"
    ! has node || talk node 300 node --trace-event-categories node.console \
        --trace-event-file-pattern "$scratch/node.%h.log" "$source_dir/talk.js"
    ! has_lttng || talk_with_lttng 300
    if has perf; then
        talk perf 500 perf record -q -k CLOCK_MONOTONIC -e syscalls:sys_enter_sendto -o "$scratch/perf.%h.data" \
            "$python" "$source_dir/talk.py"
        for host in host1 host2; do
            perf script --ns -i "$scratch/perf.$host.data" >"$scratch/perf.$host.txt" 2>"$scratch/perf.$host.err"
        done
        skew lines "$scratch/perf.host2.txt" monotonic
    fi
    ! has tcpdump || talk_with_tcpdump 1000
    on host2 env LD_PRELOAD="$scratch/skewed.so" date +%s.%N >"$scratch/date.txt" </dev/null
}

# COMMAND...: while the clocks are recorded
with_recorder() {
    local recorder
    "$tests/hosts/mpiexec_hosts.sh" -n 2 "$scratch/skewed" "$PWD/bin/mpix_clock" record \
        -o "$scratch/records" --interval-s 1 -- \
        sh -c "while [ ! -e $scratch/done ]; do sleep 0.1; done" >"$scratch/record.log" 2>&1 </dev/null &
    recorder=$!
    for _ in {1..600}; do
        if grep -qs '"host2", "raw"' "$scratch/records" || ! kill -0 $recorder 2>/dev/null; then break; fi
        sleep 0.1
    done
    ! kill -0 $recorder 2>/dev/null || "$@"
    touch "$scratch/done"
    wait $recorder || cat "$scratch/record.log"
}

if [ "${1-}" = --inside ]; then
    scratch=$2
    with_recorder "${@:3}"
    exit
fi

# ---- Checks

convert() { "$PWD/bin/mpix_clock_convert" -c "$scratch/records" "$@" 2>>"$scratch/said" || cat "$scratch/said"; }

# The sum of the largest bounds that convert told
bounds_ns() {
    sed -n 's/.*largest bound \([0-9]*\)\.\([0-9]*\) us.*/\1\2/p' "$scratch/said" |
        awk '{ ns += $1 } END { print ns + 0 }'
}

# KIND BEFORE1 BEFORE2 AFTER1 [AFTER2]: prints what is wrong
check() { MH_BOUND_NS=$(bounds_ns) "$python" "$source_dir/check_files.py" "$@" 2>&1 | grep -v '^# '; }

check_text() {      # NAME END CHECK OPTION...
    local host
    : >"$scratch/said"
    for host in host1 host2; do
        convert "${@:4}" "$host=$scratch/$1.$host.$2" -o "$scratch/$1.$host.out"
    done
    check "$3" "$scratch/$1.host1.$2" "$scratch/$1.host2.$2" "$scratch/$1.host1.out" "$scratch/$1.host2.out"
}

check_chrome() {    # NAME END BEFORE BETWEEN BEHIND
    convert --clock monotonic --since-start "host1=$scratch/$1.host1.$2" "host2=$scratch/$1.host2.$2" \
        -o "$scratch/$1.json"
    check chrome "$scratch/$1.host1.$2" "$scratch/$1.host2.$2" "$scratch/$1.json" "${@:3}"
}

check_strace() { check_text strace log strace --clock realtime; }
check_lttng() { check_text lttng txt lttng --clock monotonic --unit ns --pattern '^\[([0-9]+)\]'; }
check_perf() { check_text perf txt perf --clock monotonic --kernel; }
check_node() { check_chrome node log "b/time::ask " "b/time::answer " "e/time::ask "; }
check_tcpdump() {
    local host
    : >"$scratch/said"
    for host in host1 host2; do
        convert --clock realtime "$host=$scratch/$host.pcap" -o "$scratch/$host.out.pcap"
    done
    check packets "$scratch/host1.pcap" "$scratch/host2.pcap" "$scratch/host1.out.pcap" "$scratch/host2.out.pcap"
}

# Clocks of this machine may be slewed meanwhile.
check_utc() {
    : >"$scratch/said"
    convert --clock realtime "host2=$scratch/date.txt" >"$scratch/date"
    {
        grep -q '1 times of host2, largest bound [0-9.]* us$' "$scratch/said" &&
            grep -q 'UTC is within [01][.][0-9]* ms of these times, says the kernel of host1' "$scratch/said"
    } || cat "$scratch/said"
}

. "$source_dir/skewed.sh"
problem=$(hosts_problem "$tests/hosts/with_hosts.sh")
[ -z "$problem" ] || skip_all "$problem"
MH_SKEW_BEGAN_NS=$("$scratch/stamp")
on_hosts() { timeout 600 "$tests/hosts/with_hosts.sh" 2 bash "$0" --inside "$scratch" "$@"; }
if [ "${1-}" = delays ]; then
    on_hosts talk_with_tcpdump "$2" && [ -z "$(check_tcpdump)" ]
    "$python" "$source_dir/check_files.py" delays "$scratch"/host[12].pcap "$scratch"/host[12].out.pcap >"$3"
    exit
fi
tap_check "hosts talk while their clocks are recorded" on_hosts talk_all
tap_check_if "has strace" "there is no strace" "strace: questions come before answers" check_strace
tap_check_if "has node" "there is no node" "node: likewise, of its console's times" check_node
tap_check_if has_lttng "LTTng or babeltrace2 lacks" "LTTng: likewise, of allocated memory" check_lttng
tap_check_if "has perf" "there is no perf" "perf: delays are right" check_perf
tap_check_if "has tcpdump" "there is no tcpdump" "tcpdump: delays are right, and none is negative" check_tcpdump
tap_check "UTC is as far as the kernel of a host says" check_utc
tap_done
