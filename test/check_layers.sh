#!/usr/bin/env bash
# Holds the rules of the library's structure: which folder may include which, as drawn in HACKING.md; which files stay
# clear of MPI and hwloc; who opens and closes; and what the library never calls.
set -u
export LC_ALL=C

test_dir=$(cd "$(dirname "$0")" && pwd)
. "$test_dir/tap.sh"
[ "${MPIX_TEST_BRIEF-}" != yes ] || skip_all "MPIX_TEST_BRIEF=yes"
cd "$test_dir/../lib" || exit 1
awk=${AWK:-awk}

# The drawing in HACKING.md: each line with names in brackets is a layer, which may include itself and the lines below.
# Folders beside each other may not include each other. The top of lib/ is called "lib" there.
declare -A may_include
below=
while read -r layer; do
    for folder in $layer; do
        [ "$folder" != lib ] || folder=.
        may_include[$folder]="$folder$below"
        folders="$folder ${folders-}"
    done
    below=" ${layer/lib/.}$below"
done < <($awk '
    /^## Layout/ { inside = 1; next }
    /^## / { inside = 0 }
    inside && /^ .*\[ [a-z]+ \]/ {
        layer = ""
        while (match($0, /\[ [a-z]+ \]/)) {
            layer = layer " " substr($0, RSTART + 2, RLENGTH - 4)
            $0 = substr($0, RSTART + RLENGTH)
        }
        layers[++n] = layer
    }
    END { for (; n > 0; n--) print layers[n] }' ../HACKING.md)
[ ${#may_include[@]} -gt 0 ] || { echo "Bail out! no layers in HACKING.md"; exit 1; }
# Beside the mathematics in libmpix_math.la, to be tested and understood without MPI.
free_of_mpi=(base/config topology/quota transport/shared_memory)
hwloc_user=topology/topology_discover.c

mapfile -t files < <(find . -name '*.[ch]' | sed 's|^\./||' | sort)
[ ${#files[@]} -gt 0 ] || { echo "Bail out! no sources in $PWD"; exit 1; }

folder_of() {
    case $1 in */*) echo "${1%%/*}" ;; *) echo . ;; esac
}

# QUOTE FILE...: a line FILE INCLUDED for each include of project headers ("), or of system headers (<)
list_includes() {
    grep -HoE "^[[:space:]]*#[[:space:]]*include[[:space:]]+$1[^\">]+" "${@:2}" | sed -E "s/^([^:]+):.*$1/\\1 /"
}
# A name is relative to lib/ or to the public headers.
# mpix_clock_reader.h is the header of pure/clock_reader.c, which other programs may compile.
includes=$(list_includes '"' "${files[@]}")
includes=$(grep -v ' mpix_clock_reader\.h$' <<<"$includes")
system_includes=$(list_includes '<' "${files[@]}")
# Of such lines, those that lead back to where they start. The source, the header and the private header of a name are
# one file here.
find_cycles() { sed -E 's/\.[ch] / /; s/\.h$//; s/_private\>//g' | tsort 2>&1 >/dev/null; }

complaints=$(while read -r file included; do
    [ -z "$file" ] || [ -e "$included" ] || [ -e "../include/$included" ] ||
        echo "$file: \"$included\" is no path from lib/"
done <<<"$includes")
tap_expect_empty "includes are written from lib/" "$complaints"

for folder in $folders; do
    complaints=$(while read -r file included; do
        [ -n "$file" ] && [ "$(folder_of "$file")" = "$folder" ] || continue
        target=$(folder_of "$included")
        case " ${may_include[$folder]} " in *" $target "*) ;; *) echo "$file includes $included" ;; esac
    done <<<"$includes")
    label=$folder
    [ "$folder" = . ] && label="the top of lib"
    tap_expect_empty "$label includes only ${may_include[$folder]/./the top of lib,}" "$complaints"
done
complaints=$(find . -mindepth 1 -type d | sed 's|^\./||' | while read -r folder; do
    case $folder in
    .*) ;;
    *)
        [ -n "${may_include[$folder]-}" ] || ! compgen -G "$folder/*.[ch]" >/dev/null ||
            echo "lib/$folder is not in the drawing in HACKING.md"
        ;;
    esac
done
for folder in $folders; do
    compgen -G "$folder/*.[ch]" >/dev/null || echo "no sources in lib/$folder, which HACKING.md draws"
done)
tap_expect_empty "the layers in HACKING.md are the folders of lib" "$complaints"

tap_expect_empty "no file includes one that includes it" "$(find_cycles <<<"$includes")"
mapfile -t others < <(cd .. && find examples test -name '*.[ch]')
# Names are relative to the file's folder, test, lib or include.
other_includes=$(cd .. && list_includes '"' "${others[@]}" | while read -r file included; do
    for folder in "${file%/*}" test lib include ""; do
        [ ! -e "${folder:+$folder/}$included" ] || { echo "$file ${folder:+$folder/}$included"; break; }
    done
done)
tap_expect_empty "no file of examples and tests includes one that includes it" "$(find_cycles <<<"$other_includes")"
tap_expect_empty "the library, its examples and tests know no house" \
    "$(grep -E ' (common|bench|trace)/' <<<"$other_includes"
    grep -E ' (common|bench|trace)/' <<<"$includes")"

reaches_mpi() {     # FILE: prints how it comes to include mpi.h, if it does
    {
        echo "$system_includes"
        echo "$includes"
        echo "mpix_harmonize.h mpi.h"
    } | $awk -v start="$1" '
        NF == 2 { next_of[$1] = next_of[$1] " " $2 }
        END {
            queue[1] = start; way[start] = start; last = 1
            for (i = 1; i <= last; i++) {
                n = split(next_of[queue[i]], header, " ")
                for (j = 1; j <= n; j++) {
                    if (header[j] in way) continue
                    way[header[j]] = way[queue[i]] " -> " header[j]
                    queue[++last] = header[j]
                }
            }
            if ("mpi.h" in way) print way["mpi.h"]
        }'
}
complaints=$(for pattern in "${free_of_mpi[@]}"; do
    matches=$(compgen -G "$pattern.[ch]") || echo "no file matches $pattern.[ch]"
    for file in $matches; do reaches_mpi "$file"; done
done)
tap_expect_empty "what needs no MPI does not include mpi.h" "$complaints"

math=$($awk '/^lib_libmpix_math_la_SOURCES/ { inside = 1 }
    inside { for (i = 1; i <= NF; i++) if (sub("^lib/", "", $i)) print $i }
    inside && !/\\$/ { inside = 0 }' lib.am)
[ -n "$math" ] || { echo "Bail out! no list of the mathematics in lib.am"; exit 1; }
complaints=$(for file in $math; do reaches_mpi "$file"; done
    while read -r file included; do
        case " ${math//$'\n'/ } " in *" $file "*) ;; *) continue ;; esac
        case " ${math//$'\n'/ } " in *" $included "*) ;; *) echo "$file includes $included" ;; esac
    done <<<"$includes")
tap_expect_empty "the mathematics includes only itself" "$complaints"

tap_expect_empty "only $hwloc_user includes hwloc.h" \
    "$(grep -E ' hwloc(\.h|/)' <<<"$system_includes" | grep -v "^$hwloc_user ")"

code=$($awk -f "$test_dir/code.awk" "${files[@]}")
start='^[^:]+:[0-9]+:(.*[^A-Za-z0-9_])?'

tap_expect_empty "MPI is called by its PMPI_ names only" \
    "$(grep -E "${start}MPI_[A-Z][a-z][a-z_0-9]* *\\(" <<<"$code" | grep -vE 'MPI_[A-Za-z_]+ *\( *\*')"
tap_expect_empty "nothing is printed but that processes are alone" \
    "$(grep -v '^pure/launcher.c:' <<<"$code" |
        grep -E "${start}(v?f?printf|v?dprintf|puts|fputs|putchar|fputc|putc|perror|write) *\\(")"
tap_expect_empty "the library never ends the program" \
    "$(grep -E "${start}(exit|_exit|_Exit|quick_exit|abort|P?MPI_Abort|raise|kill) *\\(" <<<"$code")"
owning='[cm]alloc|realloc|free|strdup|open|close|mmap|mh_[a-z_]+_(open|close|free)|PMPI_Comm_[a-z_]+'
tap_expect_empty "barrier algorithms own nothing: no memory, no descriptor, no communicator" \
    "$(grep -E "^release/barrier_[a-z]+\.c:" <<<"$code" | grep -E "${start}($owning) *\(")"
# Left out: what cannot fail, and what is called after an error or at the end.
unfailing="Wtime|Abi_get_version|(Comm|Info)_(f2c|c2f|fromint|toint)|Info_free"
unfailing+="|Comm_(call_errhandler|delete_attr|free_keyval)"
called=$(grep -oE '\bPMPI_[A-Z][A-Za-z0-9_]+' <<<"$code" | sed 's/^PMPI_//' | sort -u | grep -vxE "$unfailing")
failing=$(sed -n 's/^ *X(\([A-Za-z_]*\), FAULT_.*/\1/p' ../test/mpi/mpi_functions.h | sort)
tap_expect_empty "tests can make each MPI function fail that the library calls, and no other" \
    "$(comm -3 <(echo "$called") <(echo "$failing"))"
tap_expect_empty "MPI_COMM_WORLD is compared with at most, and asked for its size where it is known to be there" \
    "$(sed -E 's/([=!]= |mpi_is_active\(|PMPI_Comm_size\()MPI_COMM_WORLD//g' <<<"$code" |
        grep -E "${start}MPI_COMM_WORLD")"

tap_done
