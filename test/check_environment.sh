#!/usr/bin/env bash
# The library and the programs in unusual surroundings. The locale has a decimal comma, or is Turkish, whose small I has
# no dot: the C library then compares and writes texts in other ways. Linux does not show its processors. Each process
# is in a PID namespace of its own.
#
# Run in the build directory. Environment: CC, MPIEXEC, MPIEXEC_FLAGS, MPIX_TEST_QUICK, MPIX_TEST_ONLY.
. "$(dirname "$0")/programs/run.sh"
# A busy machine interrupts processes, and that is not to make samples invalid here: the tolerance is a second.
export MPIX_HARMONIZE_TOLERANCE_NS=1000000000

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

in_locale() {       # RANKS COMMAND...
    launch "$1" env LOCPATH="$scratch" LC_ALL="$locale" "${@:2}" >"$scratch/out" 2>"$scratch/err" </dev/null && return
    echo "$* fails:"
    tail -n 20 "$scratch/out" "$scratch/err"
}

check_unit() {
    LOCPATH=$scratch LC_ALL=$locale ./test/unit/unit_tests test_text >"$scratch/out" 2>&1 || cat "$scratch/out"
    grep -q "^# locale .*decimal point ','" "$scratch/out" ||
        { echo "the locale is not in force:"; cat "$scratch/out"; }
}

check_library() {
    in_locale 2 ./test/mpi/mpix_test environment_locale
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
    in_locale "$1" env LD_PRELOAD="$scratch/speaker.so" "./bin/$2" "${@:3}"
    grep -F "not in force" "$scratch/err"
    grep -v '^#' "$scratch/out" >"$scratch/rows"
    [ "$(wc -l <"$scratch/rows")" -gt 1 ] || echo "$2 prints no rows"
    awk -F, 'NR == 1 { n = NF } NF != n { print "not " n " fields: " $0 }' "$scratch/rows"
    grep -q '[0-9][.][0-9]' "$scratch/rows" || { echo "$2 prints no decimals:"; cat "$scratch/rows"; }
}

for name in de_DE:UTF-8 tr_TR:UTF-8 tr_TR:ISO-8859-9; do
    make_locale "${name%:*}" "${name#*:}"
    quick tap_check_unless "$why" "$name: letters and numbers of settings" check_unit
    quick tap_check_unless "$why" "$name: a program that sets the locale" check_library
    check=(tap_check_unless "${why:-$preload_problem}")
    # The quick check has each program once, in the locale in which its options are likelier to fail.
    german='' turkish=''
    case $name in de_DE:*) german=quick ;; tr_TR:UTF-8) turkish=quick ;; esac
    $german "${check[@]}" "$name: mpix_bench" \
        check_program 2 mpix_bench bcast -m 8,16 -i 5 -x 1 --format csv --tail 12.5,99.9
    $german "${check[@]}" "$name: mpix_skew" check_program 2 mpix_skew -i 20 -x 2 --time-slice-s 0.5 --format csv
    # Its CSV has no decimals if the processor has no counter.
    $turkish "${check[@]}" "$name: mpix_clock check" \
        check_program 2 mpix_clock check --sync HCA3O/SKAMPI/5 --ages-s 0,0.05
done

# ---- What is missing, in namespaces of each process

without_sys=("${own_mounts[@]}" sh -c 'mount -t tmpfs none /sys && exec "$@"' sh)
# As in containers that share /dev/shm: no process finds another one by its number. Open MPI's own shared memory
# crashes.
in_pid_namespace=(env OMPI_MCA_btl=tcp,self "${own_mounts[@]}" --pid --fork --mount-proc)

# SUBTEST RANKS LIST: whether the words in the list can run a command, and the sub-test is not skipped without them
can_check_below() {
    local -n below=$3
    "${below[@]}" true && in_locale "$2" ./test/mpi/mpix_test "$1" && ! grep '^skip: ' "$scratch/out"
}
check_below() {
    local -n below=$3
    in_locale "$2" "${below[@]}" ./test/mpi/mpix_test "$1"
    ! grep '^skip: ' "$scratch/out"
}
locale=C.UTF-8
unless="it takes a user namespace, which is not allowed here, or the test is skipped anywhere"
quick tap_check_if "can_check_below environment_silent 1 without_sys" "$unless" \
    "without /sys nothing is printed" check_below environment_silent 1 without_sys
quick tap_check_if "can_check_below environment_memory 2 in_pid_namespace" "$unless" \
    "memory is shared between PID namespaces" check_below environment_memory 2 in_pid_namespace
tap_done
