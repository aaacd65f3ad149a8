# Builds of the whole project in scratch directories, to be sourced. Expects top, the source tree.

# With what MPI programs are compiled when the build says nothing.
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

list_unit_tests() { # in a build directory: the programs of the unit tests
    "$MAKE" -s Makefile >/dev/null 2>&1
    printf '%s\n' 'print-unit-tests:' '	@echo $(unit_tests)' | "$MAKE" -s -f Makefile -f - print-unit-tests
}

mpi_include_flags() {
    { $CC -show || $CC --showme:compile; } 2>/dev/null | tr ' ' '\n' | grep '^-I'
}
