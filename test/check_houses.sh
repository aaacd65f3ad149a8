#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The library stands alone, and so does each house: copies of the tree from which houses are deleted are configured,
# built, tested and installed. Some minutes; in the build directory.
#
# Environment: CC, MAKE, MPIEXEC, MPIEXEC_FLAGS; MPIX_TEST_BRIEF, MPIX_TEST_QUICK  yes: nothing
set -u
export LC_ALL=C
top=$(cd "$(dirname "$0")/.." && pwd)
. "$top/test/tap.sh"
[ "${MPIX_TEST_BRIEF-}" != yes ] || skip_all MPIX_TEST_BRIEF=yes
[ "${MPIX_TEST_QUICK-}" != yes ] || skip_all "it is no part of the quick check"
git -C "$top" ls-files --error-unmatch VERSION >/dev/null 2>&1 || skip_all "it takes a checkout of git"
for command in autoreconf automake libtoolize; do
    command -v $command >/dev/null || skip_all "there is no $command"
done
MAKE=${MAKE:-make}
# Flags of the make around this one are not for these.
unset MAKEFLAGS MFLAGS MAKELEVEL CFLAGS
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM

# COMMAND...: prints the end of what it says if it fails
loudly() {
    "$@" >"$scratch/log" 2>&1 </dev/null && return
    echo "$* fails:"
    if [ -e test-suite.log ]; then grep -A 12 '^not ok' test-suite.log; else tail -n 30 "$scratch/log"; fi
}
# HOUSE...: goes to the build directory of a tree without them. What is compiled of the library stays, as it is the same
# in each, and was made in the tree of the library alone.
without() {
    rm -rf "$scratch"/{root,tree/{bench,common,trace},tree/build/{bench,bin,common,trace}}
    mkdir -p "$scratch/tree/build" && cd "$scratch/tree" &&
        git -C "$top" ls-files -z | tar -C "$top" --null -T - -c --ignore-failed-read 2>/dev/null | tar x &&
        rm -r "$@" && ./autogen.sh >"$scratch/log" 2>&1 && cd build ||
        { tail -n 20 "$scratch/log"; return 1; }
}
build() {       # [OPTION]... of configure
    loudly ../configure CC="$CC" CFLAGS=-O1 --prefix="$scratch/root" --disable-static "$@"
    cp "$scratch/log" configured
    loudly "$MAKE" -j2
}
# [TEST]...: they pass, or all quick tests do. What several processes do is the same as with all houses.
check() {
    loudly env MPIX_TEST_QUICK=yes MPIX_TEST_RANKS=1 "$MAKE" -j2 check ${1+TESTS="$*"}
    loudly "$MAKE" -j2 install
}
says() { grep -q -E "$1" configured || echo "configure does not say '$1'"; }

check_library() {
    without bench trace common || return
    ../configure CC="$CC" --enable-trace >"$scratch/log" 2>&1 && echo "--enable-trace is accepted without the folder"
    grep -q '^configure: error: --enable-trace: this tree has no folder trace/$' "$scratch/log" ||
        tail -n 3 "$scratch/log"
    build
    says 'bench: *no, for want of the folder bench/$'
    check
    [ -e "$scratch/root/lib/libmpix_harmonize.so" ] || echo "there is no library"
}
check_bench() {
    without trace || return
    build
    says 'trace: *no, for want of the folder trace/$'
    check bench/test/unit/unit_tests bench/test/check_skew.sh common/test/check_arrows.sh common/test/check_conduct.sh \
        doc/check_manual.sh
    "$scratch/root/bin/mpix_bench" --version >/dev/null || echo "mpix_bench does not run"
}
check_trace() {
    without bench || return
    build
    check trace/test/unit/unit_tests trace/test/check_trace.sh trace/test/check_trace_report.sh \
        common/test/check_arrows.sh common/test/check_conduct.sh doc/check_manual.sh
    "$scratch/root/bin/mpix_trace" --version >/dev/null || echo "mpix_trace does not run"
}

CC=${CC:-mpicc}
tap_limit_s=900
tap_check "the library alone" check_library
tap_check "without trace/" check_bench
tap_check "without bench/" check_trace
tap_done
