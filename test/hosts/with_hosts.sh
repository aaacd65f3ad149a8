#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Runs a command beside N hosts that it makes on this machine, so that what needs a cluster can be tested on a laptop.
#
# Usage: with_hosts.sh N COMMAND [ARGUMENT...]
#
#   N         how many hosts, 1 to 250: host1, host2, ... with the addresses 10.77.0.1, 10.77.0.2, ...
#
#   with_hosts.sh 2 mpiexec_hosts.sh -n 2 ./program          # an MPI program on two hosts
#   with_hosts.sh 2 on_host.sh host1 ip address              # any command on one of them
#   with_hosts.sh 3 bash                                     # a shell in which the other two scripts work
#
# What is made: a host is a set of Linux namespaces with a process in them that sleeps.
#
#   network   an interface eth0, the end of a veth pair whose other end is in the bridge br0; /sys shows it
#   UTS       the name hostN; /etc/hosts knows all of them
#   IPC, PID  no shared memory, no signals and no single-copy transfers between hosts; /proc shows the host's processes
#   mount     a /dev/shm and a boot id (/proc/sys/kernel/random/boot_id) of its own
#   time      CLOCK_MONOTONIC, with _RAW too, and CLOCK_BOOTTIME are ahead by a different offset in each host, which
#             /proc/self/timens_offsets tells. CLOCK_REALTIME and the TSC are not shifted. So the TSC, or
#             CLOCK_MONOTONIC less its offset, remains the truth to compare with
#
# What hosts share: the file system (as if each had mounted it over the network), the processors, the user accounts.
#
# The command runs outside the hosts, where a cluster's login node would be: the bridge is its interface, 10.77.0.254.
# That place is itself a set of namespaces with no other network, so no packet leaves it, and one in which the first
# process ends all others when it ends, so everything is gone afterwards, even after kill -9 of this script. Its /run
# and /dev/shm are empty at first.
#
# What the command finds in its environment, for mpiexec_hosts.sh and on_host.sh:
#
#   MH_HOSTS         the names of the hosts, separated by spaces
#   MH_HOSTS_DIR     a directory with a file for each host that holds the id of its first process
#   MH_HOSTS_IFACE   the interface of the command's side
#   MH_HOSTS_NET     the network, as 10.77.0.0/24
#
# The exit status is that of the command; 77 where the kernel or the rights for any of this lack, with a line
# "skip: REASON" on stderr. Needed: veth, bridge, time namespaces (Linux 5.6), util-linux 2.36, iproute2, and root or a
# kernel that lets ordinary users make user namespaces. In one of those the user looks like root to the command.
set -u

network=10.77.0
bridge=br0
state_dir=/run/mh_hosts
# Far from each other and from the uptime of the machine, so that a mix-up of two clocks shows.
monotonic_step_s=1000
boottime_step_s=5000
start_timeout_s=20

skip() {        # REASON
    echo "skip: $1" >&2
    exit 77
}

try() {         # WHAT COMMAND...
    local what=$1 complaint
    shift
    complaint=$("$@" 2>&1) || skip "cannot $what: ${complaint:-no reason given}"
}

# ---- On the machine itself

outer=(unshare --net --mount --uts --pid --fork --mount-proc --kill-child)
[ "$(id -u)" -eq 0 ] && user_namespace=() || user_namespace=(--user --map-root-user)
outer+=("${user_namespace[@]}" --)

require() {
    local tool
    for tool in hostname ip mount nsenter setpriv unshare; do
        command -v $tool >/dev/null || skip "there is no program $tool"
    done
    [ -e /proc/self/ns/time ] || skip "the kernel has no time namespaces"
    [ ${#user_namespace[@]} -eq 0 ] || unshare "${user_namespace[@]}" true 2>/dev/null ||
        skip "hosts on one machine need root here: the kernel lets no ordinary user make user namespaces"
    try "make namespaces" "${outer[@]}" true
}

# The script stays and waits, because unshare itself does not listen to SIGTERM while it waits. Should the script be
# killed, the kernel kills unshare, and then all the rest.
outside() {
    require
    setpriv --pdeathsig KILL "${outer[@]}" bash "$0" --inside "$@" <&0 &
    child=$!
    trap 'kill -KILL $child; exit 129' HUP
    trap 'kill -KILL $child; exit 130' INT
    trap 'kill -KILL $child; exit 143' TERM
    wait $child
    exit
}

# ---- In the outer namespaces

set_name() {    # NAME
    hostname "$1"
}

# Address detection for IPv6 would send packets of its own in the middle of a measurement.
without_ipv6() {
    local file=/proc/sys/net/ipv6/conf/default/disable_ipv6
    [ ! -w $file ] || echo 1 >$file
}

write_names() {
    local i
    echo "127.0.0.1 localhost"
    echo "$network.254 login"
    for ((i = 1; i <= hosts; i++)); do echo "$network.$i host$i"; done
}

make_login_node() {
    try "mount a tmpfs on /run" mount -t tmpfs -o mode=755 tmpfs /run
    try "mount a tmpfs on /dev/shm" mount -t tmpfs -o mode=1777 tmpfs /dev/shm
    mkdir "$state_dir"
    set_name login
    without_ipv6
    write_names >"$state_dir/names"
    [ ! -e /etc/hosts ] || try "replace /etc/hosts" mount --bind "$state_dir/names" /etc/hosts
    try "start the loopback interface" ip link set lo up
    # No snooping and no spanning tree: they delay the first packets.
    try "make a bridge" ip link add $bridge type bridge stp_state 0 forward_delay 0 mcast_snooping 0
    try "address the bridge" ip address add $network.254/24 dev $bridge
    try "start the bridge" ip link set $bridge up
}

# The host's first process tells its id, once its host is complete but for the network.
start_host() {  # NUMBER
    mkfifo "$state_dir/started"
    exec {started}<>"$state_dir/started"
    unshare --net --mount --uts --ipc --pid --fork \
        --time --monotonic $(($1 * monotonic_step_s)) --boottime $(($1 * boottime_step_s)) -- \
        bash "$0" --host "$1" </dev/null >"$state_dir/log" 2>&1 &
    read -r -t $start_timeout_s -u "$started" pid || pid=
    exec {started}<&-
    rm "$state_dir/started"
    case $pid in
    '' | *[!0-9]*) skip "cannot start host $1: ${pid:-$(<"$state_dir/log")}" ;;
    esac
    echo "$pid" >"$state_dir/host$1"
}

in_host() {     # NUMBER COMMAND...
    local pid
    pid=$(<"$state_dir/host$1")
    shift
    nsenter --target "$pid" --net -- "$@"
}

connect_host() {    # NUMBER
    local port=port$1 pid
    pid=$(<"$state_dir/host$1")
    try "make a veth pair" ip link add "$port" type veth peer name eth0 netns "$pid"
    try "put a veth into the bridge" ip link set "$port" master $bridge up
    try "start the loopback interface of host $1" in_host "$1" ip link set lo up
    try "address host $1" in_host "$1" ip address add "$network.$1/24" dev eth0
    try "start the interface of host $1" in_host "$1" ip link set eth0 up
}

inside() {
    local i names=()
    make_login_node
    for ((i = 1; i <= hosts; i++)); do
        start_host $i
        connect_host $i
        names+=("host$i")
    done
    export MH_HOSTS=${names[*]} MH_HOSTS_DIR=$state_dir MH_HOSTS_IFACE=$bridge MH_HOSTS_NET=$network.0/24
    "$@"
    exit
}

# ---- In a host

# Only a fresh mount shows the processes and interfaces of the own namespaces.
host_mounts() {     # NUMBER
    mount -t proc proc /proc &&
    mount -t sysfs sysfs /sys &&
    mount -t tmpfs -o mode=1777 tmpfs /dev/shm &&
    printf '00000000-0000-4000-8000-%012x\n' "$1" >"$state_dir/boot_id$1" &&
    mount --bind "$state_dir/boot_id$1" /proc/sys/kernel/random/boot_id
}

host() {        # NUMBER
    # The old /proc is still there, and tells this process's id as the outer namespaces see it.
    local id complaint
    read -r id _ </proc/self/stat
    set_name "host$1"
    without_ipv6
    complaint=$(host_mounts "$1" 2>&1) || id=${complaint:-no reason given}
    echo "$id" >"$state_dir/started"
    # As the first process it inherits orphans, which bash buries while it waits.
    sleep infinity &
    wait
}

# ---- Arguments

parse() {
    if [[ $# -lt 2 || ! $1 =~ ^[1-9][0-9]{0,2}$ || $1 -gt 250 ]]; then
        echo "usage: with_hosts.sh N COMMAND [ARGUMENT...]" >&2
        exit 2
    fi
    hosts=$1
}

case ${1-} in
--inside)   parse "${@:2}"; inside "${@:3}" ;;
--host)     host "$2" ;;
*)          parse "$@"; outside "$@" ;;
esac
