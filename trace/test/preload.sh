# shellcheck shell=bash
# Running programs with mpix_preload, to be sourced. Sets $subject, which is check_preload.c as it was compiled, $front,
# the library that is loaded into programs, and $library, the MPI library.
#
# Environment: CC           MPI compiler wrapper for C; that for Fortran has the same name but for mpifort
#              MPI_LIBRARY
. "$(dirname "$0")/../../test/programs/run.sh"
programs=$build/bin
front=$(echo "$programs"/.libs/libmpix_interpose-*.so)
library=${MPI_LIBRARY:-$(sed -n 's/^MPI_LIBRARY = //p' "$build/Makefile")}
# As many of the world as an action of check_preload.c calls.
barriers=300

[ "${sanitizers:-no}" = no ] || skip_all "what sanitizers have built cannot be loaded into an ordinary program"
[ -e "$front" ] || skip_all "this build has no preload: it takes shared libraries, and MPICH or Open MPI"

subject=$scratch/subject
# Compilers are lists of words.
# shellcheck disable=SC2086
if ! $compiler -Wno-deprecated-declarations "$here/check_preload.c" -o "$subject" -lpthread >"$scratch/log" 2>&1; then
    cat "$scratch/log"
    echo "Bail out! $compiler does not compile check_preload.c"
    exit 1
fi

expect_no() {       # WHAT PATTERN FILE
    ! grep -qE "$2" "$scratch/$3" || complain "$1"
}
expect() {          # FILE LINE HOW OFTEN
    [ "$(grep -cxE -e "$2" "$scratch/$1")" -eq "$3" ] || complain "there are not $3 lines '$2'"
}

# What each of the programs of the tests does at last.
expect_done() {
    expect_status 0
    expect_no "the program complains" '^wrong' out
    expect out 'done( [0-9]+)?' "$ranks"
}

# [OPTION]... PROGRAM...: runs it with the preload in two processes, and it does all that it is to do.
preload() {
    run 2 mpix_preload "$@"
    expect_done
}

# COMMUNICATOR RANKS BARRIERS HARMONIZED: a row of the report; not more are valid than there are.
expect_row() {
    expect_no "a program with a report is taken for one without" 'the program runs without' err
    awk -v name="$1" -v ranks="$2" -v barriers="$3" -v harmonized="$4" '
        $1 == name { rows++ }
        $1 == name && $2 == ranks && $3 == barriers && $4 == harmonized && $5 <= $4 && $6 ~ /^[0-9.]+%$/ { right++ }
        END { exit rows != 1 || right != 1 }' "$scratch/err" ||
        complain "no row '$1 $2 $3 $4' in the report"
}

# NAME: one of check_preload_tools.c, with and without the preload. Leaves mpix_with_tool and with_tool.
make_tool() {
    # shellcheck disable=SC2086
    $compiler -shared -fPIC "-DTOOL_$1" "$here/check_preload_tools.c" -o "$scratch/tool.so" -ldl || return
    printf '#!/bin/sh\nLD_PRELOAD=%s exec %s "$@"\n' "$scratch/tool.so" "$programs/mpix_preload" \
        >"$scratch/mpix_with_tool"
    printf '#!/bin/sh\nLD_PRELOAD=%s exec "$@"\n' "$scratch/tool.so" >"$scratch/with_tool"
    chmod +x "$scratch/mpix_with_tool" "$scratch/with_tool"
    programs=$scratch
}
