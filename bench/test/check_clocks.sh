#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs the programs that measure clocks briefly, and checks what they print and how they exit. No claim about speed is
# tested here.
#
# Some launchers take a third of a second, and seconds when a program fails, so there is no case here that another one
# covers, and bad options are mostly tried without a launcher.
#
# Lists of columns are words:
# shellcheck disable=SC2086
. "$(dirname "$0")/../../test/programs/run.sh"
list_columns="clock read_ns slowest_rank step_ns stated_ns usable auto groups doubt_ns members"

# Figures in the order that their definitions give them, for each label and age, on 2 ranks. No violations.
check_clock_summary() {
    succeeds run 2 mpix_clock check --sync hca3/5,none,track --ages-s 0,0.05 --repeats 2 --format csv
    grep -q '^# resolution_ns: [1-9]' "$scratch/out" || complain "does not state the step of the clock"
    problems=$(columns sync age_ns syncs checks violations took_ns call_ns p50_ns p99_ns max_ns half_width_ns true_ns \
        bound_ns | awk -F, '
        function bad(what) { print what ": " $0 }
        /nan|inf|[?]/ { bad("no number") }
        { keys = keys $1 " " $2 " " $3 " " $4 " " $5 "\n"; median = $8; p99 = $9; max = $10; half = $11; bound = $13 }
        !($6 >= 0 && $7 > 0) { bad("durations") }
        !(0 <= median && median <= p99 && p99 == max && half > 0) { bad("order of errors") }
        (bound == "") != ($1 == "none") { bad("bound") }
        bound != "" && max > bound + half { bad("a violation that does not count") }
        END {
            n = split("hca3/5 none track", label, " ")
            for (i = 1; i <= n; i++)
                expected = expected label[i] " 0 1 2 0\n" label[i] " 50000000 1 2 0\n"
            if (keys != expected) print "sync, age, syncs, checks, violations: " keys
        }')
    [ -z "$problems" ] || complain "$problems"
}

# SECONDS: without synchronization, clocks that all ranks share differ by so much for each rank.
check_clock_ranks() {
    from=raw columns sync run rank age_ns error_ns half_width_ns true_ns true_half_width_ns bound_ns violations |
        awk -F, -v offset_ns="$1e9" '
        function bad(what) { print what ": " $0 }
        function differs(error, half, rank) {
            error -= offset_ns * rank
            return (error < 0 ? -error : error) > half + 0.1    # which is how figures are rounded
        }
        $1 != "none" || $2 != 1 + int((NR - 1) / 4) || $3 != 1 + (NR - 1) % 2 { bad("row") }
        $9 != "" || $10 != 0 { bad("bound") }
        $4 < (int((NR - 1) / 2) % 2) * 5e7 { bad("age") }
        differs($5, $6, $3) { bad("error by exchanges") }
        $7 != "" && differs($7, $8, $3) { bad("error by the shared clock") }
        END { if (NR != 8) print NR " rows, not 8" }'
}

check_clocks() {
    for case in mpix_clock:0 check_clock:1; do
        succeeds run 3 ${case%:*} check --sync none --ages-s 0,0.05 --repeats 2 --raw "$scratch/raw"
        expect_silence check_clock_ranks ${case#*:}
    done
}

check_clock_violations() {
    run 2 check_clock check --sync none,hca3o --ages-s 0,0.05
    expect_status 1
    expect_silence check_table 13 4
    rows=$(awk '!/^#/ { print $1, $6, $13 }' "$scratch/out" | uniq -c | tr -s ' \n' ' ')
    [ "$rows" = " 2 none 1 0 2 hca3o 1 1 " ] ||
        complain "not one violation of hca3o at each age"
    grep -qF 'the bound was violated in 2 of 4 checks' "$scratch/err" || complain "does not tell of the violations"
}

# A bound of less than a step is not violated by readings that are up to a step apart.
check_coarse_clock() {
    MPIX_TEST_STEP_NS=20000 succeeds run 2 check_clock check --sync hca3o --ages-s 0,0.05 --repeats 3 --format csv
    grep -q '^# resolution_ns: 20000$' "$scratch/out" || complain "the head has not the step of 20 us"
    [ "$(columns violations | sort -u)" = 0 ] || complain "violations that are steps of the clock"
    columns half_width_ns | awk '$1 < 20000 { print "a half width of less than a step: " $0 }' >"$scratch/problems"
    [ ! -s "$scratch/problems" ] || complain "$(cat "$scratch/problems")"
}

# A seed gives the same ranks, and as many as are asked for.
check_clock_sample() {
    for sample in "--pairs 1" "--sample 0.1" "--pairs 1 --truth none"; do
        succeeds run 3 mpix_clock check --sync none --ages-s 0 --format csv --raw "$scratch/raw" --seed 7 $sample
        [ "$(wc -l <"$scratch/raw")" -eq 2 ] || complain "not one row"
        own_seed=$(sed -n 's/.*seed: //p' "$scratch/err")
        [ "$own_seed" = 7 ] || complain "does not tell the seed"
        rank=$(from=raw columns sync run rank | sed -n 's/^none,1,\([12]\)$/\1/p')
        [ -n "$rank" ] || complain "no rank"
        [ "$rank" = "${first_rank:=$rank}" ] || complain "rank $rank, not $first_rank"
    done
    [ -z "$(from=raw columns true_ns)" ] || complain "a truth although there is none"
}

# Of a run that is ended early, what was measured before is there.
check_clock_interrupted() {
    command="mpix_clock check, ended after the first age"
    timeout $tap_limit_s "${MPIEXEC:-mpiexec}" ${MPIEXEC_FLAGS-} -n 2 "$programs/mpix_clock" check --sync none \
        --ages-s 0,600 --raw "$scratch/early" >"$scratch/out" 2>"$scratch/err" </dev/null &
    for _ in {1..300}; do
        ! grep -q '^ *none  *0\.00' "$scratch/out" || break
        sleep 0.1
    done
    kill -TERM $!
    wait $!
    status=$?
    grep -q '^none,1,1,' "$scratch/early" || complain "no check in the raw file"
}

check_clock_kept() {
    MPIX_HARMONIZE_RESYNC_INTERVAL_NS=1000000 succeeds run 2 mpix_clock check --sync hca3o --ages-s 0,1 --keep-ms 1
    grep -q '^# Clocks: kept by MPIX_Harmonize, called each 1 ms' "$scratch/out" || complain "does not tell of keeping"
    [ "$(awk '!/^#/ { print ($5 > 1) }' "$scratch/out" | tr '\n' ' ')" = "0 1 " ] ||
        complain "synchronizations: not 1 and then more"
}

# The counter of this kind of processor.
case $(uname -m) in
x86_64 | i?86) counter=tsc ;;
aarch64) counter=cntvct ;;
*) counter= ;;
esac
other_counter=tsc other_name="time stamp counter"
[ "$counter" != tsc ] || other_counter=cntvct other_name="generic timer"
listed_clocks="${counter:+$counter }monotonic_raw monotonic realtime wtime "

# RANKS: a row for each clock, with groups of which each rank is in one.
check_list_rows() {
    columns $list_columns | awk -F, -v ranks="$1" -v listed="$listed_clocks" '
        function bad(what) { print what ": " $0 }
        function count_ranks(members,    n, i, part, ends, sum) {
            n = split(members, part, /[|+]/)
            for (i = 1; i <= n; i++) sum += split(part[i], ends, "-") == 2 ? ends[2] - ends[1] + 1 : 1
            return sum
        }
        { clocks = clocks $1 " " }
        /nan|inf|[?]/ { bad("no number") }
        $6 !~ /^[01]$/ || $7 !~ /^[01]$/ || $7 > $6 { bad("usable and auto") }
        $7 == 1 { chosen++ }
        { is_counter = $1 == "tsc" || $1 == "cntvct" }
        is_counter && $2 == "" { next }
        !($2 > 0 && $3 < ranks && $3 ~ /^[0-9]+$/) { bad("cost of reading") }
        !($4 > 0) || !is_counter && !($5 > 0) { bad("resolution") }
        split($10, groups, "|") != $8 || count_ranks($10) != ranks || $8 == ranks && $9 != 0 { bad("groups") }
        END {
            if (clocks != listed) print "clocks: " clocks
            if (chosen != 1) print chosen + 0 " clocks taken by auto"
        }'
}

check_list() {
    for ranks in 1 2; do
        succeeds run "$ranks" mpix_clock list --reads 2000 --format csv
        expect_silence check_list_rows "$ranks"
        [ "$(own_messages | grep -c "auto takes $(columns clock auto | sed -n 's/,1$//p'): .")" -eq 1 ] ||
            complain "does not tell once what auto takes and why"
    done
    succeeds run 2 mpix_clock list --reads 1000 --raw "$scratch/raw"
    problems=$(from=raw columns clock reading interval_ns | awk -F, '
        $2 != count[$1]++ || $3 !~ /^-?[0-9]+\.[0-9]$/ { print "raw: " $0 }
        END { for (clock in count) if (count[clock] != 1000) print clock " has " count[clock] " intervals" }'
        check_table 10 "$(wc -w <<<"$listed_clocks")")
    [ -z "$problems" ] || complain "$problems"
    ! grep 'cannot be used.*this is not' "$scratch/out" || complain "there is a remark on another processor's clock"
}

# In a mount namespace the kernel can be made to say that its clocksource is another one.
clocksource=/sys/devices/system/clocksource/clocksource0/current_clocksource
can_change_clocksource() {
    grep -q '^flags.*constant_tsc' /proc/cpuinfo && echo hpet >"$scratch/hpet" &&
        unshare --mount mount --bind "$scratch/hpet" "$clocksource"
} 2>/dev/null

check_list_slow_clocksource() {
    program=mpix_clock command="mpix_clock list with clocksource hpet"
    # The variables are those of the inner shell.
    # shellcheck disable=SC2016
    capture unshare --mount sh -c 'mount --bind "$1" "$2" && exec "$3" list --reads 1000 --format csv' - \
        "$scratch/hpet" "$clocksource" "$programs/mpix_clock"
    expect_status 0
    columns clock usable auto groups doubt_ns members >"$scratch/choice"
    grep -qx tsc,0,0,1,0,0 "$scratch/choice" || complain "tsc is not told to be unusable"
    grep -qx monotonic_raw,1,1,1,0,0 "$scratch/choice" || complain "auto does not take monotonic_raw"
    own_messages | grep -q "Warning: rank 0: .*clocksource is hpet" || complain "no warning"
    own_messages | grep -q "tsc cannot be used on rank 0: .*hpet" || complain "no reason against tsc"
}

# If one half of an exchange is held up, its time is wrong. So there are several tries.
check_known_drift() {
    for _ in 1 2 3; do
        try_known_drift
        [ -n "$problems" ] || return 0
    done
    complain "$problems"
}

try_known_drift() {
    succeeds run 2 check_clock drift --clocks realtime --duration-s 1 --interval-s 0.01 --exchanges 3 \
        --threshold-ns 1e6 --format csv --raw "$scratch/raw"
    problems=$("$python" "$here/check_drift.py" "$scratch/raw" "$scratch/out" 1e6 1.2e7 2>&1)
}

check_drift() {
    succeeds run 3 mpix_clock drift --duration-s 0.5 --interval-s 0.02
    clocks=$(grep -v '^#' "$scratch/out" | awk '{ print $2 }' | sort -u | wc -l)
    expect_silence check_table 12 $((2 * clocks * 4))
    grep -q '^# Steps of the clocks in ns: .*monotonic_raw [0-9.e+]*, monotonic [0-9]' "$scratch/out" ||
        complain "does not state the steps of the clocks"
    [ "$clocks" -ge 4 ] || complain "only $clocks clocks"
    # So few bursts that no window has enough for a line.
    succeeds run 2 mpix_clock drift --duration-s 0.1 --interval-s 0.1 --clocks monotonic --format csv
    [ "$(columns slope_ppb slope_min_ppb slope_max_ppb residual_rms_ns residual_max_ns linear_ns | sort -u)" = \
        ",,,,,0" ] || complain "figures without points"
}

# This process is the reference, so its own times come out again, but for what it took to read them. The program begins
# after a record, and ends before another one.
check_record() {
    echo time >"$scratch/now.csv"
    run 1 mpix_clock record -o "$scratch/records.jsonl" -- sh -c "date +%s.%N >>'$scratch/now.csv'
        grep -c '\"raw\"' '$scratch/records.jsonl' >'$scratch/before'; exit 3"
    expect_status 3
    [ "$(cat "$scratch/before")" -ge 1 ] || complain "the program began before the first record"
    "$programs/mpix_clock_convert" -c "$scratch/records.jsonl" --clock realtime "$scratch/now.csv" >"$scratch/out" \
        2>"$scratch/said"
    awk -F , 'NR == 2 { apart = $1 - $2; if (apart > 1e-3 || apart < -1e-3 || $3 > 1e6 || $4 != "") print }' \
        "$scratch/out" | grep . && complain "$(cat "$scratch/out")"
    grep -q UTC "$scratch/said" || complain "nothing is said of UTC"
    [ "$(wc -l <"$scratch/out")" -eq 2 ] || complain "$(cat "$scratch/out")"
    refuses "cannot be created: File exists" run 1 mpix_clock record -o "$scratch/records.jsonl"
    refuses "several processes are on one host" run 2 mpix_clock record -o "$scratch/others.jsonl"
}

# A program that takes its time to end gets a signal once, as a second one may mean more.
check_record_signal() {
    succeeds run 1 mpix_clock record -o "$scratch/ended.jsonl" -- sh -c "trap 'echo >>\"$scratch/ends\"' TERM
        : >'$scratch/ends'
        kill -TERM \$PPID
        for i in \$(seq 90); do [ -s '$scratch/ends' ] || sleep 0.1; done
        for i in 1 2 3 4 5; do sleep 0.1; done"
    [ "$(wc -l <"$scratch/ends")" -eq 1 ] || complain "the program got $(wc -l <"$scratch/ends") signals, not one"
}

# The example: what its processes wrote ends in one file, in which all leave the last barrier at about one time.
check_tracer() {
    local before=$PWD host
    host=$(uname -n)
    cd "$scratch" || return
    succeeds run 2 tracer
    succeeds run alone mpix_clock_convert -c clocks.jsonl --clock monotonic_raw -o all.json \
        "$host=trace.$host.0.json" "$host=trace.$host.1.json"
    "$python" - all.json >problems 2>&1 <<'END' || complain "$(cat problems)"
import json, sys, time
events = json.load(open(sys.argv[1]))
events = [event for event in events.get("traceEvents", events) if event["ph"] == "X"]
last = [max(event["ts"] + event["dur"] for event in events if event["pid"] == pid)
        for pid in sorted({event["pid"] for event in events})]
assert len(events) == 40 and len(last) == 2, (len(events), len(last))
assert abs(last[0] - last[1]) < 1e6 and abs(time.time() - last[0] / 1e6) < 600, last
END
    cd "$before" || return
}

check_other_counter() {
    refuses "the program reads no $other_name" run 2 mpix_clock drift --clocks $other_counter
}

tap_check "mpix_clock check: rows for each label and age" check_clock_summary
tap_check "mpix_clock check: errors that are known" check_clocks
quick tap_check "mpix_clock check: violated bounds" check_clock_violations
tap_check "mpix_clock check: a clock with large steps" check_coarse_clock
tap_check "mpix_clock check: samples" check_clock_sample
tap_check "mpix_clock check: the raw file of a run that was ended" check_clock_interrupted
tap_check "mpix_clock check: keeping the clock" check_clock_kept
quick tap_check "mpix_clock list: rows and tables" check_list
quick tap_check_if can_change_clocksource "needs root, and an x86 processor with a constant counter" \
    "mpix_clock list: a slow clocksource" check_list_slow_clocksource
quick tap_check_if "command -v $python" "it takes python3" \
    "mpix_clock drift: figures of a known drift" check_known_drift
tap_check "mpix_clock drift: tables, few bursts" check_drift
quick tap_check "mpix_clock record: times come out again" check_record
tap_check "mpix_clock record: the program gets a signal once" check_record_signal
tap_check_if "command -v $python" "it takes python3" "examples/tracer: two files on one time line" check_tracer
quick tap_check "the counter of another processor" check_other_counter
tap_done
