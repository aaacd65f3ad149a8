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

# CACHE SUITE PACKAGES [OPTION]... of debootstrap: the system in CACHE/base, and $work, a folder beside it for one run;
# or the reason why this cannot be, which ends the script.
prepare_system() {
    local mirror begin=$SECONDS
    [ "$(id -u)" -eq 0 ] || skip_all "a minimal system needs root"
    command -v debootstrap >/dev/null || skip_all "debootstrap is missing (Debian package: debootstrap)"
    mirror=$(find_mirror "$2") ||
        skip_all "no mirror of this system is known: it is not Debian, or apt has no sources"
    unshare --mount --pid --fork --mount-proc true 2>/dev/null || skip_all "cannot make namespaces"
    open_cache "$1" || skip_all "cannot keep a system in $1"
    # What was killed has left its system.
    rm -rf --one-file-system "$1"/run.*
    # shellcheck disable=SC2086 # mirror and code name
    make_base "$1" $mirror "${@:3}" || skip_all "debootstrap fails with ${mirror% *}"
    echo "# the minimal system took $((SECONDS - begin)) s"
    work=$(mktemp -d "$1/run.XXXXXX") || exit 1
    trap 'rm -rf --one-file-system "$work"' EXIT
}

# COMMAND...: in private namespaces, which end with it, so that nothing but files is left; the end of the script. It
# begins when a function begin_namespaces, which gets the process id, has done what is to be done from here.
# $user_namespace is an option of unshare, or empty.
in_namespaces() {
    local go=$work/go child
    mkfifo "$go" || exit 1
    # shellcheck disable=SC2016,SC2086 # the words are those of the inner shell; one option or none
    setpriv --pdeathsig KILL unshare ${user_namespace-} --mount --pid --fork --mount-proc --kill-child -- \
        sh -c 'read -r go && exec "$@" </dev/null' - "$@" <"$go" 8>&- &
    child=$!
    trap 'kill -KILL $child; wait $child; exit 1' HUP INT TERM
    exec 6>"$go"
    rm "$go"
    begin_namespaces $child || kill -KILL $child
    echo >&6
    exec 6>&-
    wait $child
    exit
}
begin_namespaces() { :; }

# NAME PATTERN COMMAND...: a test that passes if the command succeeds and prints a line that matches. Its seconds are
# part of the name. Leaves $last_output and $last_took.
try() {
    local begin=$EPOCHREALTIME status
    last_output=$("${@:3}" 2>&1)
    status=$?
    last_took=$(LC_ALL=C awk -v b="${begin/,/.}" -v e="${EPOCHREALTIME/,/.}" 'BEGIN { printf "%.0f", e - b }')
    if [ $status -eq 0 ] && grep -qE "$2" <<<"$last_output"; then
        tap_ok "$1 ($last_took s)"
    else
        # Tests that failed there say why far above the end.
        tap_not_ok "$1 ($last_took s)" "$(tail -n 200 <<<"$last_output")
$(grep -E -A 15 '^not ok' <<<"$last_output" | head -n 60)
exit status $status"
        return 1
    fi
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
