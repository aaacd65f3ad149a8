#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# mpix_preload with programs and installations for which it can do little or nothing: they run as ever, and one line
# says why. And with programs that start others, or come with tools of their own.
#
# Most functions are called by tap_check only, by name:
# shellcheck disable=SC2317
. "$(dirname "$0")/preload.sh"

check_wrapper() {
    printf '#!/bin/sh\necho wrapper >&2\n"$@"\nstatus=$?\necho after\nexit $status\n' >"$scratch/wrapper"
    chmod +x "$scratch/wrapper"
    preload "$scratch/wrapper" "$subject" child
    expect out 'after' 2
    expect out 'child 2' 2
    expect_row MPI_COMM_WORLD 2 $barriers $barriers
    # MPICH 4.2.1's launcher ends a process that has called MPI_Finalize if another one ends, so there is one only.
    run 1 mpix_preload "$subject" exec echo 'done 1'
    expect_done
}

check_without_barriers() {
    preload "$subject" nothing
    expect err 'mpix_preload: 2 ranks' 1
    expect_no "a cost without barriers" 'back to back' err
    succeeds run 2 mpix_preload "$subject" sessions
    expect out 'sessions' 2
}

check_abort() {
    run 2 mpix_preload "$subject" abort
    [ "$status" -ne 0 ] || complain "exit status is 0"
    expect_no "the program goes on" '^done' out
}

# A program without MPI runs, and a line says at its end that no call of MPI_Init was seen: once, whatever ends it.
# The launcher waits for the line.
check_no_mpi() {
    local command
    for command in 'echo hello; exit 7' 'exec env sh -c "echo hello; exit 7"' '(echo hello); (exit 7)' \
        'exec timeout 60 sh -c "echo hello; exit 7"'; do
        run 1 mpix_preload sh -c "$command"
        expect_status 7
        expect out hello 1
        expect_line '^mpix_preload: no call of MPI_Init was seen on this host: .*; the program ran here without'
    done
    # A launcher may end what it has started when a signal ends a process, and then does not wait.
    run alone mpix_preload sh -c 'kill -9 $$'
    comes_true grep -q "no call of MPI_Init" "$scratch/err"
    expect_line '^mpix_preload: no call of MPI_Init was seen '
    succeeds run 2 mpix_preload ls /dev/null
    expect_line '^mpix_preload: no call of MPI_Init was seen '
    # The program has the children and descriptors that it has without the tool.
    # shellcheck disable=SC2016 # for the script
    local script='ls /proc/$$/fd; echo $(wc -w </proc/$$/task/$$/children)'
    capture sh -c "$script"
    cp "$scratch/out" "$scratch/plain_out"
    run alone mpix_preload sh -c "$script"
    comes_true grep -q 'no call of MPI_Init' "$scratch/err" || complain "no line comes"
    expect_silence diff "$scratch/plain_out" "$scratch/out"
}

# Calls of MPI_Init are seen from other namespaces.
check_namespace() { # OPTION...
    succeeds run 1 mpix_preload --quiet unshare "$@" "$subject" nothing
    expect_done
    expect_no "a call of MPI_Init is not seen" 'mpix_preload:' err
}

# A program that is process 1 of its own may wait for all processes.
check_namespace_of_processes() {
    check_namespace -p -f --mount-proc
    printf '#include <stdio.h>\n#include <sys/wait.h>\nint main(void) { while (wait(NULL) > 0); puts("done"); }\n' \
        >"$scratch/init.c" && cc "$scratch/init.c" -o "$scratch/init" || return
    ranks=1 command="mpix_preload as process 1"
    timeout $tap_limit_s unshare -p -f --kill-child --mount-proc "$(path_of mpix_preload)" "$scratch/init" \
        >"$scratch/out" 2>"$scratch/err"
    status=$?
    expect_done
}

# What starts a program removes the tool from it.
check_lost_front() {
    succeeds run 2 mpix_preload env -u LD_PRELOAD "$subject" nothing
    expect_done
    expect_line '^mpix_preload: no call of MPI_Init was seen .*LD_PRELOAD.*; the program ran here without the preload$'
}

# One line for all processes, whichever of them spawn.
check_spawned() { # PROCESSES [OPTION]
    succeeds run 2 mpix_preload --quiet "$scratch/spawner" "${@:2}"
    expect out done "$1"
    expect_line '^mpix_preload: processes that MPI_Comm_spawn starts run without the preload, '
}
can_spawn_each() { tap_limit_s=20 launch 2 "$scratch/spawner" each </dev/null >/dev/null 2>&1; }

check_some_ranks() {
    check_tool_on_one 0 "$subject" mpix_preload --quiet
    check_tool_on_one 1 "$subject" mpix_preload --quiet
}

# Another tool works in its MPI_Init.
check_slow_rank() {
    make_tool SLOW
    run 2 mpix_with_tool --quiet "$subject" nothing
    expect_done
    program=mpix_preload
    expect_line '^mpix_preload: waits for rank 1, which may run without mpix_preload: start all processes of the job'
    MPIX_MEET_S=1 run 2 mpix_with_tool --quiet "$subject" nothing
    [ "$status" -ne 0 ] && [ "$status" -ne 124 ] || complain "the job does not end with an error"
    program=mpix_preload
    expect_line '^mpix_preload: rank 1 did not come within 1 s: start all processes of the job with mpix_preload ('
    for MPIX_MEET_S in 0 1s 9999999999999999999999; do
        export MPIX_MEET_S
        program=mpix_preload
        refuses "\"$MPIX_MEET_S\" is not allowed" run alone mpix_preload "$subject" nothing
    done
}

# Each of them names the call of the program, as often as without the tools.
check_wrong_calls() {
    local action names='(internal|MPI)_[A-Z][A-Za-z_]*' plain tool
    for action in freed_handle finalize_twice; do
        plain=$(launch 1 "$subject" "$action" 2>&1 </dev/null | grep -oE "$names")
        [ -n "$plain" ] || complain "without the preload, MPI says nothing of $action"
        for tool in "mpix_preload --quiet --barriers-of all" "mpix_trace -o $scratch/trace"; do
            rm -rf "$scratch/trace"
            # A command has several words.
            # shellcheck disable=SC2086
            run 1 $tool "$subject" "$action"
            [ "$(cat "$scratch/out" "$scratch/err" | grep -v '^mpix_trace: ' | grep -oE "$names")" = "$plain" ] ||
                complain "without the tool, MPI says: $plain"
        done
    done
}

# SANITIZER: a program that is compiled with it runs, also where a script starts it.
check_sanitized() {
    local tool
    rm -rf "$scratch/trace"
    for tool in "mpix_preload --quiet" "mpix_trace --quiet -o $scratch/trace" "mpix_preload --quiet sh -c"; do
        # A command has several words.
        # shellcheck disable=SC2086
        run 1 $tool "$scratch/sanitized-$1"
        expect_done
        [ ! -s "$scratch/err" ] || complain "it says something"
    done
    [ -s "$scratch/trace/rank-0.mpixtrace" ] || complain "it is not recorded"
}
# SANITIZER: whether such a program runs without the tools
sanitizes() {
    # shellcheck disable=SC2086
    $compiler -w "-fsanitize=$1" "$here/check_preload.c" -o "$scratch/sanitized-$1" -lpthread >/dev/null 2>&1 &&
        launch 1 "$scratch/sanitized-$1" >/dev/null 2>&1 </dev/null
}

# Numbers of the report are not in the program's language.
check_commas() {
    LOCPATH=$scratch/locale preload "$subject" commas
    expect out '1,5' 2
    expect_row MPI_COMM_WORLD 2 $barriers $barriers
    expect err 'back to back: a harmonized barrier takes [0-9]+\.[0-9]+ us, .*' 1
}
make_locale() {
    mkdir "$scratch/locale" && localedef -i de_DE -f UTF-8 "$scratch/locale/de_DE.UTF-8" >/dev/null 2>&1
}

# Scripts use any descriptors for themselves: a lock, and a file that keeps what they wrote.
check_descriptors() {
    cat >"$scratch/script" <<'SCRIPT'
#!/bin/bash
for descriptor in {3..250}; do
    [ -e /proc/self/fd/$descriptor ] || eval "exec $descriptor>\"\$1.\$descriptor\"; echo mine >&$descriptor" || exit
done
flock -n 200 && "${@:2}"
SCRIPT
    chmod +x "$scratch/script"
    rm -f "$scratch"/files.*
    run alone mpix_preload "$scratch/script" "$scratch/files" "$subject" nothing
    ranks=1 expect_done
    [ "$(cat "$scratch"/files.* | grep -vcx mine)" -eq 0 ] || complain "a file of the script has more than it wrote"
    [ -s "$scratch/files.200" ] && [ -s "$scratch/files.210" ] || complain "a descriptor is taken already"
}

# PROGRAM WHY: one line says why the preload cannot work, and the program runs.
expect_runs_without() {
    succeeds run alone mpix_preload "$1"
    expect out 'it runs' 1
    expect_line "$2.*the program runs without the preload\$"
}

# WHY OPTION_OF_CC MODE: of a program that is compiled and set so
check_plain() {
    printf '#include <stdio.h>\nint main(void) { puts("it runs"); return 0; }\n' >"$scratch/plain.c"
    cc "$2" "$scratch/plain.c" -o "$scratch/plain" && chmod "$3" "$scratch/plain" || return
    expect_runs_without "$scratch/plain" "$1"
}

# Of a processor that this one contains, and without a library.
make_small() {
    cc -m32 -static -nostdlib -x c - -o "$scratch/small" 2>/dev/null <<'SOURCE' && [ "$("$scratch/small")" = "it runs" ]
asm(".globl _start; _start: mov $4, %eax; mov $1, %ebx; mov $text, %ecx; mov $8, %edx; int $0x80;"
    "mov $1, %eax; xor %ebx, %ebx; int $0x80; text: .ascii \"it runs\\n\"");
SOURCE
}

check_other_library() { # WHY [VERSION]
    make_program_with_other_mpi "${@:2}" || return
    expect_runs_without "$scratch/user" "$1"
}

link_statically() { # with MPICH as the one static library
    local others
    [ "${library%% *}" = MPICH ] || return
    others=$(pkg-config --static --libs mpich 2>/dev/null) || return
    # shellcheck disable=SC2086
    $compiler -Wno-deprecated-declarations "$here/check_preload.c" -o "$scratch/linked" -Wl,--as-needed \
        -Wl,-Bstatic -lmpich -Wl,-Bdynamic ${others//-lmpich/} -lpthread >/dev/null 2>&1 &&
        ! ldd "$scratch/linked" | grep -q libmpi
}
check_linked_library() {
    preload "$scratch/linked" barriers
    expect_line '^mpix_preload: no call of MPI_Init was seen .*has MPI within itself'
}

# A program and a script in which there are names of libraries that they do not need.
check_named_libraries() {
    local names="libmpi_abi.so libmpich.so.12 libmpi.so.40"
    echo "const char *const mpi_libraries = \"$names\";" >"$scratch/names.c"
    # shellcheck disable=SC2086
    $compiler -w "$here/check_preload.c" "$scratch/names.c" -o "$scratch/named" -lpthread || return
    printf '#!/bin/sh\n# %s\nexec "$@"\n' "$names" >"$scratch/named.sh" && chmod +x "$scratch/named.sh" || return
    preload "$scratch/named.sh" "$scratch/named" barriers
    expect_row MPI_COMM_WORLD 2 $barriers $barriers
    preload "$scratch/named" barriers
    expect_row MPI_COMM_WORLD 2 $barriers $barriers
}

# An installation that lacks a part.
check_incomplete() {
    local built=$programs rank flavor other
    mkdir -p "$scratch/part"
    cp "$programs/mpix_preload" "$scratch/part/mpix_preload"
    programs=$scratch/part
    [ -n "$(find "${libdir:-/nowhere}/libmpix_harmonize" -name 'libmpix_interpose-*.so' 2>/dev/null)" ] || {
        refuses libmpix_interpose-mpich.so run alone mpix_preload "$subject" nothing
        # What is for another MPI library is not loaded.
        mkdir -p "$scratch/part/.libs"
        flavor=${front##*interpose-}
        case $flavor in mpich.so) other=openmpi.so ;; *) other=mpich.so ;; esac
        cp "$front" "$scratch/part/.libs/libmpix_interpose-$other"
        # Processes on other hosts, which may have it, would wait.
        refuses "there is no libmpix_interpose-$flavor for" run 2 mpix_preload "$subject" nothing
        rm -r "$scratch/part/.libs"
    }
    mkdir -p "$scratch/part/.libs"
    cp "$front" "$scratch/part/.libs/"
    preload "$subject" nothing
    expect_line 'install libmpix_harmonize built for this MPI library'
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
        expect_line 'interpose-.*so.*; the program runs without the preload'
    done
}

# Where LD_PRELOAD cuts the name of the folder.
check_odd_folder() {
    local built=$programs
    for programs in "$scratch/a folder" "$scratch/a:folder"; do
        mkdir -p "$programs/.libs"
        cp "$built/mpix_preload" "$programs/mpix_preload"
        cp "$front" "$programs/.libs/"
        refuses "$programs" run alone mpix_preload "$subject" nothing
    done
}

# FLAVOR VARIABLE...: what is loaded into a script that a launcher with these variables starts
expect_flavor() {
    (
        export "${@:2}"
        # shellcheck disable=SC2016 # for the script
        succeeds run alone mpix_preload sh -c 'echo "$LD_PRELOAD"'
        expect out ".*/libmpix_interpose-$1.so" 1
    )
}

check_scripts() {
    local flavor
    mkdir -p "$scratch/both/.libs"
    cp "$programs/mpix_preload" "$scratch/both/mpix_preload"
    for flavor in mpich openmpi; do cp "$front" "$scratch/both/.libs/libmpix_interpose-$flavor.so"; done
    programs=$scratch/both
    expect_flavor mpich PMI_RANK=1
    expect_flavor mpich PMI_RANK=1 PMIX_RANK=1
    expect_flavor openmpi PMIX_RANK=1
    expect_flavor openmpi OMPI_COMM_WORLD_RANK=1 PMIX_RANK=1
}

# Each process is alone: a launcher of the other MPI library, or Slurm without an option, started it.
check_alone() {
    local variables option=--mpi=pmi2
    case $library in
    Open*) variables=(PMI_SIZE=3 PMI_RANK=0) option=--mpi=pmix ;;
    *) variables=(OMPI_COMM_WORLD_SIZE=3 OMPI_COMM_WORLD_RANK=0) ;;
    esac
    export "${variables[@]}"
    refuses 'started 3 processes, ' run alone mpix_preload "$subject" nothing
    refuses 'started 3 processes, ' run alone mpix_trace -o "$scratch/of_alone" "$subject" nothing
    [ ! -e "$scratch/of_alone" ] || complain "an empty trace is left"
    MPIX_SINGLETONS=yes succeeds run alone mpix_preload --quiet "$subject" nothing
    expect out 'done 1' 1
    unset PMI_SIZE PMI_RANK OMPI_COMM_WORLD_SIZE OMPI_COMM_WORLD_RANK
    export SLURM_STEP_NUM_TASKS=2 SLURM_PROCID=0
    refuses "give srun $option, " run alone mpix_preload "$subject" nothing
    unset SLURM_STEP_NUM_TASKS SLURM_PROCID
}

# In a shell that srun --pty started, with the variables of its step. The step is not ended.
check_shell_of_slurm() {
    mkdir "$scratch/slurm" && printf '#!/bin/sh\necho "$@" >%s/canceled\n' "$scratch/slurm" >"$scratch/slurm/scancel" &&
        chmod +x "$scratch/slurm/scancel" || return
    export PATH=$scratch/slurm:$PATH SLURM_STEP_NUM_TASKS=2 SLURM_PROCID=0 SLURM_JOB_ID=1 SLURM_STEP_ID=0
    export SLURM_PTY_PORT=40000 SLURM_TASK_PID=$$
    succeeds run alone mpix_preload --quiet "$subject" nothing
    expect out 'done 1' 1
    refuses no-such-option run alone mpix_preload --no-such-option "$subject"
    [ ! -e "$scratch/slurm/canceled" ] || complain "the step is ended"
    # A step that was started in such a shell is ended.
    # shellcheck disable=SC2016 # for the script
    capture sh -c 'SLURM_TASK_PID=$$ exec "$0" --no-such-option' "$(path_of mpix_preload)"
    [ "$(cat "$scratch/slurm/canceled")" = 1.0 ] || complain "a step in the shell is not ended"
}

# A process that has something to refuse ends the job: another one would wait for it in MPI_Init.
check_refusal_of_one() {
    local part other=("$programs/mpix_preload" --quiet "$subject" nothing) refused
    while read -r part program refused; do
        read -r -a refused <<<"$programs/$program $refused"
        for command in "${refused[*]} : -n 1 ${other[*]}" "${other[*]} : -n 1 ${refused[*]}"; do
            # Lists of words.
            # shellcheck disable=SC2086
            capture "${MPIEXEC:-mpiexec}" ${MPIEXEC_FLAGS-} -n 1 $command
            expect_refusal "$part"
        done
    done <<END
--no-such-option mpix_preload --no-such-option $subject
/nowhere/program mpix_preload /nowhere/program
/proc/nowhere mpix_trace -o /proc/nowhere $subject
END
}

# As interpreters do: the MPI library is loaded with a module, for this module alone.
check_module() {
    cat >"$scratch/host.c" <<'SOURCE'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv)
{
#ifdef OWN_ERRORS
    freopen(OWN_ERRORS, "a", stderr);
#endif
    void *module = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL | FLAGS) : NULL;
    int (*start)(int, char **) = module ? (int (*)(int, char **))dlsym(module, "start") : NULL;
    if (!start)
        puts(dlerror());
    return start ? start(argc - 1, argv + 1) : 1;
}
SOURCE
    # shellcheck disable=SC2086
    $compiler -Wno-deprecated-declarations -Dmain=start -shared -fPIC "$here/check_preload.c" -o "$scratch/module.so" &&
        cc -DFLAGS=0 "$scratch/host.c" -o "$scratch/host" -ldl || return
    preload "$scratch/host" "$scratch/module.so" barriers
    expect out 'global 1 tick 1\.0e-09' 1
    expect_row MPI_COMM_WORLD 2 $barriers $barriers
    # One that has the functions of its own libraries before those that are loaded first
    cc -DFLAGS=RTLD_DEEPBIND "$scratch/host.c" -o "$scratch/host" -ldl || return
    preload "$scratch/host" "$scratch/module.so" nothing
    expect_line '^mpix_preload: the program started MPI, but not through mpix_preload: .*; it ran without the preload$'
    cc -w -DFLAGS=RTLD_DEEPBIND "-DOWN_ERRORS=\"$scratch/file\"" "$scratch/host.c" -o "$scratch/host" -ldl || return
    preload "$scratch/host" "$scratch/module.so" nothing
    [ ! -s "$scratch/file" ] || complain "the program's own file has a line of the preload"
}

check_handle() {
    make_program_by_handle || return
    preload "$scratch/by_handle" "$(mpi_library_of "$subject")"
    expect_row MPI_COMM_WORLD 2 $barriers $barriers
}

# A program asks whether there is MPI. There is none.
check_probe() {
    cat >"$scratch/probe.c" <<'SOURCE'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
int main(void)
{
    int found = dlsym(RTLD_DEFAULT, "MPI_Initialized") || dlsym(dlopen(NULL, RTLD_LAZY), "PMPI_Barrier");
    puts(found || !dlsym(RTLD_DEFAULT, "printf") || !dlsym(RTLD_NEXT, "puts") ? "wrong: there is MPI" : "done 1");
    return 0;
}
SOURCE
    cc "$scratch/probe.c" -o "$scratch/probe" -ldl || return
    run 1 mpix_preload "$scratch/probe"
    expect_done
}

check_tool() {
    make_tool INIT
    run 2 mpix_with_tool "$subject" barriers
    expect_done
    expect err 'tool: begin' 2
    expect err 'tool: end' 2
    expect_row MPI_COMM_WORLD 2 $barriers $barriers
}

# RANKS PROGRAM [ARGUMENT]...: of make preload-cost
run_cost() {
    program=run_preload_cost.sh command="run_preload_cost.sh $*"
    (cd "$build" && bash "$here/performance/run_preload_cost.sh" "$@") >"$scratch/out" 2>"$scratch/err"
    status=$?
}

# NAME: the row's number without mpix_preload is 1 ms at least.
expect_late() {
    awk -v row="$1" '$0 ~ "^" row " " && $(NF - 2) >= 1e6 && $(NF - 1) > 0 { found = 1 } END { exit !found }' \
        "$scratch/out" || complain "without mpix_preload, $1 is not 1 ms"
}

# What make preload-cost measures is so: one process leaves the plain barrier late, as a tool makes it.
check_cost() {
    make_tool LATE
    # shellcheck disable=SC2016 # for the script
    printf '#!/bin/sh\nLD_PRELOAD=$LD_PRELOAD:%s exec "$@"\n' "$scratch/tool.so" >"$scratch/with_tool"
    run_cost 2 "$scratch/with_tool" "$subject" barriers
    expect_status 0
    expect_late 'exit skew p50'
    expect_late 'time p50'
    expect out "barriers +$barriers +$barriers" 1
    expect out 'MPI_Wtime +[0-9.]*[1-9][0-9.]* +[0-9.]*[1-9][0-9.]* +[0-9]+\.[0-9]+' 1
    expect out "MPI_COMM_WORLD +2 +$barriers +$barriers +.*" 1
    run_cost 2 "$subject" nothing
    expect_status 1
    own_messages | grep -q 'calls no barrier' || complain "no line says that there is no barrier"
    run_cost 2
    expect_refusal "the program"
    run_cost few "$subject"
    expect_refusal few
    run_cost 2 /nowhere/program
    expect_refusal /nowhere/program
}

quick tap_check "a shell wrapper, a child, another program" check_wrapper
tap_check "a program without barriers, or of sessions" check_without_barriers
tap_check "a program that aborts" check_abort
quick tap_check "no MPI program" check_no_mpi
tap_check_if can_spawn_one "processes cannot be spawned here" "processes that are spawned" check_spawned 3
tap_check_if can_spawn_each "not each process can spawn here" "processes that each one spawns" check_spawned 4 each
tap_check_if can_spawn_each "not each process can spawn here" "processes that rank 1 spawns" check_spawned 3 last
tap_check "one process without mpix_preload" check_some_ranks
tap_check "a process that comes late" check_slow_rank
quick tap_check_if make_locale "localedef makes no German locale" "a program that prints commas" check_commas
export UCX_MEM_EVENTS=no # MPICH's transport and the thread sanitizer wait for each other else
for sanitizer in address undefined thread; do
    quick tap_check_if "sanitizes $sanitizer" "such a program does not run with this MPI library" \
        "a program with the $sanitizer sanitizer" check_sanitized $sanitizer
done
unset UCX_MEM_EVENTS
quick tap_check "calls that MPI refuses" check_wrong_calls
quick tap_check "a script that uses all descriptors" check_descriptors
quick tap_check_if "unshare -r true" "no namespace of users can be made here" "a namespace of users" \
    check_namespace -r
quick tap_check_if "unshare -p -f --kill-child --mount-proc true" "no namespace of processes can be made here" \
    "a namespace of processes" check_namespace_of_processes
quick tap_check "a program that is started without LD_PRELOAD" check_lost_front
quick tap_check "functions from the handle of the MPI library" check_handle
tap_check "a program that looks for MPI in vain" check_probe
links_statically() { echo 'int main(void) { return 0; }' | cc -static -x c - -o "$scratch/try"; }
tap_check_if links_statically "cc links no static program" \
    "a static program" check_plain "linked statically" -static +x
tap_check_if make_small "cc makes no program of 32 bits" \
    "a static program of 32 bits" expect_runs_without "$scratch/small" "linked statically"
tap_check "a program of a set user" check_plain "set-user-id" -g u+s
quick tap_check "another MPI library" check_other_library "Other MPI" 'Other MPI\nof 99'
tap_check "an MPI library without a version" check_other_library "does not state its version"
tap_check_if link_statically "there is no static MPICH to link, or this build is not for MPICH" \
    "a program that MPICH is linked into" check_linked_library
tap_check "names of MPI libraries in a program" check_named_libraries
tap_check "an incomplete installation" check_incomplete
tap_check "a folder that LD_PRELOAD cannot name" check_odd_folder
tap_check "scripts of two MPI libraries" check_scripts
tap_check "processes that are alone" check_alone
tap_check "a shell that srun --pty started" check_shell_of_slurm
tap_check "a refusal of one process" check_refusal_of_one
tap_check "a module that is loaded at run time" check_module
tap_check "another tool in LD_PRELOAD" check_tool
tap_check "what it costs, by make preload-cost" check_cost
tap_done
