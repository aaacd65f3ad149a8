#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# mpix_trace_convert on a trace that is known: its lines, OTF2 by the readers of OTF2, and Perfetto's JSON.
# check_golden.sh has what is refused.
. "$(dirname "$0")/../../test/programs/run.sh"
. "$top/common/test/columns.sh"
export PYTHONDONTWRITEBYTECODE=1
for python in python3 /usr/bin/python3 none; do
    "$python" -c 'import otf2' 2>/dev/null && break
done

make_trace() {      # NAME RECORD_PERIOD_NS [ZERO_NS [UNKNOWN]]
    "$checks/check_trace_convert" "$scratch/$1" "${@:2}"
}

convert() {         # [OPTION]... FOLDER
    run alone mpix_trace_convert "$@"
}

check_with() {      # PYTHON WHAT FILE [LINES]: against the lines of the trace
    "$1" "$here/check_trace_convert.py" "$2" "${4-$scratch/known.csv}" "$3" 2>&1
}

check_lines() {
    succeeds convert --format csv "$scratch/known" -o "$scratch/lines.csv"
    [ ! -s "$scratch/err" ] || complain "there is something to tell"
    check_with python3 csv "$scratch/known.true"
    columns_page >"$scratch/columns.md"
    python3 "$top/common/test/check_results.py" "$scratch/columns.md" "$scratch/known.csv"
    convert --format csv "$scratch/known"
    cmp "$scratch/out" "$scratch/lines.csv" || complain "standard output is not the same as a file"
}

check_perfetto() {  # [OPTION]...
    succeeds convert --format perfetto -o "$scratch/known.json" "$@" "$scratch/known"
    [ $# -eq 0 ] || { grep -q '"times":"local"' "$scratch/known.json" || complain "times are not local"; return; }
    check_with python3 perfetto "$scratch/known.json"
}

# ---- OTF2

check_archive() {   # FOLDER [OPTION]...
    succeeds convert --format otf2 -o "$1" "${@:2}" "$scratch/known"
    [ ! -s "$scratch/err" ] || complain "there is something to tell"
    [ -s "$1/traces.otf2" ] || complain "there is no archive"
}

# Nothing that OTF2 takes amiss, and all events as they were counted.
check_validity() {
    local archive
    for archive in known global; do
        otf2-print -Werror -A "$scratch/$archive.otf2/traces.otf2" 2>&1 | grep -iE '^otf2-print: |error|warning'
        otf2-print -Werror --silent "$scratch/$archive.otf2/traces.otf2" >/dev/null || echo "$archive: it is not valid"
    done
}

offsets_of() {      # FOLDER: LOCATION,TIME,OFFSET,DEVIATION
    otf2-print -C "$1/traces.otf2" |
        sed -nE 's/^CLOCK_OFFSET +([0-9]+) +Time: ([0-9]+), Offset: \+?(-?[0-9]+), StdDev: (.*)$/\1,\2,\3,\4/p'
}

# Those of the known clocks, rounded; of the second thread of rank 1 as of the first.
check_offsets() {
    local thread=4294967297
    awk -F, '{
        split($3, part, ".")
        printf "%s,%s,%.0f,%s\n", $1, $2, part[1] + (part[2] >= 500), $4 }' \
        "$scratch/known.clocks" >"$scratch/expected"
    { cat "$scratch/expected"; sed -n "s/^1,/$thread,/p" "$scratch/expected"; } | sort >"$scratch/all"
    offsets_of "$scratch/known.otf2" | sort | diff "$scratch/all" - || echo "clock offsets are not those of the clocks"
    [ -z "$(offsets_of "$scratch/global.otf2")" ] || echo "corrected times have offsets too"
}

# A reader needs two offsets of each location, whose times increase.
check_one_record() {
    make_trace once -1
    succeeds convert --format otf2 "$scratch/once"
    [ -s "$scratch/once.otf2/traces.otf2" ] || complain "the archive is not beside the trace"
    offsets_of "$scratch/once.otf2" | awk -F, '
        { count[$1]++; if (count[$1] > 1 && ($2 <= time[$1] || $3 != offset[$1])) print "not the next offset: " $0
          time[$1] = $2; offset[$1] = $3 }
        END { for (name in count) { locations++; if (count[name] != 2) print name ": " count[name] " offsets" }
              if (locations != 4) print locations + 0 " locations, not 4" }'
}

# The global clock begins after the first events.
check_late_zero() {
    local times
    make_trace late 1e9 2500000000
    convert --format csv -o "$scratch/late.csv" "$scratch/late"
    grep -q ',-[0-9]' "$scratch/late.csv" || complain "no time is below 0"
    for times in local global; do
        succeeds convert --format otf2 --times $times -o "$scratch/late.$times" "$scratch/late"
        check_with "$python" otf2 "$scratch/late.$times/traces.otf2" "$scratch/late.csv"
    done
}

check_no_record() {
    local format
    make_trace never -2
    for format in otf2 $([ "$formats" = csv ] || echo perfetto) csv; do
        succeeds convert --format $format "$scratch/never" -o "$scratch/never.$format"
        [ "$(own_messages | grep -c '^[^:]*: 3 ranks, .*: no clock records: ')" -eq 1 ] ||
            complain "does not tell of ranks without clock records"
    done
}

# FORMAT: of clocks whose bound is not known at first, or at the end. Events are after records 20 and 30.
check_unknown_bound() {
    local unknown
    for unknown in 21 30; do
        make_trace unknown 0.1e9 0 $unknown
        convert --format csv "$scratch/unknown" -o "$scratch/unknown.csv"
        succeeds convert --format "$1" "$scratch/unknown" -o "$scratch/unknown.$1.$unknown"
        if [ "$1" = otf2 ]; then
            check_with "$python" otf2 "$scratch/unknown.otf2.$unknown/traces.otf2" "$scratch/unknown.csv"
        else
            check_with python3 "$1" "$scratch/unknown.$1.$unknown" "$scratch/unknown.csv"
        fi
    done
}

# Each MPI_Win_post and MPI_Win_complete, and what waits for one, is a synchronization of RMA. Each access is one of
# RMA, which is complete later, and each lock is asked for, taken and given back.
check_windows() {
    local trace said all=0 events accesses
    mkdir "$scratch/windows"
    "$checks/check_waits" "$scratch/windows" 1 6 || complain "there are no traces"
    for trace in "$scratch"/windows/*; do
        succeeds convert --format csv -o "$scratch/windows.csv" "$trace"
        succeeds convert --format otf2 -o "$trace.otf2" "$trace"
        ! grep -vqE 'collective operations that the format does not have|MPI_Win_flush_local' "$scratch/err" ||
            complain "there is something to tell"
        said=$(awk -F, '$3 == "flush-local"' "$scratch/windows.csv" | wc -l)
        [ "$said" -eq 0 ] || grep -q "left out: .*, of MPI_Win_flush_local: $said\$" "$scratch/err" ||
            complain "not $said flushes of the own end are left out"
        otf2-print "$trace.otf2/traces.otf2" >"$scratch/events"
        while read -r events accesses; do
            awk -F, -v accesses="$accesses" '$3 ~ "^(" accesses ")$"' "$scratch/windows.csv" | wc -l |
                cmp -s - <(grep -c "^$events " "$scratch/events") || complain "not as many $events as $accesses"
        done <<'END'
RMA_PUT put
RMA_GET get
RMA_ATOMIC update
RMA_OP_COMPLETE_REMOTE put|get|update
RMA_REQUEST_LOCK lock-(shared|exclusive)
RMA_ACQUIRE_LOCK lock-(shared|exclusive)
RMA_RELEASE_LOCK unlock
END
        said=$(awk -F, '($3 == "send" || $3 == "receive") && $9 ~ /^-214748364[78]$/ { n++ } END { print n + 0 }' \
            "$scratch/windows.csv")
        [ "$(grep -c '^RMA_SYNC ' "$scratch/events")" -eq "$said" ] ||
            complain "not $said synchronizations"
        all=$((all + said))
    done
    [ $all -gt 0 ] || complain "no trace has any"
}

# ---- What is refused

check_second_archive() {
    refuses "$scratch/known.otf2" convert --format otf2 -o "$scratch/known.otf2" "$scratch/known"
    refuses "$scratch/known.csv" convert --format otf2 -o "$scratch/known.csv" "$scratch/known"
}

check_without_otf2() {
    expect_refusal "OTF2"
    own_messages | grep -qF libopen-trace-format2-dev || complain "no message names the package"
}

if ! command -v python3 >/dev/null || ! make_trace known 1e9; then
    skip_all "it takes python3, and a trace that test/programs/check_trace_convert writes"
fi
# Each test has all that it is about.
convert --format csv "$scratch/known" -o "$scratch/known.csv"
convert --format otf2 "$scratch/known"
has_json() { [ "$formats" != csv ]; }
has_otf2() { [ -e "$scratch/known.otf2" ]; }
has_reader() { has_otf2 && command -v "$1"; }
# What follows is NAME FUNCTION [ARGUMENT]..., or TOOL PACKAGE NAME FUNCTION [ARGUMENT]...
json_check() {
    tap_check_if has_json "the program was built without the Jansson library (Debian package: libjansson-dev)" "$@"
}
otf2_check() {
    tap_check_if has_otf2 "the program was built without the OTF2 library (Debian package: libopen-trace-format2-dev)" \
        "$@"
}
otf2_tool_check() {
    tap_check_if "has_reader $1" "it takes the OTF2 library, and a tool of OTF2 (Debian package: $2)" "${@:3}"
}
if has_otf2; then
    convert --format otf2 --times global -o "$scratch/global.otf2" "$scratch/known"
else
    tap_check "OTF2 is refused where its library is missing" check_without_otf2
fi
quick tap_check "lines of events" check_lines
quick json_check "Perfetto" check_perfetto
json_check "Perfetto, local times" check_perfetto --times local
otf2_check "OTF2: an archive" check_archive "$scratch/known_too.otf2"
otf2_check "OTF2: an archive of corrected times" check_archive "$scratch/global_too.otf2" --times global
quick otf2_tool_check otf2-print otf2-tools "OTF2: valid" check_validity
otf2_tool_check otf2-print otf2-tools "OTF2: clock offsets and deviations" check_offsets
otf2_tool_check otf2-print otf2-tools "OTF2: two offsets of a clock that was recorded once" check_one_record
quick otf2_tool_check "$python" python3-otf2 "OTF2: read with its offsets" \
    check_with "$python" otf2 "$scratch/known.otf2/traces.otf2"
otf2_tool_check "$python" python3-otf2 "OTF2: read with corrected times" \
    check_with "$python" otf2 "$scratch/global.otf2/traces.otf2"
otf2_tool_check "$python" python3-otf2 "OTF2: events before global time 0" check_late_zero
otf2_tool_check otf2-print otf2-tools "OTF2: what processes tell of windows" check_windows
otf2_check "clocks that were never recorded" check_no_record
json_check "Perfetto: bounds that are not known" check_unknown_bound perfetto
otf2_tool_check "$python" python3-otf2 "OTF2: bounds that are not known" check_unknown_bound otf2
otf2_check "an archive is not written over anything" check_second_archive
tap_done
