#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# mpix_trace: the calls of programs in C and Fortran are recorded as they were made, programs run as ever, and what
# cannot be recorded is said.
#
# Environment: BUILDDIR       the build directory (default: .)
#              CC             MPI compiler wrapper for C; that for Fortran has the same name but for mpifort
#              MPIEXEC, MPIEXEC_FLAGS, NM
#
# Most functions are called by tap_check only, by name:
# shellcheck disable=SC2317
set -u
export LC_ALL=C

here=$(cd "$(dirname "$0")" && pwd)
. "$here/../tap.sh"
. "$here/run.sh"
programs=$(cd "${BUILDDIR:-.}" && pwd)/lib/trace
compiler=${CC:-mpicc}
subject=$scratch/subject
odd=$scratch/odd
forms=$scratch/forms
dump=$scratch/trace_dump
folder=$scratch/trace

skip_all() {        # REASON
    echo "1..0 # SKIP $1"
    exit 0
}
front=$(compgen -G "$programs/.libs/libmpix_trace-*.so") ||
    skip_all "this build has no recorder: it takes shared libraries, and MPICH or Open MPI"

# What sanitizers have built can be loaded into a program that they have built, too.
[ "${sanitizers:-no}" = no ] || compiler+=" -g -fsanitize=$sanitizers -fno-sanitize-recover=all"

# Compilers are lists of words.
# shellcheck disable=SC2086
if ! $compiler -w "$here/check_trace.c" -o "$subject" -lpthread >"$scratch/log" 2>&1 ||
    ! $compiler -w "$here/check_trace_odd.c" -o "$odd" -lpthread -ldl >>"$scratch/log" 2>&1 ||
    ! $compiler -w "$here/check_trace_forms.c" -o "$forms" >>"$scratch/log" 2>&1 ||
    ! $compiler -I"$here/../../lib" "$here/trace_dump.c" -o "$dump" >>"$scratch/log" 2>&1; then
    cat "$scratch/log"
    echo "Bail out! $compiler does not compile check_trace.c, _odd.c, _forms.c or trace_dump.c"
    exit 1
fi

# RANKS [OPTION]... PROGRAM...: records into a fresh folder. Leaves the traces as text in dump-0 and dump-1.
record() {
    local ranks=$1 rank
    shift
    rm -rf "$folder"
    run "$ranks" mpix_trace -o "$folder" "$@"
    for rank in 0 1; do
        : >"$scratch/dump-$rank"
        [ ! -f "$folder/rank-$rank.mpixtrace" ] ||
            "$dump" "$folder/rank-$rank.mpixtrace" >"$scratch/dump-$rank" || complain "the trace of $rank is torn"
    done
}

expect_done() {
    expect_status 0
    ! grep -q '^wrong' "$scratch/out" || complain "the program complains"
    [ "$(grep -o done "$scratch/out" | wc -l)" -eq 2 ] || complain "not both processes are done"
}

# RANK HOW_OFTEN PATTERN: so many lines of its trace have this; a number, or MIN+.
expect() {
    local count
    count=$(grep -cE -e "$3" "$scratch/dump-$1")
    case $2 in
    *+) [ "$count" -ge "${2%+}" ] || complain "trace of $1: $count lines '$3', not $2" ;;
    *) [ "$count" -eq "$2" ] || complain "trace of $1: $count lines '$3', not $2" ;;
    esac
}

# What holds in every complete trace.
expect_sound() {
    local rank
    for rank in 0 1; do
        expect $rank 1 '^end .* dropped 0$'
        expect $rank 2+ '^clock '
        awk '
            $1 == "event" && $3 < last[$2] { print "thread " $2 ": time goes back at " $3 }
            $1 == "event" { last[$2] = $3 }
            $4 == "enter" { name[$2, ++depth[$2]] = $5 }
            $4 == "leave" && name[$2, depth[$2]--] != $5 { print "leave without enter: " $0 }
            END { for (thread in depth) if (depth[thread] != 0) print "thread " thread " does not leave all" }
            ' "$scratch/dump-$rank"
    done
    [ "$(sed -n 's/.* job //p' "$scratch"/dump-[01] | sort -u | wc -l)" -eq 1 ] || complain "job numbers differ"
}

# ---- What is recorded

check_calls() {
    record 2 "$subject"
    expect_done
    expect_sound
    expect 0 13 ' send partner 1 '
    expect 1 7 ' send partner 0 '
    expect 0 7 ' receive partner 1 '
    # In the communicator in which they are reversed.
    expect 1 1 ' send partner 1 '
    expect 0 1 ' receive partner 0 '
    expect 1 13 ' receive partner 0 '
    expect 0 5 ' send partner 1 tag [0-9]+ bytes 12 comm 2 request 0$'
    expect 1 5 ' receive partner 0 tag [0-9]+ bytes 12 comm 2 request 0$'
    for rank in 0 1; do
        expect $rank 5 ' send_done '
        expect $rank $((6 + rank)) ' post ' # that of rank 1 alone is of MPI_Improbe
        expect $rank 8 ' collective partner '
        expect $rank 1 ' collective_done '
        expect $rank 6 '^comm '
        expect $rank 1 '^comm [0-9]+ context [1-9][0-9]* size 2 inter 0 ranks 1 0$'
        expect $rank 1 ' enter region 5$'
        expect $rank 1 ' leave region 5 0$'
        expect $rank 1 ' enter MPI_Init$'
        expect $rank 1 ' enter MPI_Finalize$'
        expect $rank 5+ '^site .*[+]0x[0-9a-f]+ in .*/subject$'
    done
    expect 1 2 ' collective partner 1 tag [1-9][0-9]* bytes 16 '
    expect 0 1 ' collective partner 1 tag [1-9][0-9]* bytes 0 '
    expect 1 1+ ' leave MPI_Improbe [1-9]'
    expect 1 1 ' leave MPI_Improbe 0$'
    expect 1 0 ' enter MPI_Wtime$'
}

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
    record 2 "$forms" "$scratch"
    expect_done
    expect_sound
    for rank in 0 1; do
        list_events $rank | diff "$scratch/expected-$rank" - >"$scratch/differences" ||
            complain "rank $rank: < was called, > was recorded: $(head -n 20 "$scratch/differences")"
    done
}

check_fortran() {   # FORM
    local wrapper=${compiler/mpicc/mpifort}
    # shellcheck disable=SC2086
    $wrapper -w -DFORM="$1" "$here/check_trace.F90" -o "$scratch/fortran$1" >"$scratch/log" 2>&1 ||
        { cat "$scratch/log"; return; }
    record 2 "$scratch/fortran$1"
    expect_done
    expect_sound
    expect 0 3 ' send partner 1 tag 5 bytes 16 comm 2 request 0$'
    expect 1 3 ' receive partner 0 tag 5 bytes 16 comm 2 request 0$'
    expect 0 1 ' send partner 1 tag 6 bytes 16 comm 0 request [1-9]'
    expect 0 1 ' receive partner 1 tag 6 bytes 16 comm 0 request [1-9]'
    expect 0 1 ' collective partner -1 tag [1-9][0-9]* bytes 16 comm 0 '
    expect 0 1 ' enter MPI_Finalize$'
}

check_records() {
    record 2 "$subject" time
    expect_done
    expect_sound
    expect 0 3+ '^clock '
    expect 1 3+ '^clock '
}

check_action() {    # ACTION
    record 2 "$subject" "$1"
    expect_done
    expect_sound
}

check_threads() {
    record 2 "$subject" threads
    expect_done
    expect_sound
    expect 0 200 ' send partner 1 '
    expect 1 200 ' receive partner 0 '
    [ "$(sed -n 's/^event \([0-9]*\) .*/\1/p' "$scratch/dump-0" | sort -u | wc -l)" -eq 3 ] || complain "not 3 threads"
}

# Two threads make communicators of the same processes at once; of each, all processes know the same context.
check_twins() {
    local rank
    record 2 "$subject" twins
    expect_done
    expect_sound
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
    expect 0 7 ' enter MPI_'
    expect 0 7 ' enter MPI_Send$'
    expect 0 7 ' send partner 1 '
    # Calls that are not recorded count: a barrier, a broadcast and a reduction come before.
    record 2 --only Allreduce "$subject"
    expect_done
    for rank in 0 1; do expect $rank 1 ' collective partner -1 tag [4-9] bytes 4 comm 0 '; done
    # It ends 2 s after MPI_Init, or later.
    record 2 --from 1 "$subject" time
    expect_done
    expect 0 0 ' enter MPI_Init$'
    expect 0 1+ ' enter MPI_Barrier$'
    expect 0 1 ' enter MPI_Finalize$'
    record 2 --to 1.5 "$subject" time
    expect_done
    expect 0 1 ' enter MPI_Init$'
    expect 0 0 ' enter MPI_Finalize$'
}

# ---- Programs that do rare things

# Nothing after a jump out of an error handler is lost, and the call that never returned ends.
check_jumps() {
    record 2 "$odd" jumps
    expect_done
    expect_sound
    for rank in 0 1; do
        expect $rank 3 ' enter MPI_Send$'
        expect $rank 5 ' enter MPI_Barrier$'
    done
}

# Requests that failed are no longer known when their handles come again.
check_failures() {
    record 2 "$odd" fail
    expect_done
    expect_sound
    expect 0 9 ' post '
    expect 0 6 ' receive .* request [1-9]'
    for request in 2 3 5 6 8 9; do expect 0 1 " receive .* request $request\$"; done
}

check_many_threads() {
    record 2 "$odd" threads
    expect_done
    expect_sound
    [ -z "$(own_messages)" ] || complain "it says something"
    expect 0 1300 ' enter MPI_Comm_size$'
}

check_level() {
    record 2 "$odd" level 2000000000
    expect_done
    expect_sound
    expect 0 1 ' enter region 2000000000$'
    expect 1 1 ' leave region 2000000000 0$'
}

check_fork() {
    record 2 "$odd" fork
    expect_done
    expect_sound
    expect 0 1 ' enter MPI_Barrier$'
}

# A million events fit through a buffer of 128 thousand, as there are collective calls. The first of them are a barrier
# and what a Sendrecv has.
check_million() {
    record 2 --buffer 4M --only 'Sendrecv' "$odd" events 1000000
    expect_done
    for rank in 0 1; do
        expect $rank 250000 ' enter MPI_Sendrecv$'
        expect $rank 250000 ' send partner 0 tag 7 bytes 4 comm 1 '
        expect $rank 250000 ' receive partner 0 tag 7 bytes 4 comm 1 '
        expect $rank 250000 ' leave MPI_Sendrecv 0$'
        expect $rank 1 '^end .* dropped 0$'
    done
}

# What the program and MPI allocate and lock is what it is without the recorder.
check_quiet_path() {
    local plain counted
    # shellcheck disable=SC2086
    plain=$(timeout 60 "${MPIEXEC:-mpiexec}" ${MPIEXEC_FLAGS-} -n 2 "$odd" count 2>&1 </dev/null)
    record 2 "$odd" count
    expect_done
    for counted in "$plain" "$(cat "$scratch/out")"; do grep -o 'counted [0-9]*' <<<"$counted"; done |
        sort | uniq -c | grep -q '^ *4 counted' || complain "without the recorder: $plain"
}

# What was written until then can be read: WAY is how the program ends. Communicators are there at once.
check_end() {       # WAY LAST_CALL
    record 2 "$odd" "$1"
    [ "$status" -ne 0 ] || complain "exit status is 0"
    expect 0 0 '^end '
    expect 0 2+ '^clock '
    expect 0 2+ ' enter MPI_Barrier$'
    expect 0 1 '^comm 2 '
    [ -z "$2" ] || expect 0 1 " enter $2\$"
}

# With mpix_preload, the trace has the calls of the program, and no others.
check_both() {
    local preload=${BUILDDIR:-.}/lib/preload/mpix_preload
    rm -rf "$folder"
    # shellcheck disable=SC2086
    timeout 120 "${MPIEXEC:-mpiexec}" ${MPIEXEC_FLAGS-} -n 2 "$preload" "$programs/mpix_trace" -o "$folder" \
        "$odd" fork >"$scratch/out" 2>"$scratch/err" </dev/null
    status=$? command="mpix_preload mpix_trace"
    expect_done
    grep -q '^mpix_preload: .*[1-9]' "$scratch/err" || complain "no report of mpix_preload"
    for rank in 0 1; do
        "$dump" "$folder/rank-$rank.mpixtrace" >"$scratch/dump-$rank" || complain "the trace of $rank is torn"
        expect $rank 1 ' enter MPI_Barrier$'
        expect $rank 0 ' enter MPI_(Allreduce|Comm_dup|Comm_split|Isend|Send|Iprobe)$'
    done
    run alone mpix_trace -o "$scratch/new" mpix_preload "$subject"
    expect_refusal 'mpix_preload comes first'
}

# The measurement of make trace-cost runs.
check_cost() {
    command=run_trace_cost.sh
    bash "$here/../performance/run_trace_cost.sh" 1 10 >"$scratch/out" 2>"$scratch/err"
    status=$?
    expect_status 0
    grep -qE '^median of 1 turns: -?[0-9]+\.[0-9] ns a call$' "$scratch/out" || complain "no result"
}

# ---- What cannot be recorded

check_full() {
    record 2 --buffer 256K "$subject" many
    expect_done
    [ "$(own_messages | wc -l)" -eq 1 ] || complain "not one line"
    own_messages | grep -q 'the buffer was full on 2 of 2 ranks: rank 0 dropped [1-9]' || complain "no line says it"
    expect 0 1 ' dropped partner -1 tag 0 bytes [1-9]'
    expect 0 1 '^end .* dropped [1-9]'
}

check_abort() {
    record 2 "$subject" abort
    [ "$status" -ne 0 ] || complain "exit status is 0"
    expect 0 0 '^end '
    expect 0 2+ '^clock '
    expect 0 5+ ' enter MPI_Barrier$'
}

check_disk() {
    mkdir -p "$scratch/disk"
    mount -t tmpfs -o size=64k tmpfs "$scratch/disk" 2>/dev/null || { echo skip; return; }
    rm -rf "$folder"
    run 2 mpix_trace -o "$scratch/disk/trace" "$subject" many
    umount "$scratch/disk"
    expect_done
    [ "$(own_messages | wc -l)" -eq 1 ] || complain "not one line"
    own_messages | grep -q 'could not write all: .*No space left on device' || complain "no line says it"
}

check_limit() {
    record 2 "$odd" limit
    expect_done
    [ "$(own_messages | wc -l)" -eq 1 ] || complain "not one line"
    own_messages | grep -q 'could not write all: .*File too large' || complain "no line says it"
}

# A process that cannot make its file: no other one leaves one.
check_missing_file() {
    record 2 sh -c 'mkdir -p "$0/rank-1.mpixtrace"; exec "$@"' "$folder" "$subject"
    expect_done
    [ "$(own_messages | wc -l)" -eq 1 ] || complain "not one line"
    own_messages | grep -q 'cannot write .*rank-1.mpixtrace: File exists' || complain "no line says it"
    [ ! -e "$folder/rank-0.mpixtrace" ] || complain "rank 0 has left a file"
}

check_others() {
    record alone sh -c 'echo hello; exit 7'
    expect_status 7
    [ ! -s "$scratch/err" ] || complain "it writes to stderr"
    record 2 "$subject" child
    expect_done
    [ "$(grep -c '^child$' "$scratch/out")" -eq 2 ] || complain "a child does not run"
    run 2 mpix_trace -o "$folder" "$subject"
    [ "$status" -ne 0 ] || complain "a trace is overwritten"
    grep -q 'there is a trace in' "$scratch/err" || complain "no line says that there is a trace"
    run alone mpix_trace "$subject"
    expect_refusal '-o DIR'
    run alone mpix_trace -o "$scratch/new" --buffer 12 "$subject"
    expect_refusal --buffer
    run alone mpix_trace -o "$scratch/new" --from x "$subject"
    expect_refusal --from
}

# HOW_LINKED: without symbols, a call site is an address by which addr2line finds the line of the call.
check_lines() {
    # shellcheck disable=SC2086
    $compiler -w -g "$1" "$here/check_trace.c" -o "$scratch/linked" -lpthread >"$scratch/log" 2>&1 ||
        { cat "$scratch/log"; return; }
    record 2 "$scratch/linked"
    expect_done
    sed -n 's/^site .* [+]\(0x[0-9a-f]*\) in .*\/linked$/\1/p' "$scratch/dump-0" >"$scratch/addresses"
    [ "$(wc -l <"$scratch/addresses")" -ge 20 ] || complain "not 20 call sites"
    addr2line -e "$scratch/linked" <"$scratch/addresses" |
        while IFS=: read -r _ line; do
            line=${line%% *}
            sed -n "${line/\?/1}p" "$here/check_trace.c" | grep -q 'MPI_' || echo "line $line calls nothing"
        done
}

have_fortran() {    # FORM
    local statement='use mpi_f08'
    [ "$1" -ne 1 ] || statement='include "mpif.h"'
    [ "$1" -ne 2 ] || statement='use mpi'
    printf 'program p\n%s\nend program\n' "$statement" >"$scratch/try.f90"
    ${compiler/mpicc/mpifort} "$scratch/try.f90" -o "$scratch/try" >/dev/null 2>&1
}

tap_check "calls, messages, communicators and regions" check_calls
tap_check "all forms of collective operations and of messages" check_forms
for form in 1 2 3; do
    name="Fortran, form $form"
    if have_fortran $form; then tap_check "$name" check_fortran $form; else tap_skip "$name" "no such Fortran"; fi
done
tap_check "records of the clock while a program runs" check_records
tap_check "threads" check_threads
tap_check "threads that make communicators" check_twins
tap_check "a communicator that is freed within a call" check_action freed
# The flags are words, and there may be none.
# shellcheck disable=SC2086
if ! tap_selects "processes of another world"; then
    :
elif timeout 60 "${MPIEXEC:-mpiexec}" ${MPIEXEC_FLAGS-} -n 2 "$subject" spawn >"$scratch/log" 2>&1 </dev/null; then
    tap_check "processes of another world" check_action spawn
else
    tap_skip "processes of another world" "MPI_Comm_spawn fails here"
fi
tap_check "--only, --from and --to" check_only
tap_check "calls that are left by a jump" check_jumps
# Open MPI 4 takes messages that are too long.
# shellcheck disable=SC2086
if ! tap_selects "requests that fail"; then
    :
elif timeout 60 "${MPIEXEC:-mpiexec}" ${MPIEXEC_FLAGS-} -n 2 "$odd" fail 2>&1 </dev/null | grep -q 'do not fail'; then
    tap_skip "requests that fail" "they do not fail with this MPI library"
else
    tap_check "requests that fail" check_failures
fi
tap_check "more threads than there are buffers, one after the other" check_many_threads
tap_check "a region with a large number" check_level
tap_check "a child that is forked" check_fork
tap_check "a million events" check_million
tap_check "nothing is allocated or locked in calls" check_quiet_path
tap_check "the cost of a call" check_cost
tap_check "mpix_preload and mpix_trace" check_both
if command -v addr2line >/dev/null; then
    tap_check "call sites as lines" check_lines -pie
    tap_check "call sites as lines, of a program with fixed addresses" check_lines -no-pie
else
    tap_skip "call sites as lines" "there is no addr2line"
fi
tap_check "a full buffer" check_full
tap_check "MPI_Abort" check_abort
tap_check "MPI_Abort within a call" check_end handler MPI_Send
tap_check "an error that MPI ends the program for" check_end fatal ''
tap_check "exit without MPI_Finalize" check_end exit ''
tap_check "kill -9" check_end kill ''
tap_check "a limit of the size of files" check_limit
tap_check "a file that cannot be made" check_missing_file
if [ "$(check_disk)" = skip ]; then
    tap_skip "a full disk" "a small file system cannot be mounted"
else
    tap_check "a full disk" check_disk
fi
name="programs without MPI, children, folders and options that are refused"
if [ "${sanitizers:-no}" = no ]; then
    tap_check "$name" check_others
else
    tap_skip "$name" "what sanitizers have built cannot be loaded into an ordinary program"
fi

tap_done
