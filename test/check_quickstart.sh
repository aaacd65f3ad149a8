#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# What ./quickstart installs, runs and prints. Compilers, launchers and the package manager are stand-ins that note
# their calls, so this takes seconds; test/fresh runs the real ones.
#
# Functions are called by tap_check only, by name:
# shellcheck disable=SC2317,SC2016
set -u
export LC_ALL=C

top=$(cd "$(dirname "$0")/.." && pwd)
. "$top/test/tap.sh"
[ "${MPIX_TEST_BRIEF-}" != yes ] || skip_all "MPIX_TEST_BRIEF=yes"
scratch=$(mktemp -d) || exit 1
trap 'chmod -R u+w "$scratch"; rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM
export QUICKSTART_LOG=$scratch/calls HOME=$scratch/home
unset QUICKSTART_TESTS MPIX_TEST_QUICK

stand_in() {    # NAME, with the program on stdin; each notes its call
    { printf '#!/bin/sh\necho "%s $*" >>"$QUICKSTART_LOG"\n' "$1"; cat; } >"$scratch/bin/$1"
    chmod +x "$scratch/bin/$1"
}

prepare_programs() {
    local name
    rm -rf "${scratch:?}/bin" "${scratch:?}/home"
    mkdir -p "$scratch/bin" "$scratch/home"
    for name in awk bash cat chmod dirname env find fold grep id mkdir nproc printf rm sed setpriv sh sort tail tee \
        touch tr; do
        ln -s "$(command -v "$name")" "$scratch/bin/$name" 2>/dev/null
    done
    for name in gcc g++ automake ldconfig libtoolize ip smpicc gnuplot mpi{cc,cxx}.{mpich,openmpi}; do
        stand_in "$name" </dev/null
    done
    echo '[ "$1" != -n ] || shift; exec "$@"' | stand_in sudo
    echo '[ ! -e "$HOME/no-hwloc" ]' | stand_in pkg-config
    # hwloc is what is missing, and what comes if a package may be installed.
    echo 'case " $* " in *" libhwloc-dev "*) rm -f "$HOME/no-hwloc" ;; esac' | stand_in apt-get
    stand_in autoreconf <<'END'
{ echo '#!/bin/sh'; echo 'echo "configure $*" >>"$QUICKSTART_LOG"; echo "MPI_LIBRARY = Known MPI 1.0" >Makefile'
  echo 'echo "CFLAGS = ${CFLAGS-}" >>Makefile'; } >configure
chmod +x configure
touch Makefile.in
END
    stand_in make <<'END'
[ ! -e "$HOME/no-build" ] || { echo "it does not compile"; exit 2; }
case $* in *TESTS=) ;; *check*)
    printf '%s\n' "PASS: a test" "# TOTAL: 3" "# PASS:  1"
    [ -e "$HOME/failing" ] || exit 0
    echo "# FAIL:  2"
    echo "# again: mpiexec -n 2 ./b" >test-suite.log
    exit 2 ;;
esac
END
    stand_in mpiexec.mpich <<'END'
case $* in
*mpix_skew*)
    printf '%s\n' '# schema: mpix-skew' release,p50_ns,p99_ns,max_ns,call_ns,calls,valid \
        barrier,250.0,200.3,4047928.6,831.0,10000,10000 harmonize,10.0,129.8,4096210.0,450.7,10000,9996 ;;
*mpix_bench*)
    printf '%s\n' operation,size_bytes,release,median_ns reduce,64,barrier,2000.0 reduce,4,harmonize,1000.5 \
        reduce,4,barrier,900.0 reduce,64,harmonize,2100.0 reduce,1024,barrier,1.0 reduce,1024,harmonize,1.0 ;;
esac
END
    sed 's/mpich/openmpi/' "$scratch/bin/mpiexec.mpich" >"$scratch/bin/mpiexec.openmpi"
    chmod +x "$scratch/bin/mpiexec.openmpi"
}

prepare_tree() {
    tree=$scratch/tree as=()
    chmod -R u+w "$tree" 2>/dev/null
    rm -rf "$tree"
    mkdir -p "$tree"/{lib,bench,common}
    cp "$top/quickstart" "$top/autogen.sh" "$tree/"
    touch -d 2001-01-01 "$tree"/{VERSION,configure.ac,Makefile.am,lib/lib.am}
    prepare_programs
}

# [ARGUMENT]...: leaves $status, the output in out and what was called in calls.
run() {
    command="quickstart $*"
    : >"$scratch/calls"
    chmod a+w "$scratch/calls"
    (cd "$tree" && PATH=$scratch/bin exec env "${as[@]}" ./quickstart "$@") >"$scratch/out" 2>&1 </dev/null
    status=$?
}
complain() {    # WHAT
    echo "$command: $1"
    echo "exit status $status"
    sed 's/^/output: /' "$scratch/out"
    sed 's/^/called: /' "$scratch/calls"
}
expect() {      # STATUS [LINE-OF-OUTPUT]...
    [ "$status" -eq "$1" ] || complain "exit status is not $1"
    for line in "${@:2}"; do grep -qF -e "$line" "$scratch/out" || complain "does not print: $line"; done
}
expect_call() { grep -q -e "^$1" "$scratch/calls" || complain "does not call $1"; }

check_first() {
    : >"$scratch/home/no-hwloc"
    run
    expect 0 "Installing: libhwloc-dev" "1024  harmonize"
    expect_call "apt-get .*install -y --no-install-recommends libhwloc-dev"
    expect_call "configure .*CC=.*mpicc.mpich"
    expect_call "mpiexec.mpich --bind-to core -n 2 bin/mpix_skew"
    grep -qE '^ +harmonize +10.0 +129.8 ' "$scratch/out" || complain "no row of the skew"
    [ "$(grep -oE '^ +4 +(barrier|harmonize) ' "$scratch/out" | wc -l)" -eq 2 ] || complain "no rows of the reduction"
    [ "$(wc -l <"$scratch/out")" -le 22 ] || complain "more than a screen"
    ! grep -E '.{81}' "$scratch/out" || complain "wider than a screen"
}
check_again() {
    run
    run
    expect 0
    ! grep -E '^autoreconf|^make clean' "$scratch/calls" || complain "it does not trust what is there"
    CFLAGS=-O3 run
    expect_call "make clean"
    touch -d '1 minute' "$tree/lib/lib.am"
    run
    expect_call autoreconf
    # A house comes.
    touch -d 2001-01-01 "$tree"/{lib/lib.am,common/common.am}
    run
    expect_call autoreconf
}
check_other_library() {
    run --mpi openmpi
    expect 0
    expect_call "configure .*CC=.*mpicc.openmpi"
    expect_call "mpiexec.openmpi .*mpix_skew"
    [ -e "$tree/build/openmpi/skew.csv" ] && [ ! -e "$tree/build/mpich" ] || complain "it has no build of its own"
}
check_failures() {
    : >"$scratch/home/no-build"
    run
    expect 1 "it does not compile" "failed: Building (make -j" "whole log is $tree/build/mpich/quickstart.log"
    # Neither root nor sudo: that is told only if something is missing.
    rm "$scratch/bin/sudo" "$scratch/bin/apt-get" "$scratch/home/no-build"
    run
    expect 0
    : >"$scratch/home/no-hwloc"
    run
    expect 1 "cannot install libhwloc-dev; the log is $tree/build/mpich/quickstart.log"
}
check_install() {
    run install
    expect 0 "mpicc.mpich reduce.c \$(pkg-config --cflags --libs mpix_harmonize) -o reduce" \
        "mpiexec.mpich --bind-to core -n 2 ./reduce"
    expect_call "make -j [0-9]* all"
    expect_call "make install"
    expect_call "ldconfig"
    [ "$(id -u)" -eq 0 ] || expect_call "sudo -n make install"
    run
    expect 0 "./quickstart install"
    run --mpi=openmpi
    expect 0 "./quickstart install --mpi openmpi"
}
check_tests() {
    run check
    expect 0 "==> Tested with Known MPI 1.0 in "
    [ "$(tail -n 1 "$scratch/out")" = "1 passed, 0 failed, 0 skipped" ] || complain "other counts"
    QUICKSTART_TESTS="test/a test/b" run check --all
    expect_call "make .*check TESTS=test/a test/b"
    : >"$scratch/home/failing"
    run check
    expect 1 "  mpiexec -n 2 ./b"
    [ "$(tail -n 1 "$scratch/out")" = "1 passed, 2 failed, 0 skipped" ] || complain "other counts"
}
check_unusable() {
    mv "$tree" "$scratch/a tree"
    tree="$scratch/a tree"
    run
    expect 1 "cp -R '$tree' ~/mpix_harmonize && chmod -R u+w ~/mpix_harmonize"
    [ "$(wc -l <"$scratch/out")" -eq 1 ] || complain "more than a line"
    mv "$tree" "$scratch/tree"
    tree=$scratch/tree
    # Root can write each tree, and what root has built nobody else can.
    chmod 755 "$scratch"
    [ "$(id -u)" -ne 0 ] || as=(setpriv --reuid 54321 --regid 54321 --clear-groups)
    chmod -R a-w "$tree"
    run
    expect 1 "'.' cannot be written"
}
check_refusals() {
    for arguments in "check --mpi lam" "run --mpi" measure; do
        # shellcheck disable=SC2086
        run $arguments
        expect 2
    done
}

check() {       # NAME FUNCTION
    prepare_tree
    tap_check "quickstart: $1" "$2"
}
check "the first command" check_first
check "again, after changes" check_again
check "the other MPI library" check_other_library
check "what fails" check_failures
check "what is installed" check_install
check "tests" check_tests
check "a tree that cannot be used" check_unusable
check "bad arguments" check_refusals
tap_done
