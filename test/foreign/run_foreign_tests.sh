#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The library on processors of another kind: makes a minimal Debian system for them beside this one, builds the tree for
# it, and runs the unit tests and the MPI tests with two processes there.
#
# Usage, in the build directory: run_foreign_tests.sh aarch64 [COMMAND]     64-bit ARM, emulated by qemu
#                                run_foreign_tests.sh i386 [COMMAND]        32-bit x86, on this processor
#
# COMMAND is run by a shell of the foreign system in the build directory there, in the place of the tests.
#
# Environment: MPIX_TEST_FOREIGN_CACHE  keeps the minimal systems for further runs (default: /var/tmp/mpix_foreign)
#              MPIX_TEST_QUICK          yes: of the MPI tests, only those that test/mpi/testlist marks with an asterisk,
#                                       and of these only some if they are emulated
#              MH_ROUNDS                how many times their usual rounds test_compare and test_past make if they are
#                                       emulated (default: 0.1, as these would take minutes)
#              MAKE                     default: make
#
# The system is the lower layer of an overlay in private namespaces, so nothing else of this machine is changed, and all
# but the cache is gone afterwards. The kernel gives programs of another processor to qemu (binfmt_misc). It is told so
# in a user namespace, which has a register of its own since Linux 6.7. An emulated compiler is slow, so a
# cross-compiler of this machine builds, with the headers and libraries of the foreign system.
set -u

source_dir=$(cd "$(dirname "$0")" && pwd)
. "$source_dir/../tap.sh"
. "$source_dir/../debian.sh"
packages=gcc,make,libc6-dev,pkg-config,check,libhwloc-dev,automake,mpich,libmpich-dev
binfmt=/usr/lib/binfmt.d/qemu-aarch64.conf
# One of each kind: what takes milliseconds here takes seconds there.
quick_emulated_tests="barrier deadline flag late overlapping intercomm errors_one_rank clock_zero clock_goes_on \
info_statistics threads sessions"
# Emulated, these take minutes. They make so many times their usual rounds then, and limits of chance follow.
long_tests="test_compare test_past"
few_rounds=0.1
clocksource=/sys/devices/system/clocksource/clocksource0/current_clocksource
make=${MAKE:-make}

# What differs between architectures.
use_architecture() {    # NAME
    architecture=$1 emulated=no personality='' debian_name=$1
    case $1 in
    aarch64) debian_name=arm64; [ "$(uname -m)" = aarch64 ] || emulated=yes ;;
    i386)    personality=linux32 ;;
    *)       echo "usage: run_foreign_tests.sh aarch64 | i386 [COMMAND]" >&2; exit 2 ;;
    esac
    cache=${MPIX_TEST_FOREIGN_CACHE:-/var/tmp/mpix_foreign}/$1
    tap_again="make check-$1"
}

# ---- In private namespaces

register_emulator() {   # WORK
    [ $emulated = yes ] || return 0
    mkdir -p "$1/binfmt" && mount -t binfmt_misc binfmt_misc "$1/binfmt" && cat "$binfmt" >"$1/binfmt/register"
}

in_root() {     # COMMAND [ARGUMENT]...
    env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin ${personality:+"$personality"} chroot "$root" "$@" </dev/null
}

# COMMAND: by a shell in the build directory, which has the same name inside and outside.
building() {
    if [ $emulated = yes ]; then bash -c "cd /srv/build && $1" </dev/null; else testing "$1"; fi
}

testing() {
    in_root bash -c "cd /srv/build && $1"
}

build() {
    local options="CC=mpicc.mpich" libraries=$root/usr/lib/aarch64-linux-gnu
    if [ $emulated = yes ]; then
        mount --bind "$root/srv" /srv || return 1
        options="--host=aarch64-linux-gnu CC='aarch64-linux-gnu-gcc --sysroot=$root' MPIEXEC=mpiexec.mpich LIBS=-lmpich"
        options+=" CPPFLAGS=-I$root/usr/include/aarch64-linux-gnu/mpich"
        export PKG_CONFIG_LIBDIR=$libraries/pkgconfig:$root/usr/share/pkgconfig PKG_CONFIG_SYSROOT_DIR=$root
    fi
    try configure '' building "../project/configure $options" || return 1
    # Without tests, check builds what they need.
    try build '' building "$make -j$(nproc) && $make -j$(nproc) check TESTS=" &&
        tap_expect_empty "no warning of the compiler" "$(grep 'warning:' <<<"$last_output")"
}

run_tests() {
    local suite begin=$SECONDS subtests='' rounds
    [ "${MPIX_TEST_QUICK-} $emulated" != "yes yes" ] || subtests=$quick_emulated_tests
    for suite in $(testing "test/unit/unit_tests --list"); do
        rounds=''
        case "$emulated $long_tests " in "yes "*" $suite "*) rounds=MH_ROUNDS=${MH_ROUNDS:-$few_rounds} ;; esac
        tap_relay "$suite" < <(testing "CK_TAP_LOG_FILE_NAME=- $rounds timeout 600 test/unit/unit_tests $suite" 2>&1)
    done
    echo "# the unit tests took $((SECONDS - begin)) s"
    begin=$SECONDS
    tap_relay mpix_test < <(testing "MPIEXEC=mpiexec.mpich MPIX_TEST_RANKS=2 MPIX_TEST_TIMEOUT=60 \
        MPIX_TEST_QUICK=${MPIX_TEST_QUICK-} bash ../project/test/mpi/run_mpi_tests.sh $subtests" 2>&1)
    echo "# the MPI tests took $((SECONDS - begin)) s"
}

# The kernel's clocksource is the counter of this machine's processor, so the library would refuse the emulated one. It
# is told otherwise. qemu lets the counter show the time of the day.
pretend_counter() {     # WORK
    [ $emulated = yes ] || return 0
    echo arch_sys_counter >"$1/clocksource" && mount --bind "$1/clocksource" "$root$clocksource"
}

inside() {      # WORK [COMMAND]
    root=$1/root
    mount_machine "$cache" "$1" || { tap_skip "$architecture" "cannot mount an overlay"; tap_done; }
    register_emulator "$1" && in_root true || { tap_skip "$architecture" "its programs do not run here"; tap_done; }
    pretend_counter "$1" && cp -L /etc/hosts "$root/etc/" && build || tap_done
    if [ -n "${2-}" ]; then
        try "$2" '' testing "$2"
        printf '%s\n' "$last_output" | sed 's/^/# /'
    else
        run_tests
    fi
    tap_done
}

# ---- On this machine

# A user namespace with the same users.
begin_namespaces() {    # PROCESS
    [ $emulated = yes ] || return 0
    while [ "$(readlink "/proc/$1/ns/user")" = "$(readlink /proc/self/ns/user)" ]; do sleep 0.02; done
    echo 0 0 4294967295 >"/proc/$1/uid_map" && echo 0 0 4294967295 >"/proc/$1/gid_map"
}

# An emulated dpkg would take minutes to configure the packages, and the tests need their files only.
finish_base() {
    local archive
    [ $emulated = yes ] || return 0
    for archive in "$cache"/base/var/cache/apt/archives/*.deb; do
        dpkg-deb --fsys-tarfile "$archive" | tar -C "$cache/base" --keep-directory-symlink -xf - || return 1
    done
    # debootstrap may make /proc a link to /proc, which is itself below the root.
    [ ! -L "$cache/base/proc" ] || { rm "$cache/base/proc" && mkdir "$cache/base/proc"; } || return 1
    ln -sf mawk "$cache/base/usr/bin/awk" &&
        cp "$cache/base/usr/share/base-passwd/passwd.master" "$cache/base/etc/passwd" &&
        cp "$cache/base/usr/share/base-passwd/group.master" "$cache/base/etc/group"
}

outside() {     # ARCHITECTURE [COMMAND]
    local options=() user_namespace=''
    use_architecture "$1"
    [ -e config.status ] || { echo "run this in a build directory" >&2; exit 2; }
    options=(--arch="$debian_name")
    if [ $emulated = yes ]; then
        options+=(--foreign) user_namespace=--user
        [ -e $binfmt ] || skip_all "the emulator is missing (Debian package: qemu-user-static)"
        command -v aarch64-linux-gnu-gcc >/dev/null ||
            skip_all "the cross-compiler is missing (Debian packages: gcc-aarch64-linux-gnu libc6-dev-arm64-cross)"
    fi
    prepare_system "$cache" '' $packages "${options[@]}"
    mkdir -p "$work/upper/srv/build" && $make -s distdir distdir="$work/upper/srv/project" >"$work/log" 2>&1 ||
        { cat "$work/log" >&2; exit 1; }
    in_namespaces bash "$0" --inside "$architecture" "$work" "${@:2}"
}

case ${1-} in
--inside)   use_architecture "$2"; inside "${@:3}" ;;
*)          outside "${1-}" "${@:2}" ;;
esac
