#!/usr/bin/env bash
# The library and the programs in unusual surroundings. The locale has a decimal comma, or is Turkish, whose small I has
# no dot: the C library then compares and writes texts in other ways. Linux does not show its processors. Each process
# is in a PID namespace of its own.
#
# Run in the build directory. Environment: CC, MPIEXEC, MPIEXEC_FLAGS, MPIX_TEST_QUICK, MPIX_TEST_ONLY.
#
# Most functions are called by check only, by name:
# shellcheck disable=SC2317
set -u

test_dir=$(cd "$(dirname "$0")" && pwd)
. "$test_dir/tap.sh"
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM
# A busy machine interrupts processes, and that is not to make samples invalid here: the tolerance is a second.
export MPIX_HARMONIZE_TOLERANCE_NS=1000000000
export ASAN_OPTIONS="${ASAN_OPTIONS-detect_leaks=0}"

make_locale() {     # NAME CHARSET: leaves $locale, or why it cannot be made
    locale=$1.$2
    why=
    if ! command -v localedef >/dev/null 2>&1; then
        why="there is no localedef"
    elif [ ! -e "/usr/share/i18n/locales/$1" ]; then
        why="there are no sources of locales (Debian package: locales)"
    elif ! localedef -i "$1" -f "$2" "$scratch/$locale" >"$scratch/log" 2>&1 && [ ! -d "$scratch/$locale" ]; then
        why="localedef fails: $(tail -n 1 "$scratch/log")"
    fi
}

check() {           # NAME FUNCTION [ARGUMENT]...
    local name="$locale: $1"
    tap_selects "$name" || return 0
    shift
    if [ -n "$why" ]; then tap_skip "$name" "$why"; else tap_expect_empty "$name" "$("$@" 2>&1)"; fi
}

launch() {          # RANKS COMMAND...
    # The flags are words.
    # shellcheck disable=SC2086
    limited env LOCPATH="$scratch" LC_ALL="$locale" ${MPIEXEC:-mpiexec} ${MPIEXEC_FLAGS-} -n "$@" </dev/null \
        >"$scratch/out" 2>"$scratch/err" && return 0
    echo "$* fails:"
    tail -n 20 "$scratch/out" "$scratch/err"
}

check_unit() {
    LOCPATH=$scratch LC_ALL=$locale ./test/unit/unit_tests test_text >"$scratch/out" 2>&1 || cat "$scratch/out"
    grep -q "^# locale .*decimal point ','" "$scratch/out" ||
        { echo "the locale is not in force:"; cat "$scratch/out"; }
}

check_library() {
    launch 2 ./test/mpi/mpix_test environment_locale
    grep -q "decimal point ','" "$scratch/out" || { echo "the locale is not in force:"; cat "$scratch/out"; }
}

# As a library does that sets the locale when it is loaded.
cat >"$scratch/speaker.c" <<'END'
#include <locale.h>
#include <stdio.h>
#include <string.h>

__attribute__((constructor)) static void speak(void)
{
    if (!setlocale(LC_ALL, "") || strcmp(localeconv()->decimal_point, ",") != 0)
        fputs("the locale is not in force\n", stderr);
}
END
preload_problem=
${CC:-mpicc} -shared -fPIC -o "$scratch/speaker.so" "$scratch/speaker.c" >"$scratch/log" 2>&1 ||
    preload_problem="nothing can be compiled to be preloaded"

# All numbers have a decimal point. In CSV each line has as many fields as there are titles.
check_program() {   # RANKS PROGRAM OPTION...
    launch "$1" env LD_PRELOAD="$scratch/speaker.so" "./tools/$2" "${@:3}"
    grep -F "not in force" "$scratch/err"
    grep -v '^#' "$scratch/out" >"$scratch/rows"
    [ "$(wc -l <"$scratch/rows")" -gt 1 ] || echo "$2 prints no rows"
    awk -F, 'NR == 1 { n = NF } NF != n { print "not " n " fields: " $0 }' "$scratch/rows"
    grep -q '[0-9][.][0-9]' "$scratch/rows" || { echo "$2 prints no decimals:"; cat "$scratch/rows"; }
}

for name in de_DE:UTF-8 tr_TR:UTF-8 tr_TR:ISO-8859-9; do
    make_locale "${name%:*}" "${name#*:}"
    quick check "letters and numbers of settings" check_unit
    quick check "a program that sets the locale" check_library
    [ -n "$why" ] || why=$preload_problem
    # The quick check has each program once, in the locale in which its options are likelier to fail.
    german='' turkish=''
    case $name in de_DE:*) german=quick ;; tr_TR:UTF-8) turkish=quick ;; esac
    $german check "mpix_bench" check_program 2 mpix_bench bcast -m 8,16 -i 5 -x 1 --format csv --tail 12.5,99.9
    $german check "mpix_skew" check_program 2 mpix_skew -i 20 -x 2 --time-slice-s 0.5 --format csv
    # Its CSV has no decimals if the processor has no counter.
    $turkish check "mpix_clock check" \
        check_program 2 mpix_clock check --sync HCA3O/SKAMPI/5 --ages-s 0,0.05
done

# ---- What is missing, in namespaces of each process

# Who runs stays who runs, as the launcher's PMIx wants it.
as_oneself=(--user --map-current-user --keep-caps)
without_sys=(unshare "${as_oneself[@]}" --mount sh -c 'mount -t tmpfs none /sys && exec "$@"' sh)
# As in containers that share /dev/shm: no process finds another one by its number. Open MPI's own shared memory
# crashes.
in_pid_namespace=(env OMPI_MCA_btl=tcp,self unshare "${as_oneself[@]}" --pid --fork --mount-proc)

# NAME SUBTEST RANKS COMMAND...: the sub-test passes below COMMAND, if it does without.
check_below() {
    local name=$1 subtest=$2 ranks=$3 problem
    tap_selects "$name" || return 0
    shift 3
    locale=C.UTF-8
    if ! "$@" true >/dev/null 2>&1; then
        tap_skip "$name" "it takes a user namespace, which is not allowed here"
        return
    fi
    problem=$(launch "$ranks" "$@" ./test/mpi/mpix_test "$subtest"
        grep '^skip: ' "$scratch/out")
    launch "$ranks" ./test/mpi/mpix_test "$subtest" >/dev/null
    if grep -q '^skip: ' "$scratch/out"; then
        tap_skip "$name" "$(sed -n 's/^skip: //p' "$scratch/out" | head -n 1)"
    else
        tap_expect_empty "$name" "$problem"
    fi
}

quick check_below "without /sys nothing is printed" environment_silent 1 "${without_sys[@]}"
quick check_below "memory is shared between PID namespaces" environment_memory 2 "${in_pid_namespace[@]}"
tap_done
