#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The standard ABI: what was built and tested with one MPI library runs with the other one. All tests that start
# processes, again, with the same files. To be run in the build directory.
#
# Environment: MPIEXEC      mpiexec.abi of packaging/make_abi_wrappers.sh; without it, or the other library, nothing
#              MPI_LIBRARY  what configure found, and what the tests take
set -u

source_dir=$(cd "$(dirname "$0")" && pwd)
. "$source_dir/tap.sh"
launcher=${MPIEXEC:-mpiexec}
case ${MPI_LIBRARY-} in
'standard ABI'*) ;;
*) skip_all "the build is not one for the standard ABI" ;;
esac
[ "${launcher##*/}" = mpiexec.abi ] || skip_all "the launcher has no other MPI library: $launcher"
case ${MPI_ABI_LIBRARY-mpich} in mpich) other=openmpi ;; *) other=mpich ;; esac
export MPI_ABI_LIBRARY=$other
"$launcher" -n 1 true || skip_all "there is no other MPI library with the standard ABI"

scripts=$(cd "$source_dir" && ls check_environment.sh check_downstream.sh mpi/run_*tests.sh hosts/run_*tests.sh \
    programs/check_examples.sh ../bench/test/check_{arrivals,clocks,operations,parts,recompute,skew,suite}.sh \
    ../trace/test/check_{preload,preload_odd,trace,trace_odd}.sh 2>/dev/null)
for script in $scripts; do
    tap_relay "$other: $script" < <(bash "$source_dir/$script" 2>&1 </dev/null)
done
tap_done
