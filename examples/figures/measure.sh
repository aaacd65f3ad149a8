# SPDX-License-Identifier: BSD-3-Clause
#
# How figures measure: launches of the programs, algorithms of the MPI library, and rows of CSV. Sourced by
# mpix_figures.

processors=$(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)

# Every launch at hand: 2, 4, 8 ... while each has a processor.
default_ranks() {
    local count list=2
    for ((count = 4; count <= processors; count *= 2)); do list+=,$count; done
    echo "$list"
}

# Prints why programs cannot be measured with, if they cannot.
launcher_problem() {    # FEWEST RANKS
    if [ -z "$launcher" ] || ! command -v "$launcher" >/dev/null 2>&1; then
        echo "there is no MPI launcher${launcher:+ \"$launcher\"}, name it by MPIEXEC"
    elif [[ $(basename "$launcher") == smpirun ]]; then
        echo "$program was built for the simulator, which only simulated figures are for"
    elif [ $max_ranks -lt "$1" ]; then
        echo "it needs $1 ranks, --ranks gives fewer"
    elif [ "$processors" -lt 2 ] && [ "$ranks_given" -eq 0 ]; then
        echo "there is 1 processor, and ranks that take turns leave nothing to see; --ranks 2 tries it all the same"
    fi
}

# COMMAND...: with a limit of time, and so that a signal to this script ends it: a trap waits for a command, not for one
# in the background. Standard input is empty.
supervised=
supervise() {
    timeout -k 5 $max_seconds "$@" </dev/null &
    supervised=$!
    wait $supervised
    set -- $?
    supervised=
    return "$1"
}
end_supervised() {
    trap '' HUP INT TERM
    [ -z "$supervised" ] || { kill -TERM "$supervised" && wait "$supervised"; } 2>/dev/null
    exit $failed
}

# Sets bind to flags that keep ranks on cores of their own, where there are enough and the launcher can.
bind=
find_binding() {        # RANKS
    bind=
    [ -z "${MPIEXEC_FLAGS+set}" ] && [ "$1" -le "$processors" ] || return 0
    case $mpi_library in
    MPICH*) bind='-bind-to core' ;;
    Open\ MPI*) bind='--bind-to core' ;;
    *) return 0 ;;
    esac
    # Processors may be more than cores.
    if [ "${bound_ranks-}" != "$1" ]; then
        bound_ranks=$1 binding_works=no
        # shellcheck disable=SC2086
        ! supervise "$launcher" $launcher_flags $bind -n "$1" true >/dev/null 2>&1 || binding_works=yes
    fi
    [ $binding_works = yes ] || bind=
}

# RANKS PROGRAM [OPTION]...: its standard output; what it and the launcher say else goes to the log.
launch() {
    local ranks=$1 name=$2
    shift 2
    find_binding "$ranks"
    echo "\$ $launcher $launcher_flags $bind -n $ranks $name $*" >>"$log"
    # Flags are words.
    # shellcheck disable=SC2086
    supervise "$launcher" $launcher_flags $bind -n "$ranks" "$here/$name" "$@" 2>>"$log"
}

# ---- Algorithms of the MPI library

# OPERATION: the names of algorithms that can be asked for, with Open MPI's number of each; the library's own choice
# first.
library_algorithms() {
    case $mpi_library/$1 in
    MPICH\ 3.[0-3]*/barrier) echo "library recursive_doubling" ;;
    MPICH\ 3.*/barrier) echo "library dissemination" ;;
    MPICH\ 4.0*/barrier) echo "library dissemination smp" ;;
    MPICH*/barrier) echo "library k_dissemination smp" ;;
    MPICH*/reduce) echo "library binomial reduce_scatter_gather" ;;
    MPICH*/bcast) echo "library binomial scatter_ring_allgather" ;;
    MPICH*/allreduce) echo "library recursive_doubling reduce_scatter_allgather" ;;
    MPICH*/alltoall) echo "library brucks pairwise scattered" ;;
    Open\ MPI*/barrier) echo "library linear=1 double_ring=2 recursive_doubling=3 bruck=4 tree=6" ;;
    Open\ MPI*/reduce)
        echo "library linear=1 chain=2 pipeline=3 binary=4 binomial=5 in_order_binary=6 rabenseifner=7" ;;
    Open\ MPI*/bcast) echo "library basic_linear=1 binomial=6 knomial=7" ;;
    Open\ MPI*/allreduce) echo "library nonoverlapping=2 recursive_doubling=3 ring=4" ;;
    Open\ MPI*/alltoall) echo "library linear=1 pairwise=2 modified_bruck=3 linear_sync=4" ;;
    *) echo library ;;
    esac
}

# OPERATION: those that are measured; with --quick the first two.
algorithms() {
    library_algorithms "$1" | sed 's/=[0-9]*//g' | cut -d' ' -f"$(amount 1- 1-2)"
}

# [OPERATION ALGORITHM]...: by the environment, which launchers hand on to ranks they start here. The MPI library
# chooses for "library", and for operations that are not named.
choose_algorithms() {
    local operation
    for operation in barrier reduce bcast allreduce alltoall; do
        unset "MPIR_CVAR_${operation^^}_INTRA_ALGORITHM" "MPIR_CVAR_${operation^^}_DEVICE_COLLECTIVE" \
            "OMPI_MCA_coll_tuned_${operation}_algorithm"
    done
    while [ $# -gt 0 ]; do
        case $mpi_library/$2 in
        */library) ;;
        # Of this operation only: what another one does is not to change with it.
        MPICH*) export "MPIR_CVAR_${1^^}_DEVICE_COLLECTIVE=0" "MPIR_CVAR_${1^^}_INTRA_ALGORITHM=$2" ;;
        Open\ MPI*)
            export OMPI_MCA_coll_tuned_use_dynamic_rules=1 "OMPI_MCA_coll_tuned_${1}_algorithm=$(
                library_algorithms "$1" | tr ' ' '\n' | sed -n "s/^$2=//p")" ;;
        esac
        shift 2
    done
}

# ---- Rows of CSV

# KEYS VALUES: appends CSV from standard input with columns before it, and a line of titles to the first only.
append_csv() {
    $awk -v keys="$1" -v values="$2" -v file="$data" '
        BEGIN { while ((getline line <file) > 0) if (line !~ /^#/) has_titles = 1; close(file) }
        /^#/ || /^$/ { next }
        !seen++ { if (!has_titles) print keys "," $0 >>file; next }
        { print values "," $0 >>file; rows++ }
        END { exit rows == 0 }'
}

# STATUS KEYS VALUES WHAT: appends the rows of what a program has left, with columns before them. All programs exit with
# 1 where a row has no figures, or doubtful ones, of which they tell; what else there is, is kept. They exit with 1 also
# where they could not write all rows.
keep() {
    local message
    message=$(last_message "${4%% *}")
    if rows | append_csv "$2" "$3" && [ "$1" -le 1 ] && [[ $1 -eq 0 || $message != "cannot write "* ]]; then
        [ "$1" -eq 0 ] || doubt "$4: $message"
        return 0
    fi
    complain "$figure_name: $4 failed, exit status $1"
    return $failed
}

# KEYS VALUES RANKS PROGRAM [OPTION]...: keeps the rows that a program prints.
collect() {
    local keys=$1 values=$2
    shift 2
    launch "$@" >"$work/out"
    keep $? "$keys" "$values" "$2 at $1 ranks"
}

# WHAT: told for the first launch of a figure, and how many there were in the end.
doubts=0
doubt() {
    doubts=$((doubts + 1))
    [ $doubts -gt 1 ] || complain "$figure_name: not all rows have figures, or good ones ($1)"
}

last_message() {        # PROGRAM: what it said last in the last launch, or that it lacked room, or where to look
    $awk -v program="$1: " -v otherwise="see $log" '
        /^\$ / { message = "" }
        index($0, program) == 1 && message !~ /^cannot write / { message = substr($0, length(program) + 1) }
        END { print message == "" ? otherwise : message }' "$log"
}

# RANKS KEYS VALUES [OPTION]...: rows of mpix_bench.
bench() {
    local ranks=$1 keys=$2 values=$3
    shift 3
    progress "$ranks ranks, ${values//,/ }"
    collect "$keys" "$values" "$ranks" mpix_bench --format csv "$@"
}

# Means feel every interruption, so there are many calls, but not for longer than this where calls are slow, or hardly
# any is valid.
calls_for() {           # QUICK-CALLS CALLS SECONDS: as options of mpix_bench
    if [ $quick -eq 1 ]; then echo "-i $1 --time-slice-s 1"; else echo "-i $2 --time-slice-s $3"; fi
}

# NORMAL QUICK: one of them.
amount() {
    if [ $quick -eq 1 ]; then echo "$2"; else echo "$1"; fi
}

# OPTIONS [QUICK]: jobs of mpix_bench with them after each of its own barriers; with --quick, after QUICK.
own_barrier_jobs() {
    local barrier
    for barrier in $(amount "linear tree binomial doublering recursivedoubling bruck" "${2-linear doublering}"); do
        echo "$1 --release barrier --barrier $barrier"
    done
}

# OPTIONS SCHEME...: jobs of mpix_bench with them, released in each of these ways.
release_jobs() {
    local options=$1 scheme
    shift
    for scheme in "$@"; do echo "$options --release $scheme"; done
}

# RANKS KEYS VALUES OPERATION [OPTION]...: after the barriers of mpix_bench, and harmonized, all in one launch.
bench_own_barriers() {
    local ranks=$1 keys=$2 values=$3
    shift 3
    { own_barrier_jobs "$*" && release_jobs "$*" harmonize; } >"$work/jobs"
    bench "$ranks" "$keys,source" "$values,own" --jobs "$work/jobs"
}

# RANKS ALGORITHMS AGES: in several launches, a row for each algorithm and age: the time that the synchronization took,
# and errors.
check_clocks() {
    local run
    for ((run = 1; run <= $(amount 10 2); run++)); do
        progress "$1 ranks, launch $run"
        collect ranks,run "$1,$run" "$1" mpix_clock check --format csv --sync "$2" --ages-s "$3" || return
    done
}
