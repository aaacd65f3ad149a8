#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# mpix_preload: programs in C, Fortran and Python that know nothing of the library run with it, their barriers are
# harmonized, their MPI_Wtime is global, and the report counts what they called.
#
# Environment: NM  (default: nm)
#
# Most functions are called by tap_check only, by name:
# shellcheck disable=SC2317
. "$(dirname "$0")/preload.sh"

# ---- What is replaced

check_world() {
    preload "$subject" barriers
    expect out 'global 1 tick 1\.0e-09' 1
    expect_row MPI_COMM_WORLD 2 $barriers $barriers
    expect err 'MPI_Wtime was the global clock, synchronized [0-9]+ times?, in the end within [0-9.]+ us on all ranks' 1
    expect err 'back to back: a harmonized barrier takes [0-9.]+ us, .*' 1
}

check_one_rank() {
    run 1 mpix_preload "$subject" nothing
    expect_done
    expect err 'mpix_preload: 1 rank' 1
    expect err 'MPI_Wtime was the global clock, synchronized 1 time, .*' 1
}

check_each_alone() {
    preload --replace barrier "$subject" barriers
    expect_no "MPI_Wtick is replaced" '^global 1 tick 1\.0e-09' out
    expect_row MPI_COMM_WORLD 2 $barriers $barriers
    expect err 'MPI_Wtime was not replaced' 1
    expect_no "the clocks are checked in vain" 'clocks were checked' err
    preload --replace wtime "$subject" barriers
    expect out 'global 1 tick 1\.0e-09' 1
    expect err 'MPI_Barrier was not replaced' 1
}

# NANOSECONDS VALID LATE: patterns of columns in a run whose processes may be so late.
check_tolerance() {
    MPIX_HARMONIZE_TOLERANCE_NS=$1 preload "$subject" barriers
    expect err "MPI_COMM_WORLD +2 +$barriers +$barriers +$2 +[0-9.]+% +$3 +$3" 1
}

# COUNTS PROGRAM [OPTION]...: in how many of how many collective calls the clocks are checked.
check_care() {
    local counts=$1 action=$2
    shift 2
    preload "$@" "$subject" "$action"
    expect err "the clocks were checked in $counts collective calls of all processes" 1
}

# Each barrier looks, and no call after it unless these calls take long.
check_quick_calls() {
    preload "$subject" quick_calls_after_barriers
    most=$(awk '$1 == "slow" { print 5 + $2 }' "$scratch/out")
    expect err "the clocks were checked in ($(seq -s '|' 5 "$most")) of 90 collective calls of all processes" 1
}

check_times() {
    make_tool WTIME
    run 2 with_tool "$subject" times
    grep -q '^wrong: a process left' "$scratch/out" || complain "this test would not see wrong clocks"
    run 2 mpix_with_tool "$subject" times
    expect_done
    run 2 mpix_with_tool --replace wtime --quiet "$subject" times
    expect_done
    expect_no "a quiet run writes a report" '^mpix_preload' err
}

check_drift() {
    make_tool DRIFT
    export MPIX_HARMONIZE_CLOCK=monotonic_raw MPIX_HARMONIZE_RESYNC_INTERVAL_NS=50000000
    run 2 mpix_with_tool "$subject" clocks
    expect_done
    expect err 'the clocks were checked in ([0-9]+) of \1 collective calls of all processes' 1
}

# One process cannot make a communicator: that of the preload for the world, the library's for it, those of another one.
check_split() {
    make_tool SPLIT
    for CHECK_FAILING_SPLIT in 1 2 3 4; do
        export CHECK_FAILING_SPLIT
        run 2 mpix_with_tool --barriers-of all "$subject" freed
        expect_done
        expect err 'tool: fails' 1
        expect err '.* +2 +103 +3 +[0-3] +[0-9.]+% .*' 0
        [ "$CHECK_FAILING_SPLIT" -gt 2 ] || expect err 'mpix_preload: .*split.*; the program runs without the preload' 1
    done
}

# An error of the library in one of the barriers of the world: those after it are MPI's, and all of them are in the row.
check_error() {
    local counts
    make_tool BCAST
    MPIX_HARMONIZE_BARRIER=collective MPIX_HARMONIZE_YIELD=never run 2 mpix_with_tool "$subject" barriers
    expect_done
    counts=$(awk '$1 == "MPI_COMM_WORLD" && $3 > $4 { print $4, $3 - $4 }' "$scratch/err")
    expect_row MPI_COMM_WORLD 2 $barriers "${counts% *}"
    expect err "MPI_COMM_WORLD: after ${counts% *} harmonized barriers, the library reported an error: .*MPI_Bcast.*" 1
    expect err "barriers left to MPI: up to ${counts#* } on a process" 1
    expect err "the clocks were checked in [0-9]+ of $barriers collective calls of all processes" 1
    expect_no "there are other communicators" 'of other communicators' err
}

# The front and the back: check_inside.sh compares the functions of C with those of the MPI library.
check_names() {
    local needed name lib attribute='(comm_get_attr|attr_get)'
    needed=$(for lib in $(ldd "$1" | awk '/libmpi/ && $3 { print $3 }'); do
        ${NM:-nm} -D --defined-only "$lib" | awk '{ print $3 }' | sed 's/@.*//'
    done | grep -E "^(mpi_$attribute(_|__|_f08_)?|MPI_${attribute^^}|MPI_(Comm_get_attr|Attr_get)_f(08)?)\$")
    ${NM:-nm} -D --defined-only "$front" | awk '{ print $3 }' >"$scratch/names"
    for name in $needed; do grep -qx "$name" "$scratch/names" || echo "$name is not replaced"; done
    grep -vE -e '^(P?MPI|mpi)_|^(dlsym|__asan_default_options)$' \
        -e '^mpix_trace_((enter|leave)_region|(define|enter)_line)$' "$scratch/names" | sed 's/$/ is exported/'
    ! ldd "$front" | grep mpi || echo "the front needs an MPI library"
    ! ldd "$programs/mpix_preload" | grep mpi || echo "the launcher needs an MPI library"
    for lib in "$programs"/.libs/interpose-*.so; do
        [ "$(${NM:-nm} -D --defined-only "$lib" | awk '{ print $3 }' | sort | tr '\n' ' ')" = \
            "mpix_interpose_back mpix_interpose_check " ] || echo "$lib exports more than what is looked for"
        ! ldd "$lib" | grep libmpix_harmonize || echo "$lib is not self-contained"
    done
}

check_fortran() {   # FORM
    local wrapper=${compiler/mpicc/mpifort} binary=$scratch/fortran$1
    # shellcheck disable=SC2086
    $wrapper -DFORM="$1" "$here/check_preload.F90" -o "$binary" >"$scratch/log" 2>&1 || { cat "$scratch/log"; return; }
    preload "$binary"
    expect out ' *global 1 found T tick 1\.0E-09' 1
    expect_row MPI_COMM_WORLD 2 $barriers $barriers
    expect err "the clocks were checked in [0-9]+ of $((barriers + 4)) collective calls of all processes" 1
    check_names "$binary"
}

check_python() {
    cat >"$scratch/program.py" <<'PYTHON'
import sys
from mpi4py import MPI
for i in range(300):
    MPI.COMM_WORLD.Barrier()
is_global = MPI.COMM_WORLD.Get_attr(MPI.WTIME_IS_GLOBAL)
# Each line in one piece, also if the stream is unbuffered.
sys.stdout.write("global %s tick %.1e\n" % (is_global, MPI.Wtick()))
sys.stdout.write("done\n")
PYTHON
    preload "$python" "$scratch/program.py"
    expect out 'global (1|True) tick 1\.0e-09' 2
    expect_row MPI_COMM_WORLD 2 300 300
}

# ---- Which communicators

check_others() {
    for which in world all; do
        preload --barriers-of $which "$subject" others
        [ -n "$(expect_row MPI_COMM_WORLD 2 0 0)" ] || complain "a row without harmonized barriers has a share"
        expect err 'barriers left to MPI: up to 226 on a process.*' 1
    done
}

# Two communicators of all processes are in one row with the world; that of each process alone is engaged by itself.
check_like_world() {
    preload --barriers-of all "$subject" like_world
    expect_row MPI_COMM_WORLD 2 206 206
    expect err '.* +1 +103 +3 +[0-3] +[0-9.]+% .*' 2
    expect err 'barriers left to MPI: up to 100 on a process' 1
    preload --replace barrier "$subject" like_world
    expect_row MPI_COMM_WORLD 2 206 206
    expect err 'barriers left to MPI: up to 103 on a process, of other communicators \(see --barriers-of all\)' 1
}

check_duplicates() {
    for which in world all; do
        preload --barriers-of $which "$subject" duplicates
        expect_row MPI_COMM_WORLD 2 901 901
    done
}

check_freed() {
    preload --barriers-of all "$subject" freed
    expect err '.* +2 +103 +3 +[0-3] +[0-9.]+% .*' 1
}

check_many() {
    preload --barriers-of all "$subject" many
    expect err '.* +2 +103 +3 +[0-3] +[0-9.]+% .*' 19
    expect err '45 more communicators' 1
    expect err 'barriers left to MPI: up to 6606 on a process' 1
}

check_threads() {
    preload --barriers-of all "$subject" threads
    expect_row MPI_COMM_WORLD 2 $barriers $barriers
}

# What passes without mpix_preload.
check_passes() {    # ACTION [ARGUMENT]...
    succeeds run 2 mpix_preload --barriers-of all "$subject" "$@"
    expect_no "the program complains" '^wrong' out
    expect err 'mpix_preload: 2 ranks' 1
}

# ---- Reports and refusals

check_report() {
    preload --report "$scratch/report" "$subject" barriers
    expect_no "the report is on stderr too" '^mpix_preload' err
    preload --report "$scratch/report" "$subject" nothing
    cp "$scratch/report" "$scratch/err"
    expect err 'mpix_preload: 2 ranks' 2
    expect err "MPI_COMM_WORLD +2 +$barriers +$barriers +.*" 1
    refuses "/nowhere/report cannot be written" run 2 mpix_preload --report /nowhere/report "$subject" barriers
    # No file may be longer than it is.
    preload --report "$scratch/report" "$subject" limit
    grep -q "^mpix_preload: cannot write $scratch/report: .*large" "$scratch/err" || complain "no message says why"
    expect_row MPI_COMM_WORLD 2 $barriers $barriers
    [ -c /dev/full ] || return
    preload --report=/dev/full "$subject" barriers
    grep -q '^mpix_preload: cannot write /dev/full: .' "$scratch/err" || complain "no message names /dev/full"
    expect_row MPI_COMM_WORLD 2 $barriers $barriers
}

check_settings() {
    export MPIX_HARMONIZE_TOLERANCE_NS=never
    run 2 mpix_preload "$subject" barriers
    expect_refusal "environment variable MPIX_HARMONIZE_TOLERANCE_NS: 'never' is not valid; allowed: auto"
    unset MPIX_HARMONIZE_TOLERANCE_NS
    MPIX_HARMONIZE_BARIER=tree preload --quiet "$subject" barriers
    [ "$(own_messages)" = "mpix_preload: unknown variable MPIX_HARMONIZE_BARIER; \
did you mean MPIX_HARMONIZE_BARRIER?" ] || complain "not one line about the variable"
}

check_refusals() {
    # Of all processes, the first says so, even if it comes last.
    cat >"$scratch/mpix_preload" <<END_OF_SCRIPT
#!/bin/sh
[ "\${PMI_RANK-\${PMIX_RANK-\$OMPI_COMM_WORLD_RANK}}" != 0 ] || sleep 0.3
exec $programs/mpix_preload "\$@"
END_OF_SCRIPT
    chmod +x "$scratch/mpix_preload"
    programs=$scratch run 2 mpix_preload --no-such-option "$subject"
    expect_refusal --no-such-option
}

quick tap_check "a C program: barriers, clock, report" check_world
tap_check "a single process" check_one_rank
tap_check "--replace barrier and --replace wtime" check_each_alone
tap_check "barriers that no process can leave in time" check_tolerance 1 '1?[0-9]?[0-9]' '[0-9.]+'
tap_check "barriers that all processes leave in time" check_tolerance 1000000000 $barriers -
tap_check "clocks are checked in barriers that are not replaced" check_care '5 of 5' pauses --replace wtime
quick tap_check "clocks are checked in each collective function" check_care '16 of 16' collectives --replace wtime
tap_check "clocks are not checked soon after a barrier" check_care '17 of 33' collectives_after_barrier
tap_check "clocks are not checked in quick calls after barriers" check_quick_calls
tap_check "a clock that begins to drift is put right by MPI_Allreduce" check_drift
quick tap_check "times of all processes against each other" check_times
quick tap_check "what the front and the back export and need" check_names "$subject"
for form in 1 2 3; do
    forms=('' mpif.h mpi mpi_f08)
    name="Fortran, ${forms[form]}: barriers, clock, report, names"
    quick tap_check_if "have_fortran $form" "${compiler/mpicc/mpifort} compiles no program with ${forms[form]}" \
        "$name" check_fortran $form
done
name="Python, mpi4py"
for python in python3 /usr/bin/python3; do
    version=$($python -c 'from mpi4py import MPI; print(MPI.Get_library_version())' 2>/dev/null |
        tr -d '\0' | head -n 1)
    [ -z "$version" ] || break
done
case $version in
'') tap_skip "$name" "there is no mpi4py" ;;
"${library%% *}"*) quick tap_check "$name" check_python ;;
*) tap_skip "$name" "mpi4py is built for another MPI library: ${version%%,*}" ;;
esac
tap_check "other barriers" check_others
quick tap_check "communicators of the same processes as the world: the clock" check_care '216 of 216' like_world
tap_check "communicators of the same processes as the world: barriers" check_like_world
quick tap_check "hundreds of communicators of the same processes as the world" check_duplicates
tap_check "a communicator that its processes free one by one" check_freed
tap_check "a communicator that one process cannot make" check_split
tap_check "an error of the library" check_error
tap_check "more communicators than can be engaged" check_many
tap_check "two threads" check_threads
quick tap_check "a collective call that is refused on one process" check_passes refused
quick tap_check "a barrier in an error handler" check_passes handler
# Open MPI 4 tries in vain for a minute, which others do in a second.
can_spawn() { tap_limit_s=10 launch 2 "$subject" spawn "$subject" </dev/null; }
tap_check_if can_spawn "processes cannot be spawned here" \
    "barriers with processes of another world" check_passes spawn "$subject"
tap_check "files for the report" check_report
quick tap_check "bad settings of the library" check_settings
quick tap_check "a bad option, of which the first process tells" check_refusals
tap_done
