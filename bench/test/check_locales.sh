#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Programs in a locale that has a decimal comma, and in Turkish, whose small I has no dot: the C library then compares
# and writes texts in other ways.
. "$(dirname "$0")/../../test/programs/run.sh"
. "$tests/locales.sh"
give_way
# A busy machine interrupts processes, and that is not to make samples invalid here: the tolerance is a second.
export MPIX_HARMONIZE_TOLERANCE_NS=1000000000

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

for name in $locales; do
    make_locale "${name%:*}" "${name#*:}"
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
tap_done
