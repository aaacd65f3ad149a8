#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# mpix_trace with programs that do rare things or end early, and with what cannot be recorded: the program runs as ever,
# what is there is right, and what is not there is said.
#
# Most functions are called by tap_check only, by name:
# shellcheck disable=SC2317
. "$(dirname "$0")/trace_recording.sh"
subject=$scratch/subject
odd=$scratch/odd
compile subject check_trace.c
compile odd check_trace_odd.c

plain() {           # ACTION: what the program says without the recorder
    launch 2 "$odd" "$@" 2>&1 </dev/null
}

# ---- Programs that do rare things

# Nothing after a jump out of an error handler is lost, and the call that never returned ends.
check_jumps() {
    record_all "$odd" jumps
    for rank in 0 1; do
        expect $rank 3 ' enter MPI_Send$'
        expect $rank 5 ' enter MPI_Barrier$'
    done
}

# One process leaves a call; then both make calls further down the stack, and inner ones.
check_deeper() {
    record_all "$odd" deeper
    expect 0 1 ' enter MPI_Send$'
    expect 0 2 ' enter MPI_Comm_free$'
    for rank in 0 1; do expect $rank 12 ' enter MPI_Barrier$'; done
}

# Collective calls fail on one process, some before they take part in anything: later ones have the same numbers on
# both, and both look after the clock in the same calls.
check_numbers() {
    local rank number
    record_all "$odd" numbers
    for rank in 0 1; do
        for number in 2 43 45; do expect $rank 1 " collective partner -1 tag $number bytes 4 comm 2 request 0\$"; done
    done
}

# Requests that failed are no longer known when their handles come again.
check_failures() {
    record_all "$odd" fail
    expect 0 12 ' post '
    expect 0 8 ' receive .* request [1-9]'
    for request in 2 3 5 6 8 9 11 12; do expect 0 1 " receive .* request $request\$"; done
}

# Messages that MPI refused were never sent, nor will they be received; one that was too long has come.
check_refused() {
    local rank
    compile refused check_trace_refused.c
    record_all "$scratch/refused"
    expect 0 3 ' send '
    expect 1 2 ' send '
    expect 0 2 ' receive '
    expect 1 3 ' receive '
    for rank in 0 1; do
        expect $rank 0 ' post '
        expect $rank 1 ' send partner [01] tag 7 bytes 4 '
    done
}

# A broadcast that failed on rank 1 is never complete there.
check_failed_broadcasts() {
    record_all "$odd" broadcast
    expect 0 2 ' collective_done '
    expect 1 2 ' collective partner 0 '
    expect 1 0 ' collective_done '
}

check_many_threads() {
    record_all "$odd" threads
    [ -z "$(own_messages)" ] || complain "it says something"
    expect 0 1300 ' enter MPI_Comm_size$'
}

check_crowd() {
    record_all "$odd" crowd
    expect_line '^mpix_trace: 178 threads on 2 ranks exceeded the limit, and were not recorded$'
    expect 0 511 ' enter MPI_Comm_size$'
}

check_level() {
    record_all "$odd" level 2000000000
    expect 0 1 ' enter region 2000000000$'
    expect 1 1 ' leave region 2000000000 0$'
}

check_fork() {
    record_all "$odd" fork
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
check_quiet_path() {    # COMMUNICATORS
    local plain counted
    plain=$(plain count "$1")
    record 2 "$odd" count "$1"
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

# ---- What cannot be recorded

# A handler that ends the program while the thread writes.
check_signal() {
    record 2 --buffer 256K "$odd" signal
    [ "$status" -ne 0 ] && [ "$status" -ne 124 ] || complain "it does not end by itself"
    expect 0 0 '^end '
    expect 0 2000+ ' enter MPI_Sendrecv$'
}

check_full() {
    record 2 --buffer 256K "$subject" many
    expect_done
    expect_line 'the buffer was full on 2 of 2 ranks: rank 0 dropped [1-9]'
    expect 0 1 ' dropped partner -1 tag 0 bytes [1-9]'
    expect 0 1 '^end .* dropped [1-9]'
}

# Rank 0 ends both. A launcher may lose what a process says just before.
check_full_abort() {
    for _ in 1 2 3 4 5; do
        record 2 --buffer 256K "$subject" many_abort
        ! grep -q 'give a larger --buffer$' "$scratch/err" || break
    done
    [ "$status" -ne 0 ] || complain "exit status is 0"
    expect_line '^mpix_trace: the buffer was full: rank 0 dropped [1-9][0-9]* events; give a larger --buffer$'
    expect 0 0 '^end '
    expect 0 1 ' dropped partner -1 tag 0 bytes [1-9]'
    grep '^event' "$scratch/dump-0" | tail -n 1 | grep -q ' dropped ' ||
        complain "there is something after what was dropped"
    run alone mpix_trace_check "$folder"
    own_messages | grep -q '^mpix_trace_check: rank 0: the buffer was full' || complain "the tools do not say so"
}

check_abort() {
    record 2 "$subject" abort
    [ "$status" -ne 0 ] || complain "exit status is 0"
    expect 0 0 '^end '
    expect 0 2+ '^clock '
    expect 0 5+ ' enter MPI_Barrier$'
}

mount_disk() {
    mkdir -p "$scratch/disk" && mount -t tmpfs -o size=64k tmpfs "$scratch/disk"
}

check_disk() {      # mount_disk came before
    rm -rf "$folder"
    run 2 mpix_trace -o "$scratch/disk/trace" "$subject" many
    umount "$scratch/disk"
    expect_done
    expect_line 'could not write all events: .*No space left on device'
}

check_limit() {
    record 2 "$odd" limit
    expect_done
    expect_line 'could not write all events: .*File too large'
}

# PROGRAM WHY, a regular expression
expect_no_recording() {
    rm -rf "$folder"
    succeeds run alone mpix_trace -o "$folder" "$1"
    grep -q '^it runs$' "$scratch/out" || complain "the program does not run"
    expect_line "$2; the program runs without being recorded\$"
}

# VERSION [CURE]: of a program with an MPI library that says so, which the recorder was not built for
check_other_library() {
    make_program_with_other_mpi "$1" || return
    expect_no_recording "$scratch/user" "$1.*${2-}"
    ! compgen -G "$folder/*" >/dev/null || complain "there is a trace"
}

# With the names of an MPI library in itself.
check_own_library() {
    make_program_with_mpi || return
    expect_no_recording "$scratch/own" 'MPI library within itself, .*'
}

# The program runs as ever, and one process says that it is not recorded.
check_session() {
    record 2 "$odd" session
    expect_done
    ! compgen -G "$folder/*" >/dev/null || complain "there is a trace"
    ! grep -q session "$scratch/out" ||
        expect_line 'from MPI_Init to MPI_Finalize; MPI sessions before, after or without them are not$'
}

# A session beside the world: MPI may refuse to compare their communicators.
check_session_too() {
    record_all "$odd" session_too
    grep -q ' enter MPI_Session_init' "$scratch/dump-0" || return 0
    for rank in 0 1; do
        expect $rank 1 '^comm 2 context [1-9][0-9]* size 2 inter 0 ranks 0 1$'
        expect $rank 1 '^comm 3 context [1-9][0-9]* size 2 inter 0 ranks 1 0$'
        expect $rank 80 ' collective .* comm [23] '
    done
}

# A process that cannot make its file: no other one leaves one.
# The folder is there when both processes have looked into it.
check_missing_file() {
    local script='>"$1/$$"; until [ "$(ls "$1" | wc -l)" -eq 2 ]; do sleep 0.1; done
        mkdir -p "$0/rank-1.mpixtrace"; shift; exec "$@"'
    mkdir "$scratch/starts"
    record 2 sh -c "$script" "$folder" "$scratch/starts" "$subject"
    expect_done
    expect_line 'cannot write .*rank-1.mpixtrace: File exists'
    [ ! -e "$folder/rank-0.mpixtrace" ] || complain "rank 0 has left a file"
}

# ACTION PATTERN: whether the program does not say this without the recorder
is_silent() {
    ! plain "$1" | grep -q "$2"
}

tap_check "calls that are left by a jump" check_jumps
tap_check "calls that are deeper in the stack than one that was left" check_deeper
tap_check "collective calls that fail on one process" check_numbers
# Open MPI 4 takes messages that are too long.
tap_check_if "is_silent fail do.not.fail" "they do not fail with this MPI library" "requests that fail" check_failures
tap_check "messages that are refused, or too long" check_refused
tap_check "more threads than there are buffers, one after the other" check_many_threads
tap_check_if "is_silent broadcast do.not.fail" "they do not fail with this MPI library" \
    "persistent broadcasts that fail" check_failed_broadcasts
tap_check_if "is_silent crowd too.few.threads" "the system allows too few threads" \
    "more threads than there are buffers, at once" check_crowd
tap_check "a region with a large number" check_level
tap_check "a child that is forked" check_fork
tap_check "a million events" check_million
tap_check "nothing is allocated or locked in calls" check_quiet_path 0
tap_check "nothing is allocated or locked in calls on one of too many communicators" check_quiet_path 66000
tap_check "a full buffer" check_full
tap_check "a full buffer at MPI_Abort" check_full_abort
tap_check "MPI_Abort" check_abort
tap_check "MPI_Abort within a call" check_end handler MPI_Send
tap_check "an error that MPI ends the program for" check_end fatal ''
tap_check "exit without MPI_Finalize" check_end exit ''
tap_check "kill -9" check_end kill ''
tap_check "a signal while the trace is written" check_signal
tap_check "a limit of the size of files" check_limit
tap_check "a file that cannot be made" check_missing_file
tap_check "a program of sessions" check_session
tap_check "a session beside the world" check_session_too
tap_check "an MPI library that is neither MPICH nor Open MPI" check_other_library "Other MPI of 99"
other="MPICH Version: 99"
[ ! -e "${BUILDDIR:-.}/lib/interpose/.libs/interpose-mpich.so" ] || other="Open MPI v99"
tap_check "another MPI library than that of the build" check_other_library "$other" \
    "use the launcher of the program's MPI library, and the mpix_trace that was installed for it"
tap_check "a program with an MPI library in itself" check_own_library
tap_check_if mount_disk "a small file system cannot be mounted" "a full disk" check_disk

tap_done
