#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds programs against the installed library as users do, with the flags of pkg-config and the MPI compiler wrappers,
# in C, C++ and Fortran, shared and static, and by the lines of the documents, and runs them at 2 ranks; and what a user
# of another MPI library is told. To be run in the build directory.
#
# Environment: MPICXX, MPIFC  compiler wrappers (default: those that configure found)
. "$(dirname "$0")/programs/run.sh"
. "$tests/programs/installed.sh"
examples=$top/examples prefix=$(configured prefix) modules=$scratch/root$(configured includedir)
MPICXX=${MPICXX-$(configured MPICXX)} MPIFC=${MPIFC-$(configured MPIFC)}

# libtool would fail in the middle of an installation.
check_blank() {
    local option output
    for option in "--prefix=$scratch/a b" "--libdir=$scratch/a b"; do
        output=$(cd "$scratch" && "$top/configure" CC="$compiler" "$option" 2>&1 </dev/null) &&
            echo "configure $option passes"
        grep -qF "'${option#*=}' has a blank" <<<"$output" ||
            echo "configure $option does not tell the reason: $output"
    done
}
quick tap_check "configure refuses directories with a blank" check_blank

install_once
# Without the shared library, so that the linker can only take the static one.
static_root=$scratch/static_root
cp -R "$root" "$static_root"
rm -f "$static_root$libdir/libmpix_harmonize$suffix".so*
has_library() { compgen -G "$root$libdir/libmpix_harmonize$suffix.${1/#shared/so*}" >/dev/null; }

# ---- Programs

# LANGUAGE KIND COMPILER SOURCE...: the program builds without a warning of the library, and prints ok.
builds_and_runs() {
    local root=$root static='' output folder=$scratch/program
    [ "$2" = shared ] || root=$static_root static=--static
    rm -rf "$folder"
    mkdir "$folder"
    # Compilers and flags are lists of words.
    # shellcheck disable=SC2046,SC2086
    output=$(cd "$folder" && $3 -Wall "${@:4}" -o program $(pkg_config_flags $static --cflags --libs) 2>&1) ||
        { printf '%s\n' "${*:3}" "$output"; return; }
    [ "$2" = shared ] || ! ldd "$folder/program" | grep libmpix_harmonize || return
    output=$(run_installed 2 "$folder/program") && grep -q '^ok$' <<<"$output" || echo "run: $output"
}
try() {         # LANGUAGE KIND COMPILER SOURCE...
    local why=${why-}
    has_library "${2/static/a}" || why="not built"
    [ -n "$3" ] || why="no MPI compiler wrapper for $1"
    tap_check_unless "$why" "a $1 program with the $2 library" builds_and_runs "$@"
}
for kind in shared static; do
    quick try C $kind "$compiler" "$examples/hello.c"
    quick try C++ $kind "$MPICXX" "$examples/hello.cc"
done
quick try C99 shared "$compiler -std=c99 -Wextra -pedantic -Werror" "$tests/programs/bracket.c"
# Standing in for a C++ source, the file is told to the compiler as one.
quick try C++11 shared "${MPICXX:+$MPICXX -std=c++11 -x c++}" "$tests/programs/bracket.c"
# Open MPI's own bindings for C++ cause warnings.
strict=${MPICXX:+$MPICXX -std=c++11 -Wextra -pedantic -Werror -DOMPI_SKIP_MPICXX}
quick try "C++11 (chrono)" shared "$strict" "$examples/chrono.cc"
quick try "C++11 (chrono, odd)" shared "$strict" "$tests/programs/chrono_odd.cc"

# INTERFACE FORM SOURCE [OPTION]...: by that of MPI's Fortran interfaces, which the compiler may not have
try_fortran() {
    local why='' sources=("$modules/mpix_harmonize_mpi.f90")
    [ "$1" != mpi_f08 ] || sources+=("$modules/mpix_harmonize_f08.f90")
    [ -z "$MPIFC" ] || have_fortran "$2" || why="$MPIFC compiles no program with $1"
    try "Fortran (${3##*/}, $1)" shared "${MPIFC:+$MPIFC -Werror ${*:4}}" "${sources[@]}" "$3"
}
try_fortran mpi_f08 3 "$examples/hello.f90"
quick try_fortran mpi_f08 3 "$tests/programs/check_fortran.F90" -DF08
try_fortran mpi 2 "$tests/programs/check_fortran.F90"
try_fortran mpif.h 1 "$tests/programs/check_fortran.F90" -DMPIF_H

# What is installed of mpix_preload finds its parts beside it.
check_preload() {
    local output
    printf '#include <mpi.h>\nint main(int argc, char **argv)\n{\n%s\n}\n' "MPI_Init(&argc, &argv);
        MPI_Barrier(MPI_COMM_WORLD); return MPI_Finalize();" >"$scratch/barrier.c"
    # shellcheck disable=SC2086
    output=$($compiler "$scratch/barrier.c" -o "$scratch/barrier" 2>&1) &&
        output=$(run_installed 2 "$(find "$root" -path "*/bin/mpix_preload")" "$scratch/barrier") &&
        grep -qE '^MPI_COMM_WORLD +2 +1 +1 ' <<<"$output" || echo "it says: $output"
}
quick tap_check_if "test -e bin/mpix_preload" "this build has none" "mpix_preload, installed" check_preload

# ---- The lines of the documents

# Where the dynamic linker does not look: programs find the library by what pkg-config tells. Of such a build, the
# pkg-config module is the only thing that is not in the tree installed above.
make_own_prefix() {     # once
    [ ! -e "$scratch/own" ] || return 0
    mkdir "$scratch/own_build" "$scratch/own" && (cd "$scratch/own_build" &&
        configure_again --prefix="$scratch/own" >"$scratch/own.log" 2>&1) &&
        cp -R "$root$libdir" "$scratch/own/lib" && cp -R "$root$prefix/include" "$scratch/own" &&
        cp "$scratch/own_build/packaging/library.pc" "$scratch/own/lib/pkgconfig/mpix_harmonize.pc" ||
        tail "$scratch/own.log"
}
run_own() {     # PATTERN PROGRAM [ARGUMENT]...: prints a line that matches
    launch 2 "${@:2}" </dev/null >out 2>&1 && grep -qE "$1" out || { echo "$2:"; cat out; }
}
check_lines() { # SOURCE PAGE ADDRESS PATTERN: of the lines in the page, for sed; what the program prints
    rm -rf "$scratch/bench"
    make_own_prefix && mkdir "$scratch/bench" && cd "$scratch/bench" && cp "$1" "reduce.${1##*.}" || return
    sed -n "$3"'{ /^```/d; p }' "$top/$2" |
        sed "s|^mpicc[.a-z]*|$compiler|; s|^mpifort\\.mpich|$MPIFC|" >lines
    grep -q . lines || echo "there are no such lines in $2"
    PKG_CONFIG_PATH=$scratch/own/lib/pkgconfig sh -e ./lines 2>&1 && run_own "$4" ./reduce
}
check_makefile() {
    local program expected
    make_own_prefix && cp -R "$examples" "$scratch/examples" && cd "$scratch/examples" && chmod -R u+w . || return
    PKG_CONFIG_PATH=$scratch/own/lib/pkgconfig make CC="$compiler" CXX="$MPICXX" FC="$MPIFC" \
        all ${MPIFC:+hello_f90} >log 2>&1 || cat log
    for program in hello_c hello_cxx chrono ${MPIFC:+hello_f90} osu_allreduce osu_bcast osu_reduce tracer triad; do
        # The OSU-like ones print a row for each size. On a busy machine, there may be no valid sample.
        case $program in
        osu_*) expected='^ +8 +([0-9.]+ +[0-9.]+|no valid)' ;;
        tracer) launch 2 ./tracer </dev/null >out 2>&1 && [ -s clocks.jsonl ] || cat out; continue ;;
        triad) expected='^  first start to last end +[0-9.]+ us, from' ;;
        *) expected='^ok$' ;;
        esac
        run_own "$expected" "./$program" 8 20
    done
}
if has_library shared && [ -z "$suffix" ] && [ ! -e "$top/config.status" ]; then
    # Fewer samples, for busy machines.
    sed -n '/^```c$/,/^```$/{ /^```/d; s/10000/100/; p }' "$top/README.md" >"$scratch/readme.c"
    tap_check "README.md: C" check_lines "$scratch/readme.c" README.md '/^mpicc[.a-z]* reduce/' \
        '^[0-9]+ of 100 samples are valid; their mean is [-0-9.na]+ us$'
    [ -z "$MPIFC" ] || tap_check "doc/installing.md: Fortran" check_lines "$examples/hello.f90" doc/installing.md \
        '/^modules=/,/^```/' '^ok$'
    tap_check "the Makefile of the examples, and what they print" check_makefile
fi

# ---- Another MPI library

case $compiler in
*openmpi) other=mpich other_name=MPICH ;;
*) other=openmpi other_name=Open_MPI ;;
esac
marker=MPIX_Harmonize_built_for_$other_name
# [COMPILER]: a wrapper may be there without its compiler, or without mpi.h.
other_works() {
    has_library shared && echo '#include <mpi.h>' | "mpicc.$other" -E -x c - && "${1-true}" --version
}
unless_other="there is no shared library, or no compiler for $other_name"

# COMPILER SOURCE...: the linker names the library that is missing.
check_other_link() {
    local output
    # shellcheck disable=SC2046
    output=$(cd "$scratch" && "$@" -o other $(pkg_config_flags --cflags --libs) 2>&1) && output="it links"
    grep -q "undefined reference to .*$marker" <<<"$output" || echo "$output"
}
while read -r language wrapper sources; do
    # shellcheck disable=SC2086
    quick tap_check_if "other_works $wrapper.$other" "$unless_other" \
        "a $language program of the other MPI library does not link" check_other_link $wrapper.$other $sources
done <<END
C mpicc $examples/hello.c
C++ mpicxx $examples/hello.cc
Fortran mpifort $modules/mpix_harmonize_mpi.f90 $modules/mpix_harmonize_f08.f90 $examples/hello.f90
END

# The other library's mpi.h comes first.
check_headers() {
    local output folder
    folder=$("mpicc.$other" -show | tr ' ' '\n' | sed -n 's/^-I//p' | head -n 1)
    output=$(cd "$scratch" && "$top/configure" CC="$compiler" CPPFLAGS="-I$folder" 2>&1 </dev/null) &&
        echo "configure passes"
    grep -q "mpi.h is that of ${other_name/_/ }.* links is another one" <<<"$output" || tail -n 5 <<<"$output"
}
tap_check_if other_works "$unless_other" "configure refuses an mpi.h of another MPI library" check_headers

# The MPI library that is loaded may have another version of the standard ABI than the one that was linked.
check_abi_version() {
    echo 'int PMPI_Abi_get_version(int *major, int *minor) { *major = 2, *minor = 0; return 0; }' >"$scratch/two.c"
    # shellcheck disable=SC2046,SC2086
    (cd "$scratch" && gcc -shared -fPIC two.c -o two.so &&
        $compiler "$examples/hello.c" -o two $(pkg_config_flags --cflags --libs)) || return
    run_installed 1 env LD_PRELOAD="$scratch/two.so" "$scratch/two" >"$scratch/out"
    grep -q "libmpi_abi.so.1 has not version 1" "$scratch/out" || cat "$scratch/out"
}
case ${MPI_LIBRARY-} in
'standard ABI'*) tap_check "another version of the standard ABI is refused" check_abi_version ;;
esac

# Where the linker is made to accept it, it gets an error and goes on, and its flag is 0.
check_other_mpi() {
    local program=$scratch/other output
    cat >"$program.c" <<'EOF'
#include <mpix_harmonize.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    int flag = 1, code;
    double time_s;
    MPI_Init(&argc, &argv);
    code = MPIX_Harmonize(MPI_COMM_WORLD, &flag);
    printf("%s %s %d\n", code == MPI_SUCCESS ? "passed" : "refused",
           MPIX_Global_time(MPI_COMM_WORLD, &time_s) == MPI_SUCCESS ? "passed" : "refused", flag);
    return MPI_Finalize();
}
EOF
    # shellcheck disable=SC2046
    output=$(mpicc.$other "$program.c" -Wl,--defsym=$marker=0 -o "$program" $(pkg_config_flags --cflags --libs) 2>&1) &&
        output=$(MPIEXEC=mpiexec.$other MPIEXEC_FLAGS='' OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
            run_installed 1 "$program") && [ "$output" = "refused refused 0" ] && return
    [[ ${MPI_LIBRARY-} = "standard ABI"* ]] && grep -q "libmpi_abi.so.1 has not" <<<"$output" || echo "it says: $output"
}
quick tap_check_if other_works "$unless_other" "a program of the other MPI library, linked by force" check_other_mpi
tap_done
