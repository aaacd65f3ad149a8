#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The Fortran modules as a user builds them, from where make install puts them: examples/hello.f90, and
# check_fortran.F90 by each of MPI's Fortran interfaces, run at 2 ranks. The modules name the functions that the library
# has for them. To be run in the build directory.
#
# Environment: MPIFC  the MPI compiler wrapper for Fortran (default: the one that configure found)
. "$(dirname "$0")/run.sh"
. "$(dirname "$0")/installed.sh"
top=$here/../..
modules=$top/bindings/fortran

in_modules() { grep -o 'name="MPIX_[A-Za-z_]*_f"' "$modules/mpix_harmonize_mpi.f90" | sed 's/.*"\(.*\)"/\1/' | sort; }
in_header() { grep -oE '^MPIX_HARMONIZE_API int MPIX_\w+' "$top/include/mpix_harmonize.h" | sed 's/.* //'; }
check_names() {
    diff <(in_modules) <(in_header | sed 's/$/_f/' | sort)
    for name in $(in_header); do
        for module in mpi f08; do
            grep -q "^    subroutine $name(" "$modules/mpix_harmonize_$module.f90" ||
                echo "mpix_harmonize_$module has no $name"
        done
    done
}
quick tap_check "the modules have the functions of the header" check_names

fc=${MPIFC-$(configured MPIFC)}
if [ -z "$fc" ]; then
    tap_skip "programs in Fortran" "no MPI compiler wrapper for Fortran"
    tap_done
fi
install_once
include=$root$(configured includedir)

# INTERFACE: whether the MPI library has it for this compiler
has_interface() {
    case $1 in
    mpif.h) printf 'include "mpif.h"\nend\n' ;;
    *) printf 'use %s\nend\n' "$1" ;;
    esac >"$scratch/probe.f90"
    (cd "$scratch" && $fc probe.f90 -o probe) >"$scratch/probe.log" 2>&1
}

# NAME INTERFACE SOURCE [OPTION]...: builds it by the documented line, in a folder of its own, and runs it.
try() {
    local name=$1 interface=$2 source=$3 folder=$scratch/${1//[^a-z0-9_]/_} files flags output
    shift 3
    tap_selects "$name" || return 0
    if ! has_interface "$interface"; then
        tap_skip "$name" "$fc does not compile '$interface': $(grep -m 1 -i error "$scratch/probe.log")"
        return
    fi
    files=("$include/mpix_harmonize_mpi.f90")
    [ "$interface" != mpi_f08 ] || files+=("$include/mpix_harmonize_f08.f90")
    flags=$(pkg_config_flags --libs)
    mkdir "$folder"
    # Compilers and flags are lists of words.
    # shellcheck disable=SC2086
    if ! output=$(cd "$folder" && $fc -Wall -Werror "$@" "${files[@]}" "$source" -o program $flags 2>&1); then
        tap_not_ok "$name: build" "$fc $* ${files[*]} $source $flags
$output"
        return
    fi
    if output=$(run_installed 2 "$folder/program") && grep -qx ok <<<"$output"; then
        tap_ok "$name"
    else
        tap_not_ok "$name: run" "$output"
    fi
}

try "hello.f90" mpi_f08 "$top/examples/hello.f90"
quick try "all functions, use mpi_f08" mpi_f08 "$here/check_fortran.F90" -DF08
try "all functions, use mpi" mpi "$here/check_fortran.F90"
try "all functions, mpif.h" mpif.h "$here/check_fortran.F90" -DMPIF_H
tap_done
