# shellcheck shell=bash
# Minimal Debian systems beside this one, to be sourced after tap.sh. The mirror and apt's configuration are those of
# this machine. Nothing but the cache is changed.

# [SUITE]: mirror of the running system, as apt sees it, and the code name of this system, or the suite.
find_mirror() {
    . /etc/os-release
    [ "${ID-}" = debian ] || return 1
    # shellcheck disable=SC2016 # the format is apt's
    apt-get indextargets --format '$(REPO_URI) $(CODENAME) $(COMPONENT)' 'Created-By: Packages' 2>/dev/null |
        awk -v name="${VERSION_CODENAME-}" -v suite="${1:-${VERSION_CODENAME-}}" '
            $2 == name && $3 == "main" { print $1, suite; exit }' | grep .
}

# Its owner must be root, and nobody else may have put anything into it.
open_cache() {  # CACHE
    mkdir -p "${1%/*}" && { [ -d "$1" ] || mkdir -m 700 "$1"; } || return 1
    [ "$(stat -c '%u %a %F' "$1")" = "0 700 directory" ] || { echo "$1 is not root's alone" >&2; return 1; }
    exec 8>"$1/lock" && flock 8
}

# Leaves the system in CACHE/base. It is made anew after 30 days. A function finish_base does what is left to do to it.
make_base() {   # CACHE MIRROR CODENAME PACKAGES [OPTION]... of debootstrap
    local cache=$1 mirror=$2 codename=$3 packages=$4 http_proxy=${http_proxy-}
    shift 4
    local wanted="$mirror $codename $packages${*:+ $*}"
    eval "$(apt-config shell http_proxy Acquire::http::Proxy)"
    [ -z "$http_proxy" ] || export http_proxy
    if [ "$(cat "$cache/complete" 2>/dev/null)" != "$wanted" ] || [ -n "$(find "$cache/complete" -mtime +30)" ]; then
        rm -rf "$cache/complete" "$cache/base"
        debootstrap "$@" --variant=minbase --include="$packages" "$codename" "$cache/base" "$mirror" \
            >"$cache/log" 2>&1 && finish_base >>"$cache/log" 2>&1 || { tail -n 5 "$cache/log" >&2; return 1; }
        echo "$wanted" >"$cache/complete"
    fi
}

finish_base() { :; }

mount_machine() {   # CACHE WORK: in private namespaces, leaves the machine in WORK/root
    mkdir -p "$2/upper" "$2/work" "$2/root" || return 1
    mount -t overlay overlay -o "lowerdir=$1/base,upperdir=$2/upper,workdir=$2/work" "$2/root" &&
        mount_kernel "$2/root"
}

mount_kernel() {    # ROOT
    mount -t proc proc "$1/proc" &&
        mount --rbind /sys "$1/sys" &&
        mount --rbind /dev "$1/dev" &&
        mount -t tmpfs -o mode=1777 tmpfs "$1/dev/shm"
}
