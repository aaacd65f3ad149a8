#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds the Debian packages from an archive of make dist, has lintian look at them, installs them in a minimal Debian
# system, and builds and runs programs there, for each MPI library.
#
# Usage: run_package_tests.sh ARCHIVE       on this machine
#        run_package_tests.sh --there FILES in the minimal system: install the packages in FILES, try programs
set -u
export LC_ALL=C

test_dir=$(cd "$(dirname "$0")/.." && pwd)
. "$test_dir/tap.sh"
# shellcheck disable=SC2034 # for tap.sh
tap_again="make check-packages"
languages="c cxx cmake fortran python"

# ---- In the minimal system

build_c() {     # FLAVOR PROGRAM
    # shellcheck disable=SC2046 # flags are words
    "mpicc.$1" "$test_dir/../examples/hello.c" $(pkg-config --cflags --libs "mpix_harmonize-$1") -o "$2"
}
build_cxx() {
    # shellcheck disable=SC2046
    "mpicxx.$1" "$test_dir/../examples/hello.cc" $(pkg-config --cflags --libs "mpix_harmonize-$1") -o "$2"
}
build_cmake() {
    cmake -S "$test_dir/../examples" -B "$2.build" "-DMPI_C_COMPILER=mpicc.$1" "-DMPI_CXX_COMPILER=mpicxx.$1" &&
        cmake --build "$2.build" && cp "$2.build/hello_c" "$2"
}
build_fortran() {
    local modules
    modules=$(pkg-config --variable=includedir "mpix_harmonize-$1")
    # shellcheck disable=SC2046
    (cd "$HOME" && "mpifort.$1" "$modules"/mpix_harmonize_{mpi,f08}.f90 "$test_dir/../examples/hello.f90" \
        $(pkg-config --libs "mpix_harmonize-$1") -o "$2")
}
build_python() {
    printf '#!/bin/sh\nexec /usr/bin/python3 %s\n' "$test_dir/../examples/hello.py" >"$2" && chmod +x "$2"
}
# A script names no libraries.
needs_library() {   # FLAVOR PROGRAM
    [ "$(head -c 2 "$2")" = '#!' ] || ldd "$2" | grep -q "libmpix_harmonize-$1"
}
run_two() {         # FLAVOR COMMAND...
    local launcher=("mpiexec.$1" -n 2)
    [ "$1" != openmpi ] || launcher+=(--oversubscribe)
    limited "${launcher[@]}" "${@:2}" 2>&1
}
try_program() {     # LANGUAGE FLAVOR
    local name="a program in $1 for $2" program=$HOME/hello_$1_$2 output
    if [ "$1/$2" = python/mpich ]; then
        tap_skip "$name" "Debian's mpi4py is for Open MPI"
        return
    fi
    if output=$("build_$1" "$2" "$program" 2>&1 && run_two "$2" "$program") &&
        grep -q '^ok$' <<<"$output" && needs_library "$2" "$program"; then
        tap_ok "$name"
    else
        tap_not_ok "$name" "$output"
    fi
}
try_preload() {     # FLAVOR
    local output
    output=$(run_two "$1" "mpix_preload.$1" "$HOME/hello_c_$1")
    grep -q '^mpix_preload: 2 ranks' <<<"$output" || echo "no report: $output"
}
# A program is traced, and each tool that reads traces reads this one.
try_trace() {       # FLAVOR
    local output trace=$HOME/trace_$1
    output=$(run_two "$1" "mpix_trace.$1" -o "$trace" "$HOME/hello_c_$1" && "mpix_trace_check.$1" "$trace" 2>&1 &&
        "mpix_trace_report.$1" --page "$trace.html" "$trace" 2>&1 &&
        "mpix_trace_convert.$1" --format csv -o "$trace.csv" "$trace" 2>&1) &&
        [ -s "$trace.html" ] && [ -s "$trace.csv" ] || echo "$output"
}
# Each command has a manual page in its package.
find_missing_pages() {  # FLAVOR
    local command files
    files=$(dpkg -L "mpix-harmonize-tools-$1")
    for command in $(sed -n 's,^/usr/bin/,,p' <<<"$files"); do
        grep -qx "/usr/share/man/man1/$command.1.gz" <<<"$files" || echo "no page of $command"
    done
}
# FILES FLAVOR: installs the first version of the library's package, which has what that of the tools has now.
install_first() {
    local old=$HOME/old_$2 file
    mkdir -p "$old/DEBIAN" &&
        printf '%s\n' "Package: libmpix-harmonize-${2}0" "Version: 0.1.0-1" "Maintainer: none <none@localhost>" \
            "Architecture: $(dpkg --print-architecture)" "Description: first" >"$old/DEBIAN/control" || return
    for file in $(dpkg-deb -c "$1/mpix-harmonize-tools-$2"_*.deb | sed -n 's,.* [.]/\(.*interpose.*[.]so\)$,\1,p'); do
        mkdir -p "$old/${file%/*}" && : >"$old/$file" && echo "/$file" >>"$HOME/moved_$2" || return
    done
    dpkg-deb -b "$old" "$old.deb" && sudo dpkg -i "$old.deb"
}
# FLAVOR: they are in the other package now, whole.
find_unmoved() {
    local file
    [ "$(wc -l <"$HOME/moved_$1")" = 2 ] || echo "not two files were in another package"
    while read -r file; do
        [ -s "$file" ] && dpkg -S "$file" | grep -q "^mpix-harmonize-tools-$1:" || echo "$file: $(dpkg -S "$file")"
    done <"$HOME/moved_$1"
}
there() {       # FILES
    local flavor language
    for flavor in mpich openmpi; do install_first "$1" $flavor; done >"$HOME/first.log" 2>&1 || cat "$HOME/first.log"
    # The log is of this user.
    # shellcheck disable=SC2024
    tap_expect_empty "apt-get install ./*.deb" "$({ sudo apt-get update &&
        sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends g++ gfortran cmake \
            pkg-config "$1"/*.deb; } >"$HOME/apt.log" 2>&1 || tail -n 20 "$HOME/apt.log")"
    tap_expect_empty "the plain module of pkg-config is Open MPI's" \
        "$(pkg-config --libs mpix_harmonize 2>&1 | grep -v -e '-lmpix_harmonize-openmpi')"
    for flavor in mpich openmpi; do
        for language in $languages; do
            try_program "$language" "$flavor"
        done
        tap_expect_empty "mpix_preload.$flavor writes its report" "$(try_preload "$flavor")"
        tap_expect_empty "mpix_trace.$flavor traces, and its tools read" "$(try_trace "$flavor")"
        tap_expect_empty "manual pages of the tools for $flavor" "$(find_missing_pages "$flavor")"
        tap_expect_empty "an upgrade for $flavor moves files from package to package" "$(find_unmoved "$flavor" 2>&1)"
        tap_expect_empty "mpix_bench.$flavor runs" "$("mpix_bench.$flavor" --version 2>&1 >/dev/null)"
    done
    tap_done
}

# ---- On this machine

build_packages() {      # ARCHIVE: in $work
    local folder
    cp "$1" "$work/libmpix-harmonize_$(basename "$1" .tar.gz | sed 's/.*-//').orig.tar.gz" && cd "$work" &&
        tar -xzf ./*.orig.tar.gz && folder=$(echo libmpix_harmonize-*/) &&
        cp -R "$folder/packaging/debian" "$folder/debian" && cd "$folder" && dpkg-buildpackage -us -uc
}
# In the package of the documents, as it is unpacked.
find_lost_links() {
    local folder=$work/doc/usr/share/doc/libmpix-harmonize-doc
    # shellcheck disable=SC2046
    dpkg-deb -x "$work"/libmpix-harmonize-doc_*.deb "$work/doc" && tap_lost_links $(find "$folder" -name "*.md")
}
# Where Debian has no Open MPI, nothing asks for it: packages, what they are built from, and how.
find_open_mpi() {
    local command
    cd "$work"/libmpix_harmonize-*/ || return
    for command in dh_listpackages dpkg-checkbuilddeps "debian/rules --dry-run override_dh_auto_build"; do
        dpkg-architecture -a i386 -f -c "$command" 2>&1 | grep -i openmpi
    done
}
here() {        # ARCHIVE
    local archive command reason
    archive=$(realpath "$1")
    for command in dpkg-buildpackage dh lintian; do
        command -v $command >/dev/null || { echo "1..0 # SKIP $command is missing"; exit 0; }
    done
    work=$(mktemp -d) || exit 1
    trap 'rm -rf "$work"' EXIT
    if ! (build_packages "$archive") >"$work/build.log" 2>&1; then
        tap_not_ok "dpkg-buildpackage" "$(tail -n 20 "$work/build.log")"
        tap_done
    fi
    tap_ok "dpkg-buildpackage"
    tap_expect_empty "lintian has no errors" "$(cd "$work" && lintian ./*.changes 2>&1 | grep '^E:')"
    tap_expect_empty "links between the pages of libmpix-harmonize-doc lead to what is there" \
        "$(find_lost_links 2>&1)"
    tap_expect_empty "the packages for i386 are those for MPICH" "$(find_open_mpi)"
    mkdir "$work/files"
    cp "$work"/*.deb "$work/files" && rm -f "$work"/files/*-dbgsym_*
    MPIX_TEST_FRESH_FILES=$work/files bash "$test_dir/fresh/run_fresh_tests.sh" \
        "bash test/fresh/run_package_tests.sh --there ~/files" >"$work/there.log" 2>&1
    reason=$(sed -n 's/^1[.][.]0 # SKIP //p' "$work/there.log")
    if [ -n "$reason" ]; then
        tap_skip "the packages in a minimal Debian system" "$reason"
    else
        tap_expect_empty "the packages in a minimal Debian system" \
            "$(grep -q '^ok 1 ' "$work/there.log" || cat "$work/there.log")"
    fi
    sed -n 's/^\(# \)*\(.*SKIP\|\(not \)*ok\)/# there: &/p' "$work/there.log"
    tap_done
}

case ${1-} in
--there) there "$2" ;;
*)       here "$1" ;;
esac
