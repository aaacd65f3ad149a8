#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Synchronization by the library's own code at any size, in virtual time: see scale_model.c; scale_model help prints
# its options.
#
# Usage, in the build directory:
#   run_scale_model.sh                          the tests (some 20 seconds)
#   run_scale_model.sh table [NAME=VALUE]...    a table on stdout, with these options of scale_model
# Environment: MH_STUDY_RANKS (default "64 1024 16384 65536 1048576": some minutes, 1 GB).
# Skipped with MPIX_TEST_BRIEF=yes; with MPIX_TEST_QUICK=yes there is only one test.
set -u
export LC_ALL=C

. "$(dirname "$0")/../tap.sh"
program=./test/simulation/scale_model

[ "${MPIX_TEST_BRIEF-}" != yes ] || skip_all "MPIX_TEST_BRIEF=yes"
case $(basename "${MPIEXEC:-mpiexec}") in
smpirun) skip_all "a program for the simulator does not run by itself" ;;
esac
case ${sanitizers-} in
*thread*) skip_all "the thread sanitizer has no room for so many stacks" ;;
esac
[ -x "$program" ] || { echo "Bail out! $program is missing in $PWD"; exit 1; }

value_of() {        # NAME LINE
    tr ' ' '\n' <<<"$2" | sed -n "s/^$1=//p"
}

table() {           # [NAME=VALUE]...
    local processes line
    printf '%9s %9s %9s %10s %9s %5s %8s %8s %8s %9s %9s %5s %7s %7s %8s\n' processes 'first(ms)' 'later(ms)' messages \
        later syncs 'rms(ns)' 'p50(ns)' 'p99(ns)' 'max(ns)' 'bound(ns)' wrong 'wall(s)' 'cpu(s)' 'kB each'
    for processes in ${MH_STUDY_RANKS:-64 1024 16384 65536 1048576}; do
        line=$("$program" processes="$processes" "$@")
        [ -n "$line" ] || return
        tr ' ' '\n' <<<"$line" | "${AWK:-awk}" -F= '
            { value[$1] = $2 }
            END {
                printf "%9d %9.2f %9.3f %10d %9d %5d %8.0f %8d %8d %9d %9d %5d %7.1f %7.1f %8.1f\n", value["processes"],
                    value["first_us"] / 1000, value["later_us"] / 1000, value["first_messages"],
                    value["later_messages"], value["syncs"], value["error_rms"], value["error_p50"],
                    value["error_p99"], value["error_max"], value["bound_mean"], value["violations"],
                    value["wall_s"], value["cpu_s"], value["bytes_per_process"] / 1000
            }'
    done
}

if [ "${1-}" = table ]; then
    shift
    table "$@"
    exit
fi

# Each scenario says what the world is, by options of scale_model, and what holds: limits of what the program prints. No
# reading is outside its bound or has none, no clock wanders by more than its limit, and the first synchronization takes
# as long as one more limit says, if there is one.
#   error_p99    99 of 100 readings are at most so far off
#   bound_part   from 10 s on, bounds are on average at most so many times half the least round trips along the path
#   later_us     so long synchronizations but the first take on average, and so many messages:
#   later_messages
complaints_of() {   # LINE NAME=MOST...
    local line=$1 limit value
    shift
    [[ " $* " == *" first_us="* ]] || set -- "$@" first_us=50000
    for limit in violations=0 unknown=0 wandered=0 "$@"; do
        value=$(value_of "${limit%=*}" "$line")
        at_most "$value" "${limit#*=}" || echo "${limit%=*} is ${value:-not there}, at most ${limit#*=} expected"
    done
}
at_most() {         # NUMBER LIMIT
    "${AWK:-awk}" -v a="$1" -v b="$2" 'BEGIN { exit !(a ~ /^[0-9]/ && a + 0 <= b + 0) }'
}

# A clock is found wrong if it was set only.
scenario() {        # FILE
    local name=${1##*/} world holds tier=full line jumps=0 complaints
    # shellcheck disable=SC1090
    . "$1"
    tap_tier=$tier
    tap_selects "$name" || return 0
    [[ " $world " != *" links=lost "* ]] || jumps=1
    # shellcheck disable=SC2086 # one word for each option, and for each limit
    line=$("$program" $world 2>&1)
    # shellcheck disable=SC2086
    complaints=$(complaints_of "$line" $holds)
    [ "$(value_of disruptions "$line")" = $jumps ] || complaints+=$'\n'"not $jumps disruptions"
    tap_expect_empty "$name" "${complaints:+$complaints$'\n'$line}"
}
for file in "$(dirname "$0")"/scenarios/3*; do
    scenario "$file"
done
tap_tier=full

options_are_refused() {
    local option said status
    for option in processes=65 links=short label=x nonsense=1 nonsense; do
        said=$("$program" $option 2>&1)
        status=$?
        [[ $status = 2 && $said == "scale_model: "* && $said != *$'\n'* ]] || echo "$option: status $status, '$said'"
    done
}
tap_check "options that are none are refused" options_are_refused

wild_clock_is_told() {
    local line
    line=$("$program" processes=256 links=wild seconds=12 2>&1)
    [ "$(value_of wandered "$line")" -gt 0 ] || echo "nothing says that a clock wandered by more than the limit: $line"
}
tap_check "a clock that wanders by more than the limit is told" wild_clock_is_told

same_seed() {
    local first second
    first=$("$program" processes=1024 seconds=2 2>&1 | sed 's/ wall_s=.*//')
    second=$("$program" processes=1024 seconds=2 2>&1 | sed 's/ wall_s=.*//')
    [ -n "$first" ] && [ "$first" = "$second" ] || printf '%s\n' "$first" "$second"
}
tap_check "one seed gives one result" same_seed

# The messages of the node's own level delay its first process, and nothing else: errors agree but for chance, which
# makes those of single seeds differ by a half, and rarely by far more. A later synchronization of all takes as much
# longer as the first process takes to serve the 15 others: one or two messages each.
median_of() {       # FIELD LINE...: over 15 seeds
    local field=$1 line
    shift
    for line; do
        value_of "$field" "$line"
    done | sort -n | sed -n 8p
}
runs_of() {         # ARRAY [NAME=VALUE]...
    local -n lines=$1
    local seed
    shift
    for ((seed = 1; seed <= 15; seed++)); do
        lines+=("$("$program" processes=1024 seconds=5 seed=$seed "$@")")
    done
}
leaders_stand_for_all() {
    local all=() first=() rms rms_first later later_first
    runs_of all simulate=all
    runs_of first
    rms=$(median_of error_rms "${all[@]}")
    rms_first=$(median_of error_rms "${first[@]}")
    later=$(median_of later_us "${all[@]}")
    later_first=$(median_of later_us "${first[@]}")
    "${AWK:-awk}" -v a="$rms" -v b="$rms_first" 'BEGIN { exit !(a > 0 && a < 1.3 * b && b < 1.3 * a) }' ||
        echo "an error of $rms ns rms over all processes, $rms_first ns over the first of each node"
    "${AWK:-awk}" -v a="$later" -v b="$later_first" 'BEGIN { exit !(b > 0 && a > b && a < b + 60) }' ||
        echo "a later synchronization of all processes takes $later us, of the first of each node $later_first us"
}
tap_check "the first of each node stands for the others" leaders_stand_for_all
tap_done
