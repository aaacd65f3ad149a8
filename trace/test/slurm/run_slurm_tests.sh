#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The tools in jobs of Slurm, on two nodes that with_slurm.sh makes on this machine. Skipped if that is not possible.
#
# Usage, in the build directory: run_slurm_tests.sh
#
# Environment: MPIEXEC, CC, MPI_LIBRARY; MPIX_TEST_QUICK=yes: what depends on the MPI library
#
# Most functions are called by tap_check only, by name:
# shellcheck disable=SC2317
set -u
slurm_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
MPIEXEC=${MPIEXEC:-mpiexec}
if [ "${1-}" != inside ]; then
    . "$slurm_dir/../../../test/tap.sh"
    [ "$(basename "$MPIEXEC")" != smpirun ] || skip_all "the simulator has hosts of its own"
    [ "${sanitizers:-no}" = no ] || skip_all "what sanitizers have built cannot be loaded into an ordinary program"
    reason=$(tap_reason_of "$("$slurm_dir/../../../test/slurm/with_slurm.sh" 2 true 2>&1 </dev/null)")
    [ -z "$reason" ] || skip_all "$reason"
    exec "$slurm_dir/../../../test/slurm/with_slurm.sh" 2 bash "$0" inside
fi

. "$(dirname "$0")/../../../test/programs/run.sh"
export OMPI_MCA_btl_tcp_if_include=eth0
library=${MPI_LIBRARY:-$(sed -n 's/^MPI_LIBRARY = //p' "$build/Makefile")}
case $library in
Open*) served=--mpi=pmix flags=(--allow-run-as-root --oversubscribe) ;;
*) served=--mpi=pmi2 flags=() ;;
esac
# All nodes see it.
shared=$MH_SLURM_HOME/shared
mkdir "$shared"
# shellcheck disable=SC2086
$compiler -Wno-deprecated-declarations "$top/trace/test/check_preload.c" -o "$shared/subject" -lpthread || exit 1
# shellcheck disable=SC2086
$compiler -w "$top/trace/test/check_trace_odd.c" -o "$shared/odd" -lpthread -ldl || exit 1
subject=$shared/subject
helper=
if [[ $library != Open* ]]; then # mpich_hosts.c says why
    helper=$shared/mpich_hosts.so
    $compiler -c -fPIC -O "$tests/hosts/mpich_hosts.c" -o "$helper.o" || exit 1
    ld -shared "$helper.o" -o "$helper" || exit 1
fi
export LD_PRELOAD=$helper MH_HOSTS_YIELD=1
preload=$build/bin/mpix_preload trace=$build/bin/mpix_trace bench=$build/bin/mpix_bench
campaign=$build/bin/mpix_campaign

# On a busy machine, a job that was queued behind another one was seen to get no nodes ("are still not ready").
wait_for_nodes() {
    # shellcheck disable=SC2016 # for the shell that is limited
    limited sh -c 'until [ "$(sinfo -h -N -t idle -o %N | wc -l)" -eq 2 ]; do sleep 0.1; done'
}

# TOOL COMMAND...: runs it in the shared folder
job() {
    program=$1 command=${*:2}
    cd "$shared" || exit 1
    wait_for_nodes
    capture "${@:2}"
}

# TOOL SCRIPT [OPTION]...
submit() {
    printf '#!/bin/bash\n%s\n' "$2" >"$shared/batch"
    job "$1" sbatch -N 2 -n 2 -o "$shared/batch.out" -e "$shared/batch.err" "${@:3}" "$shared/batch"
}
# The same; what the job prints is that of the last run.
batch() {
    submit "$1" "$2" -W "${@:3}"
    cp "$shared/batch.out" "$scratch/out"
    cp "$shared/batch.err" "$scratch/err"
}
# TOOL SCRIPT FILE PAUSE_S: a batch job that is canceled so long after the file is there
canceled() {
    local id
    submit "$1" "$2" --parsable
    id=$(cat "$scratch/out")
    comes_true test -s "$3" || complain "there is no $3"
    sleep "$4"
    capture scancel "$id"
    wait_for_nodes
}

# RANK ARGUMENT...: mpix_preload, which refuses on this rank, however a process learns its own
cat >"$shared/one" <<END
#!/bin/sh
[ "\${PMI_RANK-\${OMPI_COMM_WORLD_RANK-\$SLURM_PROCID}}" = "\$1" ] && set -- x --no-such-option "\$2"
shift
exec $preload --quiet "\$@" nothing
END
chmod +x "$shared/one"

expect_lines() {    # FILE LINE HOW OFTEN
    [ "$(grep -cE -e "$2" "$scratch/$1")" -eq "$3" ] || complain "there are not $3 lines '$2'"
}

# Slurm reports processes that it ended, and srun their signal.
expect_ended() {    # TEXT
    case $status in 0 | 124) complain "the job does not fail by itself" ;; esac
    [ "$(own_messages | wc -l)" -eq 1 ] || complain "not one line"
    expect_message "$1"
}

check_srun() {
    job mpix_preload srun -N 2 -n 2 "$served" "$preload" "$subject" barriers
    expect_status 0
    expect_lines err '^MPI_COMM_WORLD +2 ' 1
    job mpix_trace srun -N 2 -n 2 "$served" --export=NONE /usr/bin/env LD_PRELOAD="$helper" \
        "$trace" -o "$shared/srun" "$subject" nothing
    expect_status 0
    [ -e "$shared/srun/rank-1.mpixtrace" ] || complain "no trace of two processes"
    # What starts the program removes the tool from it.
    job mpix_preload srun -N 2 -n 2 "$served" "$preload" /usr/bin/env LD_PRELOAD="$helper" "$subject" nothing
    expect_status 0
    expect_line '^mpix_preload: no call of MPI_Init was seen on this host: .* without the preload$'
    # Two ranks share processors, so samples may be invalid.
    job mpix_bench srun -N 2 -n 2 "$served" "$bench" barrier -i 10 -x 1
    expect_lines out ' 2 ranks on 2 nodes' 1
}

# Without --mpi, there are two jobs of one process each. A batch script, a task of an array and a job of one are none.
check_alone() {
    local tool
    for tool in "$bench barrier -i 10" "$preload $subject nothing" "$trace -o $shared/alone $subject nothing"; do
        # shellcheck disable=SC2086
        job "$(basename "${tool%% *}")" srun -N 2 -n 2 $tool
        # Open MPI 4 and later refuses by itself, in MPI_Init.
        case $library in
        Open*) case $status in 0 | 124) complain "it is not refused" ;; esac ;;
        *) expect_refusal "give srun $served, which" ;;
        esac
    done
    case $library in Open*) ;; *)
        if srun --mpi=list 2>&1 | grep -qw pmix; then
            job mpix_preload srun -N 2 -n 2 --mpi=pmix "$preload" "$subject" nothing
            expect_refusal "give srun $served, which"
        fi
        MPIX_SINGLETONS=yes job mpix_bench srun -N 2 -n 2 "$bench" --version
        expect_status 0 ;;
    esac
    batch mpix_preload "$preload --quiet $subject nothing
$MPIEXEC ${flags[*]} -n 1 $preload --quiet $subject nothing"
    expect_status 0
    expect_lines out '^done 1$' 2
    batch mpix_trace "$trace -o array.\$SLURM_ARRAY_TASK_ID $subject nothing" -a 0-1
    expect_status 0
    compgen -G 'array.?/rank-0.mpixtrace' | wc -l | grep -qx 2 || complain "no two traces"
}

# In a folder of each node itself, the program is recorded, and each tool says what to do.
check_trace_of_nodes() {
    local tool
    job mpix_trace srun -N 2 -n 2 "$served" "$trace" -o /tmp/trace "$subject" nothing
    expect_status 0
    expect_message "1 of 2 ranks wrote into /tmp/trace on other hosts than node1, where rank 0 is; the first is rank 1 \
on node2: copy the files together"
    job cp srun -N 1 -n 1 -w node1 cp -r /tmp/trace nodes
    for tool in mpix_trace_report mpix_trace_check "mpix_trace_convert --format csv"; do
        [ -x "$build/bin/${tool%% *}" ] || continue
        # shellcheck disable=SC2086
        job "${tool%% *}" "$build/bin/"$tool nodes
        expect_status 2
        expect_message "nodes/rank-1.mpixtrace: missing; ranks without a file: 1, of 2 (that of rank 0 is from node1)"
    done
    job cp srun -N 2 --ntasks-per-node=1 sh -c 'cp /tmp/trace/* nodes'
    job mpix_trace_check "$build/bin/mpix_trace_check" nodes
    expect_status 0
}

# Its folder has to be seen by both nodes.
check_tune() {
    local options=(-n 2 -m 8:8 --budget-s 10 allreduce)
    batch mpix_tune "$build/bin/mpix_tune -o /tmp/tuning ${options[*]} -- srun $served -n {ranks}"
    expect_status 1
    expect_message "1 of 2 ranks cannot read what is in /tmp/tuning, the first is rank 1 on node2"
    case $library in Open*) return ;; esac
    job mpix_tune salloc -Q -N 2 -n 2 "$build/bin/mpix_tune" -o tuning "${options[@]}" -- srun -n '{ranks}'
    expect_status 1
    expect_message "give srun $served, which"
}

# What one process refuses, or each, ends the step, also without -K.
check_refusals() {
    local kill
    for kill in '' -K; do
        # shellcheck disable=SC2086
        job mpix_preload srun $kill -N 2 -n 2 "$served" "$shared/one" 1 "$subject"
        expect_ended '--no-such-option'
    done
    job mpix_preload srun -N 2 -n 2 "$served" "$shared/one" 0 "$subject"
    expect_ended '--no-such-option'
}

# The launcher of the MPI library. A folder that the node of rank 0 alone has is enough for the report.
check_mpiexec() {
    batch mpix_preload "mkdir /tmp/only
$MPIEXEC ${flags[*]} $preload --report /tmp/only/report $subject barriers && cat /tmp/only/report >&2"
    expect_status 0
    expect_lines err '^MPI_COMM_WORLD +2 ' 1
    job mpix_preload salloc -N 2 -n 2 "$MPIEXEC" "${flags[@]}" "$preload" "$subject" barriers
    expect_status 0
    expect_lines err '^MPI_COMM_WORLD +2 ' 1
    job mpix_preload salloc -N 2 -n 2 "$MPIEXEC" "${flags[@]}" "$preload" --no-such-option "$subject"
    expect_ended '--no-such-option'
    # On the second node alone.
    job mpix_preload salloc -N 2 -n 2 "$MPIEXEC" "${flags[@]}" "$shared/one" 1 "$subject"
    expect_ended '--no-such-option'
}

# FOLDER: of a trace of a program that hangs, which Slurm has ended
expect_places() {
    [ -x "$build/bin/mpix_trace_report" ] || return
    program=mpix_trace_report command="mpix_trace_report $1"
    capture "$build/bin/mpix_trace_report" "$1"
    expect_status 0
    expect_lines out '^Rank 0 is in MPI_Recv at .*, for rank 1, which is in MPI_Wait\.$' 1
    expect_lines out '^Rank 1 is in MPI_Wait at .*, for rank 0, which is in MPI_Recv\.$' 1
}

check_canceled_trace() {
    canceled mpix_trace "srun $served $trace -o canceled $shared/odd hang 0" canceled/rank-1.mpixtrace 1
    expect_places canceled
}

# It goes on in another job with what is missing.
check_canceled_campaign() {
    local first
    canceled mpix_campaign "exec $campaign -o campaign --launches 4 -- \
srun $served $bench reduce -m 8:8 -i 10 -x 1 --release barrier --format json" campaign/A/0000.json 0
    [ ! -e campaign/A/0003.json ] || complain "it is done before it is canceled"
    first=$(cksum campaign/A/0000.json)
    job mpix_campaign salloc -Q -N 2 -n 2 "$campaign" -o campaign
    expect_status 0
    [ "$(compgen -G 'campaign/A/*.json' | wc -l)" -eq 4 ] || complain "not 4 launches"
    [ "$(cksum campaign/A/0000.json)" = "$first" ] || complain "the first launch is repeated"
}

# Slurm looks at limits every half minute, and they are whole minutes.
check_time_limit() {
    local tap_limit_s=150
    batch mpix_trace "srun $served $trace -o limited $shared/odd hang 0" -t 1
    [ "$status" -ne 0 ] || complain "the job does not fail"
    expect_places limited
}

# The two share a node, and its /dev/shm.
check_users() {
    local user
    chmod 755 "$shared"
    wait_for_nodes
    for user in alice bob; do
        (cd "$MH_SLURM_HOME/$user" && setpriv --reuid "$user" --regid "$user" --init-groups \
            srun -N 1 -n 1 -w node1 "$served" "$preload" "$subject" barriers >"$scratch/$user" 2>&1) &
    done
    wait
    for user in alice bob; do
        grep -q '^MPI_COMM_WORLD' "$scratch/$user" || { echo "$user has no report:"; cat "$scratch/$user"; }
    done
}

[ -x "$preload" ] || skip_all "this build has no preload"
quick tap_check "srun with $served" check_srun
quick tap_check "jobs of one process each" check_alone
quick tap_check "a refusal ends the step" check_refusals
tap_check "a trace in the folders of the nodes" check_trace_of_nodes
tap_check_if "test -x $build/bin/mpix_tune" "mpix_tune was not built" "mpix_tune" check_tune
quick tap_check "sbatch and salloc with $MPIEXEC" check_mpiexec
tap_check "a trace of a job that is canceled" check_canceled_trace
tap_check_if "test -x $campaign" "mpix_campaign was not built" "a campaign that is canceled" check_canceled_campaign
tap_check "a trace of a job whose time is up" check_time_limit
readable_by_all() { setpriv --reuid alice --regid alice --init-groups test -x "$preload"; }
tap_check_if readable_by_all "not every user can read the build" "two users on a node" check_users
tap_done
