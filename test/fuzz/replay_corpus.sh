#!/usr/bin/env bash
# Runs each fuzz target over its kept corpus. In the build directory.
#
# Environment: FUZZ_PROGRAMS   the targets, as they are built
set -u

top=$(cd "$(dirname "$0")/../.." && pwd)
. "$top/test/tap.sh"
[ "${MPIX_TEST_BRIEF-}" != yes ] || skip_all "MPIX_TEST_BRIEF=yes"
export ASAN_OPTIONS=${ASAN_OPTIONS-detect_leaks=0}

for program in $FUZZ_PROGRAMS; do
    target=${program##*/fuzz_} corpus=$top/${program%/*}/corpus/${program##*/fuzz_}
    files=("$corpus"/*)
    if [ ! -x "$program" ]; then
        tap_not_ok "corpus of $target" "$program is not built here"
    elif [ ! -e "${files[0]}" ]; then
        tap_not_ok "corpus of $target" "no file in $corpus"
    elif complaints=$("./$program" "${files[@]}" 2>&1 >/dev/null </dev/null); then
        tap_ok "corpus of $target: ${#files[@]} inputs"
    else
        tap_not_ok "corpus of $target" "$(tail -n 30 <<<"$complaints")
to see it again, in $PWD: $program $corpus/*"
    fi
done
tap_done
