#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Parts of the benchmark suite that need MPI: its barriers, and what it says of where it runs.
#
# Environment: MPI_LIBRARY  the MPI library; Open MPI gets more ranks than there are cores
. "$(dirname "$0")/../../test/programs/run.sh"
give_way
# A busy machine interrupts processes, and that is not to make samples invalid here: the tolerance is a second.
export MPIX_HARMONIZE_TOLERANCE_NS=1000000000

check_barriers() {  # RANKS
    succeeds run "$1" check_barriers
    expect_silence cat "$scratch/out" "$scratch/err"
}

make_output() {     # leaves in output what mpix_bench writes, in CSV and in JSON
    output=''
    for format in $formats; do
        succeeds run 2 mpix_bench bcast -m 8:8 -i 3 -x 0 --seed 42 --format "$format" --raw "$scratch/it's  raw"
        output+=$(cat "$scratch/out")$'\n'
    done
}

provenance_keys="program command date seed mpi_library mpi_standard mpi_algorithms ranks nodes host kernel processor \
processors clocksource library_version clock_used clock_reason clock_read_cost_ns sync sync_levels \
sync_duration_ns barrier_used barrier_reason tolerance_used_ns oversubscribed clock_bound_ns resolution_ns order"

# KEY VALUE...: the header of the last run has the value, as a comment and in JSON. Extended regular expression.
expect_value() {
    key=$1
    shift
    echo "$output" | grep -qE "^# $key: $*$" || echo "no '$key: $*'"
    [ "$formats" = csv ] || grep -qE "[{,]\"$key\":\"$*\"[,}]" <<<"$output" || echo "no '$key: $*' in JSON"
}

# A variable of this MPI library that chooses an algorithm is shown. Leaves the output of a run.
check_choice() {
    case ${MPI_LIBRARY-} in
    MPICH*)
        MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM=recursive_doubling
        export MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM
        choice=MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM=recursive_doubling
        ;;
    Open*)
        OMPI_MCA_coll_tuned_use_dynamic_rules=1 OMPI_MCA_coll_tuned_allreduce_algorithm=3
        export OMPI_MCA_coll_tuned_use_dynamic_rules OMPI_MCA_coll_tuned_allreduce_algorithm
        choice="coll_tuned_use_dynamic_rules=true coll_tuned_allreduce_algorithm=recursive_doubling"
        ;;
    *)
        choice=".*"
        ;;
    esac
    make_output
    expect_value mpi_algorithms "$choice"
    unset MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM OMPI_MCA_coll_tuned_use_dynamic_rules \
        OMPI_MCA_coll_tuned_allreduce_algorithm
}

# So are files of rules, and what decides whose algorithms are taken.
check_rules() {
    local choices
    case ${MPI_LIBRARY-} in
    MPICH*)
        # check_tune.sh has a file of rules.
        choices="MPIR_CVAR_DEVICE_COLLECTIVES=none MPIR_CVAR_BCAST_DEVICE_COLLECTIVE=0 MPIR_CVAR_BCAST_MIN_PROCS=2"
        # They are words.
        # shellcheck disable=SC2086,SC2163
        export MPIR_CVAR_COLLECTIVE_FALLBACK=print $choices
        make_output
        unset MPIR_CVAR_COLLECTIVE_FALLBACK MPIR_CVAR_{DEVICE_COLLECTIVES,BCAST_DEVICE_COLLECTIVE,BCAST_MIN_PROCS}
        ;;
    Open*)
        mkdir -p "$scratch/.openmpi"
        printf '%s\n' '# coll_self_priority = 70' ' coll_basic_priority=11' >"$scratch/.openmpi/mca-params.conf"
        export OMPI_MCA_coll_tuned_priority=31 OMPI_MCA_coll_tuned_dynamic_rules_filename=rules \
            OMPI_MCA_coll_base_verbose=0
        # The launchers' option --tune leaves such a variable.
        echo "-x NAME=VALUE -mca coll_inter_priority 41" >"$scratch/tuned"
        export OMPI_MCA_mca_base_envar_file_prefix=$scratch/tuned
        choices="coll_tuned_priority=31 coll_tuned_dynamic_rules_filename=rules coll_basic_priority=11
            coll_inter_priority=41"
        HOME=$scratch make_output
        unset OMPI_MCA_coll_tuned_priority OMPI_MCA_coll_tuned_dynamic_rules_filename OMPI_MCA_coll_base_verbose \
            OMPI_MCA_mca_base_envar_file_prefix
        ;;
    *)
        return
        ;;
    esac
    for choice in $choices; do
        expect_value mpi_algorithms "(.* )?$choice( .*)?"
    done
    echo "$output" | grep -E '^# mpi_algorithms: .*(verbose|FALLBACK|coll_self)'
}

check_provenance() {
    check_choice
    keys=$(echo "$output" | sed -n 's/^# \([a-z_]*\): .*/\1/p' | grep -vx 'schema\|column' | tr '\n' ' ')
    [ "$keys" = "$provenance_keys " ] ||
        echo "not these keys: $provenance_keys"
    [ "$formats" = csv ] ||
        [ "$(grep -c '^{"schema":"mpix-bench","version":2,"columns":.*,"provenance":{.*}}$' <<<"$output")" -eq 1 ] ||
        echo "not one line of JSON"
    grep -qF -e "--raw '$scratch/it'\\''s  raw'" <<<"$output" || echo "not the command line"
    expect_value date '20[0-9]{2}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9]Z'
    expect_value seed 42
    expect_value ranks 2
    expect_value host "$(uname -n)"
    expect_value kernel "$(uname -srm)"
    expect_value clock_used '(tsc|cntvct|monotonic_raw|monotonic|realtime|wtime)'
    expect_value clock_bound_ns '(unknown|[0-9]+)'
    expect_value resolution_ns '[1-9][0-9]*'
    expect_value barrier_used '[a-z]+'
    echo "$output" | grep -q '^# [a-z_]*: *$' && echo "empty values"
}

check_unsynchronized() {
    MPIX_HARMONIZE_SYNC=none make_output
    expect_value clock_bound_ns unknown
}

# As long as nobody chooses algorithms for these tests.
check_no_choice() {
    make_output
    env | grep -qE '^(MPIR_CVAR|OMPI_MCA_coll)' || expect_value mpi_algorithms '(default|unknown)'
}

# Elsewhere, waiting ranks may keep the others from the processors.
case ${MPI_LIBRARY-} in
Open*) counts="1 2 3 4 5 8" ;;
*) counts="1 2 3" ;;
esac
for ranks in $counts; do
    tap_check "barriers: $ranks ranks" check_barriers "$ranks"
done
quick tap_check "provenance" check_provenance
tap_check "provenance: rules of algorithms" check_rules
tap_check "provenance: no choice of algorithms" check_no_choice
tap_check "provenance: clocks without synchronization" check_unsynchronized
tap_done
