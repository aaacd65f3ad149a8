#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# mpix_trace_report: what it says of a trace that is known, in rows and as a page; that mpix_bench replays the arrivals
# it writes. In Chromium, if there is one: pointer, zoom, names of functions. check_golden.sh has what it prints.
. "$(dirname "$0")/../../test/programs/run.sh"
. "$top/common/test/columns.sh"
. "$top/common/test/page.sh"
need_tool mpix_trace_report
"$checks/check_trace_report" "$scratch/four" 4 40 && "$checks/check_trace_report" "$scratch/two" 2 30 ||
    { echo "Bail out! there is no trace"; exit 1; }

report() {          # OPTION...: of the trace of four
    succeeds run alone mpix_trace_report "$scratch/four" "$@"
    [ ! -s "$scratch/err" ] || complain "says something"
}

# ---- Rows

# ROW COLUMN: of the row of the last run that begins with this; without a comma in what is looked at.
value_of() {
    awk -F, -v site="$1" -v name="$2" "$by_name"' $1 == site { print $place[name] }' "$scratch/rows"
}

# ROW COLUMN LEAST MOST, or ROW COLUMN TEXT
expect_value() {
    local value
    value=$(value_of "$1" "$2")
    if [ $# -eq 3 ]; then
        [ "$value" = "$3" ] || complain "row $1: $2 is $value, not $3"
    else
        awk -v value="$value" -v least="$3" -v most="$4" \
            'BEGIN { exit !(value != "" && value >= least && value <= most) }' ||
            complain "row $1: $2 is $value, not $3 to $4"
    fi
}

check_sites() {
    report --format csv
    expect_value 1 function MPI_Allreduce
    expect_value 1 comm world
    expect_value 1 calls 40
    expect_value 1 last_rank 2
    expect_value 1 last_percent 100.0
    expect_value 1 spread_median_ns 298000 302500
    expect_value 1 bound_ns 1 100000
    expect_value 1 above_bound_percent 100.0
    expect_value 1 closeness 0.99 1
    value_of 1 pattern | grep -qE '^one-late:2:(29[89]|30[0-2])' || complain "site 1: not one-late:2:300"
    # Three of four wait for one in each call.
    expect_value 1 wait_ns $((40 * 3 * 298000)) $((40 * 3 * 302500))
    value_of 3 pattern | grep -qE '^ascending:(5[89]|6[0-2])' || complain "site 3: not ascending:60"
    expect_value 3 function MPI_Bcast
    value_of 1 place | grep -qF 'main+0x10 (0x1010) in <program> & co' || complain "site 1: not its place"
}

# Tables are not wider than 100 columns; sentences may be longer.
check_width() {
    local show
    for show in answer causes waits functions ranks sites calls; do
        report --show $show
        awk '/^[# ]/ { gsub(/[\200-\277]/, "") }
            /^[# ]/ && length($0) > 100 { print "longer than 100 columns: " $0; exit }' "$scratch/out"
        [ "$(grep -c . "$scratch/out")" -gt 1 ] || complain "there are no rows"
    done
}

# COLUMN: its sum over the rows of the last run, which lack commas in it and before it.
sum_of() {
    columns "$1" | awk '{ sum += $1 } END { printf "%.0f\n", sum }'
}

# Rank 2 is 300 us late at MPI_Allreduce in each of 40 calls, and three ranks wait for it: the first time since the
# trace began, then since MPI_Barrier.
check_waits() {
    local charged state
    report --format csv --show causes
    charged=$(sum_of charged_ns)
    expect_value 1 rank 2
    expect_value 1 does computes
    expect_value 1 instances 39
    expect_value 1 charged_ns $((39 * 3 * 295000)) $((39 * 3 * 305000))
    expect_value 1 gain_ns $((39 * 295000)) $((39 * 305000))
    report --format csv --show waits
    [ "$charged" = "$(sum_of waited_ns)" ] && [ "$charged" -gt 0 ] ||
        complain "$charged ns are charged, $(sum_of waited_ns) were waited"
    for state in 'late sender' 'wait at barrier' 'wait at N x N'; do
        grep -q "^$state," "$scratch/rows" || complain "there is no $state"
    done
}

check_functions() {
    report --format csv --show functions
    [ "$(wc -l <"$scratch/rows")" -eq $((1 + 5)) ] || complain "not a row for each function"
    # 40 calls of 4 ranks. Rank 2 comes last, and waits least; of the others, rank 3 waits as long as rank 0.
    expect_value MPI_Allreduce ranks 4
    expect_value MPI_Allreduce calls 160
    expect_value MPI_Allreduce time_min_rank 2
    expect_value MPI_Allreduce time_max_ns 11900000 1e99
    expect_value MPI_Allreduce time_ns "$(value_of MPI_Allreduce time_min_ns)" \
        "$(value_of MPI_Allreduce time_max_ns)"
    report --format csv --show ranks
    [ "$(wc -l <"$scratch/rows")" -eq $((1 + 3 * 4 + 2 * 3)) ] || complain "not a row for each function and rank"
    # Rank 0 waits 300 us and a latency for rank 2.
    columns function rank calls time_ns sent_bytes received_bytes | awk -F, '
        $1 == "MPI_Allreduce" && $2 == 0 { n++; if ($3 != 40 || $4 < 11.9e6 || $4 > 12.3e6) print "rank 0: " $0 }
        $1 == "MPI_Allreduce" && ($5 != 320 || $6 != 320) { print "not 320 bytes each way: " $0 }
        END { if (n != 1) print n + 0 " rows of rank 0 in MPI_Allreduce" }'
}

# The spreads of the sites, from the rows of calls.
check_calls() {
    report --format csv --show calls
    columns site call delay_ns bound_ns | awk -F, '
        $1 == 1 { if ($3 > max[$2]) max[$2] = $3; if ($4 == "") print "no bound" }
        END { for (call in max) print max[call] }' | sort -n | sed -n 20p >"$scratch/median"
    report --format csv
    expect_value 1 spread_median_ns "$(cat "$scratch/median")"
    [ -s "$scratch/median" ] || complain "there are no calls"
}

check_columns() {
    local kind format
    columns_page >"$scratch/columns.md"
    for kind in causes waits functions ranks sites calls; do
        for format in csv json; do
            report --format $format --show $kind
            cp "$scratch/out" "$scratch/$kind.$format"
        done
        PYTHONDONTWRITEBYTECODE=1 "$python" "$top/common/test/check_results.py" "$scratch/columns.md" \
            "$scratch/$kind.csv" "$scratch/$kind.json" 2>&1
    done
}

# ---- Arrivals for mpix_bench

check_replay() {
    succeeds run alone mpix_trace_report "$scratch/two" --write-arrivals "$scratch/arrivals.csv"
    run alone mpix_trace_report "$scratch/two" --format csv --show waits
    awk -F, '/^[^#]/ && $1 ~ /^(wait|late b|early)/ { sub(/ at .*/, "", $7); print "# " $7; exit }' "$scratch/out" \
        >"$scratch/longest"
    [ -s "$scratch/longest" ] && grep -q "^$(cat "$scratch/longest") " "$scratch/arrivals.csv" ||
        complain "the arrivals are not those of the longest wait: $(cat "$scratch/longest")"
    succeeds run alone mpix_trace_report "$scratch/two" --write-arrivals "$scratch/second.csv" --site 3
    grep -q '^# MPI_Bcast' "$scratch/second.csv" || complain "site 3 is another one"
    # That the machine is busy is no failure here.
    run 2 mpix_bench bcast -m 8:8 -i 30 -x 2 --arrival "file:$scratch/arrivals.csv" --format csv
    [ "$status" -le 1 ] || complain "exit status $status"
    grep -q 'file:arrivals.csv' "$scratch/out" || complain "mpix_bench does not replay them"
    grep -q 'has arrivals at MPI_Allreduce, and bcast is measured' "$scratch/err" ||
        complain "it does not say that the arrivals are those of another operation"
}

# ---- A program that runs

# Each measured call is to start as the next call of the file says.
expect_replayed() { # FILE
    awk -F, "$by_name"'
        { call = $place["call"]; rank = $place["rank"] }
        FILENAME ~ /csv$/ { delay[call, rank] = $place["delay_ns"]; calls = call + 1; next }
        $place["arrival"] !~ /^file:/ { next }
        rank == 0 { target = $place["target_ns"] }
        rank == 1 {
            n++
            later = $place["target_ns"] - target
            wanted = delay[call % calls, 1] - delay[call % calls, 0]
            if (later != wanted && !bad++)
                print "call " call ": rank 1 is to start " later " ns later, not " wanted " as in the trace"
        }
        END { if (n < 40) print n + 0 " replayed calls" }' "$1" "$scratch/raw"
}

# All collective calls are of one site, where the last rank comes last, mostly; mpix_bench replays that.
check_real() {
    succeeds run 2 mpix_trace -o "$scratch/real" "$checks/check_late"
    succeeds run alone mpix_trace_report "$scratch/real" --format csv --write-arrivals "$scratch/real.csv" \
        --page "$page"
    expect_value 1 function MPI_Allreduce
    expect_value 1 calls 40
    expect_value 1 last_rank 1
    [ "$(count 'data-chart=')" -eq $((4 + $(count 'href="#cause-'))) ] ||
        complain "not four charts and one for each cause"
    [ "$(grep -c '^[0-9]*,1,' "$scratch/real.csv")" -eq 40 ] || complain "not the delays of 40 calls"
    # No sample is invalid, however busy the machine is.
    MPIX_HARMONIZE_TOLERANCE_NS=1000000000 succeeds run 2 mpix_bench allreduce -m 8:8 -i 40 -x 2 --format csv \
        --arrival "file:$scratch/real.csv" --raw "$scratch/raw"
    expect_replayed "$scratch/real.csv"
}

# Rank 1 sleeps for 3 ms before each of 40 calls for which rank 0 waits. Without that, the run would be shorter by it.
# Beside a busy program, ranks wait for others in other places too.
check_real_waits() {
    succeeds run alone mpix_trace_report "$scratch/real" --format csv --show causes
    columns rank does from to instances charged_ns gain_ns | awk -F, '
        $1 == 1 && $2 == "computes" && $3 ~ /^MPI_Recv at / && $4 ~ /^MPI_Allreduce at / && $5 == 40 && $6 > 1e8 &&
            $6 < 1e9 && ($7 == "" || ($7 > 1e8 && $7 < 1e9)) { found = 1 }
        END { exit !found }' || complain "not where rank 1 sleeps"
}

# The answer names lines of the source, and only those of the program that was traced. Its function has a name of C++.
check_lines() {
    local barrier reduction flags=-g function='halo::run(int)'
    [ -e "$(cc -print-file-name=libstdc++.so.6)" ] || function=_ZN4halo3runEi
    [ "${sanitizers:-no}" = no ] || flags+=" -fsanitize=$sanitizers"
    cat >"$scratch/late.c" <<'END'
#include <mpi.h>
#include <unistd.h>
__attribute__((noinline)) void _ZN4halo3runEi(int rank)
{
    int sum = 0;
    for (int i = 0; i < 20; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        usleep(rank == 1 ? 5000 : 1);
        MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
}
int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    _ZN4halo3runEi(rank);
    return MPI_Finalize();
}
END
    # shellcheck disable=SC2086
    ${CC:-mpicc} $flags "$scratch/late.c" -o "$scratch/late" || return
    barrier=$(grep -n MPI_Barrier "$scratch/late.c") reduction=$(grep -n MPI_Allreduce "$scratch/late.c")
    rm -rf "$scratch/lines"
    succeeds run 2 mpix_trace -o "$scratch/lines" "$scratch/late"
    run alone mpix_trace_report "$scratch/lines"
    grep -q "^Rank 1 .* between MPI_Barrier at late.c:${barrier%%:*} and MPI_Allreduce at late.c:${reduction%%:*}, by" \
        "$scratch/out" || complain "not these lines"
    grep -q ' Recording calls takes about [0-9.]* [^ ]*s, [0-9.]* %\.' "$scratch/out" ||
        complain "not what recording takes"
    run alone mpix_trace_convert --format csv "$scratch/lines"
    grep -q ",late.c:${barrier%%:*} $function (0x[0-9a-f]*) in $scratch/late" "$scratch/out" || complain "not in CSV"
    # A relative path is one from here, if it leads to the same program.
    mkdir -p "$scratch/elsewhere"
    # shellcheck disable=SC2086
    sed 's/halo3run/halo3ran/' "$scratch/late.c" | ${CC:-mpicc} $flags -x c - -o "$scratch/elsewhere/late"
    touch -d '-1 hour' "$scratch/elsewhere/late"
    (
        cd "$scratch" || exit
        succeeds run 2 mpix_trace -o relative ./late
        run alone mpix_trace_report relative
        grep -q " at late.c:${barrier%%:*} and MPI_Allreduce at late.c:" out || complain "no lines by a relative path"
        cd elsewhere || exit
        run alone mpix_trace_report ../relative
        grep -q "^Rank 1 .* between MPI_Barrier at $function+0x" ../out || complain "another program is taken"
    )
    touch -d '+1 hour' "$scratch/late"
    run alone mpix_trace_report "$scratch/lines"
    grep -q "^Rank 1 .* between MPI_Barrier at $function+0x" "$scratch/out" || complain "a younger program is taken"
    # Without symbols, but with debugging information beside it.
    rm -rf "$scratch/lines"
    objcopy --only-keep-debug "$scratch/late" "$scratch/late.debug"
    objcopy --strip-all --add-gnu-debuglink="$scratch/late.debug" "$scratch/late"
    succeeds run 2 mpix_trace -o "$scratch/lines" "$scratch/late"
    run alone mpix_trace_convert --format csv "$scratch/lines"
    grep -q "late.c:[0-9]* $function (0x" "$scratch/out" || complain "no name of C++ from debugging information"
}

# In each way, one rank waits 20 times for almost 1 ms, if it is not interrupted on its way.
check_states() {
    local state function
    succeeds run 2 mpix_trace -o "$scratch/states" "$checks/check_wait_states"
    succeeds run alone mpix_trace_report "$scratch/states" --format csv --show waits
    while IFS='|' read -r state function; do
        awk -F, -v state="$state" -v function_at="$function at " '
            $1 == state && $0 ~ "," function_at { count += $2; waited += $3 }
            END { if (count < 10 || waited < 5e6) print state, function_at, count + 0, "times", waited + 0, "ns" }
        ' "$scratch/rows"
    done <<'END'
late sender|MPI_Recv
late sender|MPI_Wait
late sender|MPI_Test
late sender|MPI_Iprobe
late sender|MPI_Probe
late sender|MPI_Mprobe
wrong order|MPI_Recv
late receiver|MPI_Ssend
late receiver|MPI_Send
late receiver|MPI_Wait
wait at fence|MPI_Win_fence
late post|MPI_Win_(start|complete)
late complete|MPI_Win_wait
lock contention|MPI_Win_(lock|unlock)
END
    # What is computed between two looks is no wait.
    awk -F, 'index($0, ",MPI_Testany at ") { waited += $3 }
        END { if (waited > 5e6) print "MPI_Testany", waited, "ns" }' "$scratch/rows"
}

# Times count from the end of MPI_Init, as those of mpix_trace and mpix_trace_convert.
check_zero() {
    succeeds run alone mpix_trace_convert --format csv "$scratch/real"
    columns rank event name global_ns | sed -n 's/^0,enter,MPI_Allreduce,//p' >"$scratch/wanted"
    succeeds run alone mpix_trace_report "$scratch/real" --format csv --show calls
    columns rank enter_ns | sed -n 's/^0,//p' >"$scratch/times"
    # A part that begins with the run and ends after it is all of it.
    for part in "--from-s 0" "--to-s 1000"; do
        for show in waits causes; do
            run alone mpix_trace_report "$scratch/real" --format csv --show $show
            cut -d, -f 1-7 "$scratch/rows" >"$scratch/whole"
            # shellcheck disable=SC2086
            run alone mpix_trace_report "$scratch/real" --format csv --show $show $part
            cut -d, -f 1-7 "$scratch/rows" | cmp -s - "$scratch/whole" ||
                complain "$part: not the same $show"
        done
    done
    paste -d, "$scratch/wanted" "$scratch/times" |
        awk -F, '$1 == "" || ($1 - $2)^2 > 1 { print "not " $1 " but " $2 } END { if (NR != 40) print NR " calls" }' |
        head -n 3
}

measure_replay() {
    command=run_trace_replay.sh
    MPIX_HARMONIZE_TOLERANCE_NS=1000000000 bash "$here/performance/run_trace_replay.sh" "$checks/check_late" \
        >"$scratch/out" 2>"$scratch/err"
    status=$?
    expect_status 0
    off=$(sed -nE 's/^MPI_Allreduce, 40 calls: median spread .* us in the replay: ([-+][0-9.]+) %$/\1/p' "$scratch/out")
}

# The measurement of make trace-replay: of 3 ms, the median of 40 calls is replayed to 20 %. There are several tries, as
# another program may take the processors for most of a replay.
check_measured_replay() {
    local off
    for _ in {1..10}; do
        measure_replay
        [ -n "$off" ] || { complain "no result"; return; }
        ! awk -v off="$off" 'BEGIN { exit !(off ^ 2 <= 20 ^ 2) }' || return 0
    done
    complain "the median spread in the replay is off by $off %, not by 20 % at most"
}

# ---- The page

# CODE [ARGUMENT]...: what this Python makes of the data of the page, which is its standard input
page_data() {
    sed -n 's/^<script type="application.json" id="data">\(.*\)<.script>$/\1/p' "$page" | "$python" -c "$@"
}

count() {           # TEXT: how often it is in the page
    grep -oF -e "$1" "$page" | wc -l
}

check_page() {
    report --page "$page" --title 'All & <everything>'
    expect_page
    [ "$(count 'data-chart=')" -eq $((4 + $(count 'href="#cause-'))) ] ||
        complain "not four charts and one for each cause"
    [ "$(count '<p>Rank 2 computes too long between ')" -ge 1 ] || complain "does not say who waits for whom"
    [ "$(timeline calls | wc -l)" -ge $((4 * 24)) ] || complain "no few dozen calls of each rank"
    grep -qF 'main+0x10 (0x1010) in &lt;program&gt; &amp; co' "$page" || complain "a place became markup"
    grep -qF '<h1>All &amp; &lt;everything&gt;</h1>' "$page" || complain "not its title"
    grep -q 'to rank 1, tag [0-9]*, 8 bytes' "$page" || complain "a call does not name its partner"
    [ "$(timeline messages | wc -l)" -gt 0 ] || complain "there are no messages"
}

# calls or messages: those of the timeline, each in a line. Of calls: function, lane, start and duration.
timeline() {
    page_data '
import json, sys
chart = next(one for one in json.load(sys.stdin)["charts"] if one.get("title") == "Calls and messages")
for one in chart[sys.argv[1]]:
    print(*(one if sys.argv[1] == "messages" else [chart["functions"][one[1]], one[0], *one[2:4]]))' "$1"
}

# All bars of the interval, at their times: from the rows of calls.
check_interval() {
    report --page "$page" --from-s 0.001 --to-s 0.002
    timeline calls | awk '$1 == "MPI_Allreduce" { printf "%d %.0f %.0f\n", $2, $3, $4 }' | sort >"$scratch/shown"
    report --format csv --show calls
    columns site rank enter_ns leave_ns |
        awk -F, '$1 == 1 && $3 >= 1e6 && $4 < 2e6 { print $2, $3 - 1e6, $4 - $3 }' | sort >"$scratch/wanted"
    [ -s "$scratch/wanted" ] || complain "there are no calls in the interval"
    # Both are rounded.
    paste -d' ' "$scratch/shown" "$scratch/wanted" |
        awk '$1 != $4 || ($2 - $5)^2 > 1 || ($3 - $6)^2 > 1 || NF != 6 { print "not the same: " $0 }' | head -n 3
}

# SHOW COLUMN FROM_S TO_S: the sum of a column, of a part of the run.
sum_of_part() {
    report --format csv --show "$1" --from-s "$3" --to-s "$4"
    sum_of "$2"
}

# A part of the run has the calls, waits and causes that the whole has there. At its ends all ranks compute.
check_part() {
    local from_s to_s waited
    report --format csv --show calls
    columns site call rank enter_ns leave_ns | sed -n 's/^1,//p' >"$scratch/calls"
    # All have left a barrier 50 us before the first call.
    read -r from_s to_s < <(awk -F, '
        $1 == 10 || $1 == 20 { if (!($1 in first) || $3 < first[$1]) first[$1] = $3 }
        END { printf "%.9f %.9f\n", (first[10] - 2e4) / 1e9, (first[20] - 2e4) / 1e9 }' "$scratch/calls")
    awk -F, '$1 >= 10 && $1 < 20 { print $2 "," $3 "," $4 }' "$scratch/calls" | sort >"$scratch/wanted"
    report --from-s "$from_s" --to-s "$to_s" --format csv --show calls
    columns site rank enter_ns leave_ns | sed -n 's/^1,//p' | sort >"$scratch/shown"
    [ -s "$scratch/wanted" ] && cmp -s "$scratch/shown" "$scratch/wanted" || complain "not the same calls"
    run alone mpix_trace_convert --format csv "$scratch/four"
    waited=$(columns global_ns waited_ns |
        awk -F, -v from="$from_s" -v to="$to_s" '$1 > from * 1e9 && $1 < to * 1e9 { sum += $2 }
            END { printf "%.0f", sum }')
    [ "$waited" -gt 1000000 ] || complain "waits of $waited ns"
    [ "$(sum_of_part waits waited_ns "$from_s" "$to_s")" = "$waited" ] || complain "not the same waits, of $waited ns"
    [ "$(sum_of_part causes charged_ns "$from_s" "$to_s")" = "$waited" ] || complain "not all of $waited ns are charged"
}

# Each cause of the sentences has a time line, where it is marked as the table says, and waits for it, too.
check_worst() {
    report --page "$page" --format csv --show causes
    grep -o 'id="cause-[0-9]*"' "$page" | wc -l >"$scratch/shown"
    grep -v '^#' "$scratch/out" >"$scratch/causes.csv"
    page_data '
import csv, json, sys
charts = [one for one in json.load(sys.stdin)["charts"] if one.get("marks")]
if len(charts) != int(open(sys.argv[2]).read()) or len(charts) < 3:
    print(len(charts), "time lines of causes")
for chart, row in zip(charts, csv.DictReader(open(sys.argv[1]))):
    begin, end = int(row["worst_begin_ns"]), int(row["worst_end_ns"])
    marks = [one for one in chart["marks"] if one[3]]
    waits = [one for one in chart["marks"] if not one[3] and one[4].endswith("rank " + row["rank"])]
    if len(marks) != 1 or marks[0][0] != int(row["rank"]) or round(marks[0][2]) != end - begin or not waits:
        print("cause", row["cause"], "is marked as", marks, "with", len(waits), "waits")
    chain = chart["chain"]
    if not chain or any(line[0] not in {marks[0][0], *(one[2] for one in chain[:i])} for i, line in enumerate(chain)):
        print("cause", row["cause"], "has the chain", chain)
    if not 0 <= marks[0][1] <= marks[0][1] + marks[0][2] <= chart["to"]:
        print("cause", row["cause"], "is outside of its time line")' "$scratch/causes.csv" "$scratch/shown"
    # A place need not be text.
    cp -R "$scratch/four" "$scratch/odd"
    sed -i 's/main+0x10/main\xff0x10/' "$scratch/odd"/*
    succeeds run alone mpix_trace_report "$scratch/odd" --page "$page"
}

# Of many ranks, some are drawn: those of the cause among them, at their times.
check_many() {
    rm -rf "$scratch/many"
    "$checks/check_trace_report" "$scratch/many" 200 6 || complain "no trace"
    succeeds run alone mpix_trace_report "$scratch/many" --page "$page"
    grep -q '<p>There are too many threads: [0-9]* of 200 are shown.</p>' "$page" || complain "not what is left out"
    page_data '
import json, sys
charts = [one for one in json.load(sys.stdin)["charts"] if "calls" in one]
for chart in charts:
    lanes = [int(name) for name in chart["lanes"]]
    if not 48 <= len(lanes) <= 96 or lanes != sorted(set(lanes)):
        print(chart["title"], "has the lanes", lanes)
    if any(one[0] >= len(lanes) for one in chart["calls"] + chart.get("marks", [])):
        print(chart["title"], "has what is in no lane")
    for row, *_ in [one for one in chart.get("marks", []) if one[3]]:
        if lanes[row] not in (198, 199) or not all(one[0] == row and one[2] != row for one in chart["chain"]):
            print(chart["title"], "is of rank", lanes[row], "with the chain", chart["chain"])
if len(charts) < 3 or sum(len(one.get("chain", [])) > 40 for one in charts) < 2:
    print(len(charts), "time lines, with chains of", [len(one.get("chain", [])) for one in charts])'
}

# What needs more memory than there is says how much, and that a part can be reported, for which there is enough.
check_memory() {
    local part=(--from-s 0.3 --to-s 0.31)
    "$checks/check_trace_report" "$scratch/long" 8 4000 || complain "no trace"
    succeeds run alone mpix_trace_report "$scratch/long" "${part[@]}"
    grep -q 'what began before the part is not attributed\.$' "$scratch/out" || complain "not what is not attributed"
    cp "$scratch/out" "$scratch/unlimited"
    (
        ulimit -v 51200
        run alone mpix_trace_report "$scratch/long"
        expect_status 2
        expect_line '50 MiB of memory: the trace has .* report a part of the run by --from-s and --to-s'
        sed -nE 's/.* take about ([0-9]+) MiB.*/\1/p' "$scratch/err" >"$scratch/needed_mib"
        succeeds run alone mpix_trace_report "$scratch/long" "${part[@]}"
        cmp "$scratch/unlimited" "$scratch/out" || complain "a part is not the same with less memory"
    )
    # If this much is there for all that the program needs, the report begins, and lacks memory later.
    (
        ulimit -v $((($(cat "$scratch/needed_mib") + 1) * 1024))
        run alone mpix_trace_report "$scratch/long"
        expect_status 1
        expect_line 'out of memory: the trace has .* report a part of the run by --from-s and --to-s'
    )
    rm -rf "$scratch/long"
}

# The picture of the whole run has as much waiting as the table, where rank 2 is late, and leads to the causes.
check_overview() {
    report --page "$page" --format csv --show waits
    page_data '
import csv, json, string, sys
digits = string.digits + string.ascii_uppercase + string.ascii_lowercase
[chart] = [one for one in json.load(sys.stdin)["charts"] if one.get("type") == "overview"]
column_ns = (chart["to"] - chart["from"]) / len(chart["rows"][0][0])
sums = [[column_ns * sum(digits.index(one) / 61 for one in text) for text in row] for row in chart["rows"]]
waited = sum(int(row["waited_ns"]) for row in csv.DictReader(open(sys.argv[1])))
shown = sum(row[0] for row in sums)
if abs(shown - waited) > 0.05 * waited:
    print(shown, "ns of waits are shown, not", waited)
if not 11.5e6 < sums[2][1] < 13e6 or max(sums[0][1], sums[1][1]) > 1e6:
    print("late for:", [row[1] for row in sums])
if any(abs(row[3] - (chart["to"] - chart["from"])) > 0.1 * row[3] for row in sums):
    print("runs for:", [row[3] for row in sums])
if [one[0] for one in chart["links"]] != [2, 3, 2]:
    print("links:", chart["links"])' "$scratch/rows"
}

check_reader() {
    report --page "$page"
    expect_reader "#gantt svg.chart" "#functions table" "time " 'tip MPI_Allreduce|rank 0, ' 'no tip true' \
        'zoomed true' 'reset true' 'hidden true' 'sorted true' 'texts on texts none' <<'END'
say("texts on texts", overlaps().join("|") || "none");
const find = () => chart.querySelector('[data-series="MPI_Allreduce"] .call[data-lane="0"]');
point_at(find());
chart.dispatchEvent(new PointerEvent("pointermove", { clientX: 0, clientY: 0, bubbles: true }));
say("no tip", tip.hidden);
const width = find().getBoundingClientRect().width;
for (let i = 0; i < 30; i++) wheel(find(), true);
say("zoomed", find().getBoundingClientRect().width > 4 * width && new Set(labels().split(" ")).size > 2);
chart.dispatchEvent(new MouseEvent("dblclick", { bubbles: true }));
say("reset", labels() === before);
[...figure.querySelectorAll(".legend button")].find((name) => name.textContent.includes("MPI_Allreduce")).click();
say("hidden", getComputedStyle(find().closest(".series")).display === "none");
sort();
END
}

# ---- Tests

quick tap_check "mpix_trace_report: call sites of a known trace" check_sites
quick tap_check "mpix_trace_report: tables fit" check_width
quick tap_check "mpix_trace_report: waits and their causes" check_waits
quick tap_check "mpix_trace_report: functions" check_functions
quick tap_check "mpix_trace_report: calls" check_calls
quick tap_check "mpix_trace_report: calls of an interval" check_interval
quick tap_check "mpix_trace_report: a part of the run" check_part
quick tap_check "mpix_trace_report: many ranks" check_many
name="mpix_trace_report: more than memory"
if [ "${sanitizers:-no}" = no ]; then
    quick tap_check "$name" check_memory
else
    tap_skip "$name" "sanitizers need more memory than is allowed"
fi
tap_check "mpix_trace_report: mpix_bench replays arrivals" check_replay
if [ -x "${BUILDDIR:-.}/bin/mpix_trace" ]; then
    tap_check "mpix_trace_report: a program that ran" check_real
    tap_check "mpix_trace_report: why a program that ran waits" check_real_waits
    has_libdw() { grep -q "^LIBDW_LIBS='[^']" "${BUILDDIR:-.}/config.log"; }
    quick tap_check_if has_libdw \
        "the program was built without libdw (Debian package: libdw-dev)" \
        "mpix_trace_report: lines of the source" check_lines
    tap_check "mpix_trace_report: each kind of wait for messages" check_states
    tap_check "mpix_trace_report: times from the end of MPI_Init" check_zero
    tap_check "mpix_trace_report: how well mpix_bench replays a program" check_measured_replay
else
    tap_skip "mpix_trace_report: programs that ran" "mpix_trace was not built"
fi
quick tap_check_if "$python -c pass" "there is no Python 3" "mpix_trace_report: columns" check_columns
quick tap_check_if "$python -c pass" "there is no Python 3" "mpix_trace_report: a page" check_page
quick tap_check_if "$python -c pass" "there is no Python 3" "mpix_trace_report: causes in time lines" check_worst
quick tap_check_if "$python -c pass" "there is no Python 3" "mpix_trace_report: the whole run" check_overview
tap_check_if has_browser "there is no Chromium" "mpix_trace_report: in a browser, pointer, zoom, tables" \
    check_reader
tap_done
