#!/usr/bin/env bash
# The libraries define the names that the header declares, and none that could collide with a user's.
# To be run in the build directory.
set -u
export LC_ALL=C

test_dir=$(cd "$(dirname "$0")" && pwd)
. "$test_dir/tap.sh"
header=$test_dir/../include/mpix_harmonize.h
nm=${NM:-nm}

tap_expect_empty "what repeats the header is made from it" "$("$test_dir/../bindings/declare.sh" --check 2>&1)"

# The Fortran modules declare functions that only they use.
declared=$({
    grep -v '^ *[/ ]\*' "$header" | grep -oE '\bP?MPIX_[A-Z][a-z_]+ *\(' | tr -d ' ('
    sed -n 's/.*bind(C, name="\(.*\)").*/\1/p' "$test_dir/../bindings/fortran/mpix_harmonize_mpi.f90"
} | sort -u)

# Of these, there is the one for this MPI library.
of_one_library='^MPIX_Harmonize_built_for_'

compare() {     # EXPORTED: complain about the difference from what is declared
    comm -23 <(grep -v "$of_one_library" <<<"$declared") <(echo "$1") | sed 's/$/ is declared but not defined/'
    [ "$(grep -c "$of_one_library" <<<"$1")" -le 1 ] || echo "it is for several MPI libraries"
    comm -13 <(echo "$declared") <(echo "$1") | sed 's/$/ is exported but not declared/'
}

shared=lib/.libs/libmpix_harmonize${LIBRARY_SUFFIX-}.so
name="the shared library exports exactly the declared functions"
if [ -e $shared ]; then
    # Absolute symbols are names of versions.
    exported=$($nm -D --defined-only $shared | awk '$2 != "A" { print $3 }' | sed 's/@.*//' | sort -u)
    tap_expect_empty "$name" "$(compare "$exported")"
else
    tap_skip "$name" "no shared library is built"
fi

# Else a C library with little room for such variables, as musl, cannot load it at run time.
name="no thread-local variable has to be there from the start of a program"
if [ -e $shared ] && command -v readelf >/dev/null; then
    tap_expect_empty "$name" "$(readelf -d $shared | grep STATIC_TLS)"
else
    tap_skip "$name" "no shared library is built, or there is no readelf"
fi

static=lib/.libs/libmpix_harmonize${LIBRARY_SUFFIX-}.a
if [ -e $static ]; then
    # Sanitizers add symbols of their own, which begin with two underscores.
    defined=$($nm -g --defined-only $static | awk 'NF == 3 { print $3 }' | grep -v '^__' | sort -u)
    # mpix_clock_: of mpix_clock_reader.h
    tap_expect_empty "the static library defines only MPIX_, PMPIX_, mpix_clock_ and mh_ names" \
        "$(grep -vE '^(P?MPIX_|mpix_clock_|mh_)' <<<"$defined")"
    tap_expect_empty "the static library defines exactly the declared functions" \
        "$(compare "$(grep -E '^P?MPIX_' <<<"$defined")")"
    tap_expect_empty "the library calls MPI by its PMPI_ names only" \
        "$($nm -g --undefined-only $static | awk '{ print $NF }' | grep -E '^MPI_[A-Z][a-z]' | sort -u)"
else
    tap_skip "names in the static library" "no static library is built"
fi

yielding=test/mpi/.libs/yielding.so
name="what lets processes of MPICH give processors away takes the place of UCX's function"
if [ -e $yielding ]; then
    tap_expect_empty "$name" \
        "$($nm -D --defined-only $yielding | grep -q ' T ucp_worker_progress$' || echo "it does not have the function")"
else
    tap_skip "$name" "it is not built"
fi

tap_done
