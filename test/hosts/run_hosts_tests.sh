#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Runs the MPI tests (test/mpi) across several hosts, which with_hosts.sh makes on this machine. Skipped as a whole
# if that is not possible.
#
# Usage, in the build directory: run_hosts_tests.sh [SUBTEST...]
#
# Environment:
#   MPIEXEC, CC            the launcher of the MPI library, MPICH's or Open MPI's, and its compiler wrapper
#   MPIX_TEST_CLUSTERS     clusters to run on, as words HOSTS:RANKS:PLACEMENT (see mpiexec_hosts.sh)
#   MPIX_TEST_QUICK        yes: on one of them only, one test of each kind
#   MPIX_TEST_BRIEF        yes: the same, with two ranks on each host
#   MPIX_TEST_TIMEOUT, MPIX_TEST_WRAPPER
#                          see run_mpi_tests.sh
set -u

source_dir=$(cd "$(dirname "$0")" && pwd)
. "$source_dir/../tap.sh"

# A rank on each host, where each test runs on as many as it can; then two on each, where neighbors in rank are apart.
clusters=${MPIX_TEST_CLUSTERS:-3:3:block 2:2:block 2:4:cyclic}
case ${MPIX_TEST_BRIEF-}/${MPIX_TEST_QUICK-} in *yes*)
    [ "${MPIX_TEST_BRIEF-}" = yes ] && clusters=2:4:cyclic || clusters=2:2:block
    [ $# -gt 0 ] ||
        set -- barrier deadline flag late subcomm errors_one_rank clock_zero clock_goes_on threads ;;
esac
# The list that is made here has no marks.
unset MPIX_TEST_BRIEF MPIX_TEST_QUICK

# Sub-tests that cannot pass across hosts, and why.
declare -A not_here=(
    [clock_unshared]="expects that all ranks can share a clock"
    [flag_under_load]="expects that all ranks share a clock"
    [clock_unshared_later]="expects that all ranks share a clock at first"
)
# Environment variables that sub-tests need here.
declare -A settings_here=(
    # It makes thousands of communicators, and synchronizing one with care takes 1,000 round trips.
    [cycles]=MPIX_HARMONIZE_SYNC=hca3o/skampi/10
    # Their two threads share the one core of a rank, where Open MPI's wait for each other's time slices.
    [threads]=OMPI_MCA_mpi_yield_when_idle=1
    [progress_beside]=OMPI_MCA_mpi_yield_when_idle=1
)

export MH_MPIEXEC=${MH_MPIEXEC:-${MPIEXEC:-mpiexec}}
export MPIEXEC=$source_dir/mpiexec_hosts.sh
[ -z "${CC-}" ] || export MH_MPICC=${MH_MPICC:-$CC}

# Are there hosts, and does the launcher reach them?
check_hosts() {
    local output status
    case $(basename "$MH_MPIEXEC") in
    smpirun) skip_all "the simulator has hosts of its own" ;;
    esac
    output=$("$source_dir/with_hosts.sh" 2 "$MPIEXEC" -n 2 cat /proc/sys/kernel/hostname 2>&1 </dev/null)
    status=$?
    [ $status -ne 77 ] || skip_all "$(tap_reason_of "$output")"
    if [ $status -eq 0 ] && [ "$(grep -x 'host[12]' <<<"$output" | sort | tr '\n' ' ')" = "host1 host2 " ]; then
        tap_ok "a process starts on each of two hosts"
    else
        tap_not_ok "a process starts on each of two hosts" "$output
exit status $status"
        tap_done    # ends the script
    fi
}

# Root makes hosts without a user namespace, others need one.
check_ordinary_user() {
    local name="an ordinary user has hosts, too" output status
    local user=(setpriv --reuid 54321 --regid 54321 --clear-groups)
    if [ "$(id -u)" -ne 0 ]; then
        tap_skip "$name" "this script is run by one"
    elif ! "${user[@]}" test -x "$source_dir/with_hosts.sh"; then
        tap_skip "$name" "not every user can read the sources"
    else
        output=$(cd / && "${user[@]}" "$source_dir/with_hosts.sh" 2 "$source_dir/on_host.sh" host2 \
            cat /proc/sys/kernel/hostname 2>&1 </dev/null)
        status=$?
        if [ $status -eq 77 ] && ! "${user[@]}" unshare --user --map-root-user --net --mount true 2>/dev/null; then
            tap_skip "$name" "$(tap_reason_of "$output")"
        else
            tap_expect_empty "$name" "$([ "$output" = host2 ] || echo "${output:-no output}, status $status")"
        fi
    fi
}

reason_against() {  # SUBTEST SETTINGS
    case $2 in *MPIR_CVAR_ODD_EVEN_CLIQUES*) echo "makes nodes up, here are real ones"; return ;; esac
    echo "${not_here[$1]-}"
}

declare -A tried

# Writes the list for run_mpi_tests.sh: the lines that hold for a number of ranks, which are those with fewer and with
# more ranks in them, or just as many. The number may have a mark.
prepare() {     # CLUSTER RANKS [SUBTEST...]
    local cluster=$1 ranks=$2 subtest line words word settings least most reason
    shift 2
    while read -r subtest line; do
        read -r -a words <<<"$line"
        [[ $subtest != '#'* && ( $# -eq 0 || " $* " == *" $subtest "* ) ]] || continue
        settings='' least=999999 most=0
        for word in "${words[@]}"; do
            case $word in
            *=*) settings+="${settings:+ }$word" ;;
            *) word=${word%[*+]} least=$((word < least ? word : least)) most=$((word > most ? word : most)) ;;
            esac
        done
        [[ $least -le $ranks && $ranks -le $most && -z ${tried[$subtest $settings ${cluster#*, }]-} ]] || continue
        # What a process does by itself is the same on a node. So are messages of a barrier that is asked for, where
        # hosts have no other one; barrier_algorithms has all.
        case $#$subtest$settings in 0environment_* | 0faults_* | 0loaded* | 0locks* | 0lookups* | 0*HARMONIZE_BARRIER=*)
            continue ;;
        esac
        tried[$subtest $settings ${cluster#*, }]=yes
        reason=$(reason_against "$subtest" "$settings")
        if [ -z "$reason" ]; then
            echo "$subtest $ranks $settings ${settings_here[$subtest]-}" >&3
        else
            tap_skip "$cluster: $subtest at $ranks ranks${settings:+, $settings}" "$reason"
        fi
    done <"$source_dir/../mpi/testlist" 3>"$MPIX_TEST_LIST"
}

run_on() {      # HOSTS RANKS PLACEMENT [SUBTEST...]
    local hosts=$1 ranks=$2 cluster="$1 hosts, $3"
    export MH_HOSTS_PLACEMENT=$3
    export MPIX_TEST_HOSTS="env MH_MPIEXEC=$MH_MPIEXEC MH_HOSTS_PLACEMENT=$3 $source_dir/with_hosts.sh $hosts"
    shift 3
    prepare "$cluster" "$ranks" "$@"
    [ -s "$MPIX_TEST_LIST" ] || return 0
    tap_relay "$cluster" < <("$source_dir/with_hosts.sh" "$hosts" bash "$source_dir/../mpi/run_mpi_tests.sh" \
        </dev/null 2>&1)
}

check_hosts
check_ordinary_user
work_dir=$(mktemp -d) || exit 1
trap 'rm -rf "$work_dir"' EXIT
export MPIX_TEST_LIST=$work_dir/testlist
trap 'exit 1' HUP INT TERM
unset MPIX_TEST_RANKS
for cluster in $clusters; do
    IFS=: read -r hosts ranks placement <<<"$cluster"
    run_on "$hosts" "$ranks" "${placement:-block}" "$@"
done
tap_done
