#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# mpix_trace: the calls of programs in C and Fortran are recorded as they were made, programs run as ever, and options
# that are wrong are refused. check_trace_odd.sh has what goes wrong while a program runs.
#
# Most functions are called by tap_check only, by name:
# shellcheck disable=SC2317
. "$(dirname "$0")/trace_recording.sh"
subject=$scratch/subject
compile subject check_trace.c
compile preload check_preload.c
compile forms -I../.. -I../../lib -I../../include check_trace_forms.c check_trace_forms_messages.c

# ---- What is recorded

# RANK: calls and their events, without threads and times, and without calls that were in vain.
list_events() {
    awk '
        $1 != "event" || $5 == "clock" || $5 == "flush" { next }
        $4 == "leave" && $6 > 0 { call = "" }
        call != "" { print call; call = "" }
        $4 == "enter" { call = $4 " " $5 }
        $4 !~ /^(enter|leave)$/ { sub(/^event [0-9]+ [0-9]+ /, ""); print }
        ' "$scratch/dump-$1"
}

check_forms() {
    record_all "$scratch/forms" "$scratch"
    for rank in 0 1; do
        list_events $rank | diff "$scratch/expected-$rank" - >"$scratch/differences" ||
            complain "rank $rank: < was called, > was recorded: $(head -n 20 "$scratch/differences")"
    done
}

# All calls of rank 0 are at places of their own.
check_fortran() {   # FORM
    local wrapper=${compiler/mpicc/mpifort}
    # shellcheck disable=SC2086
    $wrapper -w -DFORM="$1" "$here/check_preload.F90" -o "$scratch/fortran$1" >"$scratch/log" 2>&1 ||
        { cat "$scratch/log"; return; }
    check_recording all "$scratch/fortran$1" <<END
0|3| send partner 1 tag 5 bytes 16 comm 2 request 0\$
1|3| receive partner 0 tag 5 bytes 16 comm 2 request 0\$
0|1| send partner 1 tag 6 bytes 16 comm 0 request [1-9]
0|1| receive partner 1 tag 6 bytes 16 comm 0 request [1-9]
0|1| collective partner -1 tag [1-9][0-9]* bytes 8 comm 0 
0|1| enter MPI_Finalize\$
0|15|^site [^ ]+ MAIN__[+]0x[0-9a-f]+ [(]0x[0-9a-f]+[)] in .*/fortran$1\$
0|15|^path [^ ]+ MPI_.* shown 0\$
0|15|^path [^ ]
END
}

# What passes without mpix_trace.
check_passes() {    # ACTION BARRIERS_OF_RANK_0 BARRIERS_OF_RANK_1 COLLECTIVE_CALLS [ARGUMENT]
    local rank
    succeeds record 2 "$scratch/preload" "$1" "${@:5}"
    ! grep -q '^wrong' "$scratch/out" || complain "the program complains"
    expect_sound
    expect 0 "$2" ' enter MPI_Barrier$'
    expect 1 "$3" ' enter MPI_Barrier$'
    for rank in 0 1; do expect $rank "$4" ' collective partner -1 .* comm 0 '; done
}

# What the library calls is not the program's.
check_library() {
    cat >"$scratch/harmonize.c" <<'SOURCE'
#include <mpix_harmonize.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    int flag = 0, sum;
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 1000; i++)
        MPIX_Harmonize(MPI_COMM_WORLD, &flag);
    MPI_Reduce(&flag, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    puts("done");
    return 0;
}
SOURCE
    local library=$build/lib/.libs
    compile harmonize "$scratch/harmonize.c" -I../../include "$library/libmpix_harmonize.so" "-Wl,-rpath,$library"
    MPIX_HARMONIZE_BARRIER=collective check_recording all "$scratch/harmonize" <<'END'
0,1|3| enter MPI_
0,1|1| enter MPI_Reduce$
0,1|1| collective partner
END
}

# HOW: the processes met; they know the same context of what is between them, so its messages are found again.
check_between() {
    record_all "$subject" "$1"
    expect 0 10 ' send partner 0 tag 7 bytes 4 comm 2 '
    expect 1 10 ' receive partner 0 tag 7 bytes 4 comm 2 '
    expect 0 1 '^comm 2 context [1-9][0-9]* size 1 inter 1 ranks 1$'
    expect 1 1 '^comm 2 context [1-9][0-9]* size 1 inter 1 ranks 0$'
    [ "$(sed -n 's/^comm 2 context \([0-9]*\).*/\1/p' "$scratch"/dump-[01] | sort -u | wc -l)" -eq 1 ] ||
        complain "contexts differ"
}

# A library before the MPI library calls it by the other names. What it does not set is of no call.
check_tool() {
    local rank
    cat >"$scratch/tool.c" <<'SOURCE'
int MPI_Barrier(MPI_Comm comm) { return PMPI_Barrier(comm); }
int MPI_Waitsome(int n, MPI_Request *r, int *count, int *indices, MPI_Status *s) { return MPI_ERR_OTHER; }
SOURCE
    compile tool.so -shared -fPIC -include mpi.h "$scratch/tool.c"
    LD_PRELOAD=$scratch/tool.so record_all "$subject"
    for rank in 0 1; do expect $rank 2 ' enter MPI_Barrier$'; done
    LD_PRELOAD=$scratch/tool.so record_all "$subject" waitsome
    for rank in 0 1; do expect $rank 1 ' receive partner'; done
}

poll() {
    record_all --buffer 256K "$subject" poll
    expect 1 1 ' leave MPI_Iprobe [1-9]'
    expect 1 1 ' leave MPI_Iprobe 0$'
    expect 1 2 ' leave MPI_Test [1-9]'
    expect 1 0 ' leave MPI_Test 0$'
    [ "$(awk '$4 == "leave" && $6 > 0 { print $6 }' "$scratch/dump-1" | sort -u | wc -l)" -eq 1 ] ||
        complain "the places have not been called equally often"
    # Its time counts once.
    [ -x "$programs/mpix_trace_report" ] || return 0
    succeeds run alone mpix_trace_report "$folder" --format csv --show functions
    awk -F, '{ is_long = $4 > 1e7 } $1 == "MPI_Iprobe" { once = is_long } $1 == "MPI_Test" { again = is_long }
        END { exit !once || again }' "$scratch/rows" || complain "the time of the loop is not counted once"
}

# A loop that polls at several places is a region for each place, however long it takes. A process that stands still
# until the message is there does not poll, so there are three tries.
check_poll() {
    local complaints
    for _ in 1 2 3; do
        complaints=$(poll)
        [ -n "$complaints" ] || return 0
    done
    echo "$complaints"
}

# What is computed between two looks is not in the first.
check_twice() {
    local rank
    record_all "$subject" twice
    for rank in 0 1; do
        expect $rank 2 ' leave MPI_Iprobe 1$'
        [ "$(awk '/^event .* MPI_Iprobe/ { printf "%s ", $4 }' "$scratch/dump-$rank")" = \
            "enter leave enter leave " ] ||
            complain "a region of one place is within that of another"
    done
}

# ACTION FUNCTION: it is tried in vain and then not; but for those that the MPI library lacks.
check_trial() {
    local rank
    record_all "$subject" "$1"
    grep -q " enter MPI_$2\$" "$scratch/dump-0" || [ "$2" != Parrived ] || return 0
    for rank in 0 1; do
        expect $rank 1+ " leave MPI_$2 [1-9]"
        expect $rank 1 " leave MPI_$2 0\$"
    done
}

check_threads() {
    record_all "$subject" threads
    expect 0 200 ' send partner 1 '
    expect 1 200 ' receive partner 0 '
    [ "$(sed -n 's/^event \([0-9]*\) .*/\1/p' "$scratch/dump-0" | sort -u | wc -l)" -eq 3 ] || complain "not 3 threads"
}

# Two threads have requests at the same time: what one has completed, the other may be given at once.
check_exchanges() { # ACTION
    local rank kind
    record_all "$subject" "$1"
    for rank in 0 1; do
        expect $rank 10000 ' receive partner [01] tag 7 bytes 4 comm [23] request [1-9]'
        for kind in receive send_done; do
            [ -z "$(awk -v kind=$kind '$4 == kind { print $NF }' "$scratch/dump-$rank" | sort | uniq -d)" ] ||
                complain "a $kind twice"
        done
        expect $rank 10000 ' send_done '
    done
}

# Two threads make communicators of the same processes at once; of each, all processes know the same context.
check_twins() {
    local rank
    record_all "$subject" twins
    for rank in 0 1; do
        expect $rank 3+ '^clock '
        sed -n 's/^comm [0-9]* context \([0-9]*\) size 2 inter 0 .*/\1/p' "$scratch/dump-$rank" | sort \
            >"$scratch/contexts-$rank"
    done
    [ "$(sort -u "$scratch/contexts-0" | wc -l)" -eq 203 ] ||
        complain "$(uniq -d "$scratch/contexts-0" | wc -l) contexts are of several communicators"
    cmp -s "$scratch/contexts-0" "$scratch/contexts-1" || complain "contexts differ between processes"
}

check_only() {
    record 2 --only 'Send,MPI_Wt*' "$subject"
    expect_done
    expect 0 3 ' enter MPI_'
    expect 0 1 ' enter MPI_Send$'
    expect 0 1 ' enter MPI_Wtime$'
    expect 0 1 ' enter MPI_Wtick$'
    expect 0 1 ' send partner 1 '
    # Calls that are not recorded count: a barrier, a broadcast and a reduction come before.
    record 2 --only allreduce "$subject"
    expect_done
    for rank in 0 1; do expect $rank 1 ' collective partner -1 tag [4-9] bytes 4 comm 0 '; done
    # It ends 2 s after MPI_Init, or later.
    record 2 --from-s 1 "$subject" time
    expect_done
    expect 0 0 ' enter MPI_Init$'
    expect 0 1+ ' enter MPI_Barrier$'
    expect 0 1 ' enter MPI_Finalize$'
    record 2 --to-s 1.5 "$subject" time
    expect_done
    expect 0 1 ' enter MPI_Init$'
    expect 0 0 ' enter MPI_Finalize$'
}

# Between MPI_Pcontrol(0) and (1) nothing is recorded; what was not counts: later messages and collective calls are
# matched with their own other ends.
check_off() {
    local matched
    record_all "$subject" off
    expect 0 4 ' enter MPI_Send$'
    expect 1 6 ' receive partner 0 '
    for rank in 0 1; do
        expect $rank 0 ' enter MPI_Bcast$'
        expect $rank 1 ' collective partner -1 tag 101 bytes 4 comm 0 '
    done
    expect 0 3 ' enter unrecorded$'
    expect 1 3 ' enter unrecorded$'
    [ -x "$build/bin/mpix_trace_convert" ] || return
    succeeds run alone mpix_trace_convert --format csv "$folder"
    matched=$(awk -F, '$3 == "send" && $14 != "" { sent[$14] = $10 }
        $3 == "receive" && $14 != "" { print $14 in sent ? sent[$14] "-" $11 : "none" }' "$scratch/out" | sort)
    [ "$matched" = $'20-20\n32-32\n8-8' ] || complain "sent and received bytes: $matched"
}

# Each thread has such a time for itself.
check_off_in_threads() {
    check_recording all "$subject" off_threads <<END
0,1|2| enter unrecorded\$
0,1|2| enter MPI_Barrier\$
END
}

# TRACE_TAG_POST and TRACE_TAG_COMPLETE. Rank 0 leaves out the first epoch, rank 1 the two in the middle.
check_off_windows() {
    check_recording all "$subject" off_windows <<'END'
0|1| s?skipped partner 1 tag -2147483648 bytes 1 .* request [1-9]
0|1| skipped partner 1 tag -2147483647 bytes 1 
1|1| skipped partner 0 tag -2147483648 bytes 2 
1|1| s?skipped partner 0 tag -2147483647 bytes 2 
0|3| send partner 1 tag -2147483647 
1|2| send partner 0 tag -2147483648 
END
}

# Each process stops at its half, and one chunk of memory is more. What is there is whole.
check_limit() {
    record 2 --limit 1M "$subject" many
    expect_done
    expect_line '^mpix_trace: 2 of 2 ranks stopped recording at the limit of the trace, rank [01] first, after '
    expect 0 10000+ '^event '
    expect 0 0 ' dropped partner'
    [ "$(cat "$folder"/*.mpixtrace | wc -c)" -lt 1300000 ] || complain "it is larger than its limit"
    succeeds run alone mpix_trace_check "$folder"
    own_messages | grep -q 'the limit of the trace was met' || complain "the tools do not say so"
    succeeds run alone mpix_trace_report --show answer "$folder"
    tr -s ' \n' ' ' <"$scratch/out" | grep -q 'Only the part of the run .* to [0-9.]* s was analyzed' ||
        complain "what is later than the limit is analyzed"
}

# A share of less than 64 KiB would end with MPI_Init. Ranks that are not recorded have none.
check_small_limit() {
    record 5 --limit 256K "$subject" nothing
    expect_status 0
    expect_line 'option --limit is not enough for 5 ranks, give 320K or more; the program runs without being recorded$'
    record 5 --limit 256K --only-ranks 0-3 "$subject" nothing
    expect_status 0
    expect 0 1 ' enter MPI_Finalize$'
}

# Of the others there are a clock and communicators, but no calls.
check_ranks() {
    record 2 --only-ranks 1 "$subject"
    expect_done
    expect 0 0 '^event '
    expect 0 2+ '^clock '
    expect 0 2+ '^comm '
    expect 1 1+ ' receive partner 0 '
    succeeds run alone mpix_trace_check "$folder"
    own_messages | grep -q 'only ranks 1 were recorded' || complain "the tools do not say so"
    record 2 --only-ranks 0-2 "$subject"
    expect_done
    expect_line 'option --only-ranks names more ranks than there are; the program runs without being recorded$'
}

# That of MPIX_Clock_write.
check_clock_file() {
    record 2 --clocks "$scratch/clocks" "$subject"
    expect_done
    grep -q '"mpix_clock_records": 1' "$scratch/clocks" || complain "it is no file of clock records"
    grep -q '^{"host": .*"monotonic"' "$scratch/clocks" || complain "it has no clock"
    rm "$scratch/clocks"
    mkdir "$scratch/folder"
    record 2 --clocks "$scratch/folder/clocks" sh -c "rm -rf $scratch/folder; exec $subject"
    expect_status 0
    expect_line "there is no file of clock records: MPIX_Clock_write: '$scratch/folder/clocks' cannot be written: "
}

# Strict compilers take the header, and its functions do nothing where nobody records.
check_region_header() {
    local language ending standard
    command=mpix_region.h
    for language in c:c99:cc cc:c++11:c++; do
        IFS=: read -r ending standard language <<<"$language"
        echo '#include "mpix_region.h"
            int main() { mpix_region_enter("a"); mpix_region_leave("a"); return 0; }' >"$scratch/region.$ending"
        capture "$language" -std="$standard" -Wall -Wextra -pedantic -Werror -I"$here/../include" \
            "$scratch/region.$ending" -o "$scratch/region" -ldl
        expect_status 0
        capture "$scratch/region"
        expect_status 0
    done
}

is_x86_64() {
    [ "$(echo __x86_64__ | $compiler -E -P -)" = 1 ]
}

# As trace/front/frames.h has it.
has_frames() {
    echo '#include "trace/front/frames.h"
        FRAMES_CALLER' | $compiler -I"$top" -E -P - | grep -q dwarf_cfa
}

# A call that all come through names nothing, so its callers are the places; with one frame, it is.
check_wrapper() {
    local place
    [ -x "$build/bin/mpix_trace_convert" ] || return
    record_all "$subject" wrapped
    succeeds run alone mpix_trace_convert --format csv "$folder"
    for place in meet_plainly meet_with_array meet_aligned; do
        [ "$(grep -cE ",enter,.*MPI_Barrier.*\b$place\b" "$scratch/out")" -eq 6 ] || complain "not 6 calls of $place"
    done
    record_all --frames 1 "$subject" wrapped
    succeeds run alone mpix_trace_convert --format csv "$folder"
    [ "$(grep -cE ',enter,.*MPI_Barrier.*\bmeet\b' "$scratch/out")" -eq 18 ] || complain "not 18 calls of one place"
}

# Four frames tell the place of the call and three turns, 16 all turns.
check_many_paths() {
    record_all --frames 4 "$subject" paths
    ! grep -q 'paths of callers' "$scratch/err" || complain "four frames are too many"
    expect 0 8 '^path [^ ]+ MPI_Comm_size '
    record_all --frames 16 "$subject" paths
    expect_line '^mpix_trace: 2 of 2 ranks called MPI by more paths of callers than there is room for: further calls '
    expect 0 8100+ '^path [^ ]+ MPI_Comm_size '
    expect 0 16384 ' enter MPI_Comm_size$'
}

# Numbers of functions, and places, differ by few bits: two calls may differ by the same.
check_places() {
    record_all "$subject" places
    expect 0 2 '^path [^ ]+ MPI_Comm_rank '
    expect 0 1023 '^path [^ ]+ MPI_Comm_size '
}

check_many_regions() {
    record_all "$subject" regions
    expect_line '^mpix_trace: 2 of 2 ranks had more regions than there is room for: further ones are not recorded$'
    expect 0 8000+ ' enter region '
}

# With mpix_preload, in any order: the trace has the calls of the program, and no others.
check_both() {
    local programs=$build/bin rank first
    for first in mpix_preload mpix_trace; do
        rm -rf "$folder"
        if [ $first = mpix_preload ]; then
            run 2 mpix_preload "$programs/mpix_trace" -o "$folder" "$subject"
        else
            run 2 mpix_trace -o "$folder" mpix_preload --replace barrier,wtime "$subject"
        fi
        dump
        expect_done
        grep -qE '^MPI_COMM_WORLD +2 +[1-9]' "$scratch/err" || complain "no report of mpix_preload"
        for rank in 0 1; do
            expect $rank 2 ' enter MPI_Barrier$'
            expect $rank 1 ' enter MPI_Comm_dup$'
            expect $rank 2 ' enter MPI_Comm_split$'
            expect $rank 1 ' enter MPI_Allreduce$'
            expect $rank 0 ' enter MPI_Iprobe$'
            # shellcheck disable=SC2016 # for awk
            expect_silence awk '/^clock / && !offset { offset = $3 }
                / leave MPI_Init / && $3 + offset >= 0 { print "what the preload does in it is a part of MPI_Init" }' \
                "$scratch/dump-$rank"
        done
    done
    run alone mpix_trace -o "$scratch/new" "$programs/mpix_trace" -o "$scratch/new" "$subject"
    expect_refusal 'mpix_trace is named twice'
    run alone mpix_preload "$programs/mpix_trace" "$subject"
    [ "$status" -eq 2 ] && grep -q '^mpix_trace: give a folder' "$scratch/err" || complain "no line asks for a folder"
}

# So are looks of mpix_preload after its clock, here one for each barrier.
check_looks() {
    record_all mpix_preload --quiet --replace wtime "$subject" time
    for rank in 0 1; do expect $rank 20+ ' enter clock$'; done
}

# A link may have any name, a folder any character, and a program may clear the environment before MPI_Init.
check_odd_names() {
    local link=$scratch/recorder odd=$scratch/run[1]
    ln -s "$build/bin/mpix_trace" "$link"
    command="a link to mpix_trace"
    capture "$link" --help
    expect_status 0
    grep -q '^Usage: .* mpix_trace ' "$scratch/out" || complain "no usage"
    run 2 mpix_trace -o "$odd" "$subject"
    refuses "there is a trace in $odd already" run 2 mpix_trace -o "$odd" "$subject"
    succeeds record 2 "$subject" cleared
    expect 0 1 ' enter MPI_Init$'
}

# The measurement of make trace-cost runs.
check_cost() {
    local of
    command=run_trace_cost.sh
    bash "$here/performance/run_trace_cost.sh" 1 10 >"$scratch/out" 2>"$scratch/err"
    status=$?
    expect_status 0
    for of in call request; do
        grep -qE "^median of 1 turns: -?[0-9]+\.[0-9] ns a $of\$" "$scratch/out" || complain "no result of a $of"
    done
}

# A line says how much there is, and what comes next, unless --quiet.
check_closing() {
    record 2 "$subject"
    expect_done
    grep '^mpix_trace: ' "$scratch/err" >"$scratch/lines"
    [ "$(wc -l <"$scratch/lines")" -eq 2 ] || complain "not two lines"
    sed -n 1p "$scratch/lines" | grep -qxE "mpix_trace: 2 files, [1-9][0-9]{2,} events; in MPI for [0-9]+( to [0-9]+)?\
 % of the time; the longest call: [0-9.e-]+ s in MPI_[A-Za-z_]+ on rank [01]" || complain "not what was recorded"
    sed -n 2p "$scratch/lines" | grep -qxF "mpix_trace: who waits for whom: next: mpix_trace_report $folder" ||
        complain "not where it is"
    record 2 --quiet "$subject"
    expect_done
    ! grep -q '^mpix_trace' "$scratch/err" || complain "it says something"
    record 2 "$subject" many_abort
    [ "$(grep -cxE "mpix_trace: the program ends without MPI_Finalize; next: mpix_trace_report $folder" \
        "$scratch/err")" -eq 1 ] || complain "not one line says that MPI_Finalize is missing"
}

check_others() {
    local as_user
    record 1 sh -c 'echo hello; exit 7'
    expect_status 7
    expect_line '^mpix_trace: no call of MPI_Init was seen .*; the program ran here without being recorded$'
    [ ! -e "$folder" ] || complain "an empty folder is left"
    record 2 "$scratch/preload" child
    expect_done
    [ "$(grep -c '^child 2$' "$scratch/out")" -eq 2 ] || complain "a child does not run"
    # Of all processes, the first says so.
    expect_refusals 2 mpix_trace -o "$scratch/new" <<END
--no-such-option|--no-such-option $subject
"Recvv" matches no function of MPI; did you mean MPI_Recv?|--only Send,Recvv $subject
"Bot" matches no function of MPI|--only Bot $subject
END
    expect_line 'of MPI$'
    MPIX_HARMONIZE_SYNC=foo run 2 mpix_trace -o "$scratch/new" "$subject"
    expect_refusal "environment variable MPIX_HARMONIZE_SYNC: 'foo' is not valid"
    [ ! -e "$scratch/new" ] || complain "a refusal makes a folder"
    # Files can be made in it, though not listed, but by root.
    mkdir -m 300 "$scratch/unread"
    [ "$(id -u)" != 0 ] || as_user=(setpriv --bounding-set "-dac_override,-dac_read_search")
    capture ${as_user[@]+"${as_user[@]}"} "$(path_of mpix_trace)" -o "$scratch/unread" sh -c 'exit 7'
    expect_status 7
}

# HOW_LINKED HOW_NAMED: a call site has an address by which addr2line finds the line of the call. Its name, if it is
# named, is that of the function. Static functions are named; in a stripped program, none.
check_lines() {
    local addresses=$scratch/addresses
    # shellcheck disable=SC2086
    $compiler -w -g "$1" "$here/check_trace.c" -o "$scratch/whole" -lpthread -ldl >"$scratch/log" 2>&1 &&
        cp "$scratch/whole" "$scratch/linked" || { cat "$scratch/log"; return; }
    [ "$2" = named ] || strip "$scratch/linked" || return
    record 2 "$scratch/linked"
    expect_done
    awk 'NR == FNR { if ($1 == "path") calls[$4] = 1; next } $1 == "site" && $2 in calls' \
        "$scratch/dump-0" "$scratch/dump-0" >"$scratch/sites"
    sed -nE -e 's/^site [^ ]+ ([^ ]+)[+]0x[0-9a-f]+ [(](0x[0-9a-f]+)[)] in .*\/linked$/\2 \1/p' \
        -e 's/^site [^ ]+ [+](0x[0-9a-f]+) in .*\/linked$/\1 unnamed/p' "$scratch/sites" >"$addresses"
    [ "$(wc -l <"$addresses")" -ge 20 ] || complain "not 20 call sites"
    if [ "$2" = named ]; then
        ! grep -q ' unnamed$' "$addresses" || complain "unnamed: $(grep ' unnamed$' "$addresses")"
        grep -q ' reduce$' "$addresses" && grep -q ' main$' "$addresses" || complain "not of reduce and main"
    else
        ! grep -v ' unnamed$' "$addresses" || complain "named in a stripped program"
    fi
    while read -r address name; do
        IFS=$'\n:' read -r -d '' function _ line < <(addr2line -f -e "$scratch/whole" "$address")
        [ "$name" = "$function" ] || [ "$name" = unnamed ] || complain "$address is of $function, not $name"
        line=${line%% *}
        sed -n "${line/\?/1}p" "$here/check_trace.c" | grep -q 'MPI_' || echo "line $line calls nothing"
    done <"$addresses"
}

# Rank 1 sends to 1 in the communicator in which they are reversed. A post is of MPI_Improbe.
tap_check "calls, messages, communicators and regions" check_recording all "$subject" <<'END'
0,1|1| send partner 1 tag
0,1|1| receive partner 0 tag
0|0| post partner
1|1| post partner
0,1|12| collective partner
0,1|1| collective_done partner
0,1|6|^comm [0-9]
0,1|1|^comm [0-9]+ context [1-9][0-9]* size 2 inter 0 ranks 1 0$
0,1|1| enter region 5$
0,1|1| leave region 5 0$
0,1|1| enter region probe$
0,1|1| leave region probe 0$
0,1|1| enter MPI_Init$
0,1|1| enter MPI_Finalize$
0,1|5+|^site [^ ]+ reduce[+]0x[0-9a-f]+ [(]0x[0-9a-f]+[)] in .*/subject$
1|2| collective partner 1 tag [1-9][0-9]* bytes 16 comm
0|1| collective partner 1 tag [1-9][0-9]* bytes 0 comm
1|1+| leave MPI_Improbe [1-9]
1|1| leave MPI_Improbe 0$
1|0| enter MPI_Wt
END
tap_check "all forms of collective operations and of messages" check_forms
for form in 1 2 3; do
    tap_check_if "have_fortran $form" "no such Fortran" "Fortran, form $form" check_fortran $form
done
# Synchronizations are there, too, with what they take.
tap_check "records of the clock while a program runs" check_recording all "$subject" time <<'END'
0,1|3+|^clock [0-9]
0,1|3+| enter clock$
END
tap_check "a loop that polls at several places" check_poll
tap_check "looks at several places, one after the other" check_twice
tap_check "links, folders and environments that are odd" check_odd_names
tap_check "windows that are tested" check_trial windows Win_test
tap_check "parts of messages that are tested" check_trial parts Parrived
tap_check "threads" check_threads
tap_check "requests of several threads" check_exchanges exchange
tap_check "requests of several threads, one by one" check_exchanges exchange_by_one
tap_check "threads that make communicators" check_twins
tap_check "a communicator that is freed within a call" check_recording all "$subject" freed <<'END'
0|3| enter MPI_Comm_free$
END
# Open MPI 4 tries in vain for a minute, which others do in a second.
spawns_alone() { tap_limit_s=10 launch 2 "$scratch/preload" spawn "$scratch/preload" </dev/null; }
tap_check_if spawns_alone "MPI_Comm_spawn fails here" \
    "processes of another world" check_passes spawn 206 206 0 "$scratch/preload"
tap_check "--only, --from-s and --to-s" check_only
tap_check "MPI_Pcontrol(0) and MPI_Pcontrol(1)" check_off
tap_check "MPI_Pcontrol(0) and MPI_Pcontrol(1) between epochs of a window" check_off_windows
tap_check "MPI_Pcontrol(0) and MPI_Pcontrol(1) of several threads" check_off_in_threads
tap_check "a limit of the size" check_limit
tap_check "a limit of the size that is too small for so many ranks" check_small_limit
tap_check "some of the ranks" check_ranks
tap_check "a file of clock records" check_clock_file
tap_check_if has_frames "callers of callers are not known here" "a call with several callers" check_wrapper
tap_check_if has_frames "callers of callers are not known here" \
    "more paths of callers than a trace can have" check_many_paths
tap_check "more regions than a trace can have" check_many_regions
tap_check_if is_x86_64 "it has code of x86_64" "functions that are called from places nearby" check_places
if command -v cc >/dev/null && command -v c++ >/dev/null; then
    quick tap_check "the header of regions in C and C++" check_region_header
else
    tap_skip "the header of regions in C and C++" "there is no cc, or no c++"
fi
tap_check "the cost of a call" check_cost
tap_check "mpix_preload and mpix_trace" check_both
tap_check "looks of mpix_preload after the clock" check_looks
tap_check "a collective call that is refused on one process" check_passes refused 0 0 301
tap_check "a barrier in an error handler" check_passes handler 301 302 301
tap_check "calls of this library" check_library
tap_check "calls of a tool" check_tool
meet_alone() { launch 2 "$subject" "$how" </dev/null; }
for how in groups port socket; do
    tap_check_if meet_alone "they cannot meet so with this MPI library" \
        "messages between processes that met by $how" check_between $how
done
if command -v addr2line >/dev/null && command -v strip >/dev/null; then
    tap_check "call sites as functions and lines" check_lines -pie named
    tap_check "call sites as functions and lines, of a program with fixed addresses" check_lines -no-pie named
    tap_check "call sites as lines, of a program without symbols" check_lines -pie stripped
else
    tap_skip "call sites as functions and lines" "there is no addr2line, or no strip"
fi
quick tap_check "what is said at the end" check_closing
name="programs without MPI, children, folders and options that are refused"
if [ "${sanitizers:-no}" = no ]; then
    tap_check "$name" check_others
else
    tap_skip "$name" "what sanitizers have built cannot be loaded into an ordinary program"
fi

tap_done
