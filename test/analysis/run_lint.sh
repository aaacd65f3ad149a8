#!/usr/bin/env bash
# clang-tidy, by .clang-tidy, and cppcheck over all files in C: fails on any complaint.
#
# Usage: run_lint.sh [FILE...], by default all files
#
# Environment: as for scratch.sh; MPIX_TEST_BRIEF, MPIX_TEST_QUICK  yes: nothing; MPIX_LINT  all: the analyzer of clang
# looks at tests, too, and longer, as in make analysis
. "$(dirname "$0")/scratch.sh"
cd "$top" || exit 1
[ "${MPIX_TEST_BRIEF-}" != yes ] || skip_all MPIX_TEST_BRIEF=yes
[ "${MPIX_TEST_QUICK-}" != yes ] || skip_all "it is no part of the quick check"

# Other versions have other complaints.
tidy_version=14 cppcheck_version=2.10
is_version() {  # COMMAND VERSION
    "$1" --version 2>/dev/null | grep -qE "(version|Cppcheck) ${2/./\\.}(\.|\$)"
}

# What is loaded into programs includes what a build makes of mpi.h, and what reads traces a table.
generated=$(mktemp -d) || exit 1
trap 'rm -rf "$generated"' EXIT
mkdir "$generated/generated"
[ ! -e trace ] || echo '#include <mpi.h>' | $CC -E -P -x c - | "${AWK:-awk}" -f trace/front/wrappers.awk \
    trace/front/meanings.txt - >"$generated/generated/functions.h"
[ ! -e trace ] || "${AWK:-awk}" -f trace/front/meanings.awk trace/front/meanings.txt >"$generated/generated/meanings.h"

files=("$@")
[ $# -gt 0 ] || mapfile -t files < <(find lib examples test common bench trace -name '*.c' 2>/dev/null | sort)
# shellcheck disable=SC2046
flags=(-std=gnu11 -I. -Iinclude -Ilib -Itest "-I$generated"
    $(mpi_include_flags) $(for module in hwloc jansson otf2; do pkg-config --cflags $module 2>/dev/null; done)
    '-DPACKAGE_VERSION="0"' -DMH_WITH_JANSSON -DMH_WITH_OTF2 -DMH_WITH_LIBDW -DSUITE_HAS_PERSISTENT=1
    -DSUITE_HAS_PARTITIONED=1
    -D_GNU_SOURCE= '-DLIBRARY=""' '-DFLAVOR=""' '-DEXEC_PREFIX=""' '-DPKGLIBDIR=""'
    '-DGOLDEN_FOLDER=""' '-DRECORDED_BURSTS=""')

# With a ninth of the usual nodes, and large functions inlined six times at most, the analyzer takes half the time that
# it takes with a third: of planted defects, it found 400 of the 401 that it finds with a third, and three others. make
# analysis takes a third. Of unit tests, it then says what is not so.
tidy() {        # FILE [CHECK]: prints complaints. Several files at once confuse its analyzer (LLVM 14).
    local limits="max-nodes=25000,max-times-inline-large=6" checks=${2-}
    [ "${MPIX_LINT-}" != all ] || limits=max-nodes=75000
    case $1 in test/* | */test/*)
        limits=max-nodes=225000
        [ "${MPIX_LINT-}" = all ] || checks+=${checks:+,}-clang-analyzer-* ;;
    esac
    # A list of files has only those of tests.
    # shellcheck disable=SC2086
    clang-tidy --quiet --checks="$checks" $1 -- "${flags[@]}" -Xclang -analyzer-config -Xclang "$limits" \
        2>/dev/null | grep -E '(error|warning): '
}

# Files that need a library which is missing cannot be looked at.
leave_out() {   # HEADER MODULE
    local missing
    ! echo "#include <$1>" | $CC "${flags[@]}" -E -x c - >/dev/null 2>&1 || return
    mapfile -t missing < <(for file in "${files[@]}"; do
        $CC "${flags[@]}" -M -MG "$file" 2>/dev/null | tr ' ' '\n' | grep -qx "$1" && echo "$file"
    done)
    mapfile -t files < <(printf '%s\n' "${files[@]}" | grep -vxF -f <(printf '%s\n' "${missing[@]}"))
    tap_skip "clang-tidy of ${#missing[@]} files" "there is no $1 (Debian package: $2)"
}

# The library may be called by several threads, the programs have one. What is loaded into programs reads the
# environment in MPI_Init.
tidy_file() {   # FILE, or several as one word
    case $1 in
    lib/pure/launcher.c) tidy "$1" ;;
    lib/*) tidy "$1" concurrency-mt-unsafe ;;
    test/simulation/* | */test/simulation/*) flags+=(-DMH_WITH_SIMULATED_CLOCK) && tidy "$1" ;;
    *) tidy "$1" ;;
    esac
}

# Without the analyzer, one process takes twenty files; those of simulations have flags of their own.
in_order() {
    local alone='(^|/)test/simulation/'
    if [ "${MPIX_LINT-}" = all ]; then
        printf '%s\n' "${files[@]}"
    else
        printf '%s\n' "${files[@]}" | grep -vE "$alone" | grep -E '(^|/)test/' | xargs -r -n 20
        printf '%s\n' "${files[@]}" | grep -E "$alone"
        printf '%s\n' "${files[@]}" | grep -vE '(^|/)test/'
    fi
}

if is_version clang-tidy $tidy_version; then
    leave_out jansson.h libjansson-dev
    leave_out otf2/otf2.h libopen-trace-format2-dev
    leave_out elfutils/libdwfl.h libdw-dev
    mapfile -t groups < <(in_order)
    complaints=$(free=$(nproc)
        for group in "${groups[@]}"; do
            ((free-- > 0)) || wait -n
            tidy_file "$group" &
        done
        wait)
    tap_expect_empty "clang-tidy has no complaint of ${#files[@]} files" "$complaints"
else
    tap_skip "clang-tidy" "version $tidy_version is not installed (Debian package: clang-tidy)"
fi

if is_version cppcheck $cppcheck_version; then
    # variableScope: the programs declare variables first. unusedStructMember: it does not see anonymous structures.
    # strtokCalled: in a program of one thread. knownConditionTrueFalse: it takes other processors' code away.
    # readdirCalled: each thread has folders of its own. invalidFunctionArg: it knows no mmap without a file. In two
    # files: a handler's type is MPI's, and a null pointer tells epoll_pwait to leave signals alone.
    complaints=$(cppcheck --quiet -j 2 --std=c11 --language=c --library=gnu,posix --inline-suppr --inconclusive \
        --enable=warning,performance,portability,style --template='{file}:{line}: {id}: {message}' \
        --suppress=variableScope --suppress=unusedStructMember --suppress=strtokCalled \
        --suppress=knownConditionTrueFalse --suppress=missingInclude --suppress=missingIncludeSystem \
        --suppress=readdirCalled --suppress=invalidFunctionArg \
        --suppress=constParameter:test/mpi/test_errors.c --suppress=nullPointer:test/hosts/mpich_hosts.c \
        -D__x86_64__ -I. -Iinclude -Ilib "${files[@]}" 2>&1)
    tap_expect_empty "cppcheck has no complaint" "$complaints"
else
    tap_skip "cppcheck" "version $cppcheck_version is not installed (Debian package: cppcheck)"
fi
# Where gcc sees all of the library at once, it sees more.
name="no warning of the library, optimized as a whole"
if [ $# -eq 0 ]; then
    mapfile -t sources < <(find lib -name '*.c')
    tap_expect_empty "$name" "$($CC -O3 -flto=auto -Wall -Wextra -fPIC -shared "${flags[@]}" "${sources[@]}" \
        -o "$generated/library.so" 2>&1)"
fi
tap_done
