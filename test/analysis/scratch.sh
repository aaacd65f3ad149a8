# Head of the analysis scripts, to be sourced: builds of the whole project in scratch directories, and their tests.
#
# Environment:
#   CC                       MPI compiler wrapper (default mpicc.mpich, or mpicc)
#   MPIEXEC, MPIEXEC_FLAGS   launcher and its flags
#   MAKE                     (default make)
set -u
export LC_ALL=C

source_dir=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$source_dir/../.." && pwd)
. "$top/test/tap.sh"

CC=${CC:-$(command -v mpicc.mpich || command -v mpicc)}
MAKE=${MAKE:-make}
# How to repeat a test that fails, in the same directory.
# shellcheck disable=SC2034
tap_again="CC='$CC' bash $0"

is_open_mpi() { echo '#include <mpi.h>
#ifndef OPEN_MPI
#error no
#endif' | $CC -E -x c - >/dev/null 2>&1; }

use_compiler() {    # COMPILER: from now on the MPI wrapper $CC calls it
    if is_open_mpi; then export OMPI_CC=$1; else export MPICH_CC=$1; fi
}

scratch_build() {   # DIRECTORY CONFIGURE-ARGUMENT... -- TARGET...: configures unless that was done the same way before
    local directory=$1 arguments=()
    shift
    while [ "$1" != -- ]; do arguments+=("$1"); shift; done
    shift
    mkdir -p "$directory"
    local log=$directory/scratch.log wanted="$top $CC ${MPICH_CC-} ${OMPI_CC-} ${arguments[*]}"
    (
        cd "$directory" || exit 1
        if [ ! -e Makefile ] || [ "$(cat configured_as 2>/dev/null)" != "$wanted" ]; then
            "$top/configure" CC="$CC" "${arguments[@]}" && echo "$wanted" >configured_as || exit 1
        fi
        "$MAKE" -j 2 "$@"
    ) >"$log" 2>&1 </dev/null && return
    tail -n 30 "$log" | sed 's/^/#   /'
    echo "Bail out! no build in $directory: see $log"
    return 1
}

use_launcher() {    # sets the launcher that belongs to $CC, unless the caller names one
    if is_open_mpi; then
        export MPIEXEC=${MPIEXEC:-mpiexec.openmpi} MPIEXEC_FLAGS=${MPIEXEC_FLAGS---oversubscribe --allow-run-as-root}
    else
        export MPIEXEC=${MPIEXEC:-$(command -v mpiexec.mpich || command -v mpiexec)}
    fi
}

build_tests() {     # DIRECTORY CONFIGURE-ARGUMENT...: builds all, and the unit and MPI tests, and goes there
    local makers=(trace/test/check_trace_{check,convert,report} trace/test/trace_dump)
    use_launcher
    scratch_build "$@" -- all || exit 1
    scratch_build "$@" -- {,bench/,trace/}test/unit/unit_tests test/mpi/mpix_test test/mpi/wrapper_test \
        trace/test/check_late "${makers[@]}" || exit 1
    cd "$1" || exit 1
}

run_test() {        # NAME COMMAND...: the command succeeds, and no sanitizer reports anything
    local output
    output=$("${@:2}" 2>&1 </dev/null) && ! grep -q ThreadSanitizer <<<"$output" && tap_ok "$1" ||
        tap_not_ok "$1" "$(grep -v '^ok ' <<<"$output" | head -n 400)"
}

run_tests() {       # RANKS: the unit tests, and the MPI tests at these rank counts
    local program test
    for program in {,bench/,trace/}test/unit/unit_tests; do
        for test in $($program --list); do run_test "$test" $program "$test"; done
    done
    MPIX_TEST_RANKS=$1 run_test "the MPI tests" bash "$top/test/mpi/run_mpi_tests.sh"
}

run_programs() {    # NAME...: the tests of programs, check_NAME.sh
    local name
    for name; do
        run_test "check_$name.sh${MPIX_TEST_ONLY:+: $MPIX_TEST_ONLY}" bash "$(find "$top"/{common,bench,trace}/test \
            "$top/test/programs" -name "check_$name.sh")"
    done
}

mpi_include_flags() {
    { $CC -show || $CC --showme:compile; } 2>/dev/null | tr ' ' '\n' | grep '^-I'
}
