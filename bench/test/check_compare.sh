#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# mpix_compare on results that are written here, so that it is known what is different in them: verdicts, exit status,
# campaigns, guidelines, what is not comparable, and files that are torn or foreign.
. "$(dirname "$0")/../../test/programs/run.sh"
tap_selecting=yes

need_tool mpix_compare
cd "$scratch" || exit 1

# ---- Results

json_head=$(json_head mpix-bench "$bench_columns" '"program":"mpix_bench","host":"here"')
export json_head

# FILE LAUNCH SCALE [KEY=VALUE]...: three rows of allreduce. From launch to launch they differ by 0.2 %, the row of 1024
# bytes by about 30 %. All of 8 bytes are SCALE times as long. A KEY is ranks, run_time, operation, lacking.
write_launch() {
    local pair options=()
    for pair in launch="$2" scale="$3" ranks=4 run_time=makespan operation=allreduce lacking=none \
        "${@:4}"; do
        options+=(-v "$pair")
    done
    awk "${options[@]}" '
        function noise(i) { return ((launch * 7919 + i * 104729 + scale * 3571) % 1009) / 1009 - 0.5 }
        function row(size, median) {
            if (size == lacking) median = "null"
            printf "{\"operation\":\"%s\",\"release\":\"harmonize\",\"barrier\":null,\"ranks\":%d," \
                "\"run_time\":\"%s\",\"size_bytes\":%d,\"valid\":100,\"median_ns\":%s,\"p99_ns\":9000}\n",
                operation, ranks, run_time, size, median
        }
        BEGIN {
            print ENVIRON["json_head"]
            row(1024, sprintf("%.1f", 4000 * (1 + 0.6 * noise(3))))
            row(8, sprintf("%.1f", 1000 * scale * (1 + 0.002 * noise(1))))
            row(64, sprintf("%.1f", 2000 * (1 + 0.002 * noise(2))))
        }' >"$1"
}

# FOLDER LAUNCHES SCALE [KEY=VALUE]...
write_folder() {
    local launch
    mkdir -p "$1"
    for ((launch = 1; launch <= $2; launch++)); do
        write_launch "$1/$(printf %03d "$launch").json" "$launch" "${@:3}"
    done
}

# FOLDER BLOCKS VARIANT...: a campaign, of which each variant is slower than the one before by 20 % at 8 bytes.
write_campaign() {
    local folder=$1 blocks=$2 variant scale=1
    shift 2
    for variant in "$@"; do
        write_folder "$folder/$variant" "$blocks" "$scale"
        scale=$(awk -v scale="$scale" 'BEGIN { print scale * 1.2 }')
    done
    write_manifest "$folder" "$blocks" "$@"
}

compare() {         # [OPTION]...: mpix_compare
    run alone mpix_compare "$@"
}

# SIZE: the verdict in lines of CSV
verdict() { columns size_bytes verdict | sed -n "s/^$1,//p"; }

expect_verdict() {  # SIZE VERDICT
    [ "$(verdict "$1")" = "$2" ] || complain "$1 bytes: $(verdict "$1"), not $2"
}

# ---- Verdicts

# STATUS|ARGUMENTS|VERDICTS|HEAD|MESSAGE: verdicts as SIZE=VERDICT, a line of the head, and part of a message.
comparisons() {
    cat <<'END'
0|a slower|8=slower 64=same 1024=undecided
0|slower a|8=faster
0|a slower --same-percent 30|8=same
0|a slower --same-percent 0|64=undecided
1|a slower --fail-if-slower-percent 10%
0|a slower --fail-if-slower-percent 200
0|a a --fail-if-slower-percent 50
3|a wide --fail-if-slower-percent 1
0|a wide --fail-if-slower-percent 1 --undecided pass
1|a wide --fail-if-slower-percent 1 --undecided fail
1|a slower --fail-if-slower-percent 10 --undecided pass
0|a vanished --fail-if-slower-percent 50 --undecided pass
3|slower_less a --fail-if-slower-percent 10
1|a slower_less --fail-if-slower-percent 10
3|a vanished --fail-if-slower-percent 50||rows_only_in_base: 1
3|vanished a --fail-if-slower-percent 50||rows_only_in_variant: 1
3|a lacking --fail-if-slower-percent 50|8=same|rows_incomplete: 1|no value above 0: 1
0|a/001.json slower/001.json|8=undecided||more are needed of each
3|a/001.json slower/001.json --fail-if-slower-percent 10
0|few few_slower|8=undecided||more are needed of each
0|campaign_of_5|8=undecided|launches_missing: [1-9].*
0|many slower/001.json|8=undecided|no_verdict: too few launches for the level|more are needed of each
0|many many_slower --permutations 99 --level-percent 0.1|8=undecided|.*too few permutations.*|--permutations 999
0|many many_slower --permutations 999 --level-percent 0.1|8=slower
0|campaign|8=slower|labels: permuted within blocks.*
0|campaign:two campaign:one|8=faster|labels: permuted within blocks.*
0|campaign:one slower|8=slower|labels: permuted over all.*
0|three:red three:blue
0|span span_near|8=same
0|span span_other|8= 64=same|rows_other_arrival: 1|than 10 %: 1, such as allreduce of 8 bytes by 1000 ns and 1111 ns
3|span span_other --fail-if-slower-percent 50
END
}

check_comparison() {    # STATUS ARGUMENTS VERDICTS HEAD MESSAGE
    local verdict
    # shellcheck disable=SC2086
    compare $2 --format csv
    expect_status "$1"
    for verdict in $3; do expect_verdict "${verdict%%=*}" "${verdict#*=}"; done
    [ -z "$4" ] || grep -qx "# $4" out || complain "the head does not say $4"
    [ -z "$5" ] || expect_message "$5"
}

has_controls() { LC_ALL=C grep -qP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\\u00' out err; }

# Names that turn a terminal red, with each kind of control character; a letter beyond ASCII stays.
check_terminal() {
    local hostile='all\u001b[31mreduce\u009b31m\u0007\u007f µ' what file text
    for what in a slower; do
        mkdir -p "red_$what"
        for file in "$what"/*.json; do
            text=$(<"$file")
            text=${text//allreduce/$hostile}
            printf '%s\n' "${text//\"here\"/\"$hostile\"}" >"red_$what/${file##*/}"
        done
    done
    for what in table csv json; do
        compare red_a red_slower --format $what
        grep -q 'µ' out || complain "$what: a letter beyond ASCII is lost"
        ! has_controls || complain "$what: there are control characters"
    done
}

check_table_of_rows() {
    succeeds compare a slower --format csv
    [ "$(columns size_bytes | xargs)" = "8 64 1024" ] || complain "rows are not in the order of their keys"
    compare a slower
    grep -q ' same within 5 %$' out || complain "the table does not say: same within 5 %"
    grep -q ' slower is slower$' out || complain "the verdict does not name the variant"
    grep -qE '^# slower is slower than a in 1 row, .*; [0-9]+ more launches of each would find' out ||
        complain "the first line does not say the verdict, or how many launches are missing"
    grep -q '^# all rows: .*ranks 4,' out || complain "the table does not say what all rows have in common"
    grep -q ', seed 1$' out || complain "the table does not say the seed"
    [ "$(grep -c '^#' out)" -le 6 ] || complain "the head of the table is too long"
}

check_ratio() {     # interval, p and ratio of the row of 8 bytes
    compare a slower --format csv
    grep -qx '# schema: mpix-compare 2' out || complain "no schema in CSV"
    write_folder numbered 2 1 operation='reduce#1'
    compare numbered numbered --format csv
    grep -q '^"reduce#1",' out || complain "what many readers take for a comment is not in quotes"
    compare a slower --format json
    head -n 1 out | grep -q '^{"schema":"mpix-compare","version":2,"columns":\[.*"provenance":{"program":"mpix_comp' ||
        complain "no schema in JSON"
    grep '"size_bytes":8,' out | tr -d '{}"' | tr ',' '\n' | awk -F: '
        { value[$1] = $2 }
        END {
            if (!(value["ratio"] > 1.19 && value["ratio"] < 1.21)) print "ratio " value["ratio"]
            if (!(value["ratio_low"] > 1.15 && value["ratio_low"] < value["ratio"])) print "low " value["ratio_low"]
            if (!(value["ratio_high"] < 1.25 && value["ratio_high"] > value["ratio"])) print "high " value["ratio_high"]
            if (!(value["p"] > 0 && value["p"] <= 0.05)) print "p " value["p"]
            if (!(value["time_ns"] > 1195 && value["time_ns"] < 1205)) print "time_ns " value["time_ns"]
            if (value["ranks"] != 4 || value["verdict"] != "slower") print "ranks " value["ranks"]
        }'
}

# FOLDER SPAN_8 SPAN: launches whose arrivals have these longest delays, of 8 bytes and of other sizes.
write_arrivals() {
    mkdir -p "$1"
    for launch in a/*.json; do
        sed '1n; s/"size_bytes"/"arrival":"last-late:1.5x",&/; s/"p99_ns"/"arrival_span_ns":'"$3"',&/
            /"size_bytes":8,/s/"arrival_span_ns":[0-9]*/"arrival_span_ns":'"$2/" "$launch" >"$1/${launch#*/}"
    done
}

# A table of numbers that no column has room for has its columns one under the other.
check_widths() {
    for folder in vast tiny; do
        write_folder $folder 4 1
        sed -i "/size_bytes\":8,/s/median_ns\":[0-9.]*/median_ns\":1e$([ $folder = vast ] || echo -)308/" $folder/*.json
    done
    succeeds compare tiny vast
    awk '/^#/ { titles = length($0); next } length($0) != titles { print "does not line up: " $0 }' out
    grep -q 'e+305 ' out || complain "the greatest time is not there"
    compare tiny vast --format csv
    [ "$(columns size_bytes time_ns | awk -F, '$1 == 8 && $2 > 9e307 && $2 < 1.1e308' | wc -l)" -eq 1 ] ||
        complain "not 1e308 in CSV"
}

check_seed() {
    compare many many_slower --seed 5 --format csv
    cp out first
    compare many many_slower --seed 5 --format csv
    cmp -s out first || complain "the same seed gives other results"
    grep -A1 '^# permutations: .*drawn' out | grep -q '^# seed: 5$' || complain "drawn, and by which seed, is not told"
    expect_verdict 8 slower
}

# ---- Campaigns

check_incomplete() {        # a block that is not done is left out
    cp -r campaign torn
    sed -i '0,/"done"/s//"pending"/' torn/manifest.json
    rm torn/one/001.json
    succeeds compare torn --format csv
    expect_message "not done: 1"
    grep -q '^# launches_base: 6$' out || complain "not 6 launches"
    sed -i 's/"version": 1/"version": 2/' torn/manifest.json
    refuses "version" compare torn
    echo '{"schema": "mpix-camp' >torn/manifest.json
    refuses "torn/manifest.json" compare torn
    echo '{"schema": "other", "version": 1}' >torn/manifest.json
    refuses "not a manifest of a campaign" compare torn
}

# ---- Guidelines

# FOLDER LAUNCHES FACTOR: allreduce and reduce+bcast, of which the latter takes 10 us, and allreduce FACTOR times that;
# with 2048 bytes it is always faster than with 1024.
write_guided() {
    local launch
    mkdir -p "$1"
    for ((launch = 1; launch <= $2; launch++)); do
        awk -v launch="$launch" -v factor="$3" '
            function row(operation, root, size, median) {
                noise = (launch * 7919 + size * 31 + length(operation) * 13) % 101 / 101
                printf "{\"operation\":\"%s\",\"ranks\":4,\"root\":%s,\"size_bytes\":%d,\"valid\":9," \
                    "\"median_ns\":%.1f}\n", operation, root, size, median * (1 + 0.004 * noise)
            }
            BEGIN {
                print ENVIRON["json_head"]
                row("allreduce", "null", 8, 10000 * factor); row("allreduce", "null", 1024, 15000)
                row("allreduce", "null", 2048, 12000)
                row("reduce+bcast", "null", 8, 10000); row("reduce+bcast", "null", 1024, 20000)
                row("reduce+bcast", "null", 2048, 21000); row("gather", "\"0\"", 8, 5000)
                row("allgather", "null", 8, 8000)
            }' >"$1/$launch.json"
    done
}

check_guidelines() {
    write_guided guided 7 1.3
    succeeds compare --guidelines guided
    grep -qE '^ *allreduce +- +8 +reduce\+bcast +8 .* violated$' out || complain "allreduce of 8 bytes keeps its bound"
    grep -qE '^ *allreduce +- +1024 +allreduce +2048 .* violated$' out || complain "allreduce is monotone"
    [ "$(grep -c ' violated$' out)" -eq 2 ] || complain "there are two violations"
    grep -q '^# Of 8 guidelines, 2 are violated, 6 kept, 0 undecided' out || complain "counts are not told"
    compare --guidelines guided --format csv
    [ "$(grep -c ',kept$' out)" -eq 6 ] || complain "6 are kept"
    columns operation root size_bytes base_operation base_size_bytes verdict |
        grep -qx 'gather,0,8,allgather,8,kept' || complain "gather, which has a root, is not bound by allgather"
    compare --guidelines guided --fail-if-slower-percent 10
    expect_status 1
    write_guided guided_few 3 1.3
    compare --guidelines guided_few
    expect_message "more are needed"
    refuses "guideline" compare --guidelines lonely
    refuses "give one" compare --guidelines guided guided
}

# ---- What cannot be compared

check_refusals() {
    sed '1n; s/"size_bytes"/"arrival":"together",&/' a/001.json >together.json
    sed '1n; s/"size_bytes"/"arrival":"last-late",&/' a/001.json >late.json
    while read -r a b part; do
        refuses "$part" compare "$a" "$b"
    done <<'END'
a other_ranks ranks 4 and 8
a other_run_time run_time makespan and local
a other_operation operation allreduce and reduce
together.json late.json arrival together and last-late
span span_far rows that can be compared: rows left out, as the longest delays
END
    grep -v '"size_bytes":64' a/002.json >fewer.json
    compare a/001.json fewer.json
    expect_message "only a/001.json has them: 1"
}

# NAME CONTENT: a file that cannot be read as results; the message names it.
refuse_file() {
    printf %b "$2" >"$1"
    refuses "$1" compare a/001.json "$1"
}

check_files() {
    local head value row='{"operation":"bcast","size_bytes":8,"median_ns":1}'
    head=$(sed 's/\\/&&/g; s/%/%%/g' <<<"$json_head")
    refuse_file empty.json ''
    refuse_file cut.json "$head\n{\"operation\":\"bcast\",\"valid\":1,\"median_"
    refuse_file list.json "$head\n{\"valid\":[1]}\n"
    refuse_file bad.json "$head\n{\"operation\":\"bcast\" \"valid\":1}\n"
    for value in NaN -Infinity 1e999; do
        refuse_file value.json "$head\n{\"operation\":\"bcast\",\"valid\":1,\"median_ns\":$value}\n"
    done
    refuse_file head.json "$head\n"
    refuse_file no_head.json "$row\n"
    refuse_file skew.json "${head/mpix-bench/mpix-skew}\n$row\n"
    refuse_file later.json "${head/\"version\":2/\"version\":3}\n$row\n"
    refuse_file unknown.json "$head\n{\"other\":8}\n"
    refuse_file text.json "$head\n{\"operation\":\"bcast\",\"median_ns\":\"fast\"}\n"
    refuse_file real.json "$head\n{\"operation\":\"bcast\",\"size_bytes\":8.5}\n"
    refuse_file array.json "$head\n$row\n[1, 2]\n"
    refuse_file keys.json "$head\n{\"operation\":\"a\",\"operation\":\"b\"}\n"
    refuse_file bytes.json "$head\n{\"operation\":\"\377\",\"median_ns\":1}\n"
    refuse_file twice.json "$head\n$row\n$row\n"
    compare a slower --format csv --output rows.csv
    refuses 'rows.csv is not JSON: let the tool that measures write it with --format json' compare a/001.json rows.csv
    refuse_file zero.json '{"a":"\0"}\n'
    printf '%s' "$(cat a/001.json)" >no_end.json
    printf '\n \n' | cat a/001.json - >blank.json
    succeeds compare no_end.json blank.json
    refuses "missing.json" compare a/001.json missing.json
    refuses "give its folder" compare a/001.json campaign/manifest.json
    mkdir -p nothing && compare a nothing
    expect_refusal "nothing has neither manifest.json nor a file of results"
    cp -r a half
    head -c -20 a/003.json >half/003.json
    refuses "half/003.json, line 4 is torn" compare half slower
}

check_options() {
    expect_refusals alone mpix_compare <<END
three:red, three:green, three:blue|three
three:green|three:red three:black
give the other too|campaign:one
manifest.json|a:one slower
absent cannot be read: No such file|absent
|
|a
|a a a
--column ranks a a
no_ns|--column no_ns a a
--level-percent 0 a a
--level-percent % a a
--level-percent 5%% a a
--undecided pass a a
--fail-if-slower-percent -1 a a
--fail-if-slower-percent a a
--permutations 3 a a
/no/such/folder|--output /no/such/folder/x a a
END
}

write_folder a 6 1
write_folder slower 7 1.2
write_folder wide 6 1.01 operation=allreduce
write_folder few 3 1
write_folder few_slower 3 1.2
write_folder many 20 1
write_folder many_slower 20 1.2
write_folder lonely 6 1
sed -i '/"size_bytes":8,/d; /"size_bytes":64,/d' lonely/*.json
write_folder other_ranks 6 1 ranks=8
write_folder other_run_time 6 1 run_time=local
write_folder other_operation 6 1 operation=reduce
write_folder lacking 6 1 lacking=64
write_folder vanished 6 1
write_folder slower_less 6 1.2
sed -i '/"size_bytes":64,/d' vanished/*.json slower_less/*.json
write_campaign campaign 7 one two
write_campaign campaign_of_5 5 one two
write_campaign three 6 red green blue
write_arrivals span 1000 2000
write_arrivals span_near 1090 1910
write_arrivals span_other 1111 2000
write_arrivals span_far 3000 800

while IFS='|' read -r expected arguments verdicts head message; do
    quick tap_check "$arguments" check_comparison "$expected" "$arguments" "$verdicts" "$head" "$message"
done < <(comparisons)
quick tap_check "a table" check_table_of_rows
quick tap_check "texts of files command no terminal" check_terminal
quick tap_check "the ratio, its interval and p" check_ratio
quick tap_check "columns of a table" check_widths
quick tap_check "permutations follow the seed" check_seed
quick tap_check "campaigns that are not complete, manifests that are none" check_incomplete
quick tap_check "guidelines" check_guidelines
quick tap_check "what is not comparable" check_refusals
quick tap_check "files that are torn or foreign" check_files
quick tap_check "bad options" check_options
tap_done
