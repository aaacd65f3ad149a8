#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Debian has MPI libraries with the standard ABI of MPI 5.0, but no compiler wrapper and no launcher for it. This makes
# them: mpicc.abi and mpicxx.abi; mpiexec.abi runs a program by MPICH, or if MPI_ABI_LIBRARY=openmpi is in the
# environment, by Open MPI. The launcher chooses the MPI library by the loader's path.
#
# Usage: make_abi_wrappers.sh DIRECTORY
set -u

[ $# -eq 1 ] || { echo "usage: make_abi_wrappers.sh DIRECTORY" >&2; exit 2; }
libraries=/usr/lib/$(gcc -print-multiarch)
for include in "$libraries/mpi_abi_mpich/include" "$libraries/openmpi/include/standard_abi"; do
    [ ! -e "$include/mpi.h" ] || break
done
[ -e "$include/mpi.h" ] && [ -e "$libraries/libmpi_abi.so" ] || {
    echo "make_abi_wrappers.sh: no MPI library with the standard ABI; it takes MPICH 5 or Open MPI 6" \
        "(Debian packages: libmpich-dev 5.0 or newer, or libopenmpi-dev 6.0 or newer)" >&2
    exit 1
}
mkdir -p "$1" && cd "$1" || exit 1

make_compiler() {   # WRAPPER COMPILER
    cat >"$1" <<END
#!/bin/sh
[ "\${1-}" != -show ] || { shift; echo $2 -I$include "\$@" -lmpi_abi; exit; }
exec $2 -I$include "\$@" -lmpi_abi
END
    chmod +x "$1"
}
make_compiler mpicc.abi gcc
make_compiler mpicxx.abi g++

for name in mpich openmpi; do
    for library in "$libraries"/libmpi_abi_$name.so.*; do
        [ ! -e "$library" ] || { mkdir -p $name && ln -sf "$library" $name/libmpi_abi.so.1; }
    done
done
cat >mpiexec.abi <<END
#!/bin/sh
library=\${MPI_ABI_LIBRARY-mpich}
[ -e "$PWD/\$library/libmpi_abi.so.1" ] || {
    echo "mpiexec.abi: there is no MPI library MPI_ABI_LIBRARY=\$library; allowed:" $(echo */ | tr -d /) >&2
    exit 2
}
export LD_LIBRARY_PATH="$PWD/\$library\${LD_LIBRARY_PATH:+:\$LD_LIBRARY_PATH}"
[ "\$library" != openmpi ] || set -- --oversubscribe --allow-run-as-root -x LD_LIBRARY_PATH "\$@"
exec mpiexec.\$library "\$@"
END
chmod +x mpiexec.abi
