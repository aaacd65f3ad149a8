#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# An mpiexec for the hosts that with_hosts.sh makes: starts the ranks of an MPI program on them, over TCP.
#
# Usage, by with_hosts.sh: mpiexec_hosts.sh [OPTION]... -n RANKS PROGRAM [ARGUMENT...]
#
#   -n RANKS, -np RANKS          how many ranks; where there are fewer than hosts, the first hosts get one each
#   --oversubscribe, --allow-run-as-root
#                                allowed and needless
#
# The program gets what the caller exports.
#
# Environment:
#   MH_MPIEXEC            the launcher of the MPI library (default: mpiexec)
#   MH_HOSTS_PLACEMENT    which ranks share a host: neighbors (block, the default), or every N-th (cyclic)
#   MH_MPICC              MPICH's compiler wrapper (default: the one with the launcher's name), for mpich_hosts.c
#   MH_HOSTS_YIELD        0: ranks that share cores do not let others run while they wait for a message (default: 1)
#   UCX_TLS, OMPI_MCA_btl transports, where the ones below will not do
#
# Where there are enough cores, each rank has one for itself. Where there are not, but enough for the hosts, each host
# has its own, as a real one would, and its ranks share them. Else ranks run wherever the kernel puts them.
set -u

script_dir=$(cd "$(dirname "$0")" && pwd)

die() {         # MESSAGE
    echo "mpiexec_hosts.sh: $1" >&2
    exit 2
}

skip() {        # REASON
    echo "skip: $1" >&2
    exit 77
}

# ---- As the program that the launcher starts

start_rank() {  # PROGRAM [ARGUMENT...]
    local rank=${PMI_RANK:-${OMPI_COMM_WORLD_RANK:?}} cores
    read -ra cores <<<"$MH_HOSTS_CORES"
    [ ${#cores[@]} -eq 0 ] || taskset -cp "${cores[rank]}" $$ >/dev/null
    if [ -n "$MH_HOSTS_PRELOAD" ]; then
        export LD_PRELOAD=$MH_HOSTS_PRELOAD${LD_PRELOAD:+:$LD_PRELOAD}
        # The address sanitizer wants to be the first library, but does not need to.
        export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0
    fi
    exec "$@"
}

# ---- Arguments

ranks=
placement=${MH_HOSTS_PLACEMENT:-block}
program=()

parse() {
    while [ $# -gt 0 ]; do
        case $1 in
        -n | -np)       ranks=${2-}; shift ;;
        --oversubscribe | --allow-run-as-root) ;;
        -*)             die "unknown option $1" ;;
        *)              program=("$@"); break ;;
        esac
        shift || die "an option lacks its value"
    done
    [[ $ranks =~ ^[1-9][0-9]*$ ]] || die "how many ranks? -n RANKS"
    [ ${#program[@]} -gt 0 ] || die "no program to run"
}

choose_mpi() {
    launcher=${MH_MPIEXEC:-mpiexec}
    case $(basename "$launcher") in
    *mpich*)    mpi=mpich ;;
    *openmpi*)  mpi=openmpi ;;
    *)          case $("$launcher" --version 2>&1) in
                *HYDRA*)                    mpi=mpich ;;
                *OpenRTE* | *"Open MPI"*)   mpi=openmpi ;;
                *)                          skip "$launcher is neither MPICH's nor Open MPI's" ;;
                esac ;;
    esac
}

# ---- Who runs where

host_of() {     # RANK
    if [ "$placement" = cyclic ]; then
        echo $(($1 % ${#hosts[@]}))
    else
        # The first hosts have one rank more where it does not come out even.
        local few=$((ranks / ${#hosts[@]})) more=$((ranks % ${#hosts[@]}))
        if (($1 < more * (few + 1))); then echo $(($1 / (few + 1))); else echo $((($1 - more) / few)); fi
    fi
}

# host1:2,host2:1
hosts_with_slots() {
    local i text=
    for i in "${!hosts[@]}"; do
        text+=,${hosts[i]}:$((ranks / ${#hosts[@]} + (i < ranks % ${#hosts[@]})))
    done
    echo "${text#,}"
}

usable_cores() {
    local ranges range
    ranges=$(taskset -cp $$) || return
    for range in $(tr , ' ' <<<"${ranges##* }"); do seq "${range%-*}" "${range#*-}"; done
}

# Sets MH_HOSTS_CORES to the cores of each rank, or to nothing, and MH_HOSTS_YIELD to whether ranks have to share.
assign_cores() {
    local -a cores shares=()
    local i
    mapfile -t cores < <(usable_cores)
    MH_HOSTS_CORES="" MH_HOSTS_YIELD=${MH_HOSTS_YIELD-1}
    if ((ranks <= ${#cores[@]})); then
        MH_HOSTS_CORES=${cores[*]:0:ranks} MH_HOSTS_YIELD=0
    elif ((${#hosts[@]} <= ${#cores[@]})); then
        for i in "${!cores[@]}"; do shares[i % ${#hosts[@]}]+=,${cores[i]}; done
        for ((i = 0; i < ranks; i++)); do MH_HOSTS_CORES+=" ${shares[$(host_of $i)]#,}"; done
    fi
    export MH_HOSTS_CORES MH_HOSTS_YIELD
}

# ---- Launchers. Both hand on their environment, and so does on_host.sh.

# mpiexec.mpich goes with mpicc.mpich, /opt/mpi/bin/mpirun with /opt/mpi/bin/mpicc.
compiler_of_launcher() {
    local name=${launcher##*/} wrapper
    wrapper=${name/mpiexec/mpicc}
    echo "${launcher%"$name"}${wrapper/mpirun/mpicc}"
}

# Not linked with the MPI library, because it is preloaded into programs that know nothing of it as well.
compile() {     # SOURCE LIBRARY
    ${MH_MPICC:-$(compiler_of_launcher)} -c -fPIC -O "$1" -o "$2.o" && ld -shared "$2.o" -o "$2"
}

# Once for the life of the hosts; see mpich_hosts.c.
prepare_mpich() {
    local source=$script_dir/mpich_hosts.c library=$MH_HOSTS_DIR/mpich_hosts.so
    if [ -e "$library" ] || compile "$source" "$library"; then
        export MH_HOSTS_PRELOAD=$library
    else
        echo "mpiexec_hosts.sh: warning: MPI_Finalize may hang, because $source does not compile" >&2
    fi
}

# Ranks of one host talk through the shared memory of MPICH itself.
run_mpich() {
    local list per_host=()
    list=$(hosts_with_slots)
    if [ "$placement" = cyclic ]; then
        list=$(tr ' ' , <<<"${hosts[*]}")
        per_host=(-ppn 1)
    fi
    prepare_mpich
    export UCX_TLS=${UCX_TLS-tcp,self} UCX_NET_DEVICES=${UCX_NET_DEVICES-eth0}
    exec "$launcher" -launcher ssh -launcher-exec "$script_dir/on_host.sh" -iface "$MH_HOSTS_IFACE" \
        -hosts "$list" "${per_host[@]}" -bind-to none -n "$ranks" "$@"
}

run_openmpi() {
    local map_by=slot
    [ "$placement" = block ] || map_by=node
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    export OMPI_MCA_plm=rsh OMPI_MCA_plm_rsh_agent=$script_dir/on_host.sh
    # From Open MPI 5 on, the launcher is PRRTE.
    export PRTE_MCA_plm=ssh PRTE_MCA_plm_ssh_agent=$script_dir/on_host.sh
    export PRTE_MCA_prte_if_include=$MH_HOSTS_NET PRTE_MCA_prte_tmpdir_base=/dev/shm
    export OMPI_MCA_oob_tcp_if_include=$MH_HOSTS_NET OMPI_MCA_btl_tcp_if_include=$MH_HOSTS_NET
    # Set by tap.sh
    [ "${OMPI_MCA_btl-}" != ^ofi ] || unset OMPI_MCA_btl
    export OMPI_MCA_pml=${OMPI_MCA_pml-ob1} OMPI_MCA_btl=${OMPI_MCA_btl-tcp,self,vader}
    [ "$MH_HOSTS_YIELD" = 0 ] || export OMPI_MCA_mpi_yield_when_idle=1
    # Hosts have the same process ids, and their session directories would meet in /tmp.
    export OMPI_MCA_orte_tmpdir_base=/dev/shm
    exec "$launcher" --host "$(hosts_with_slots)" --map-by $map_by --oversubscribe --bind-to none -n "$ranks" "$@"
}

if [ "${1-}" = --start-rank ]; then
    shift
    start_rank "$@"
fi

parse "$@"
[ -n "${MH_HOSTS-}" ] || die "there are no hosts: run this by with_hosts.sh"
choose_mpi
read -ra hosts <<<"$MH_HOSTS"
((${#hosts[@]} <= ranks)) || hosts=("${hosts[@]:0:ranks}")
export MH_HOSTS_PRELOAD=
assign_cores
"run_$mpi" "$script_dir/mpiexec_hosts.sh" --start-rank "${program[@]}"
