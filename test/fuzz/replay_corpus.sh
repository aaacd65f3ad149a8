#!/usr/bin/env bash
# Runs each fuzz target over its kept corpus, and that of clock records over mutations of it, too. In the build
# directory.
#
# Environment: FUZZ_PROGRAMS   the targets, as they are built
#              FUZZ_MUTATIONS  how many mutations (default 3000)
#              MH_SEED         of the mutations
set -u

top=$(cd "$(dirname "$0")/../.." && pwd)
. "$top/test/tap.sh"
[ "${MPIX_TEST_BRIEF-}" != yes ] || skip_all "MPIX_TEST_BRIEF=yes"
export ASAN_OPTIONS=${ASAN_OPTIONS-detect_leaks=0}

asked=${FUZZ_MUTATIONS-3000}
export MH_SEED=${MH_SEED:-20230911} FUZZ_MUTATIONS FUZZ_KEPT
for program in $FUZZ_PROGRAMS; do
    target=${program##*/fuzz_} corpus=$top/${program%/*}/corpus/${program##*/fuzz_}
    files=("$corpus"/*)
    case $target in records) FUZZ_MUTATIONS=$asked ;; *) FUZZ_MUTATIONS=0 ;; esac
    FUZZ_KEPT=$PWD/fuzz_$target.input mutated=
    rm -f "$FUZZ_KEPT"
    [ "$FUZZ_MUTATIONS" -eq 0 ] || mutated=", $FUZZ_MUTATIONS mutations with seed $MH_SEED"
    if [ ! -x "$program" ]; then
        tap_not_ok "corpus of $target" "$program is not built here"
    elif [ ! -e "${files[0]}" ]; then
        tap_not_ok "corpus of $target" "no file in $corpus"
    elif complaints=$("./$program" "${files[@]}" 2>&1 >/dev/null </dev/null); then
        tap_ok "corpus of $target: ${#files[@]} inputs$mutated"
    elif [ -e "$FUZZ_KEPT" ]; then
        tap_not_ok "corpus of $target" "$(tail -n 30 <<<"$complaints")
a mutation$mutated; to see it again, in $PWD: $program $FUZZ_KEPT"
    else
        tap_not_ok "corpus of $target" "$(tail -n 30 <<<"$complaints")
to see it again, in $PWD: $program $corpus/*"
    fi
done
tap_done
