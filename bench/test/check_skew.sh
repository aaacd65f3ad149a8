#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs mpix_skew briefly, and checks what it prints and how it exits; and what programs answer to a bad setting and to
# the variables of launchers. No claim about speed is tested here.
#
# Some launchers take a third of a second, and seconds when a program fails, so there is no case here that another one
# covers, and bad options are mostly tried without a launcher.
. "$(dirname "$0")/../../test/programs/run.sh"
past_libtool

# CALLS: the rows of both schemes have as many calls as the raw file. test_skew has the other figures.
check_skew_rows() {
    columns release calls valid | sort >"$scratch/figures"
    from=raw columns release call skew_ns valid | awk -F, '
        $3 < 0 || ($4 != 0 && $4 != 1) || $2 != all[$1]++ || $1 $4 == "barrier0" { print "raw: " $0 }
        { valid[$1] += $4 }
        END { for (scheme in all) print scheme "," all[scheme] "," valid[scheme] }' | sort |
        diff "$scratch/figures" -
    [ "$(cut -d, -f1,2 "$scratch/figures" | xargs)" = "barrier,$1 harmonize,$1" ] || echo "not $1 calls of each"
}

# On a machine with fewer cores than ranks there may be no valid call, but then the program says so.
expect_skew_status() {
    if [ "$status" -ne 1 ] || ! own_messages | grep -q 'no valid call of MPIX_Harmonize'; then
        expect_status 0
    fi
}

check_skew() {
    # Of a prime number of calls, so that blocks do not come out even; with time to spare on a busy machine.
    run 2 mpix_skew -i 211 --block 50 -x 20 --time-slice-s 60 --format csv --raw "$scratch/raw"
    expect_skew_status
    expect_silence check_skew_rows 211
}

# What is wider than the terminal cannot be taken back.
check_narrow() {
    command="mpix_bench on a terminal of 20 columns"
    script -qec "stty cols 20; '$programs/mpix_bench' barrier -i 10 -x 1 --output '$scratch/skews'" "$scratch/typed" \
        >/dev/null 2>"$scratch/err" </dev/null
    status=$?
    tr '\r' '\n' <"$scratch/typed" >"$scratch/out"
    grep -qx 'MPI_Barrier, 0 byte' "$scratch/out" || complain "more than a line"
}

# Through a launcher, too, which passes on what ranks say. A second tells how long four take.
check_progress() {
    local words
    words="${MPIEXEC:-mpiexec} ${MPIEXEC_FLAGS-} -n 2 '$(path_of mpix_bench)' barrier bcast -m 8,16 -i 100000000 -x 1 \
--time-slice-s 1.5 --release barrier"
    command="mpix_bench on a terminal, through a launcher"
    script -qec "$words --output '$scratch/results'" "$scratch/typed" >/dev/null 2>"$scratch/err" </dev/null
    status=$?
    expect_status 0
    tr '\r' '\n' <"$scratch/typed" >"$scratch/out"
    grep -q '^MPI_Bcast, 16 bytes, about [0-9 hmins]* s left: [0-9]* of 100000000 valid, ' "$scratch/out" ||
        complain "not how long it takes"
    # In any place, the first measurement would say so.
    grep -q '^MPI_Barrier.* left: ' "$scratch/out" || complain "nothing of the first measurement"
    words=${words/ barrier bcast -m 8,16/ barrier}
    script -qec "$words --output '$scratch/results' 2>'$scratch/err'" "$scratch/typed" >/dev/null </dev/null
    ! grep -q 'left:' "$scratch/typed" "$scratch/err" || complain "progress in a file"
    # Of rank 0 alone.
    printf '#!/bin/sh\nexec "%s" "$@" 2>>"%s"\n' "$(path_of mpix_bench)" "$scratch/own" >"$scratch/mpix_bench"
    chmod +x "$scratch/mpix_bench"
    script -qec "${words/"$(path_of mpix_bench)"/"$scratch/mpix_bench"} --output '$scratch/results'" "$scratch/typed" \
        >/dev/null </dev/null
    [ -e "$scratch/own" ] && ! grep -q 'left:' "$scratch/typed" "$scratch/own" ||
        complain "progress in a file of standard error"
}

# Ticks of all processors: of programs, and all.
count_ticks() {
    awk '/^cpu / { printf "%.0f %.0f\n", $2 + $3 + $4, $2 + $3 + $4 + $5 + $6 + $7 + $8 + $9 }' /proc/stat
}

# More processes than processors, which the shells of this test are: it is said while the program runs. They end by
# themselves if the test is interrupted. Where they get few of the processors, the node is not busy by them.
check_busy() {
    local busy=() pid end used=0 all=0 used_then=0 all_then=0
    for ((i = 0; i < 3 * $(getconf _NPROCESSORS_ONLN); i++)); do
        (end=$((SECONDS + 60)); while ((SECONDS < end)); do :; done) &
        busy+=($!)
    done
    read -r used all < <(count_ticks)
    run 2 mpix_bench barrier -i 100000000 -x 1 --release barrier --time-slice-s 6 --format csv
    read -r used_then all_then < <(count_ticks)
    for pid in "${busy[@]}"; do
        kill "$pid"
        { wait "$pid"; } 2>/dev/null
    done
    expect_status 0
    [ "$(grep -c 'mpix_bench: not done after 4 s: more processes run on this node' "$scratch/err")" -eq 1 ] ||
        complain "does not say once why it takes long"
    [ $((2 * (used_then - used))) -gt $((all_then - all)) ] || return 0
    [ "$(grep -c 'mpix_bench: the node was busy: other programs took [1-9][0-9] %' "$scratch/err")" -eq 1 ] ||
        complain "does not say once that the node was busy"
    columns others_percent steal_percent | awk -F, '!($1 > 20 && $1 <= 100 && $2 ~ /./ && $2 >= 0 && $2 <= 100) {
        print "not what others take of the processors: " $0 }' >"$scratch/problems"
    [ ! -s "$scratch/problems" ] || complain "$(cat "$scratch/problems")"
}

# All flags are 0, with one process more than there are processors, and with one process.
check_crowded() {
    CHECK_FAULT=never run $(($(nproc) + 1)) check_faults bcast -m 8 -i 2 -x 0 --max-repeat 1
    expect_status 1
    own_messages | grep -q 'only 0 valid samples in 2 calls, .*; there are more processes than processors$' ||
        complain "does not say why"
    CHECK_FAULT=never run 1 check_faults bcast -m 8 -i 2 -x 0 --max-repeat 1
    own_messages | grep -q 'only 0 valid samples in 2 calls, [^;]*$' || complain "one process is none too many"
}

check_skew_tables() {
    run 2 mpix_skew -i 500 -x 20
    expect_skew_status
    expect_silence check_table 10 2
    if [ "$status" -eq 0 ]; then
        grep -q '^# Ratio barrier / harmonize: p50 [>0-9.-]* p99 [>0-9.-]* ' "$scratch/out" || complain "no ratios"
    fi
    grep -q '^# Exits measured by: ' "$scratch/out" || complain "the head does not tell the clock"
    run 2 mpix_skew -i 100 --truth global --release harmonize --format csv
    expect_skew_status
    [ "$(cut -d, -f1 "$scratch/rows" | tr '\n' ' ')" = "release harmonize " ] || complain "not harmonize alone"
    own_messages | grep -q 'global clock' || complain "does not tell that the global clock was used"
}

# All schemes of the performance record.
check_skew_schemes() {
    local scheme schemes="barrier harmonize harmonize-shm harmonize-dissemination harmonize-tree harmonize-collective"
    run 2 mpix_skew --iterations 50 --repeats 2 --release "${schemes// /,}"
    for scheme in barrier harmonize harmonize-tree harmonize-collective; do
        grep -q "^ *$scheme " "$scratch/out" || complain "no row of $scheme"
    done
    cp "$scratch/out" "$scratch/table"
    run 2 mpix_skew --iterations 50 --repeats 2 --release "${schemes// /,}" --format csv
    [ "$(columns release p50_ns | grep -c '^[a-z-]*,[0-9.]*$')" -eq \
        "$(grep -c '^ *[a-z-]* .*[0-9]$' "$scratch/table")" ] || complain "not a line of CSV for each row"
}

# The library always takes its usual barrier, and no call is valid.
cat >"$scratch/never.c" <<'END'
#include <mpi.h>

/* Launchers are without it. */
int PMPIX_Harmonize(MPI_Comm comm, int *valid) __attribute__((weak));

int MPIX_Harmonize(MPI_Comm comm, int *valid)
{
    int code = PMPIX_Harmonize(comm, valid);
    *valid = 0;
    return code;
}

int MPIX_Harmonize_set_info(MPI_Comm comm, MPI_Info info)
{
    return comm == MPI_COMM_NULL || info == MPI_INFO_NULL;
}
END

check_nothing_measured() {
    export LD_PRELOAD=$scratch/never.so
    run 2 mpix_skew -i 10 -x 1
    unset LD_PRELOAD
    expect_status 1
    expect_message 'no valid call of MPIX_Harmonize in '
    export LD_PRELOAD=$scratch/never.so
    run 2 mpix_skew --release harmonize-tree -i 10 -x 1
    unset LD_PRELOAD
    expect_status 2
    [ ! -s "$scratch/out" ] || complain "a table without rows"
    expect_message 'option --release: none of these schemes is possible here'
}

check_other_function() {
    run 2 mpix_skew --iterations 50 --repeats 2 --release harmonize --other "$other_function"
    grep -q '^ *other ' "$scratch/out" || complain "no row of the other library"
}

# A bad setting of the library ends a program with its message, and no launcher has to kill anything.
check_library_errors() {
    MPIX_HARMONIZE_TOLERANCE_NS=bad run 2 mpix_bench reduce
    expect_status 1
    expect_line '[Tt][Oo][Ll][Ee][Rr][Aa][Nn][Cc][Ee]_[Nn][Ss]'
    [ "$(own_messages | grep -io tolerance_ns | wc -l)" -eq 1 ] || complain "says it twice"
}

# Those of modules are known.
check_unknown_variables() {
    export MPIX_HARMONIZE_TOLERNACE_NS=9 MPIX_HARMONIZE_ROOT=/opt MPIX_HARMONIZE_DIR=/opt
    for each in mpix_skew mpix_bench; do
        run 2 $each --help
        [ "$(own_messages)" = "$each: unknown variable MPIX_HARMONIZE_TOLERNACE_NS; \
did you mean MPIX_HARMONIZE_TOLERANCE_NS?" ] ||
            complain "not one line about the variable"
    done
    unset MPIX_HARMONIZE_TOLERNACE_NS MPIX_HARMONIZE_ROOT MPIX_HARMONIZE_DIR
}

check_other_variables() {
    # Each variable is one of the other library's launcher.
    case $library in
    Open*) other=MPICH own="Open MPI v"; export PMI_SIZE=3 PMI_RANK=0 ;;
    *) other="Open MPI" own="MPICH Version: "; export OMPI_COMM_WORLD_SIZE=3 OMPI_COMM_WORLD_RANK=0 ;;
    esac
    case $library in 'standard ABI'*) own= ;; esac
    run alone mpix_skew -i 10
    expect_refusal "a launcher for $other started 3 processes, and each is alone in MPI_COMM_WORLD: use the launcher \
of the program's MPI library, which is $own"
    MPIX_SINGLETONS=yes succeeds run alone mpix_skew --version
    # Within a job of the other library.
    for ranks in 1 2; do
        succeeds run $ranks mpix_skew --version
        [ "$(wc -l <"$scratch/out")" -eq 1 ] || complain "not one line"
    done
}

# Slurm and Flux start a program several times, whether or not they know its MPI library. What they start in between
# sees their variables, too.
check_managers() {
    local step="SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=2" line='' variables count=0
    case $library in
    Open*) usual=--mpi=pmix other=--mpi=pmi2 usual_type=pmix flux=pmix ;;
    *) usual=--mpi=pmi2 other=--mpi=pmix usual_type=pmi2 flux=simple ;;
    esac
    # Together, as those that are refused wait for others to say so.
    while IFS='|' read -r line variables; do
        count=$((count + 1))
        mkdir "$scratch/managed-$count"
        (
            scratch=$scratch/managed-$count
            read -r -a variables <<<"$variables"
            command="mpix_skew --version with ${variables[*]}" program=mpix_skew
            capture env "${variables[@]}" "$(path_of mpix_skew)" --version
            if [ -n "$line" ]; then expect_refusal "$line"; else expect_status 0; fi
        ) >"$scratch/managed-$count/complaints" 2>&1 &
    done <<END
srun started 2 processes, and each is alone in MPI_COMM_WORLD: give srun $usual, which |$step
give srun $other, |$step SLURM_MPI_TYPE=$usual_type
give srun $other, |$step SLURM_MPI_TYPE=${usual_type}_v4
give srun |$step PMIX_NAMESPACE=slurm.pmix.1.0 PMIX_RANK=0
|$step MPIX_SINGLETONS=yes
|SLURM_PROCID=0 SLURM_NTASKS=2 SLURM_NPROCS=2
|SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=1 SLURM_NTASKS=1
|$step PMIX_NAMESPACE=1234 PMIX_RANK=0
|$step MPI_LOCALNRANKS=1 PMI_SIZE=1
|$step SLURM_PTY_PORT=40000 SLURM_TASK_PID=1
give flux run -o pmi=$flux, |FLUX_JOB_SIZE=2 FLUX_TASK_RANK=0
|FLUX_JOB_SIZE=1 FLUX_TASK_RANK=0
END
    wait
    [ $count -eq 12 ] || echo "$count lines of variables, not 12"
    cat "$scratch"/managed-*/complaints
}

check_other_launcher() {
    MPIEXEC=$other_launcher MPIEXEC_FLAGS=''
    [ "$other_launcher" = mpiexec.mpich ] || MPIEXEC_FLAGS='--oversubscribe --allow-run-as-root'
    refuses 'started 2 processes, and each is alone in MPI_COMM_WORLD: use the launcher' run 2 mpix_bench barrier -i 10
}

quick tap_check "mpix_skew: rows against single calls" check_skew
tap_check "mpix_skew: tables and clocks" check_skew_tables
quick tap_check_if launches "the simulator has no time of its own" \
    "mpix_skew: schemes of the performance record" check_skew_schemes
other_function=$build/lib/.libs/libmpix_harmonize${LIBRARY_SUFFIX-}.so
has_other_function() { [ -e "$other_function" ]; }
quick tap_check_if has_other_function "there is no shared library" \
    "mpix_skew: the function of another library" check_other_function
tap_check_if "command -v script" "there is no script (Debian package: bsdutils)" \
    "mpix_bench: progress on a terminal" check_narrow
has_terminal() { launches && command -v script; }
tap_check_if has_terminal "there is no launcher, or no script (Debian package: bsdutils)" \
    "mpix_bench: progress and time left through a launcher" check_progress
tap_check_if "test $(nproc) -le 4" "there are many processors" \
    "mpix_bench: more processes than processors" check_crowded
can_be_busy() { launches && [ "$(getconf _NPROCESSORS_ONLN)" -le 4 ]; }
tap_check_if can_be_busy "there is no launcher, or there are many processors" \
    "mpix_bench: other processes on the processors" check_busy
if ${CC:-mpicc} -shared -fPIC -o "$scratch/never.so" "$scratch/never.c" >"$scratch/log" 2>&1; then
    tap_check_if has_other_function "there is no shared library" \
        "mpix_skew: no valid call, and no scheme" check_nothing_measured
else
    tap_skip "mpix_skew: no valid call, and no scheme" "nothing can be compiled to be preloaded"
fi
quick tap_check "errors of the library" check_library_errors
quick tap_check "misspelled variables of the library" check_unknown_variables
library=${MPI_LIBRARY:-$(sed -n 's/^MPI_LIBRARY = //p' "${BUILDDIR:-.}/Makefile")}
case $library in Open*) other_launcher=mpiexec.mpich ;; *) other_launcher=mpiexec.openmpi ;; esac
quick tap_check "variables of another MPI library's launcher" check_other_variables
quick tap_check "variables of Slurm and of Flux" check_managers
tap_check_if "command -v $other_launcher" "there is no $other_launcher" \
    "the launcher of another MPI library" check_other_launcher
tap_done
