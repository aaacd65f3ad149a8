#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Compares the manual pages with what they describe: the tables in the library, the tables of options.
#
# Run in the build directory. Environment:
#   srcdir            the top of the source tree (default: where this script lies)
#   PRINT_SETTINGS    the program that prints the tables (default: doc/print_settings)
#   PROGRAMS          where the tools are (default: bin)
#   CC                compiles the examples in the pages (default: mpicc)
set -u
LC_ALL=C
export LC_ALL

srcdir=${srcdir:-$(dirname "$0")/..}
print_settings=${PRINT_SETTINGS:-doc/print_settings}
programs=${PROGRAMS:-bin}
pages=$srcdir/doc/man   # of the library
all_pages() { ls "$srcdir"/doc/man/*.[1-9] "$srcdir"/*/doc/man/*.[1-9] 2>/dev/null; }
overview=$pages/mpix_harmonize.7
. "$srcdir/test/tap.sh"
[ "${MPIX_TEST_BRIEF-}" != yes ] || skip_all "MPIX_TEST_BRIEF=yes"

scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM

if ! "$print_settings" >"$scratch/tables"; then
    echo "1..0"
    echo "Bail out! $print_settings does not run"
    exit 1
fi

# FILE: its entries, one a line: HEADING|TEXT. An entry begins with .TP or .TQ and ends before the next, .SH or .SS.
# Macros for fonts and escapes are resolved, so that the text is as it is read; other macros are left out.
entries() {
    awk '
        function plain(line,    macro, alternates, text, n, i, part) {
            if (line ~ /^\.(B|I|BR|RB|BI|IB|IR|RI) /) {
                macro = substr(line, 2, index(line, " ") - 2)
                alternates = length(macro) == 2
                line = substr(line, index(line, " ") + 1)
                n = split(line, part, "\"")     # even parts were quoted
                for (i = 1; i <= n; i++) {
                    if (alternates && i % 2) gsub(/ /, "", part[i])
                    text = text part[i]
                }
                line = text
            } else if (line ~ /^[.'\'']/)
                return ""
            gsub(/\\f[BIPR]/, "", line)
            gsub(/\\-/, "-", line)
            gsub(/\\&/, "", line)
            return line
        }
        function finish() { if (heading != "") print heading "|" text; heading = text = "" }
        /^\.T[PQ]/ { finish(); wants_heading = 1; next }
        /^\.S[HS]/ { finish(); wants_heading = 0; next }
        wants_heading && !/^\./ || wants_heading && /^\.[BIR]/ { heading = plain($0); wants_heading = 0; next }
        { line = plain($0); if (heading != "" && line != "") text = text " " line }
        END { finish() }' "$1"
}

# FILE HEADING: the text of an entry.
entry() {
    entries "$1" | awk -F'|' -v heading="$2" '$1 == heading { print substr($0, length($1) + 2); exit }'
}

contains() {    # TEXT PART
    case $1 in *"$2"*) return 0 ;; esac
    return 1
}

check_settings() {
    ${AWK:-awk} -f "$srcdir/doc/settings.awk" "$scratch/tables" "$overview" 2>&1 | diff "$overview" - && return
    echo "make update-manual mends this"
}

check_statistics() {
    grep '^statistic|' "$scratch/tables" | while IFS='|' read -r _ name unit doc; do
        text=$(entry "$pages/MPIX_Harmonize_get_info.3" "mpix_harmonize_$name")
        contains "$text" " $unit. $doc" || echo "no entry for mpix_harmonize_$name that begins '$unit. $doc'"
    done
}

# Names of keys and variables in all pages that neither table has. Fortran modules are named alike.
check_unknown_names() {
    {
        sed -n 's/^module //p' "$srcdir"/bindings/fortran/*.f90
        sed -n 's/^[a-z]*|\([a-z0-9_]*\).*/mpix_harmonize_\1/p' "$scratch/tables"
        sed -n 's/^setting|\([a-z0-9_]*\).*/\1/p' "$scratch/tables" | tr '[:lower:]' '[:upper:]' |
            sed 's/^/MPIX_HARMONIZE_/'
        printf 'MPIX_HARMONIZE_%s\n' ROOT DIR # of software modules
    } | sort >"$scratch/known"
    all_pages | xargs cat | tr -c 'A-Za-z0-9_' '\n' |
        grep -E '^(mpix_harmonize_[a-z0-9_]+|MPIX_HARMONIZE_[A-Z0-9_]+)$' |
        sort -u | comm -23 - "$scratch/known" | sed 's/^/neither setting nor statistic: /'
}

check_versions() {
    version=$(sed -n 's/^version=//p' "$srcdir/VERSION")
    for page in $(all_pages); do
        grep -q "^\.TH .* \"libmpix_harmonize $version\"" "$page" || echo "$page: not version $version"
    done
    grep -qx "version: $version" "$srcdir/CITATION.cff" || echo "CITATION.cff: not version $version"
}

# What the pages show as whole programs compiles without warnings.
check_examples() {
    for page in "$pages"/*.3; do
        awk '/^\.EX/ { inside = 1; next } /^\.EE/ { inside = 0 }
             inside { gsub(/\\-/, "-"); gsub(/\\e/, "\\"); print }' "$page" >"$scratch/example.c"
        grep -q '^int main' "$scratch/example.c" || { echo "$page: no example"; continue; }
        # The compiler may be a command with options. For what MPI 4 deprecates, MPI 3 has nothing else.
        # shellcheck disable=SC2086
        output=$(${CC:-mpicc} -std=gnu99 -Wall -Wextra -Wno-deprecated-declarations -I"$srcdir/include" \
            -c "$scratch/example.c" -o "$scratch/example.o" 2>&1) ||
            output="it does not compile:
$output"
        [ -z "$output" ] || echo "$page: $output"
    done
}

# Commands of pages that measure, or record a program, bind the ranks, but where there is one on each node.
check_bound() {
    { all_pages; ls "$srcdir"/README.md "$srcdir"/doc/*.md "$srcdir"/*/README.md "$srcdir"/*/doc/*.md 2>/dev/null; } |
        while read -r page; do
            sed 's/\\-/-/g' "$page" | grep -E '^ *([A-Z_]+=[^ ]* )?mpiexec[a-z.]* ' |
                grep -E ' (mpix_(bench|osu|skew|trace|preload)|mpix_clock check|\./[a-z]+)' |
                grep -vE -e '-bind-to|-ppn 1|-n 1 ' | sed "s,^,${page#"$srcdir"/}: ranks are not bound: ,"
        done
}

# PAGE: its options are those of the tables; "make manual-options" writes them.
check_program() {
    name="${1##*/}: the options are those of the tool"
    "$srcdir/common/cli/manual.sh" "$1" "$programs" >"$scratch/page"
    if ! grep -q "table of options" "$1"; then
        tap_expect_empty "$name" "$1: no place for options"
    elif [ -s "$scratch/page" ]; then
        tap_expect_empty "$name" "$(diff "$1" "$scratch/page")"
    else
        tap_skip "$name" "the tool does not run by itself"
    fi
}

check_with_mandoc() {
    for page in $(all_pages); do
        mandoc -T lint -W warning "$page"
    done 2>&1
}

check_with_groff() {
    for page in $(all_pages); do
        groff -man -ww -z -T utf8 "$page"
    done 2>&1
}

# Open MPI has keys of at most 35 characters.
check_lengths() {
    sed -n 's/^[a-z]*|\([a-z0-9_]*\).*/mpix_harmonize_\1/p' "$scratch/tables" | grep -E '.{36}'
}

check_formatter() { # COMMAND
    if command -v "$1" >/dev/null 2>&1; then
        tap_expect_empty "$1 has no complaints" "$("check_with_$1")"
    else
        tap_skip "$1 has no complaints" "it is not installed"
    fi
}

tap_expect_empty "each key is at most as long as Open MPI allows" "$(check_lengths)"
tap_expect_empty "mpix_harmonize.7 says of the settings what their table has" "$(check_settings)"
tap_expect_empty "MPIX_Harmonize_get_info.3: each statistic with its unit" "$(check_statistics)"
tap_expect_empty "no page names what is neither setting nor statistic" "$(check_unknown_names)"
tap_expect_empty "each page, and CITATION.cff, states the version" "$(check_versions)"
tap_expect_empty "commands that measure bind the ranks" "$(check_bound)"
tap_expect_empty "the examples compile" "$(check_examples)"
for page in $(all_pages | grep '\.1$'); do
    # Options of mpix_osu are those of mpix_bench.
    [ "${page##*/}" = mpix_osu.1 ] || check_program "$page"
done
check_formatter mandoc
check_formatter groff
tap_done
