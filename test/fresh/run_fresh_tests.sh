#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The first hour of a stranger: makes a minimal Debian system beside this one, with an ordinary user who has sudo, gives
# that user the sources, and runs what README.md says, in its order.
#
# Usage: run_fresh_tests.sh full       each block of the README, ./quickstart check, and what both promise
#        run_fresh_tests.sh system     ./quickstart and ./quickstart check, by $MPIX_TEST_FRESH_MPI; prints a row; with
#                                      MPICH each block of the README, the first ./quickstart being one of its lines
#        run_fresh_tests.sh walk       each block of the README
#        run_fresh_tests.sh prepare    makes the minimal system, for a later run
#        run_fresh_tests.sh COMMAND    one command of the shell there, such as "./quickstart --mpi openmpi"
#
# Environment: MPIX_TEST_FRESH_SUITE  the release of Debian, such as trixie or sid (default: that of this machine)
#              MPIX_TEST_FRESH_MPI    for "system": mpich, openmpi or abi (default: mpich)
#              MPIX_TEST_FRESH_ALL    for "system": yes: all tests, by ./quickstart check --all
#              MPIX_TEST_FRESH_CACHE  keeps the minimal systems for further runs (default: /var/tmp/mpix_fresh)
#              MPIX_TEST_FRESH_FILES  a folder that the user there gets a copy of, as ~/files
#
# The mirror and apt's configuration are those of this machine, and for its own release all of its sources. The minimal
# system is the lower layer of an overlay in private namespaces, so nothing else of this machine is changed, and all but
# the cache is gone afterwards.
set -u

source_dir=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$source_dir/../.." && pwd)
. "$source_dir/../tap.sh"
. "$source_dir/../debian.sh"
suite=${MPIX_TEST_FRESH_SUITE-}
cache=${MPIX_TEST_FRESH_CACHE:-/var/tmp/mpix_fresh}${suite:+_$suite}
packages=gcc,make,libc6-dev,git,ca-certificates,sudo
user=stranger
user_id=1000

# ---- In private namespaces

copy_sources() {    # DIRECTORY
    mkdir -p "$1"
    if [ -e "$top/.git" ]; then
        git -C "$top" -c safe.directory='*' archive HEAD | tar -C "$1" -xf -
    else
        tar -C "$top" --exclude=./build -cf - . | tar -C "$1" -xf -
    fi
}

# ROOT: how apt reaches the mirror, and for the release of this machine, all that is in its sources.
furnish_apt() {
    if [ -z "$suite" ]; then
        rm -rf "$1/etc/apt" && cp -a /etc/apt "$1/etc/apt" && cp -an /usr/share/keyrings/. "$1/usr/share/keyrings/"
    else
        cp -a /etc/apt/apt.conf.d/. "$1/etc/apt/apt.conf.d/" &&
            { [ ! -d /etc/apt/auth.conf.d ] || cp -a /etc/apt/auth.conf.d/. "$1/etc/apt/auth.conf.d/"; }
    fi
}

furnish() {     # ROOT
    furnish_apt "$1" &&
        cp -L /etc/resolv.conf /etc/hosts "$1/etc/" &&
        chroot "$1" useradd -m -u $user_id -s /bin/bash $user &&
        echo "$user ALL=(ALL) NOPASSWD: ALL" >"$1/etc/sudoers.d/$user" &&
        copy_sources "$1/home/$user/project" &&
        { [ -z "${MPIX_TEST_FRESH_FILES-}" ] || cp -R "$MPIX_TEST_FRESH_FILES" "$1/home/$user/files"; } &&
        chroot "$1" chown -R $user: "/home/$user" || return 1
    # sudo hands on no variables.
    [ -z "${http_proxy-}" ] || echo "Acquire::http::Proxy \"$http_proxy\";" >"$1/etc/apt/apt.conf.d/99environment"
    [ -z "${https_proxy-}" ] || echo "Acquire::https::Proxy \"$https_proxy\";" >>"$1/etc/apt/apt.conf.d/99environment"
}

# COMMAND...: in the system, as the root of a mount namespace: below chroot, the kernel makes no user namespaces, which
# tests of hosts need. Where this script itself runs below chroot, or in the first file system, that cannot be.
in_system() {
    # shellcheck disable=SC2016 # the names are those of sh
    local enter='cd "$0" && pivot_root . mnt && umount -l /mnt && cd / && exec "$@"'
    if unshare --mount sh -c "$enter" "$root" true 2>/dev/null; then
        unshare --mount sh -c "$enter" "$root" "$@"
    else
        chroot "$root" "$@"
    fi
}

as_user() {     # COMMAND: by the user's shell, in the sources
    in_system setpriv --reuid $user_id --regid $user_id --init-groups \
        env -i HOME="/home/$user" USER=$user LOGNAME=$user PATH=/usr/local/bin:/usr/bin:/bin \
        bash -c "cd ~/$tree && $1" </dev/null 2>&1
}
tree=project
left_out=

result='^ *1024 +harmonize +[0-9.]+$'
all_passed='^[1-9][0-9]* passed, 0 failed, [0-9]+ skipped$'
sample='^[1-9][0-9]* of 10000 samples are valid; their mean is [0-9.]+ us$'

# NAME LIMIT [SECONDS]: of the last test. The limits are goals for a machine with 2 cores and nothing else to do.
expect_within() {
    local took=${3:-$last_took}
    tap_expect_empty "$1 takes at most $2 s" "$([ "$took" -le "$2" ] || echo "it took $took s")"
}

# README.md as a script for one shell: each line of its blocks of commands, which is a command, stops the script if it
# fails, and a line before it says when and which. A program in C is saved as the text before it says. ./quickstart has
# compiled all with optimization when a line compiles it again; of that, nothing but the library is used, so that
# $left_out may say no to houses.
make_walk() {
    local line language='' file=''
    echo "set -e; cd"
    while IFS= read -r line; do
        case $language:$line in
        :*"save it as \`"*) file=${line##*save it as \`} file=${file%%\`*} ;;
        :'```'*) language=${line#???} && [ "$language" != c ] || echo "cat >$file <<'END OF C'" ;;
        c:'```') language='' && echo "END OF C" ;;
        *:'```') language='' ;;
        c:*) echo "$line" ;;
        sh:*) line=${line/REPOSITORY/\~/project}
            case $line in *../configure*) echo "export CFLAGS='-O0 -g0' $left_out" ;; esac
            printf 'echo "## $SECONDS" %q\n%s\n[ $? -eq 0 ]\n' "$line" "$line" ;;
        esac
    done <"$top/README.md"
}

# COMMAND: what the lines of the walk that match printed; took: how many seconds they took
said() { awk -v command="$1" 'sub(/^## [0-9]+ /, "") { found = $0 ~ command; next } found' <<<"$walked"; }
took() { awk -v command="$1" '/^## [0-9]+ / { sum += found * ($2 - begin); begin = $2; found = $0 ~ command }
    END { print sum + 0 }' <<<"$walked"; }
expect_said() {     # COMMAND PATTERN
    tap_expect_empty "what the README's '$1' prints" "$(said "$1" | grep -qE "$2" || { echo "not $2 but"; said "$1"; })"
}

walk_readme() {
    make_walk >"$root/home/$user/walk"
    try "README.md, line by line" "$sample" as_user "git init -q && git add -A &&
        git -c user.name=$user -c user.email= commit -q -m sources && bash ~/walk"
    walked=$last_output
    tree=libmpix_harmonize
    expect_said "[.]/quickstart *#" "$result"
    expect_said "[.]/quickstart install" "^mpiexec.mpich .*-n 2 ./reduce$"
    expect_said "^mpiexec.* -n 2 ./reduce" "$sample"
    expect_said mpix_bench '^ +64 +[0-9.]+ '
    expect_said mpix_trace_report MPI_Reduce
    try "a program of the library in the home folder" "$sample" as_user \
        "readelf -d reduce | grep -F /home/$user/.local/lib && mpiexec.mpich -bind-to core -n 2 ./reduce"
}

# SCRIPT: some of its tests passed there, where all may have been skipped for want of something.
expect_passed() {
    local log=$root/home/$user/$tree/build/mpich/test/$1.log
    tap_expect_empty "tests of $1 ran there" "$(grep '^ok ' "$log" 2>/dev/null | grep -qv ' # SKIP' ||
        { echo "none passed:"; tail -n 20 "$log" 2>&1; })"
}

# Hosts are made of namespaces, which an ordinary user may not have on any machine.
expect_hosts() {
    if setpriv --reuid $user_id --regid $user_id --clear-groups unshare -Urnm true 2>/dev/null; then
        expect_passed hosts/run_hosts_tests
    else
        tap_skip "tests of hosts/run_hosts_tests ran there" "an ordinary user cannot make namespaces"
    fi
}

try_all() {
    local first
    walk_readme
    first=$(said "[.]/quickstart *#")
    expect_within "the first command" 60 "$(took "[.]/quickstart *#")"
    # What a screen of 24 lines and 80 columns has no place for.
    tap_expect_empty "its output fits one screen" \
        "$(fold -w 80 <<<"$first" | sed -n '25,$p'; grep -E '.{81}' <<<"$first")"
    try "./quickstart check, after it" "$all_passed" as_user "./quickstart check"
    expect_within "the quick check" 240
    expect_hosts
    expect_passed ../trace/test/check_trace_report
    expect_passed ../bench/test/check_report
    try "./quickstart again" "$result" as_user ./quickstart
    tap_expect_empty "it starts from what is there" "$(grep -E 'Installing|Generating|Removing' <<<"$last_output")"
}

try_system() {
    local mpi=${MPIX_TEST_FRESH_MPI:-mpich} first
    if [ "$mpi" = mpich ]; then
        left_out="enable_bench=no enable_trace=no"
        walk_readme
        first=$(took "[.]/quickstart *#")
    else
        try "./quickstart --mpi $mpi" "$result" as_user "./quickstart --mpi $mpi"
        first=$last_took
    fi
    try "./quickstart check --mpi $mpi" "$all_passed" \
        as_user "./quickstart check ${MPIX_TEST_FRESH_ALL:+--all} --mpi $mpi"
    echo "# | $(in_system sh -c '. /etc/os-release; echo "${VERSION_ID:-unstable}"') | $(
        sed -n 's/^==> Tested with \(.*\) in [0-9]* s$/\1/p' <<<"$last_output") | $(
        in_system gcc -dumpfullversion) | $first | $(tail -n 1 <<<"$last_output" |
        sed -nE 's/^([0-9]+) passed, ([0-9]+) failed, ([0-9]+) skipped$/\1 | \2 | \3/p') | $last_took |"
}

inside() {      # WORK WHAT
    root=$1/root
    mount_machine "$cache" "$1" || { tap_skip "a fresh machine" "cannot mount an overlay"; tap_done; }
    furnish "$root" || { tap_not_ok "a fresh machine is furnished"; tap_done; }
    case $2 in
    full) try_all ;;
    system) try_system ;;
    walk) walk_readme ;;
    *) try "$2" '' as_user "$2"; printf '%s\n' "$last_output" | sed 's/^/# /' ;;
    esac
    tap_done
}

case ${1-} in
--inside)   inside "$2" "$3" ;;
prepare)    prepare_system "$cache" "$suite" $packages ;;
*)          prepare_system "$cache" "$suite" $packages
            in_namespaces bash "$0" --inside "$work" "${1-full}" ;;
esac
