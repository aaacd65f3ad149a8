#!/usr/bin/env bash
# Runs the sub-tests of mpix_test that a list names, each at the rank counts that it names.
#
# Usage, in the build directory: run_mpi_tests.sh [SUBTEST...]
#
# Environment:
#   MPIEXEC, MPIEXEC_FLAGS   launcher and its flags
#   MPIX_TEST_LIST           a list in the place of test/mpi/testlist
#   MPIX_TEST_RANKS          only these rank counts, e.g. "1 2"
#   MPIX_TEST_TIMEOUT        seconds for one run (default 300)
#   MPIX_TEST_WRAPPER        a command to run the program under, e.g. "valgrind -q --error-exitcode=1"
#   MPIX_TEST_HOSTS          a command that makes the hosts that the launcher needs, for what is printed after a failure
#   MPIX_TEST_QUICK          yes: only the rank counts that the list marks with an asterisk
#   MPIX_TEST_BRIEF          yes: only these, and those with a plus, each as long as in the quick check
#
# More processes than processors get yielding.c, if it is built; but not under a wrapper, with sanitizers, or on hosts,
# which have mpich_hosts.c.
#
# A line of the list is: SUBTEST RANKS[*+]... [NAME=VALUE...], where the latter are environment variables of the run.
# A sub-test that prints a line "skip: REASON" and returns 0 or 77 is skipped. Prefer 0: some launchers take any other
# status for a crash and spend seconds on it.
. "$(dirname "$0")/program.sh"

list=${MPIX_TEST_LIST:-$source_dir/testlist}

! uses_simulator || [ -n "${MPIEXEC_FLAGS-}" ] ||
    skip_all "smpirun needs a platform: MPIEXEC_FLAGS='-platform FILE -hostfile FILE'"

wanted() {      # WORD LIST; an empty list wants everything
    [ -z "$2" ] && return 0
    local word
    for word in $2; do [ "$word" = "$1" ] && return 0; done
    return 1
}

# SUBTEST: what the launcher runs under. Own mounts take root's rights, here of a user namespace that all share.
put_around() {
    around=()
    [ "$1" != faults_shm ] || [ "$(id -u)" -eq 0 ] || around=(unshare --user --map-current-user --keep-caps)
    [ ${#around[@]} -eq 0 ] || "${around[@]}" true 2>/dev/null || around=()
}

shorter=()
[ "${MPIX_TEST_BRIEF-}" != yes ] || shorter=(MPIX_TEST_QUICK=yes)
yielding=$PWD/test/mpi/.libs/yielding.so
[ -z "${MPIX_TEST_WRAPPER-}${MPIX_TEST_HOSTS-}" ] && [ "${sanitizers:-no}" = no ] && [ -e "$yielding" ] || yielding=

run() {         # SUBTEST RANKS [NAME=VALUE...]
    local subtest=$1 ranks=$2
    shift 2
    put_around "$subtest"
    local crowded=()
    [ -z "$yielding" ] || [ "$ranks" -le "$(nproc)" ] || crowded=(env "LD_PRELOAD=$yielding")
    local name="$subtest at $ranks ranks${*:+, $*}"
    [ "$ranks" = 1 ] && name=${name/ ranks/ rank}

    tap_again="${MPIX_TEST_HOSTS-} ${*:+env $*} ${around[*]} $launcher ${MPIEXEC_FLAGS-} -n $ranks"
    # shellcheck disable=SC2086 # one blank between words
    tap_again=$(echo $tap_again ${MPIX_TEST_WRAPPER-} ${crowded[*]} $program $subtest)

    local begin=$EPOCHREALTIME status output elapsed
    # The flags and the wrapper are lists of words.
    # shellcheck disable=SC2086
    output=$(limited env "$@" "${shorter[@]}" "${around[@]}" \
        $launcher ${MPIEXEC_FLAGS:-} -n "$ranks" ${MPIX_TEST_WRAPPER:-} "${crowded[@]}" "$program" "$subtest" \
        </dev/null 2>&1)
    status=$?
    elapsed=$(LC_ALL=C "${AWK:-awk}" -v b="$begin" -v e="$EPOCHREALTIME" \
        'BEGIN { sub(",", ".", b); sub(",", ".", e); printf "%.1f s", e - b }')
    tap_program "$name ($elapsed)" $status "$output"
}

while read -r -u 3 -a words; do
    subtest=${words[0]-}
    case $subtest in '' | '#'*) continue ;; esac
    wanted "$subtest" "$*" || continue
    rank_counts=()
    settings=()
    for word in "${words[@]:1}"; do
        case $word in
        *=*) settings+=("$word") ;;
        *)   case ${MPIX_TEST_QUICK-}/${MPIX_TEST_BRIEF-}/$word in
             */*/*\* | /yes/*+ | //*) rank_counts+=("${word%[*+]}") ;;
             esac ;;
        esac
    done
    for ranks in "${rank_counts[@]}"; do
        wanted "$ranks" "${MPIX_TEST_RANKS:-}" || continue
        run "$subtest" "$ranks" "${settings[@]}"
    done
done 3<"$list"

tap_done
