#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# What an installation has for other projects: the CMake package, from a place other than the configured one; the names
# of pkg-config modules; the module file; what the recipes for Spack and EasyBuild expect; links between its pages;
# what make uninstall leaves. To be run in the build directory.
. "$(dirname "$0")/programs/run.sh"
. "$tests/programs/installed.sh"
examples=$top/examples packaging=$top/packaging
fc=${MPIFC-$(configured MPIFC)} MPICXX=${MPICXX-$(configured MPICXX)}
prefix=$(configured prefix) version=$(configured PACKAGE_VERSION) flavor=$(configured MPI_FLAVOR)

# A folder that nobody configured: what is found must be found from the place of the files.
install_once
moved=$scratch/elsewhere
cp -R "$root$prefix" "$moved"
moved_libdir=$moved${libdir#"$prefix"}

check_pages() {
    local folder
    folder=$moved$(configured docdir | sed "s,^$prefix,,")
    # shellcheck disable=SC2046
    tap_lost_links $(find "$folder" -name "*.md")
}
quick tap_check "links between the installed pages lead to what is there" check_pages

# ---- CMake

# COMMAND...: prints what it says if it fails
loudly() {
    local output
    output=$("$@" 2>&1 </dev/null) || printf '%s\n' "$*" "$output"
}
configure_project() {   # NAME PREFIX
    env -u CC -u CXX -u FC cmake -S "$scratch/$1" -B "$scratch/$1/build" "-DCMAKE_PREFIX_PATH=$2" \
        "-DMPI_C_COMPILER=${compiler%% *}" "-DMPI_CXX_COMPILER=$MPICXX" "-DMPI_Fortran_COMPILER=$fc"
}
make_project() {        # NAME [SOURCE]..., with its CMakeLists.txt on standard input
    mkdir "$scratch/$1" && cat >"$scratch/$1/CMakeLists.txt" && { [ $# -eq 1 ] || cp "${@:2}" "$scratch/$1"; }
}
build_project() {       # NAME PREFIX
    configure_project "$@" && cmake --build "$scratch/$1/build"
}
run_program() {         # PROGRAM
    launch 2 "$1" </dev/null 2>&1 | grep -q '^ok$' ||
        echo "$1 does not print ok at 2 processes"
}

# As a user has it: a folder of sources with a CMakeLists.txt.
check_cmake_example() {
    cp -R "$examples" "$scratch/example"
    chmod -R u+w "$scratch/example"
    loudly build_project example "$moved"
    run_program "$scratch/example/build/hello_c"
    run_program "$scratch/example/build/hello_cxx"
    [ -x "$scratch/example/build/osu_reduce" ] || echo "no osu_reduce"
}

# What the project has set for checks of its own is as before.
check_cmake_variables() {
    make_project variables <<END
cmake_minimum_required(VERSION 3.9...3.25)
project(variables LANGUAGES C)
set(CMAKE_REQUIRED_LIBRARIES m)
set(CMAKE_REQUIRED_FLAGS -Wno-such-flag)
find_package(mpix_harmonize REQUIRED)
message("libraries [\${CMAKE_REQUIRED_LIBRARIES}] flags [\${CMAKE_REQUIRED_FLAGS}] quiet [\${CMAKE_REQUIRED_QUIET}]")
END
    configure_project variables "$moved" >"$scratch/variables/log" 2>&1
    grep -qxF 'libraries [m] flags [-Wno-such-flag] quiet []' "$scratch/variables/log" || cat "$scratch/variables/log"
}

# As doc/installing.md says. Without the language C, the refusal tells what a project needs.
check_cmake_fortran() {
    make_project fortran "$examples/hello.f90" <<END
cmake_minimum_required(VERSION 3.9...3.25)
project(bench LANGUAGES C Fortran)
find_package(MPI REQUIRED COMPONENTS C Fortran)
find_package(mpix_harmonize 0.1 REQUIRED)
add_executable(bench hello.f90 \${mpix_harmonize_FORTRAN_SOURCES})
target_link_libraries(bench mpix_harmonize::mpix_harmonize MPI::MPI_Fortran)
END
    loudly build_project fortran "$moved"
    run_program "$scratch/fortran/build/bench"
    cp -R "$scratch/fortran" "$scratch/alone"
    rm -r "$scratch/alone/build"
    sed -i 's/LANGUAGES C Fortran/LANGUAGES Fortran/; s/COMPONENTS C Fortran/COMPONENTS Fortran/' \
        "$scratch/alone/CMakeLists.txt"
    configure_project alone "$moved" 2>&1 | tr -s '[:space:]' ' ' | grep -qF '(for Fortran: LANGUAGES C Fortran)' ||
        echo "a project in Fortran alone is not told what it needs"
}
# By the prototype's names, in a project without C, with the static library.
check_cmake_prototype() {
    cp -R "$moved" "$scratch/static"
    rm "$scratch/static${libdir#"$prefix"}/libmpix_harmonize$suffix.so"* 2>/dev/null
    make_project prototype "$examples/hello.cc" <<END
cmake_minimum_required(VERSION 3.9)
project(prototype LANGUAGES CXX)
find_package(MPIXHarmonize REQUIRED)
add_executable(prototype hello.cc)
target_link_libraries(prototype MPIXHarmonize::mpix-harmonize)
END
    loudly build_project prototype "$scratch/static"
    run_program "$scratch/prototype/build/prototype"
    ! ldd "$scratch/prototype/build/prototype" | grep libmpix_harmonize
}

check_cmake_flavor() {
    local output
    cp -R "$moved" "$scratch/foreign"
    cp -R "$examples" "$scratch/mixed"
    sed -i 's/_flavor "[a-z]*"/_flavor "another"/' \
        "$scratch/foreign${libdir#"$prefix"}/cmake/mpix_harmonize/mpix_harmonize-library$suffix.cmake"
    output=$(configure_project mixed "$scratch/foreign" 2>&1) && echo "a project with another MPI library is configured"
    tr -s '[:space:]' ' ' <<<"$output" | grep -q 'but the project uses another MPI library' || echo "$output"
}

# Which requests, such as 0.1, 0.1.0...<1.0, or "0.1.0 EXACT", the installed version satisfies
check_cmake_version() {
    local major minor patch request
    IFS=. read -r major minor patch <<<"$version"
    cat >"$scratch/requests" <<END
$version
$major.$minor
$version EXACT
$version...$((major + 1)).0
0.0.1...$version
not $major.$minor.$((patch + 1))
not $((major + 1)).0
not $major.$((minor + 1))
not $major.$minor.$((patch + 1)) EXACT
not 0.0.1 EXACT
not $major.$((minor + 1))...$((major + 1)).0
not 0.0.1...<$version
not 0.0.1...0.0.2
END
    make_project version < <(
        echo 'cmake_minimum_required(VERSION 3.19)'
        echo 'project(version LANGUAGES NONE)'
        while read -r request; do
            echo 'unset(probe_DIR CACHE)'
            echo "find_package(probe ${request#not } CONFIG QUIET PATHS $scratch/version NO_DEFAULT_PATH)"
            printf '%s\n' "if(probe_FOUND)" "message(\"${request#not }\")" "else()" \
                "message(\"not ${request#not }\")" "endif()"
        done <"$scratch/requests")
    : >"$scratch/version/probe-config.cmake"
    cp "$moved_libdir/cmake/mpix_harmonize/mpix_harmonize-config-version.cmake" \
        "$scratch/version/probe-config-version.cmake"
    cmake -S "$scratch/version" -B "$scratch/version/build" 2>&1 | grep -v '^--' | diff "$scratch/requests" -
}

no_cmake=
if ! command -v cmake >/dev/null; then
    no_cmake="cmake is missing (Debian package: cmake)"
elif [ -z "$MPICXX" ]; then
    no_cmake="no MPI compiler wrapper for C++"
fi
cmake_test() {  # NAME FUNCTION [REASON]: what it lacks, if anything
    tap_check_unless "${no_cmake:-${3-}}" "$1" "$2"
}
quick cmake_test "find_package(mpix_harmonize) in a moved installation: C and C++" check_cmake_example
cmake_test "find_package leaves the project's variables as they are" check_cmake_variables
[ -n "$fc" ] && have_fortran 3 && no_f08='' ||
    no_f08="${fc:-no MPI compiler wrapper for Fortran} compiles no program with mpi_f08"
cmake_test "find_package(mpix_harmonize) in a project in Fortran" check_cmake_fortran "$no_f08"
quick cmake_test "find_package(MPIXHarmonize): the static library, without the language C" check_cmake_prototype \
    "$([ -e "$moved_libdir/libmpix_harmonize$suffix.a" ] || echo "this build has no static library")"
quick cmake_test "find_package tells of another MPI library" check_cmake_flavor \
    "$([ -n "$flavor" ] || echo "this build is for any MPI library")"
quick cmake_test "find_package compares versions" check_cmake_version

# ---- pkg-config, module file, recipes

check_pkgconfig() {
    local name
    for name in "mpix_harmonize$suffix" ${suffix:--}; do
        [ "$name" != - ] || name=mpix_harmonize${flavor:+-$flavor}
        [ "$name" != "$suffix" ] || continue
        PKG_CONFIG_PATH=$moved_libdir/pkgconfig "${PKG_CONFIG:-pkg-config}" --libs "$name" 2>&1 |
            grep -q -e "-lmpix_harmonize$suffix *\$" || echo "$name does not name the library"
    done
    [ -n "$suffix" ] || PKG_CONFIG_PATH=$moved_libdir/pkgconfig "${PKG_CONFIG:-pkg-config}" --libs mpix-harmonize |
        grep -q -e "-lmpix_harmonize *\$" || echo "mpix-harmonize does not name the library"
}
quick tap_check "pkg-config knows the library by each of its names" check_pkgconfig

# A static library with a suffix, of which only modules, pages and completions are installed here.
check_suffix() {
    local option name output prefix=$scratch/both
    mkdir "$scratch/suffix" && cd "$scratch/suffix" || return
    for option in "--with-library-suffix=a b" "--with-library-suffix"; do
        output=$("$top/configure" CC="$compiler" "$option" 2>&1 </dev/null) &&
            echo "configure $option passes"
        grep -q 'suffix takes letters' <<<"$output" || echo "configure $option does not tell the reason: $output"
    done
    # As configure finds -lrt necessary on older systems.
    loudly configure_again --prefix="$prefix" --libdir="$prefix/lib" --disable-shared \
        --with-library-suffix=-other LIBS=-lrt
    # Completions are of houses.
    # shellcheck disable=SC2046 # no word if there is none
    loudly "${MAKE:-make}" install-plain-name install-man $([ ! -e "$top/common" ] || echo install-data-local)
    for name in mpix_harmonize-other mpix_harmonize mpix-harmonize; do
        output=$(PKG_CONFIG_PATH=$prefix/lib/pkgconfig "${PKG_CONFIG:-pkg-config}" --libs "$name" 2>&1)
        grep -q -w -e '-lmpix_harmonize-other .*-lrt' <<<"$output" ||
            echo "$name does not name the library and what it needs: $output"
    done
    [ ! -e "$top/bench" ] || [ -e "$prefix/share/man/man1/mpix_bench.1" ] || echo "there is no page of mpix_bench"
    find "$prefix" -regex '.*/mpix_\(preload\|trace\)\(\.1\)?' -printf '%p is there, and its program is not\n'
}
is_elsewhere() { [ ! -e "$top/config.status" ]; }
tap_check_if is_elsewhere \
    "the folder of the sources is a build directory, beside which there can be none" \
    "a static library with a suffix, and make install-plain-name" check_suffix

# The file has the configured prefix, so it is asked what it sets.
check_module() {
    local output setting python file=$moved/share/modulefiles/mpix_harmonize/$version$suffix
    python=$(sed -n 's/^prepend-path PYTHONPATH //p' "$file")
    [[ "$python$(configured PYTHON)" =~ ^:?$ ]] || [ -e "$moved${python#"$prefix"}/mpix_harmonize/__init__.py" ] ||
        echo "there is no Python module in '$python'"
    output=$(env -u PKG_CONFIG_PATH -u MPIX_HARMONIZE_ROOT -u PYTHONPATH -u MANPATH modulecmd bash load "$file" 2>&1)
    # The empty name at the end of MANPATH keeps the system's pages.
    for setting in "MPIX_HARMONIZE_ROOT=$prefix" "MPIX_HARMONIZE_DIR=$prefix" "PKG_CONFIG_PATH=$libdir/pkgconfig" \
        "MANPATH=$prefix/share/man:;" ${python:+"PYTHONPATH=$python;"}; do
        grep -qF -e "$setting" <<<"$output" || echo "$file does not set $setting: $output"
    done
    [ -n "$python" ] || ! grep PYTHONPATH <<<"$output"
}
quick tap_check_if "command -v modulecmd" "modulecmd is missing (Debian package: environment-modules)" \
    "the module file sets the environment" check_module

# Spack's classes of recipes have moved with its release 1.0.
check_spack() {
    local home
    for home in spack/package.py spack_repo/builtin/build_systems/autotools.py; do
        mkdir -p "$scratch/$home.d/spack" "$scratch/$home.d/${home%/*}"
        printf '%s\n' 'from os.path import join as join_path' \
            'license = version = variant = depends_on = lambda *words, **options: None' \
            >"$scratch/$home.d/spack/package.py"
        echo 'class AutotoolsPackage: pass' >>"$scratch/$home.d/$home"
        PYTHONPATH=$scratch/$home.d python3 "$packaging/spack/package.py"
    done
}
tap_check_if "command -v python3" "python3 is missing" "Spack loads its recipe, before and since 1.0" check_spack

# They are of this version. As Python they are parsed, and what they expect to be installed is.
check_recipes() {
    local file
    for file in "$packaging"/spack/package.py "$packaging"/easybuild/*.eb "$packaging"/debian/changelog; do
        grep -qwF -e "$version" "$file" || echo "$file is not of version $version"
    done
    python3 - "$moved" "$packaging"/spack/package.py "$packaging"/easybuild/*.eb <<'END'
import ast, os, sys

def paths(node):
    """Texts in lists, and calls of join_path as the paths that they make."""
    if isinstance(node, ast.Call):
        return [os.path.join(*(part.value for part in node.args))]
    if isinstance(node, (ast.List, ast.Tuple)):
        return [path for item in node.elts for path in paths(item)]
    if isinstance(node, ast.Dict):
        return [path for item in node.values for path in paths(item)]
    if isinstance(node, ast.BinOp):
        return [node.left.value.replace("%s", "so")]
    return [node.value]

for recipe in sys.argv[2:]:
    with open(recipe) as file:
        tree = ast.parse(file.read(), recipe)
    expected = [path for node in ast.walk(tree) if isinstance(node, ast.Assign)
                and node.targets[0].id in ("sanity_check_is_file", "sanity_check_is_dir", "sanity_check_paths")
                for path in paths(node.value)]
    if not expected:
        print(recipe, "expects nothing")
    for path in expected:
        if not os.path.exists(os.path.join(sys.argv[1], path)):
            print(recipe, "expects", path, "which is not installed")
END
}
why=
if ! command -v python3 >/dev/null; then
    why="python3 is missing"
elif [ -n "$suffix" ] || [ "${libdir#"$prefix"}" != /lib ] || ! compgen -G "$moved/lib/*.a" >/dev/null ||
    ! compgen -G "$moved/lib/*.so" >/dev/null; then
    why="they are for both libraries in PREFIX/lib, without a suffix"
elif [ -z "$(configured JANSSON_LIBS)" ]; then
    why="they are for a build with Jansson"
fi
quick tap_check_unless "$why" "the recipes for Spack and EasyBuild expect what is installed" check_recipes

# ---- make uninstall

check_uninstall() {
    local name other=$root$libdir/pkgconfig/mpix_harmonize-other.pc
    find "$root" -name _installed.py | while read -r name; do
        mkdir "${name%/*}/__pycache__" && : >"${name%/*}/__pycache__/_installed.pyc"
    done
    : >"$other"
    "${MAKE:-make}" uninstall DESTDIR="$root" >"$scratch/out" 2>&1 || cat "$scratch/out"
    grep -q "install the library of $other again" "$scratch/out" || echo "it does not name the other library"
    find "$root" ! -type d ! -path "$other"
}
tap_check "make uninstall leaves nothing, and names a library that has to be installed again" check_uninstall
tap_done
