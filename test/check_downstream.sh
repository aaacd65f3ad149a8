#!/usr/bin/env bash
# Builds a program against the installed library as a user would, with the flags of pkg-config and the MPI compiler
# wrapper, in C and C++, shared and static, and runs it at 2 ranks; likewise one with the header for brackets, in C99
# and C++11, and one with the header for std::chrono. To be run in the build directory.
set -u

test_dir=$(cd "$(dirname "$0")" && pwd)
. "$test_dir/tap.sh"
launcher=${MPIEXEC:-mpiexec}
pkg_config=${PKG_CONFIG:-pkg-config}

[ "${sanitizers:-no}" = no ] || skip_all "an ordinary program cannot load a library that was built with sanitizers"
case $(basename "$launcher") in smpirun) skip_all "simulated programs do not use an installed library" ;; esac

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# The installed tree is found through pkg-config's system root, so the configured prefix may be any.
flags() {           # ROOT [--static]
    PKG_CONFIG_SYSROOT_DIR=$1 PKG_CONFIG_ALLOW_SYSTEM_CFLAGS=1 PKG_CONFIG_ALLOW_SYSTEM_LIBS=1 \
        PKG_CONFIG_PATH="$1$libdir/pkgconfig:${PKG_CONFIG_PATH-}" "$pkg_config" "${@:2}" --cflags --libs mpix_harmonize
}

# libtool would fail in the middle of an installation.
check_blank() {     # OPTION
    local output
    output=$(cd "$work" && "$test_dir/../configure" CC="${CC:-mpicc}" "$1" 2>&1 </dev/null) &&
        echo "configure $1 passes"
    grep -qF "'${1#*=}' has a blank" <<<"$output" || echo "configure $1 does not tell the reason: $output"
}
tap_expect_empty "configure refuses directories with a blank" \
    "$(check_blank "--prefix=$work/a b"; check_blank "--libdir=$work/a b")"

if ! "${MAKE:-make}" install DESTDIR="$work/root" >"$work/install.log" 2>&1; then
    tap_not_ok "make install" "$(tail -n 20 "$work/install.log")"
    tap_done
fi
tap_ok "make install"
# A second tree without the shared library, so that the linker can only take the static one.
cp -R "$work/root" "$work/static_root"
rm -f "$work/static_root$libdir"/libmpix_harmonize.so*

have_shared=$(compgen -G "$work/root$libdir/libmpix_harmonize.so*")
have_static=$(compgen -G "$work/static_root$libdir/libmpix_harmonize.a")

launch() {          # COMMAND...: by two processes, with the shared library that is installed
    # shellcheck disable=SC2086
    LD_LIBRARY_PATH="$work/root$libdir${LD_LIBRARY_PATH+:$LD_LIBRARY_PATH}" \
        limited $launcher ${MPIEXEC_FLAGS:-} -n 2 "$@" </dev/null 2>&1
}
builds_and_runs() {     # ROOT KIND COMPILER SOURCE
    local flags output static='' program=$work/program
    [ "$2" = shared ] || static=--static
    flags=$(flags "$1" $static 2>&1) || { echo "pkg-config: $flags"; return; }
    # Compilers and flags are lists of words.
    # shellcheck disable=SC2086
    output=$($3 -Wall "$4" -o "$program" $flags 2>&1) || { printf '%s\n' "$3 $4 $flags" "$output"; return; }
    [ "$2" = shared ] || ! ldd "$program" | grep libmpix_harmonize || return
    output=$(launch "$program") && grep -q '^ok$' <<<"$output" || echo "run: $output"
}
try() {     # LANGUAGE KIND COMPILER SOURCE
    local name="a $1 program with the $2 library" root=$work/root have=$have_shared
    [ "$2" = shared ] || root=$work/static_root have=$have_static
    if [ -z "$have" ]; then
        tap_skip "$name" "not built"
    elif [ -z "$3" ]; then
        tap_skip "$name" "no MPI compiler wrapper for $1"
    else
        tap_expect_empty "$name" "$(builds_and_runs "$root" "$2" "$3" "$4")"
    fi
}

hello=$test_dir/../examples
for kind in shared static; do
    try C $kind "${CC:-mpicc}" "$hello/hello.c"
    try C++ $kind "${MPICXX-mpicxx}" "$hello/hello.cc"
done
try C99 shared "${CC:-mpicc} -std=c99 -Wextra -pedantic -Werror" "$test_dir/programs/bracket.c"
# Standing in for a C++ source, the file is told to the compiler as one.
try C++11 shared "${MPICXX:+$MPICXX -std=c++11 -x c++}" "$test_dir/programs/bracket.c"
# Open MPI's own bindings for C++ cause warnings.
try "C++11 (chrono)" shared "${MPICXX:+$MPICXX -std=c++11 -Wextra -pedantic -Werror -DOMPI_SKIP_MPICXX}" \
    "$hello/chrono.cc"
try "C++11 (chrono, odd)" shared "${MPICXX:+$MPICXX -std=c++11 -Wextra -pedantic -Werror -DOMPI_SKIP_MPICXX}" \
    "$test_dir/programs/chrono_odd.cc"

# What is installed of mpix_preload finds its parts beside it.
try_preload() {
    local program=$work/barrier output
    printf '#include <mpi.h>\nint main(int argc, char **argv)\n{\n%s\n}\n' "MPI_Init(&argc, &argv);
        MPI_Barrier(MPI_COMM_WORLD); return MPI_Finalize();" >"$program.c"
    # shellcheck disable=SC2086
    output=$(${CC:-mpicc} "$program.c" -o "$program" 2>&1) &&
        output=$(launch "$(find "$work/root" -path "*/bin/mpix_preload")" "$program") &&
        grep -qE '^MPI_COMM_WORLD +2 +1 +1 ' <<<"$output" || echo "it says: $output"
}
quick tap_check_if "test -e lib/interpose/mpix_preload" "this build has none" "mpix_preload, installed" try_preload

# The lines of the documents, where the dynamic linker does not look: programs find the library by what pkg-config
# tells. Of such a build, the pkg-config module is the only thing that is not in the tree installed above.
make_own_prefix() {
    mkdir "$work/own_build" "$work/own" && (cd "$work/own_build" &&
        "$test_dir/../configure" CC="${CC:-mpicc}" --prefix="$work/own" >"$work/own.log" 2>&1) &&
        cp -R "$work/root$libdir" "$work/own/lib" && cp -R "$work/root$prefix/include" "$work/own" &&
        cp "$work/own_build/packaging/library.pc" "$work/own/lib/pkgconfig/mpix_harmonize.pc" || tail "$work/own.log"
}
try_lines() {           # SOURCE PAGE ADDRESS: of the lines in the page, for sed
    rm -rf "$work/bench"
    mkdir "$work/bench" && cd "$work/bench" && cp "$hello/$1" "bench.${1##*.}" || return
    sed -n "$3"'{ /^```/d; p }' "$test_dir/../$2" |
        sed "s|^mpicc\\.mpich|${CC:-mpicc}|; s|^mpifort\\.mpich|${MPIFC-}|" >lines
    grep -q . lines || echo "there are no such lines in $2"
    # shellcheck disable=SC2086
    PKG_CONFIG_PATH=$work/own/lib/pkgconfig sh -e ./lines 2>&1 &&
        limited $launcher ${MPIEXEC_FLAGS:-} -n 2 ./bench </dev/null >out 2>&1 && grep -q '^ok$' out || cat lines out
}
try_makefile() {
    local program expect
    cp -R "$hello" "$work/examples" && cd "$work/examples" && chmod -R u+w . || return
    PKG_CONFIG_PATH=$work/own/lib/pkgconfig make CC="${CC:-mpicc}" CXX="$MPICXX" FC="$MPIFC" \
        all ${MPIFC:+hello_f90} >log 2>&1 || cat log
    for program in hello_c hello_cxx chrono ${MPIFC:+hello_f90} osu_allreduce osu_bcast osu_reduce triad; do
        # The OSU-like ones print a row for each size. On a busy machine, there may be no valid sample.
        case $program in
        osu_*) expect='^ +8 +([0-9.]+ +[0-9.]+|no valid)' ;;
        triad) expect='^  first start to last end +[0-9.]+ us, from' ;;
        *) expect='^ok$' ;;
        esac
        # shellcheck disable=SC2086
        limited $launcher ${MPIEXEC_FLAGS:-} -n 2 "./$program" 8 20 </dev/null >out 2>&1 && grep -qE "$expect" out ||
            { echo "$program:"; cat out; }
    done
}
prefix=$(sed -n 's/^prefix = //p' Makefile)
MPIFC=${MPIFC-$(sed -n 's/^MPIFC = //p' Makefile)}
if [ -n "$have_shared" ] && [ -z "${LIBRARY_SUFFIX-}" ] && [ ! -e "$test_dir/../config.status" ]; then
    tap_check "a prefix where the dynamic linker does not look" make_own_prefix
    tap_check "README.md: C" try_lines hello.c README.md '/^mpicc\.mpich bench/,/^```/'
    [ -z "$MPIFC" ] || tap_check "doc/installing.md: Fortran" try_lines hello.f90 doc/installing.md '/^modules=/,/^```/'
    tap_check "the Makefile of the examples, and what they print" try_makefile
fi

# A program of the other MPI library does not link, and the linker names the library that is missing.
case ${CC:-mpicc} in
*openmpi) other=mpich other_name=MPICH ;;
*) other=openmpi other_name=Open_MPI ;;
esac
marker=MPIX_Harmonize_built_for_$other_name
# A wrapper may be there without its compiler, or without mpi.h.
other_works=false
! echo '#include <mpi.h>' | "mpicc.$other" -E -x c - >/dev/null 2>&1 || other_works=true
try_other_link() {      # LANGUAGE COMPILER SOURCE...
    local output name="a $1 program of the other MPI library does not link"
    if ! $other_works || ! "$2" --version >/dev/null 2>&1 || [ -z "$have_shared" ]; then
        tap_skip "$name" "$2 does not work, or there is no shared library"
        return
    fi
    # shellcheck disable=SC2046
    output=$(cd "$work" && "$2" "${@:3}" -o other $(flags "$work/root") 2>&1) && output="it links"
    tap_expect_empty "$name" "$(grep -q "undefined reference to .*$marker" <<<"$output" || echo "$output")"
}
modules=$test_dir/../bindings/fortran
try_other_link C mpicc.$other "$hello/hello.c"
try_other_link C++ mpicxx.$other "$hello/hello.cc"
try_other_link Fortran mpifort.$other "$modules/mpix_harmonize_mpi.f90" "$modules/mpix_harmonize_f08.f90" \
    "$hello/hello.f90"

# The other library's mpi.h comes first.
check_headers() {
    local output folder
    folder=$("mpicc.$other" -show | tr ' ' '\n' | sed -n 's/^-I//p' | head -n 1)
    output=$(cd "$work" && "$test_dir/../configure" CC="${CC:-mpicc}" CPPFLAGS="-I$folder" 2>&1 </dev/null) &&
        echo "configure passes"
    grep -q "mpi.h is that of ${other_name/_/ }.* links is another one" <<<"$output" || tail -n 5 <<<"$output"
}
tap_check_if "$other_works" "mpicc.$other does not work" \
    "configure refuses an mpi.h of another MPI library" check_headers

# The MPI library that is loaded may have another version of the standard ABI than the one that was linked.
check_abi_version() {
    echo 'int PMPI_Abi_get_version(int *major, int *minor) { *major = 2, *minor = 0; return 0; }' >"$work/two.c"
    # shellcheck disable=SC2046
    (cd "$work" && gcc -shared -fPIC two.c -o two.so && ${CC:-mpicc} "$hello/hello.c" -o two $(flags "$work/root")) ||
        return
    LD_LIBRARY_PATH="$work/root$libdir${LD_LIBRARY_PATH+:$LD_LIBRARY_PATH}" limited $launcher ${MPIEXEC_FLAGS:-} -n 1 \
        env LD_PRELOAD="$work/two.so" "$work/two" </dev/null >"$work/out" 2>&1
    grep -q "libmpi_abi.so.1 has not version 1" "$work/out" || cat "$work/out"
}
case ${MPI_LIBRARY-} in
'standard ABI'*) tap_check "another version of the standard ABI is refused" check_abi_version ;;
esac

# Where the linker is made to accept it, it gets an error and goes on, and its flag is 0.
try_other_mpi() {
    local program=$work/other output
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
    output=$(mpicc.$other "$program.c" -Wl,--defsym=$marker=0 -o "$program" $(flags "$work/root") 2>&1) &&
        output=$(LD_LIBRARY_PATH="$work/root$libdir${LD_LIBRARY_PATH+:$LD_LIBRARY_PATH}" OMPI_ALLOW_RUN_AS_ROOT=1 \
            OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 limited mpiexec.$other -n 1 "$program" 2>&1 </dev/null) &&
        [ "$output" = "refused refused 0" ] && return
    [[ ${MPI_LIBRARY-} = "standard ABI"* ]] && grep -q "libmpi_abi.so.1 has not" <<<"$output" || echo "it says: $output"
}
name="a program of the other MPI library, linked by force"
if [ -z "$have_shared" ]; then
    tap_skip "$name" "not built"
else
    quick tap_check_if "$other_works" "mpicc.$other does not work" "$name" try_other_mpi
fi

tap_done
