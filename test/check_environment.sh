#!/usr/bin/env bash
# The library in unusual surroundings. The locale has a decimal comma, or is Turkish, whose small I has no dot: the C
# library then compares and writes texts in other ways. Linux does not show its processors. Each process is in a PID
# namespace of its own.
#
# Run in the build directory. Environment: CC, MPIEXEC, MPIEXEC_FLAGS, MPIX_TEST_QUICK, MPIX_TEST_ONLY.
. "$(dirname "$0")/programs/run.sh"
. "$tests/locales.sh"
# A busy machine interrupts processes, and that is not to make samples invalid here: the tolerance is a second.
export MPIX_HARMONIZE_TOLERANCE_NS=1000000000

check_unit() {
    LOCPATH=$scratch LC_ALL=$locale ./test/unit/unit_tests test_text >"$scratch/out" 2>&1 || cat "$scratch/out"
    grep -q "^# locale .*decimal point ','" "$scratch/out" ||
        { echo "the locale is not in force:"; cat "$scratch/out"; }
}

check_library() {
    in_locale 2 ./test/mpi/mpix_test environment_locale
    grep -q "decimal point ','" "$scratch/out" || { echo "the locale is not in force:"; cat "$scratch/out"; }
}

for name in $locales; do
    make_locale "${name%:*}" "${name#*:}"
    quick tap_check_unless "$why" "$name: letters and numbers of settings" check_unit
    quick tap_check_unless "$why" "$name: a program that sets the locale" check_library
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
