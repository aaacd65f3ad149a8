#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Makes what repeats the public functions from include/mpix_harmonize.h and the functions of the Python module, in
# place: profiling twins, Fortran's modules and their C side, types of Python, prototypes and lists in the pages.
#
# To be run after a change of a declaration. With --check, nothing is changed: files that are not up to date are named.
set -u
LC_ALL=C
export LC_ALL

cd "$(dirname "$0")/.." || exit 1
header=include/mpix_harmonize.h
python=bindings/python/mpix_harmonize/__init__.py
made=$(mktemp) || exit 1
trap 'rm -f "$made"' EXIT

pages=$(sed -n 's/^MPIX_HARMONIZE_API int \(MPIX_[A-Za-z_]*\)(.*/doc\/man\/\1.3/p' $header)
for file in $header lib/mpix.c lib/fortran.c bindings/fortran/*.f90 bindings/python/mpix_harmonize/_library.py \
    doc/doc.am doc/man/mpix_bindings.7 doc/man/mpix_harmonize.7 $pages; do
    if [ ! -e "$file" ]; then
        echo "there is no page $file"
        continue
    fi
    "${AWK:-awk}" -f bindings/declare.awk $header $python "$file" >"$made" || exit 1
    if cmp -s "$made" "$file"; then
        continue
    elif [ "${1-}" = --check ]; then
        echo "$file is not up to date: run bindings/declare.sh"
    else
        cat "$made" >"$file"
    fi
done
