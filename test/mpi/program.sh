# Head of the scripts that run mpix_test, or the program that they name, to be sourced in the build directory.
#
# Environment:
#   MPIEXEC, MPIEXEC_FLAGS   launcher and its flags
#   MPIX_TEST_TIMEOUT        seconds for one run
set -u

source_dir=$(cd "$(dirname "$0")" && pwd)
. "$source_dir/../tap.sh"

program=${program:-./test/mpi/mpix_test}
launcher=${MPIEXEC:-mpiexec}
# Leaks of the MPI library itself would be reported at exit.
export ASAN_OPTIONS=${ASAN_OPTIONS-detect_leaks=0}

if [ ! -x "$program" ]; then
    echo "1..0"
    echo "Bail out! $program is not built here"
    exit 1
fi

uses_simulator() { [ "$(basename "$launcher")" = smpirun ]; }
