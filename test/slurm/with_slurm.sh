#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Runs a command on the login node of a Slurm cluster of N nodes, which it makes on this machine.
#
# Usage: with_slurm.sh N COMMAND [ARGUMENT...]          # as root
#
#   N    how many nodes, 1 to 9: node1, node2, ... with the addresses 10.79.0.1, 10.79.0.2, ...
#
#   with_slurm.sh 2 srun -N 2 hostname
#   with_slurm.sh 2 bash                                # a shell on the login node
#
# A node is a set of namespaces (network, UTS, mount, IPC, PID, time) with a slurmd: it has a host name, a /tmp, a
# /dev/shm, a boot id and monotonic clocks of its own. All other files, the processors and the users are shared. The
# users alice and bob exist in the cluster only; their home is $MH_SLURM_HOME/USER, a folder that goes with the cluster.
# Slurm neither binds processes nor limits them by control groups: the machine may have none that can be changed.
#
# All of it is below one process in a PID namespace, so everything is gone when the command ends, even after kill -9 of
# this script. No packet leaves the machine. The exit status is that of the command; 77 where something is missing, with
# a line "skip: REASON" on stderr.
set -u

network=10.79.0
state=/run/mh_slurm
up_timeout_s=30

skip() {        # REASON
    echo "skip: $1" >&2
    exit 77
}

# ---- On the machine itself

outer=(unshare --net --mount --uts --ipc --pid --fork --mount-proc --kill-child --)

require() {
    local program
    [ "$(id -u)" -eq 0 ] || skip "a Slurm cluster on one machine needs root"
    for program in slurmctld slurmd srun munged; do
        command -v $program >/dev/null ||
            skip "there is no $program (Debian packages: slurmctld slurmd slurm-client munge)"
    done
    for program in ip nsenter setpriv unshare; do command -v $program >/dev/null || skip "there is no $program"; done
    getent passwd munge >/dev/null || skip "there is no user munge"
    "${outer[@]}" true 2>/dev/null || skip "cannot make namespaces"
}

outside() {
    require
    MH_SLURM_HOME=$(mktemp -d /var/tmp/mh_slurm.XXXXXX) || exit 1
    export MH_SLURM_HOME
    chmod 755 "$MH_SLURM_HOME"
    trap 'rm -rf "$MH_SLURM_HOME"' EXIT
    setpriv --pdeathsig KILL "${outer[@]}" bash "$0" --inside "$@" <&0 &
    child=$!
    trap 'kill -KILL $child; exit 143' HUP INT TERM
    wait $child
    exit
}

# ---- On the login node

configuration() {
    cat <<END
ClusterName=test
SlurmctldHost=login($network.254)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
StateSaveLocation=$state/controller
SlurmdSpoolDir=/var/spool/slurmd
SlurmctldPidFile=$state/slurmctld.pid
SlurmdPidFile=/var/spool/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=sched_min_interval=1000
ReturnToService=2
KillWait=2
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
MailProg=/bin/true
NodeName=node[1-$nodes] NodeAddr=$network.[1-$nodes] CPUs=2 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE OverSubscribe=NO
END
}

add_user() {    # NAME NUMBER
    echo "$1:x:$2:$2::$MH_SLURM_HOME/$1:/bin/bash" >>$state/passwd
    echo "$1:x:$2:" >>$state/group
    install -d -o "$2" -g "$2" "$MH_SLURM_HOME/$1"
}

# FILE: what is in $state/FILE takes the place of /etc/FILE here.
replace() { mount --bind "$state/$1" "/etc/$1"; }

make_login_node() {
    { mount -t tmpfs -o mode=755 tmpfs /run && mount -t tmpfs -o mode=1777 tmpfs /dev/shm; } ||
        skip "cannot mount a tmpfs"
    mkdir -p $state/controller $state/slurm /run/munge /etc/slurm
    hostname login
    {
        echo "127.0.0.1 localhost"
        echo "$network.254 login"
        for ((i = 1; i <= nodes; i++)); do echo "$network.$i node$i"; done
    } >$state/hosts
    cp /etc/passwd /etc/group $state/
    add_user alice 7001
    add_user bob 7002
    configuration >$state/slurm/slurm.conf
    # The plugin for groups that are not used was added in version 23.02.
    printf 'CgroupPlugin=%s\n' "$(slurmd -V | awk '{ print $2 < 23.02 ? "autodetect" : "disabled" }')" \
        >$state/slurm/cgroup.conf
    for file in hosts passwd group slurm; do replace $file || skip "cannot replace /etc/$file"; done
    ip link set lo up
    {
        ip link add br0 type bridge stp_state 0 forward_delay 0 mcast_snooping 0 &&
            ip address add $network.254/24 dev br0 && ip link set br0 up
    } || skip "cannot make a bridge"
}

start_munge() {
    head -c 128 /dev/urandom >$state/munge.key
    chmod 600 $state/munge.key
    chown munge: $state/munge.key /run/munge
    setpriv --reuid munge --regid munge --clear-groups munged --key-file=$state/munge.key --log-file=/run/munge/log \
        --seed-file=/run/munge/seed --pid-file=/run/munge/pid || skip "munged does not start"
}

# The id of the node's first process comes by a pipe, and the network before slurmd.
start_node() {  # NUMBER
    local pid
    mkfifo "$state/to$1" "$state/from$1"
    unshare --net --mount --uts --ipc --pid --fork --time --monotonic $(($1 * 1000)) --boottime $(($1 * 5000)) -- \
        bash "$0" --node "$1" </dev/null >"$state/log$1" 2>&1 &
    read -r -t $up_timeout_s pid <"$state/from$1" || skip "cannot start node $1: $(<"$state/log$1")"
    {
        ip link add "port$1" type veth peer name eth0 netns "$pid" && ip link set "port$1" master br0 up &&
            nsenter --target "$pid" --net -- sh -c \
                "ip link set lo up; ip address add $network.$1/24 dev eth0; ip link set eth0 up"
    } || skip "cannot connect node $1"
    echo go >"$state/to$1"
}

inside() {
    local i
    make_login_node
    start_munge
    slurmctld -i -D >$state/controller.log 2>&1 &
    for ((i = 1; i <= nodes; i++)); do start_node $i; done
    for ((i = 0; i < up_timeout_s * 10; i++)); do
        [ "$(sinfo -h -N -t idle -o %N 2>/dev/null | wc -l)" -lt "$nodes" ] || break
        sleep 0.1
    done
    [ "$i" -lt $((up_timeout_s * 10)) ] || skip "the nodes do not come up: $(tail -n 1 $state/log1)"
    "$@"
    exit
}

# ---- On a node

node() {        # NUMBER
    local id
    # The old /proc is still there, and tells this process's id as the login node sees it.
    read -r id _ </proc/self/stat
    hostname "node$1"
    mount -t proc proc /proc || exit 1
    mount -t tmpfs -o mode=1777 tmpfs /dev/shm && mount -t tmpfs -o mode=1777 tmpfs /tmp || exit 1
    mount -t tmpfs tmpfs /var/spool && mkdir /var/spool/slurmd || exit 1
    printf '00000000-0000-4000-8000-%012x\n' "$1" >"$state/boot_id$1"
    mount --bind "$state/boot_id$1" /proc/sys/kernel/random/boot_id || exit 1
    echo "$id" >"$state/from$1"
    read -r _ <"$state/to$1"
    slurmd -D -N "node$1"
    sleep infinity
}

# ---- Arguments

case ${1-} in
--node) node "$2" ;;
--inside) nodes=$2; inside "${@:3}" ;;
*)
    if [[ $# -lt 2 || ! $1 =~ ^[1-9]$ ]]; then
        echo "usage: with_slurm.sh N COMMAND [ARGUMENT...]" >&2
        exit 2
    fi
    nodes=$1
    outside "$@"
    ;;
esac
