#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The library stands alone, and so does each house: copies of the tree from which houses are deleted are configured,
# built, tested and installed. Of the tests run those that depend on which files and commands are there. What several
# processes do is the same with all houses, so nothing here measures time. Some minutes; in the build directory.
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
# dash runs configure and libtool faster than bash.
! shell=$(command -v dash) || export CONFIG_SHELL="$shell"
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
# in each, and was made in the tree of the library alone; so does what is compiled of common/.
without() {
    rm -rf "$scratch"/{root,tree/{bench,common,trace},tree/build/{bench,bin,trace}}
    mkdir -p "$scratch/tree/build" && cd "$scratch/tree" &&
        git -C "$top" ls-files -z | tar -C "$top" --null -T - -c --ignore-failed-read 2>/dev/null | tar x &&
        rm -r "$@" && ./autogen.sh >"$scratch/log" 2>&1 && cd build ||
        { tail -n 20 "$scratch/log"; return 1; }
}
# As quickly as the compiler can. What configure finds on this machine is the same in each tree.
build() {
    loudly ../configure CC="$CC" CFLAGS="-O0 -g0" --cache-file="$scratch/cache" --prefix="$scratch/root" \
        --disable-static
    cp "$scratch/log" configured
    loudly "$MAKE" -j2
}
# SUITE TEST...: all tests can be built, and these pass: of unit tests one suite, as they are those of the whole tree;
# for the same reason, the format of the sources is not looked at.
check() {
    loudly env CK_RUN_SUITE="$1" MPIX_TEST_QUICK=yes CLANG_FORMAT=false "$MAKE" -j2 check TESTS="${*:2}"
    loudly "$MAKE" -j2 install
}
refuses() {     # WHY [OPTION]: configure says so at once
    ../configure CC="$CC" "${@:2}" >"$scratch/log" 2>&1 && echo "${*:2} is accepted"
    grep -qxF "configure: error: $1" "$scratch/log" || tail -n 3 "$scratch/log"
}
says() { grep -q -E "$1" configured || echo "configure does not say '$1'"; }

check_library() {
    without bench trace common || return
    refuses '--enable-trace: this tree has no folder trace/' --enable-trace
    mkdir ../bench && : >../bench/bench.am
    refuses '--enable-bench: this tree has no folder common/' --enable-bench
    mkdir ../common && : >../common/common.am
    refuses 'the folder bench/ or common/ came or went: run ./autogen.sh'
    rm -r ../bench ../common
    build
    says 'bench: *no, for want of the folder bench/$'
    check text test/unit/unit_tests test/check_{downstream,install,layers,quickstart,style,symbols}.sh \
        test/fuzz/replay_corpus.sh test/programs/check_{examples,python}.sh doc/check_manual.sh
    loudly env MPIX_TEST_ONLY="a static library with a suffix, and make install-plain-name" "$MAKE" check \
        TESTS=test/check_install.sh
    grep -q '^ok .*suffix' test/check_install.log || echo "there is no test of a suffix"
    [ -e "$scratch/root/lib/libmpix_harmonize.so" ] || echo "there is no library"
}
check_bench() {
    without trace || return
    build
    says 'trace: *no, for want of the folder trace/$'
    check plan bench/test/unit/unit_tests common/test/check_{arrows,conduct}.sh doc/check_manual.sh
    loudly limited "$scratch/root/bin/mpix_bench" barrier -i 10 -x 0
}
check_trace() {
    without bench || return
    build
    check windows trace/test/unit/unit_tests trace/test/check_trace_report.sh common/test/check_{arrows,conduct}.sh \
        doc/check_manual.sh
    loudly limited "$scratch/root/bin/mpix_trace" -o traced examples/triad 1024 5
    loudly "$scratch/root/bin/mpix_trace_report" traced
}

CC=${CC:-mpicc}
tap_check "the library alone" check_library
tap_check "without trace/" check_bench
tap_check "without bench/" check_trace
tap_done
