#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# What ./quickstart does again and what it does not, in any order of commands and after whatever may have happened in
# between. Compilers, launchers and the package manager are stand-ins that note their calls, so this takes seconds;
# test/fresh runs the real ones.
#
# Functions are called by tap_check only, by name:
# shellcheck disable=SC2317,SC2016
set -u
export LC_ALL=C

top=$(cd "$(dirname "$0")/.." && pwd)
. "$top/test/tap.sh"
scratch=$(mktemp -d) || exit 1
trap 'chmod -R u+w "$scratch"; rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM
tree=$scratch/tree build=$scratch/tree/build/mpich
export QUICKSTART_LOG=$scratch/calls HOME=$scratch/home
unset XDG_CACHE_HOME QUICKSTART_TESTS MPIX_TEST_QUICK

stand_in() {    # NAME, with the program on stdin; each notes its call
    { printf '#!/bin/sh\necho "%s $*" >>"$QUICKSTART_LOG"\n' "$1"; cat; } >"$scratch/bin/$1"
    chmod +x "$scratch/bin/$1"
}

prepare_programs() {
    rm -rf "${scratch:?}/bin" "$scratch/packages" "$scratch/calls"
    mkdir -p "$scratch/bin" "$scratch/packages" "$scratch/home"
    : >"$scratch/calls"
    : >"$scratch/packages/hwloc"
    local name
    for name in bash sh awk cat chmod cksum cut dirname env find flock fold grep head hostname id ls lscpu mkdir \
        mktemp mv nproc printf rm sed setpriv sleep sort stat tail tee touch tr wc; do
        ln -s "$(command -v "$name")" "$scratch/bin/$name" 2>/dev/null
    done
    for name in gcc g++ automake libtoolize ip smpicc gnuplot debootstrap mpi{cc,cxx}.{mpich,openmpi}; do
        stand_in "$name" </dev/null
    done
    stand_in sudo <<'END'
[ "$1" != -n ] || shift
exec "$@"
END
    stand_in_for_building
    stand_in_for_running
}

stand_in_for_building() {
    # A module is there if its package is. The version is in the file.
    stand_in pkg-config <<'END'
for word; do case $word in hwloc* | check | jansson* | otf2*) module=${word%% *} ;; esac; done
package=$(dirname "$0")/../packages/$module
[ -e "$package" ] || exit 1
case $1 in --exists) ;; *) cat "$package" ;; esac
END
    # It may be interrupted, like all below.
    stand_in autoreconf <<'END'
mkdir -p build-aux m4
echo macros >aclocal.m4
{ echo '#!/bin/sh'; echo 'echo "configure $*" >>"$QUICKSTART_LOG"'
  echo '[ ! -e "$HOME/interrupt-configure" ] || kill -KILL $PPID $$'
  echo 'echo "MPI_LIBRARY = Known MPI 1.0" >Makefile'; sed 's/^/# /' configure.ac; } >configure
chmod +x configure
[ ! -e "$HOME/interrupt-autoreconf" ] || kill -KILL $$
cat Makefile.am */*.am >Makefile.in
END
    stand_in make <<'END'
[ ! -e "$HOME/interrupt-make" ] || { : >half-an-object; kill -KILL $PPID $$; }
case $* in *TESTS=) ;; *check*)
    [ -e "$(dirname "$0")/../packages/check" ] || exit 2
    mkdir -p test; echo "PASS: a test"; echo ":test-result: PASS" >test/a.trs
    if [ -e "$HOME/failing-tests" ]; then
        for name in b c; do echo ":test-result: FAIL" >test/$name.trs; done
        echo "# again: mpiexec -n 2 ./b" >test/b.log
        tee test/c.log </dev/null >test-suite.log
        exit 2
    fi ;;
esac
[ -e object ] || echo "compiles" >>"$QUICKSTART_LOG"
: >object
END
    stand_in apt-get <<'END'
for word; do case $word in check) echo 0.15 >"$(dirname "$0")/../packages/check" ;; esac; done
END
}

stand_in_for_running() {
    stand_in mpiexec.mpich <<'END'
case $* in
*mpix_skew*) cat <<TABLE
# mpix_skew of some version
#    release     p50(ns)     p90(ns)     p99(ns)       max(ns)      call(ns)     calls     valid     valid/s
     barrier       250.0       160.2       200.3     4047928.6         831.0     10000     10000     1203409
   harmonize        10.0        20.4       129.8     4096210.0         450.7     10000      9996     2217710
TABLE
;;
*mpix_bench*) cat <<TABLE
#     Size                                 Job       Avg(us)    Median(us)       Valid   Discarded
         4                            2:reduce          0.69          0.66        1000           0
         4                            1:reduce          0.95          0.92        1000           0
        16                            1:reduce          0.95          0.92        1000           0
        64                            1:reduce          0.95          0.92        1000           0
       256                            1:reduce          0.95          0.92        1000           0
      1024                            1:reduce          0.95          0.92        1000           0
TABLE
;;
esac
END
    sed 's/mpich/openmpi/' "$scratch/bin/mpiexec.mpich" >"$scratch/bin/mpiexec.openmpi"
    chmod +x "$scratch/bin/mpiexec.openmpi"
}

prepare_tree() {
    chmod -R u+w "$tree" 2>/dev/null
    rm -rf "$tree" "${scratch:?}/home"
    mkdir -p "$tree/lib" "$scratch/home"
    cp "$top/quickstart" "$top/autogen.sh" "$tree/"
    echo "version=1" >"$tree/VERSION"
    echo "AC_INIT" >"$tree/configure.ac"
    echo "include lib/lib.am" >"$tree/Makefile.am"
    echo "sources = a" >"$tree/lib/lib.am"
    prepare_programs
}

as=()   # a command that changes the user
# [ARGUMENT]...: runs it. Leaves $status, the output in out and what was called in calls.
run() {
    command="quickstart $*"
    : >"$scratch/calls"
    (cd "$tree" && PATH=$scratch/bin exec env "${as[@]}" ./quickstart "$@") >"$scratch/out" 2>&1 </dev/null
    status=$?
}

complain() {    # WHAT
    echo "$command: $1"
    echo "exit status $status"
    sed 's/^/output: /' "$scratch/out"
    sed 's/^/called: /' "$scratch/calls"
}

expect() {      # STATUS [CALL...]: the calls that were made, of those that may be left out
    local wanted=$1 call
    shift
    [ "$status" -eq "$wanted" ] || complain "exit status is not $wanted"
    for call in autoreconf configure compiles; do
        if [[ " $* " == *" $call "* ]]; then
            grep -q "^$call" "$scratch/calls" || complain "$call is not called"
        else
            ! grep -q "^$call" "$scratch/calls" || complain "$call is called in vain"
        fi
    done
}
expect_output() {
    grep -qF -e "$1" "$scratch/out" || complain "does not print: $1"
}

check_first() {
    run
    expect 0 autoreconf configure compiles
    expect_output "more than 250 ns apart,"
    expect_output "25.0 times closer."
    grep -qE '^ +4 +0.92 +0.66$' "$scratch/out" || complain "no row of the reduction"
    grep -q '^# mpix_skew of some version' "$build/first_result.txt" || complain "no details"
    run
    expect 0
}

# From nothing, and with all that there is to tell.
check_screen() {
    local name
    mkdir -p "$scratch/archive"
    for name in gcc make autoreconf automake libtoolize pkg-config mpiexec.mpich; do
        mv "$scratch/bin/$name" "$scratch/archive/"
    done
    stand_in apt-get <<'END'
cd "$(dirname "$0")/../archive" || exit
mv ./* ../bin 2>/dev/null
: >../packages/jansson >../packages/otf2
END
    rm "$scratch/bin/lscpu"
    stand_in lscpu </dev/null
    run
    expect 0 autoreconf configure compiles
    expect_output "Installing: gcc make autoconf "
    expect_output "Not pinned"
    [ "$(fold -w 80 "$scratch/out" | wc -l)" -le 24 ] || complain "more than a screen"
    ! grep -qE '.{81}' "$scratch/out" || complain "wider than a screen"
}

# The README's order: the second command brings the tests' library.
check_check_after_run() {
    run
    run check
    expect 0 configure
    expect_output "1 passed, 0 failed, 0 skipped"
    run check --all
    expect 0
    run
    expect 0
    # As after removing the package: what is built with the library is not trusted to be without.
    rm "$scratch/packages/check"
    run
    expect 0 configure
    run check
    expect 0 configure
}

# Tools that read results come and go with a library.
check_optional_packages() {
    run
    echo 2.14 >"$scratch/packages/jansson"
    run
    expect 0 configure
    mkdir -p "$build/tools/.libs" && : >"$build/tools/mpix_compare" && : >"$build/tools/.libs/libcommon.a"
    run
    expect 0
    rm "$scratch/packages/jansson"
    run
    expect 0 configure
    [ ! -e "$build/tools/mpix_compare" ] || complain "a program is left that needs what is gone"
    [ -e "$build/tools/.libs/libcommon.a" ] || complain "what programs are linked with is gone"
}

# Each library has a build of its own.
check_other_library() {
    run
    run --mpi openmpi
    expect 0 configure compiles
    grep -q '^configure .*CC=mpicc.openmpi' "$scratch/calls" || complain "does not configure for the other library"
    grep -q '^mpiexec.openmpi .*mpix_skew' "$scratch/calls" || complain "does not launch by the other library"
    run
    expect 0
    run --mpi openmpi
    expect 0
}

check_updates() {
    run
    echo "AC_PROG_CC" >>"$tree/configure.ac"
    run
    expect 0 autoreconf configure compiles
    echo "sources += b" >>"$tree/lib/lib.am"
    run
    expect 0 autoreconf configure compiles
    # With the time of an older file, as tools that copy may set it.
    echo "sources += c" >>"$tree/lib/lib.am"
    touch -d 2001-01-01 "$tree/lib/lib.am"
    run
    expect 0 autoreconf configure compiles
    # Another version of what is linked.
    echo 2.9 >"$scratch/packages/hwloc"
    run
    expect 0 configure compiles
    CFLAGS=-O3 run
    expect 0 configure compiles
}

# An archive brings configure, and no autotools are needed until its sources are newer.
check_archive() {
    run
    rm -rf "$tree/build" "$tree/build-aux/inputs.sum" "$scratch/bin/autoreconf"
    run
    expect 0 configure compiles
    touch -d '1 minute' "$tree/configure.ac"
    run
    [ "$status" -eq 1 ] || complain "an old configure is used"
    grep -q '^apt-get .*autoconf' "$scratch/calls" || complain "autoconf is not installed"
}

check_interruptions() {
    local part
    for part in autoreconf configure make; do
        : >"$scratch/home/interrupt-$part"
        run
        [ "$status" -ne 0 ] || complain "it is not interrupted"
        rm "$scratch/home/interrupt-$part"
        # What interrupted it may still be about to end.
        [ ! -e "$build/quickstart.lock" ] || flock -w 10 "$build/quickstart.lock" true
    done
    run
    expect 0 configure compiles
    [ ! -e "$build/half-an-object" ] || complain "what an interrupted make left is still there"
    : >"$scratch/home/interrupt-autoreconf"
    echo >>"$tree/configure.ac"
    run
    rm "$scratch/home/interrupt-autoreconf"
    run
    expect 0 autoreconf configure compiles
}

check_failing_tests() {
    : >"$scratch/home/failing-tests"
    run check
    expect 1 autoreconf configure compiles
    expect_output "To run what failed again, in build/mpich:"
    grep -qx '  mpiexec -n 2 ./b' "$scratch/out" || complain "does not tell the command of the test"
    grep -qx '  make check TESTS=test/c' "$scratch/out" || complain "does not tell how to make a test again"
    [ "$(tail -n 1 "$scratch/out")" = "1 passed, 2 failed, 0 skipped" ] || complain "other counts"
}

check_build_directory() {
    run --build "$scratch/elsewhere"
    expect 0 autoreconf configure compiles
    [ ! -e "$tree/build" ] || complain "builds in the tree, too"
    run --build="$scratch/elsewhere"
    expect 0
    mkdir "$scratch/full" && : >"$scratch/full/file"
    run --build "$scratch/full"
    expect 1
    [ -e "$scratch/full/file" ] || complain "deletes a file of the user"
    rm -rf "$scratch/elsewhere" "$scratch/full"
}

# Objects that stand among the sources would be taken for those of a build elsewhere.
check_configured_sources() {
    run
    : >"$tree/config.status"
    run
    expect 1
    expect_output "run make distclean there"
    rm "$tree/config.status"
    run
    expect 0
}

check_lock() {
    run
    (
        exec 9>"$build/quickstart.lock"
        flock 9
        run
        expect 1
        expect_output "another quickstart is at work"
    )
}

# Root can write each tree, so it tries a path with a blank only.
check_unusable() {
    local plain=$tree
    tree="$scratch/a tree"
    rm -rf "$tree"
    cp -R "$plain" "$tree"
    run
    expect 1
    expect_output "cp -R '$tree' ~/mpix_harmonize && chmod -R u+w ~/mpix_harmonize"
    [ "$(wc -l <"$scratch/out")" -eq 1 ] || complain "more than a line"
    tree=$plain
    [ "$(id -u)" -ne 0 ] || return
    chmod a-w "$tree"
    run
    expect 1
    expect_output "cannot write $tree"
}

# One's own tree in which root has built.
check_foreign() {
    [ "$(id -u)" -eq 0 ] || return
    chmod 755 "$scratch"
    run
    chown 54321 "$tree" "$tree"/[!b]* "$scratch/home" && chmod 777 "$scratch/calls"
    as=(setpriv --reuid 54321 --regid 54321 --clear-groups)
    run
    expect 1
    expect_output "belongs to root"
    chown 0 "$tree"
    run
    expect 1
    expect_output "cannot write $tree"
    as=()
}

check_refusals() {
    local arguments
    for arguments in --all "check --mpi lam" "run --mpi" "--build= run" measure; do
        # shellcheck disable=SC2086
        run $arguments
        expect 2
    done
}

check() {       # NAME FUNCTION
    prepare_tree
    tap_check "quickstart: $1" "$2"
}

check "the first command, and again" check_first
check "its output fits a screen" check_screen
check "check after it, and packages that come and go" check_check_after_run
check "further packages that come and go" check_optional_packages
check "the other MPI library, and back" check_other_library
check "updates" check_updates
check "an archive with configure" check_archive
check "interruptions" check_interruptions
check "tests that fail" check_failing_tests
check "a directory to build in" check_build_directory
check "sources that are configured in place" check_configured_sources
check "two at a time" check_lock
check "a tree that cannot be used" check_unusable
check "builds of another user" check_foreign
check "bad arguments" check_refusals
tap_done
