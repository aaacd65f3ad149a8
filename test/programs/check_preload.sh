#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# mpix_preload: programs in C, Fortran and Python that know nothing of the library run with it, their barriers are
# harmonized, their MPI_Wtime is global, and the report counts what they called. And programs for which it can do
# nothing run as ever.
#
# Environment: BUILDDIR       the build directory (default: .)
#              CC             MPI compiler wrapper for C; that for Fortran has the same name but for mpifort
#              MPIEXEC, MPIEXEC_FLAGS, MPI_LIBRARY, NM
#
# Most functions are called by tap_check only, by name:
# shellcheck disable=SC2317
set -u
export LC_ALL=C

here=$(cd "$(dirname "$0")" && pwd)
. "$here/../tap.sh"
. "$here/run.sh"
programs=$(cd "${BUILDDIR:-.}" && pwd)/lib/preload
front=$programs/.libs/libmpix_harmonize_preload.so
compiler=${CC:-mpicc}
library=${MPI_LIBRARY:-$(sed -n 's/^MPI_LIBRARY = //p' "${BUILDDIR:-.}/Makefile")}
barriers=300

skip_all() {        # REASON
    echo "1..0 # SKIP $1"
    exit 0
}
[ "${sanitizers:-no}" = no ] || skip_all "what sanitizers have built cannot be loaded into an ordinary program"
[ -e "$front" ] || skip_all "this build has no preload: it takes shared libraries, and MPICH or Open MPI"

subject=$scratch/subject
# Compilers are lists of words.
# shellcheck disable=SC2086
if ! $compiler -Wno-deprecated-declarations "$here/check_preload.c" -o "$subject" -lpthread >"$scratch/log" 2>&1; then
    cat "$scratch/log"
    echo "Bail out! $compiler does not compile check_preload.c"
    exit 1
fi

expect_no() {       # WHAT PATTERN FILE
    ! grep -qE "$2" "$scratch/$3" || complain "$1"
}
expect() {          # FILE LINE HOW OFTEN
    [ "$(grep -cxE -e "$2" "$scratch/$1")" -eq "$3" ] || complain "there are not $3 lines '$2'"
}

# What each of the programs of the tests does at last.
expect_done() {
    expect_status 0
    expect_no "the program complains" '^wrong' out
    expect out 'done( [0-9]+)?' "$ranks"
}

# COMMUNICATOR RANKS BARRIERS HARMONIZED: a row of the report; not more are valid than there are.
expect_row() {
    awk -v name="$1" -v ranks="$2" -v barriers="$3" -v harmonized="$4" '
        $1 == name { rows++ }
        $1 == name && $2 == ranks && $3 == barriers && $4 == harmonized && $5 <= $4 && $6 ~ /^[0-9.]+%$/ { right++ }
        END { exit rows != 1 || right != 1 }' "$scratch/err" ||
        complain "no row '$1 $2 $3 $4' in the report"
}

# ---- What is replaced

check_world() {
    run 2 mpix_preload "$subject" barriers
    expect_done
    expect out 'global 1 tick 1\.0e-09' 1
    expect_row MPI_COMM_WORLD 2 $barriers $barriers
    expect err 'MPI_Wtime was the global clock, synchronized [0-9]+ times, in the end within [0-9.]+ us on all ranks' 1
    expect err 'back to back: a harmonized barrier takes [0-9.]+ us, .*' 1
}

check_each_alone() {
    run 2 mpix_preload --barrier "$subject" barriers
    expect_done
    expect_no "MPI_Wtick is replaced" '^global 1 tick 1\.0e-09' out
    expect_row MPI_COMM_WORLD 2 $barriers $barriers
    expect err 'MPI_Wtime was not replaced' 1
    expect_no "the clock is looked after in vain" 'looked after' err
    run 2 mpix_preload --wtime "$subject" barriers
    expect_done
    expect out 'global 1 tick 1\.0e-09' 1
    expect err 'MPI_Barrier was not replaced' 1
}

# NANOSECONDS VALID LATE: patterns of columns in a run whose processes may be so late.
check_tolerance() {
    MPIX_HARMONIZE_TOLERANCE_NS=$1 run 2 mpix_preload "$subject" barriers
    expect_done
    expect err "MPI_COMM_WORLD +2 +$barriers +$barriers +$2 +[0-9.]+% +$3 +$3" 1
}

# MPI_Barrier stays as it is; its calls look after a clock that is never young enough.
check_looks() {
    MPIX_HARMONIZE_SYNC=hca3 MPIX_HARMONIZE_RESYNC_INTERVAL_NS=1000000 run 2 mpix_preload --wtime "$subject" pauses
    expect_done
    expect err 'MPI_Wtime was the global clock, synchronized ([3-9]|[1-9][0-9]+) times, .*' 1
}

# COUNTS PROGRAM [OPTION]...: in how many of how many collective calls the clock is looked after.
check_care() {
    local counts=$1 action=$2
    shift 2
    run 2 mpix_preload "$@" "$subject" "$action"
    expect_done
    expect err "the clock was looked after in $counts collective calls of all processes" 1
}

# Each barrier looks, and no call after it unless these calls take long.
check_quick_calls() {
    run 2 mpix_preload "$subject" quick_calls_after_barriers
    expect_done
    most=$(awk '$1 == "slow" { print 5 + $2 }' "$scratch/out")
    expect err "the clock was looked after in ($(seq -s '|' 5 "$most")) of 90 collective calls of all processes" 1
}

# NAME: one of check_preload_tools.c, with and without the preload. Leaves mpix_with_tool and with_tool.
make_tool() {
    # shellcheck disable=SC2086
    $compiler -shared -fPIC "-DTOOL_$1" "$here/check_preload_tools.c" -o "$scratch/tool.so" -ldl || return
    printf '#!/bin/sh\nLD_PRELOAD=%s exec %s "$@"\n' "$scratch/tool.so" "$programs/mpix_preload" \
        >"$scratch/mpix_with_tool"
    printf '#!/bin/sh\nLD_PRELOAD=%s exec "$@"\n' "$scratch/tool.so" >"$scratch/with_tool"
    chmod +x "$scratch/mpix_with_tool" "$scratch/with_tool"
    programs=$scratch
}

check_times() {
    make_tool WTIME
    run 2 with_tool "$subject" times
    grep -q '^wrong: a process left' "$scratch/out" || complain "this test would not see wrong clocks"
    run 2 mpix_with_tool "$subject" times
    expect_done
    run 2 mpix_with_tool --wtime --quiet "$subject" times
    expect_done
    expect_no "a quiet run writes a report" '^mpix_preload' err
}

check_drift() {
    make_tool DRIFT
    export MPIX_HARMONIZE_CLOCK=monotonic_raw MPIX_HARMONIZE_RESYNC_INTERVAL_NS=50000000
    run 2 mpix_with_tool "$subject" clocks
    expect_done
    expect err 'the clock was looked after in 1[0-2] of 12 collective calls of all processes' 1
}

# One process cannot make a communicator: that of the preload for the world, the library's for it, those of another one.
check_split() {
    make_tool SPLIT
    for CHECK_FAILING_SPLIT in 1 2 3 4; do
        export CHECK_FAILING_SPLIT
        run 2 mpix_with_tool --comm all "$subject" freed
        expect_done
        expect err 'tool: fails' 1
        expect err '.* +2 +103 +3 +[0-3] +[0-9.]+% .*' 0
        [ "$CHECK_FAILING_SPLIT" -gt 2 ] || expect err 'mpix_preload: .*split.*; the program runs without the preload' 1
    done
}

check_names() {
    local needed name lib suffix='(_|__|_c|_f|_f08|_f08_|_f08ts_|_f08ts_large_)?'
    needed=$(for lib in $(ldd "$1" | awk '/libmpi/ && $3 { print $3 }'); do
        ${NM:-nm} -D --defined-only "$lib" | awk '{ print $3 }' | sed 's/@.*//'
    done | grep -iE '^mpi_(barrier|init|init_thread|finalize|wtime|wtick|comm_get_attr|attr_get)'$suffix'$
^mpi_(bcast|(all)?reduce|(ex)?scan|reduce_scatter(_block)?|(all)?gatherv?|scatterv?|alltoall[vw]?)'$suffix'$')
    [ "$(wc -w <<<"$needed")" -ge 24 ] || echo "the MPI library defines only: $needed"
    ${NM:-nm} -D --defined-only "$front" | awk '{ print $3 }' >"$scratch/names"
    for name in $needed; do grep -qx "$name" "$scratch/names" || echo "$name is not replaced"; done
    grep -vE '^(MPI|mpi)_' "$scratch/names" | sed 's/$/ is exported/'
    ! ldd "$front" | grep mpi || echo "the front needs an MPI library"
    for lib in "$programs"/.libs/preload-*.so; do
        [ "$(${NM:-nm} -D --defined-only "$lib" | awk '{ print $3 }')" = mpix_preload_back ] ||
            echo "$lib exports more than mpix_preload_back"
        ! ldd "$lib" | grep libmpix_harmonize || echo "$lib is not self-contained"
    done
}

check_fortran() {   # FORM
    local wrapper=${compiler/mpicc/mpifort} binary=$scratch/fortran$1
    # shellcheck disable=SC2086
    $wrapper -DFORM="$1" "$here/check_preload.F90" -o "$binary" >"$scratch/log" 2>&1 || { cat "$scratch/log"; return; }
    run 2 mpix_preload "$binary"
    expect_done
    expect out ' *global 1 found T tick 1\.0E-09' 1
    expect_row MPI_COMM_WORLD 2 $barriers $barriers
    expect err "the clock was looked after in [0-9]+ of $((barriers + 4)) collective calls of all processes" 1
    check_names "$binary"
}

have_fortran() {    # FORM
    local statement='use mpi_f08'
    [ "$1" -ne 1 ] || statement='include "mpif.h"'
    [ "$1" -ne 2 ] || statement='use mpi'
    printf 'program p\n%s\nend program\n' "$statement" >"$scratch/try.f90"
    ${compiler/mpicc/mpifort} "$scratch/try.f90" -o "$scratch/try" >/dev/null 2>&1
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
    run 2 mpix_preload "$python" "$scratch/program.py"
    expect_done
    expect out 'global (1|True) tick 1\.0e-09' 2
    expect_row MPI_COMM_WORLD 2 300 300
}

# ---- Which communicators

check_others() {
    for which in world all; do
        run 2 mpix_preload --comm $which "$subject" others
        expect_done
        [ -n "$(expect_row MPI_COMM_WORLD 2 0 0)" ] || complain "a row without harmonized barriers has a share"
        expect err 'barriers left to MPI: up to 226 on a process.*' 1
    done
}

check_freed() {
    run 2 mpix_preload --comm all "$subject" freed
    expect_done
    expect err '.* +2 +103 +3 +[0-3] +[0-9.]+% .*' 1
}

check_many() {
    run 2 mpix_preload --comm all "$subject" many
    expect_done
    expect err '.* +2 +103 +3 +[0-3] +[0-9.]+% .*' 19
    expect err '45 more communicators' 1
    expect err 'barriers left to MPI: up to 6606 on a process' 1
}

check_threads() {
    run 2 mpix_preload --comm all "$subject" threads
    expect_done
    expect_row MPI_COMM_WORLD 2 $barriers $barriers
}

# ---- Programs that must not come to harm

check_wrapper() {
    printf '#!/bin/sh\necho wrapper >&2\n"$@"\nstatus=$?\necho after\nexit $status\n' >"$scratch/wrapper"
    chmod +x "$scratch/wrapper"
    run 2 mpix_preload "$scratch/wrapper" "$subject" child
    expect_done
    expect out 'after' 2
    expect out 'child 2' 2
    expect_row MPI_COMM_WORLD 2 $barriers $barriers
    run 2 mpix_preload "$subject" exec echo 'done 2'
    expect_done
}

check_without_barriers() {
    run 2 mpix_preload "$subject" nothing
    expect_done
    expect err 'mpix_preload: 2 ranks' 1
    expect_no "a cost without barriers" 'back to back' err
    run 2 mpix_preload "$subject" sessions
    expect_status 0
    expect out 'sessions' 2
}

check_abort() {
    run 2 mpix_preload "$subject" abort
    [ "$status" -ne 0 ] || complain "exit status is 0"
    expect_no "the program goes on" '^done' out
}

check_no_mpi() {
    run alone mpix_preload sh -c 'echo hello; exit 7'
    expect_status 7
    expect out hello 1
    [ ! -s "$scratch/err" ] || complain "it writes to stderr"
}

# One line says why the preload cannot work, and the program runs.
expect_runs_without() { # PART
    expect_status 0
    expect out 'it runs' 1
    [ "$(own_messages | wc -l)" -eq 1 ] || complain "not one line"
    own_messages | grep -F -e "$1" | grep -q 'the program runs without the preload$' || complain "no line names $1"
}

check_static() {
    printf '#include <stdio.h>\nint main(void) { puts("it runs"); return 0; }\n' >"$scratch/static.c"
    cc -static "$scratch/static.c" -o "$scratch/static" || return
    run alone mpix_preload "$scratch/static"
    expect_runs_without "linked statically"
}

check_other_library() { # PART SOURCE
    printf '#include <string.h>\n%s\n' "int MPI_Init(int *argc, char ***argv) { return argc && argv ? 0 : 1; }
        int MPI_Finalize(void) { return 0; }
        $2" >"$scratch/other.c"
    cat >"$scratch/user.c" <<'SOURCE'
#include <stdio.h>
int MPI_Init(int *, char ***);
int MPI_Finalize(void);
int main(int argc, char **argv) { MPI_Init(&argc, &argv); puts("it runs"); return MPI_Finalize(); }
SOURCE
    cc -shared -fPIC "$scratch/other.c" -o "$scratch/libother.so" &&
        cc "$scratch/user.c" "$scratch/libother.so" -o "$scratch/user" || return
    run alone mpix_preload "$scratch/user"
    expect_runs_without "$1"
}

# An installation that lacks a part.
check_incomplete() {
    local built=$programs rank
    mkdir -p "$scratch/part"
    sed "s|^libdir=.*|libdir=$scratch/nowhere|" "$programs/mpix_preload" >"$scratch/part/mpix_preload"
    chmod +x "$scratch/part/mpix_preload"
    programs=$scratch/part
    run alone mpix_preload "$subject" nothing
    expect_refusal libmpix_harmonize_preload.so
    mkdir -p "$scratch/part/.libs"
    cp "$front" "$scratch/part/.libs/"
    run alone mpix_preload "$subject" nothing
    expect_refusal preload-mpich.so
    # For another MPI library than the program's.
    case $library in Open*) : >"$programs/.libs/preload-mpich.so" ;; *) : >"$programs/.libs/preload-openmpi.so" ;; esac
    run 2 mpix_preload "$subject" nothing
    expect_done
    [ "$(own_messages | wc -l)" -eq 1 ] || complain "not one line"
    own_messages | grep -q 'install libmpix_harmonize built for this MPI library' || complain "no line names the cure"
    # On one process only: that with another rank than the other one.
    for rank in 0 1; do
        cat >"$scratch/part/incomplete_on_one" <<SCRIPT
#!/bin/sh
case \${PMI_RANK-\$OMPI_COMM_WORLD_RANK} in $rank) programs=$scratch/part ;; *) programs=$built ;; esac
exec \$programs/mpix_preload "\$@"
SCRIPT
        chmod +x "$scratch/part/incomplete_on_one"
        run 2 incomplete_on_one "$subject" barriers
        expect_done
        program=mpix_preload
        [ "$(own_messages | wc -l)" -eq 1 ] || complain "not one line"
        own_messages | grep -q 'preload-.*so.*; the program runs without the preload' || complain "no part is named"
    done
}

check_other_launcher() {
    # Each variable is one of the other library's launcher.
    case $library in
    Open*) export PMI_SIZE=3 PMI_RANK=0 ;;
    *) export OMPI_COMM_WORLD_SIZE=3 OMPI_COMM_WORLD_RANK=0 ;;
    esac
    run alone mpix_preload --quiet "$subject" nothing
    unset PMI_SIZE PMI_RANK OMPI_COMM_WORLD_SIZE OMPI_COMM_WORLD_RANK
    expect_status 0
    expect out 'done 1' 1
    [ "$(own_messages | wc -l)" -eq 1 ] || complain "not one line"
    own_messages | grep -q 'started 3 processes, .* take the launcher' || complain "no line names the cause"
}

# As interpreters do: the MPI library is loaded with a module, for this module alone.
check_module() {
    cat >"$scratch/host.c" <<'SOURCE'
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    void *module = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    int (*start)(int, char **) = module ? (int (*)(int, char **))dlsym(module, "start") : NULL;
    if (!start)
        puts(dlerror());
    return start ? start(argc - 1, argv + 1) : 1;
}
SOURCE
    # shellcheck disable=SC2086
    $compiler -Wno-deprecated-declarations -Dmain=start -shared -fPIC "$here/check_preload.c" -o "$scratch/module.so" &&
        cc "$scratch/host.c" -o "$scratch/host" -ldl || return
    run 2 mpix_preload "$scratch/host" "$scratch/module.so" barriers
    expect_done
    expect out 'global 1 tick 1\.0e-09' 1
    expect_row MPI_COMM_WORLD 2 $barriers $barriers
}

check_tool() {
    make_tool INIT
    run 2 mpix_with_tool "$subject" barriers
    expect_done
    expect err 'tool: begin' 2
    expect err 'tool: end' 2
    expect_row MPI_COMM_WORLD 2 $barriers $barriers
}

# ---- Reports and refusals

check_report() {
    run 2 mpix_preload --report "$scratch/report" "$subject" barriers
    expect_done
    expect_no "the report is on stderr too" '^mpix_preload' err
    run 2 mpix_preload --report "$scratch/report" "$subject" nothing
    expect_done
    cp "$scratch/report" "$scratch/err"
    expect err 'mpix_preload: 2 ranks' 2
    expect err "MPI_COMM_WORLD +2 +$barriers +$barriers +.*" 1
    [ -c /dev/full ] || return
    run 2 mpix_preload --report=/dev/full "$subject" barriers
    expect_done
    grep -q '^mpix_preload: cannot write /dev/full: .' "$scratch/err" || complain "no message names /dev/full"
    expect_row MPI_COMM_WORLD 2 $barriers $barriers
}

check_settings() {
    export MPIX_HARMONIZE_TOLERANCE_NS=never
    run 2 mpix_preload "$subject" barriers
    unset MPIX_HARMONIZE_TOLERANCE_NS
    expect_done
    grep '^mpix_preload: .*TOLERANCE_NS.*never' "$scratch/err" | grep -q 'runs without the preload$' ||
        complain "no line names the setting"
}

check_refusals() {
    local name options
    while IFS='|' read -r name options; do
        # shellcheck disable=SC2086
        run alone mpix_preload $options
        expect_refusal "$name"
    done <<END_OF_LIST
--no-such-option|--no-such-option true
--comm|--comm
--comm|--comm half true
--report|--report= true
$scratch is a directory|--report $scratch true
/nowhere/report cannot be written|--report /nowhere/report true
give the program|--quiet
no-such-program|no-such-program
$scratch/no-such-program|$scratch/no-such-program
$here/check_preload.c cannot be executed|$here/check_preload.c
END_OF_LIST
}

quick tap_check "a C program: barriers, clock, report" check_world
tap_check "--barrier and --wtime alone" check_each_alone
tap_check "barriers that no process can leave in time" check_tolerance 1 '[12]?[0-9]' '[0-9.]+'
tap_check "barriers that all processes leave in time" check_tolerance 1000000000 $barriers -
tap_check "clocks are looked after with --wtime alone" check_looks
quick tap_check "clocks are looked after in each collective function" check_care '16 of 16' collectives --wtime
tap_check "clocks are not looked after soon after a barrier" check_care '17 of 33' collectives_after_barrier
tap_check "clocks are not looked after in quick calls after barriers" check_quick_calls
tap_check "a clock that begins to drift is put right by MPI_Allreduce" check_drift
quick tap_check "times of all processes against each other" check_times
quick tap_check "the names of C" check_names "$subject"
for form in 1 2 3; do
    forms=('' mpif.h mpi mpi_f08)
    name="Fortran, ${forms[form]}: barriers, clock, report, names"
    if have_fortran $form; then
        quick tap_check "$name" check_fortran $form
    else
        tap_skip "$name" "${compiler/mpicc/mpifort} compiles no program with ${forms[form]}"
    fi
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
quick tap_check "communicators of the same processes as the world" check_care '216 of 216' like_world
tap_check "a communicator that its processes free one by one" check_freed
tap_check "a communicator that one process cannot make" check_split
tap_check "more communicators than can be engaged" check_many
tap_check "two threads" check_threads
quick tap_check "a shell wrapper, a child, another program" check_wrapper
tap_check "a program without barriers, or of sessions" check_without_barriers
tap_check "a program that aborts" check_abort
quick tap_check "no MPI program" check_no_mpi
if echo 'int main(void) { return 0; }' | cc -static -x c - -o "$scratch/try" 2>/dev/null; then
    tap_check "a static program" check_static
else
    tap_skip "a static program" "cc links no static program"
fi
quick tap_check "another MPI library" check_other_library "Other MPI" '
    int PMPI_Get_library_version(char *text, int *length) { *length = 9; strcpy(text, "Other MPI\nof 99"); return 0; }'
tap_check "an MPI library without a version" check_other_library "does not tell its version" ''
tap_check "an incomplete installation" check_incomplete
tap_check "the launcher of another MPI library" check_other_launcher
tap_check "a module that is loaded at run time" check_module
tap_check "another tool in LD_PRELOAD" check_tool
tap_check "files for the report" check_report
tap_check "a bad setting of the library" check_settings
quick tap_check "bad options" check_refusals
tap_done
