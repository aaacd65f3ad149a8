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
compile refused check_trace_refused.c

plain() {           # PROGRAM [ACTION]...: what the program says without the recorder
    launch 2 "$@" 2>&1 </dev/null
}

# ---- Programs that do rare things

check_many_threads() {
    record_all "$odd" threads
    [ -z "$(own_messages)" ] || complain "it says something"
    expect 0 1300 ' enter MPI_Comm_size$'
}

# What the program and MPI allocate and lock is what it is without the recorder.
check_quiet_path() {    # COMMUNICATORS, below 0: more at once than the recorder knows
    local plain counted
    plain=$(plain "$odd" count "$1")
    record 2 "$odd" count "$1"
    expect_done
    if [ "$1" -lt 0 ]; then
        expect_line '^mpix_trace: rank [01] made [1-9][0-9]* more communicators and windows than'
    else
        [ -z "$(own_messages)" ] || complain "it says something"
        expect 0 2000 " collective partner -1 .* comm $(($1 + 1)) "
    fi
    for counted in "$plain" "$(cat "$scratch/out")"; do grep -o 'counted [0-9]*' <<<"$counted"; done |
        sort | uniq -c | grep -q '^ *4 counted' || complain "without the recorder: $plain"
}

# ---- What cannot be recorded

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

# SIGNAL: the report says where each process was when it was ended, and for whom.
check_hang() {
    record 2 "$odd" hang "$1"
    [ "$status" -ne 0 ] || complain "exit status is 0"
    expect 0 0 '^end '
    expect 0 1 ' enter MPI_Recv$'
    [ -x "$programs/mpix_trace_report" ] || return
    succeeds run alone mpix_trace_report "$folder"
    # A rank that began late makes the other one wait for longer.
    local since='since (0\.[3-9]|[1-9][0-9.]*) s'
    grep -qE "^Rank 0 is in MPI_Recv at .* $since, for rank 1, which is in MPI_Wait\.\$" "$scratch/out" ||
        complain "not where rank 0 was"
    grep -qE "^Rank 1 is in MPI_Wait at .* $since, for rank 0, which is in MPI_Recv\.\$" "$scratch/out" ||
        complain "not where rank 1 was"
    succeeds run alone mpix_trace_report --show answer --format csv --page "$scratch/page.html" "$folder"
    grep -qE '^[0-9]+,where ranks were,.*Rank 0 is in MPI_Recv at ' "$scratch/out" ||
        complain "no row says where rank 0 was"
    grep -q '<p>Rank 0 is in MPI_Recv at ' "$scratch/page.html" || complain "the page does not say where rank 0 was"
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

# The program runs as ever, and one process says that it is not recorded.
check_session() {
    check_recording well "$odd" session <<'END'
says|from MPI_Init to MPI_Finalize; MPI sessions before, after or without them run without being recorded$
END
    [ ! -e "$folder" ] || complain "an empty folder is left"
}

# The program runs as ever, a line says why it is not recorded, and no empty folder is left.
check_lost_front() {
    record 2 env -u LD_PRELOAD "$subject"
    expect_done
    expect_line '^mpix_trace: no call of MPI_Init was seen .*LD_PRELOAD.*; the program ran here without being recorded$'
    [ ! -e "$folder" ] || complain "an empty folder is left"
}

check_spawned() {
    succeeds record 2 "$scratch/spawner"
    expect_line '^mpix_trace: processes that MPI_Comm_spawn starts run without being recorded, '
    expect_sound
}

check_some_ranks() {
    rm -rf "$folder"
    check_tool_on_one 0 "$subject" mpix_trace -o "$folder"
    [ ! -e "$folder" ] || complain "an empty folder is left"
}

check_handle() {
    make_program_by_handle || return
    record_all "$scratch/by_handle" "$(mpi_library_of "$subject")"
    expect 0 300 ' enter MPI_Barrier$'
}

# PACKAGE_FOLDER: each line of the script is a place, also where a function of the package calls another one, and
# where two files have the same function. Other files that Python runs when it starts are run, too.
check_lines_of_script() {
    local place
    mkdir -p "$scratch/site"
    echo 'print("site is run")' >"$scratch/site/sitecustomize.py"
    cat >"$scratch/script.py" <<'SCRIPT'
from mpi4py import MPI
def first(comm):
    comm.Barrier()
for i in range(3):
    first(MPI.COMM_WORLD)
import twin; twin.first(MPI.COMM_WORLD)
MPI.COMM_WORLD.barrier()
MPI.Finalize()
SCRIPT
    sed -n 1,3p "$scratch/script.py" >"$scratch/twin.py"
    LIBRARY=$(mpi_library_of "$subject") PYTHONPATH=$scratch/site:$1 record 2 --python "$python" "$scratch/script.py"
    expect_status 0
    [ "$(grep -o 'site is run' "$scratch/out" | wc -l)" -eq 2 ] || complain "another sitecustomize.py is not run"
    expect_sound
    succeeds run alone mpix_trace_convert --format csv "$folder"
    for place in 6:Barrier:script.py:3.first 2:Barrier:twin.py:3.first 2:Barrier:script.py:7 \
        2:Finalize:script.py:8; do
        [ "$(grep -cE ",enter,MPI_$(cut -d : -f 2 <<<"$place"),.*\b$(cut -d : -f 3- <<<"$place")\b" "$scratch/out")" \
            -eq "${place%%:*}" ] || complain "not ${place%%:*} calls at ${place#*:}"
    done
}

# A package with the name of mpi4py calls the MPI library.
check_python() {
    mkdir -p "$scratch/modules/mpi4py"
    : >"$scratch/modules/mpi4py/__init__.py"
    cat >"$scratch/modules/mpi4py/MPI.py" <<'MODULE'
import ctypes
import os
library = ctypes.CDLL(os.environ["LIBRARY"])
world = ctypes.c_int(0x44000000)
if hasattr(library, "ompi_mpi_comm_world"):
    world = ctypes.byref(ctypes.c_char.in_dll(library, "ompi_mpi_comm_world"))
library.MPI_Init(None, None)


class Comm:
    def Barrier(self):
        library.MPI_Barrier(world)

    @staticmethod
    def Meet():
        Comm().Barrier()

    @classmethod
    def barrier(cls):
        cls.Meet()


COMM_WORLD = Comm()


def Finalize():
    library.MPI_Finalize()
MODULE
    check_lines_of_script "$scratch/modules"
}
has_python() {
    [ -x "$programs/mpix_trace_convert" ] && "$python" -c 'import ctypes' 2>/dev/null
}
# Whether an interpreter has an mpi4py of this MPI library: becomes $python.
has_mpi4py() {
    local candidate version
    [ -x "$programs/mpix_trace_convert" ] || return
    for candidate in "$python" /usr/bin/python3; do
        version=$("$candidate" -c 'from mpi4py import MPI; print(MPI.Get_library_version())' 2>/dev/null | tr -d '\0' |
            head -n 1)
        [ -z "$version" ] || break
    done
    python=$candidate
    case $(mpi_library_of "$subject") in
    *libmpich*) [[ $version == MPICH* ]] ;;
    *libmpi.so*) [[ $version == "Open MPI"* ]] ;;
    *) false ;;
    esac
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

# Times go on, the receive is the last thing in its call, and the send is not later than its call.
check_calls_in_handler() {
    record_all "$scratch/refused" handler
    grep -A 1 ' receive partner' "$scratch/dump-1" | grep -q ' leave MPI_Sendrecv ' ||
        complain "something is between the receive and the end of its call"
    succeeds run alone mpix_trace_check "$folder"
    grep -q 'none of 2 events' "$scratch/out" || complain "a message is received before it is sent"
}

# The processes start them in different orders.
check_orders() {
    record_all "$odd" orders
    succeeds run alone mpix_trace_check "$folder"
    [ -z "$(own_messages)" ] || complain "calls are not complete"
}

# What is received is as long as what was sent.
check_parts() {
    record_all "$odd" parts
    succeeds run alone mpix_trace_convert --format csv "$folder"
    awk -F, '$3 == "send" { sent[$14] = $10 } $3 == "receive" && $11 != sent[$14] { print "matched wrongly: " $0 }
        $3 == "receive" { received++ } END { if (received != 12) print "not 12, but " received + 0 " receives" }
        ' "$scratch/out"
}
has_parts() {
    [ -x "$programs/mpix_trace_convert" ] && ! plain "$odd" parts | grep -q 'there are none'
}

# ACTION: whether all of the program's calls fail that should
fails() {
    ! plain "$scratch/refused" "$1" | grep -q 'do not fail'
}

has_sessions() {
    plain "$odd" session | grep -q session
}

has_many_communicators() {
    plain "$odd" count -30000 | grep -q counted
}

has_threads() {
    ! plain "$odd" crowd | grep -q 'too few threads'
}

# Nothing after a jump out of an error handler is lost, and the call that never returned ends.
tap_check "calls that are left by a jump" check_recording all "$odd" jumps <<'END'
0,1|3| enter MPI_Send$
0,1|5| enter MPI_Barrier$
END
# One process leaves a call; then both make calls further down the stack, and inner ones.
tap_check "calls that are deeper in the stack than one that was left" check_recording all "$odd" deeper <<'END'
0|1| enter MPI_Send$
0|2| enter MPI_Comm_free$
0,1|12| enter MPI_Barrier$
END
# Some fail before they take part in anything: later ones have the same numbers on both processes, and both look after
# the clock in the same calls.
tap_check "collective calls that fail on one process" check_recording all "$odd" numbers <<'END'
0,1|1| collective partner -1 tag 2 bytes 4 comm 2 request 0$
0,1|1| collective partner -1 tag 43 bytes 4 comm 2 request 0$
0,1|1| collective partner -1 tag 45 bytes 4 comm 2 request 0$
END
tap_check "persistent collective operations that are started in any order" check_orders
tap_check_if has_parts "there are no partitioned messages, or no mpix_trace_convert" \
    "partitioned messages that are started in any order" check_parts
# Requests that failed are no longer known when their handles come again, and what was too long has come. Open MPI 4
# takes it without an error.
tap_check_if "fails requests" "they do not fail with this MPI library" \
    "requests that fail" check_recording all "$scratch/refused" requests <<END
0|13| post partner
0|13| receive .* request [1-9]
$(printf '0|1| receive .* request %d$\n' {1..12})
END
# Messages that MPI refused were never sent, nor will they be received; one that was too long has come.
tap_check "messages that are refused, or too long" check_recording all "$scratch/refused" arguments <<'END'
0|3| send partner
1|2| send partner
0|2| receive partner
1|3| receive partner
0,1|0| post partner
0,1|1| send partner [01] tag 7 bytes 4 comm
END
tap_check_if "fails handler" "it does not fail with this MPI library" \
    "calls in an error handler that returns" check_calls_in_handler
# A broadcast that failed on rank 1 is never complete there.
tap_check_if "fails broadcasts" "they do not fail with this MPI library" \
    "persistent broadcasts that fail" check_recording all "$scratch/refused" broadcasts <<'END'
0|2| collective_done partner
1|2| collective partner 0 tag
1|0| collective_done partner
END
tap_check "more threads than there are buffers, one after the other" check_many_threads
tap_check_if has_threads "the system allows too few threads" \
    "more threads than there are buffers, at once" check_recording all "$odd" crowd <<'END'
says|^mpix_trace: 178 threads on 2 ranks exceeded the limit, and were not recorded$
0|511| enter MPI_Comm_size$
END
tap_check "a region with a large number" check_recording all "$odd" level 2000000000 <<'END'
0,1|1| enter region 2000000000$
0,1|1| leave region 2000000000 0$
END
tap_check "a child that is forked" check_recording all "$odd" fork <<'END'
0|1| enter MPI_Barrier$
END
# They fit through a buffer of 128 thousand, as there are collective calls.
tap_check "a million events" check_recording well --buffer 4M --only Sendrecv "$odd" events 1000000 <<'END'
0,1|250000| enter MPI_Sendrecv$
0,1|250000| send partner 0 tag 7 bytes 4 comm 1 request
0,1|250000| receive partner 0 tag 7 bytes 4 comm 1 request
0,1|250000| leave MPI_Sendrecv 0$
0,1|1|^end .* dropped 0$
END
# Where the program takes a descriptor for itself, its own file has what it wrote there, and nothing else.
quick tap_check "a program that takes the descriptor of the trace" check_recording all "$odd" take_trace <<'END'
0,1|20000| enter MPI_Sendrecv$
END
tap_check "a program that removes the trace" check_recording well "$odd" take_lost <<'END'
says|^mpix_trace: 2 of 2 ranks could not write .*-0.mpixtrace: the program closed its descriptor, .*: No such file
END
tap_check "a program that takes standard error" check_recording well --buffer 256K "$odd" take_errors <<'END'
0|1| dropped partner -1 tag 0 bytes [1-9]
END
tap_check "nothing is allocated or locked in calls" check_quiet_path 0
tap_check "communicators beyond 65,535" check_quiet_path 66000
tap_check_if has_many_communicators "this MPI library cannot have so many communicators" \
    "nothing is allocated or locked in calls on one of too many communicators" check_quiet_path -30000
tap_check "a full buffer" check_recording well --buffer 256K "$subject" many <<'END'
says|the buffer was full on 2 of 2 ranks: rank 0 dropped [1-9]
0|1| dropped partner -1 tag 0 bytes [1-9]
0|1|^end .* dropped [1-9]
END
tap_check "a full buffer at MPI_Abort" check_full_abort
tap_check "MPI_Abort after the limit of the trace" check_recording badly --limit 1M "$subject" many_abort <<'END'
0|0|^end
0|1|^limit_ns [0-9]
END
tap_check "MPI_Abort" check_recording badly "$subject" abort <<'END'
0|0|^end
0|2+|^clock
0|5+| enter MPI_Barrier$
END
# What was written until the end can be read, communicators at once; of what makes MPI end it within a call, the call.
while IFS='|' read -r action name; do
    tap_check "$name" check_recording badly "$odd" "$action" <<END
0|0|^end
0|2+|^clock
0|2+| enter MPI_Barrier\$
0|1|^comm 2 context
$([ "$action" != handler ] || echo '0|1| enter MPI_Send$')
END
done <<'ENDS'
handler|MPI_Abort within a call
fatal|an error that MPI ends the program for
exit|exit without MPI_Finalize
kill|kill -9
ENDS
for signal in TERM KILL; do
    tap_check "a program that hangs, and SIG$signal" check_hang "$(kill -l $signal)"
done
# A handler ends the program while the thread writes.
tap_check "a signal while the trace is written" check_recording badly --buffer 256K "$odd" signal <<'END'
0|0|^end
0|2000+| enter MPI_Sendrecv$
END
tap_check "a limit of the size of files" check_recording well "$odd" limit <<'END'
says|could not write all events: .*File too large
END
tap_check "a file that cannot be made" check_missing_file
tap_check "a program that is started without LD_PRELOAD" check_lost_front
tap_check_if can_spawn_one "processes cannot be spawned here" "processes that are spawned" check_spawned
tap_check "one process without mpix_trace" check_some_ranks
tap_check "functions from the handle of the MPI library" check_handle
tap_check_if has_python "there is no python3" "the lines of a script in Python" check_python
tap_check_if has_mpi4py "no interpreter has mpi4py with this MPI library" \
    "the lines of a script with mpi4py" check_lines_of_script ""
tap_check_if has_sessions "this MPI library has no sessions" "a program of sessions" check_session
# MPI may refuse to compare its communicators with those of the world. Two of the operations are
# MPI_Comm_create_from_group and MPI_Comm_split.
tap_check_if has_sessions "this MPI library has no sessions" \
    "a session beside the world" check_recording all "$odd" session_too <<'END'
0,1|1|^comm 2 context [1-9][0-9]* size 2 inter 0 ranks 0 1$
0,1|1|^comm 3 context [1-9][0-9]* size 2 inter 0 ranks 1 0$
0,1|82| collective .* comm [23] request
END
tap_check "an MPI library that is neither MPICH nor Open MPI" check_other_library "Other MPI of 99"
other="MPICH Version: 99"
[ ! -e "${BUILDDIR:-.}/bin/.libs/interpose-mpich.so" ] || other="Open MPI v99"
tap_check "another MPI library than that of the build" check_other_library "$other" \
    "use the launcher of the program's MPI library, and the mpix_trace that was installed for it"
tap_check_if mount_disk "a small file system cannot be mounted" "a full disk" check_disk

tap_done
