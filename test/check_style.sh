#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The format of C code, lengths of lines, one of each, and links between pages.
#
# Environment: AWK (default: awk), CLANG_FORMAT (default: clang-format, of major version 14)
set -u
export LC_ALL=C

test_dir=$(cd "$(dirname "$0")" && pwd)
. "$test_dir/tap.sh"
[ "${MPIX_TEST_BRIEF-}" != yes ] || skip_all "MPIX_TEST_BRIEF=yes"
cd "$test_dir/.." || exit 1
awk=${AWK:-awk}
clang_format=${CLANG_FORMAT:-clang-format}
max_columns=120

folders=(lib include bindings examples test)
for house in common bench trace; do [ ! -e $house ] || folders+=($house); done
mapfile -t code < <(find "${folders[@]}" -name '*.[ch]' | sort)
mapfile -t other_code < <(find "${folders[@]:1}" -name '*.hpp' -o -name '*.cc' -o -name '*.[fF]90' -o \
    -name '*.py' -o -name '*.js' -o -name '*.css' -o -path 'bindings/*.am' | sort)
# An archive has no .ci.
# shellcheck disable=SC2046
mapfile -t scripts < <(find "${folders[@]}" doc packaging quickstart autogen.sh $(find .ci -name run 2>/dev/null) \
    -name '*.sh' -o -name '*.bash' -o -name '*.awk' -o -name '*.gp' -o -name 'mpix_*.in' \
    -o -name quickstart -o -name run | sort)
mapfile -t texts < <(find ./*.md ./*.ac ./*.am NEWS "${folders[@]}" doc packaging -name '*.md' -o -name '*.ac' \
    -o -name '*.am' -o -name '*.pc.in' -o -name NEWS -o -name testlist -o -name meanings.txt -o -name module.in \
    -o -name '*.cmake' -o -name '*.cmake.in' -o -path '*doc/man/*.[1-9]' | sort)
[ ${#code[@]} -gt 0 ] || { echo "Bail out! no sources in $PWD"; exit 1; }

# ---- Format

version=$("$clang_format" --version 2>/dev/null | sed -n 's/.*version \([0-9]*\)\..*/\1/p')
if [ "$version" = 14 ]; then
    mapfile -t formatted < <(printf '%s\n' "${code[@]}" "${other_code[@]}" | grep -E '\.(c|cc|h|hpp)$')
    tap_expect_empty "C code is as clang-format writes it" \
        "$(printf '%s\n' "${formatted[@]}" | xargs -P 2 -n 40 "$clang_format" --dry-run -Werror 2>&1 | grep ': error:')"
else
    tap_skip "C code is as clang-format writes it" "it takes clang-format 14, and there is ${version:-none}"
fi

# Characters of UTF-8, not bytes. In Markdown and manual pages, tables and what programs print are exempt.
tap_expect_empty "no line has more than $max_columns columns" "$($awk -v limit=$max_columns '
    FNR == 1 { quoted = 0; markdown = FILENAME ~ /[.]md$/; manual = FILENAME ~ /[.][1-9]$/ }
    markdown && /^```/ { quoted = !quoted }
    manual && /^[.](EX|nf)/ { quoted = 1 }
    manual && /^[.](EE|fi)/ { quoted = 0 }
    quoted || markdown && /^(\||    )/ { next }
    length($0) > limit { gsub(/[\200-\277]/, "") }
    length($0) > limit { print FILENAME ":" FNR ": " length($0) " columns" }
    ' "${code[@]}" "${other_code[@]}" "${scripts[@]}" "${texts[@]}")"

plain=$($awk -f "$test_dir/code.awk" "${code[@]}")

# Some C libraries have constants there.
tap_expect_empty "standard streams are not assigned to" "$(grep -E '(^|[^[:alnum:]_.>])std(in|out|err) = ' <<<"$plain")"

# ---- One of each

quoted=$($awk -v literals=1 -f "$test_dir/code.awk" "${code[@]}")

# WHAT TEXT PATTERN [FILE]...: of all lines of code, the pattern is in these files only.
only_in() {
    local what=$1 text=$2 pattern=$3 file
    shift 3
    local complaints
    complaints=$(grep -E "^[^:]+:[0-9]+:(.*[^A-Za-z0-9_])?$pattern" <<<"$text" | while IFS= read -r line; do
        case " $* " in *" ${line%%:*} "*) ;; *) printf '%s\n' "$line" ;; esac
    done
    for file in "$@"; do
        [ -e "$file" ] || [ ! -e "${file%%/*}" ] || echo "$file is allowed but not there"
    done)
    tap_expect_empty "$what" "$complaints"
}
definitions=$(grep -E '^[^:]+:[0-9]+:[A-Za-z_].*\(.*[^;]$' <<<"$plain")

# machine_clock.h is for programs that check the library's clock, so they do not read it by the library.
only_in "one reader of the counter" "$quoted" '(__rdtscp?\>|.*cntvct_el0)' \
    lib/clock/counter.c common/mpi/machine_clock.h
only_in "one calibration of the counter" "$plain" '.*/ *(\((long )?double\))?\(?[a-z_.>-]*_ticks\>' \
    lib/clock/counter.c common/mpi/machine_clock.c
# mh_median is the lower median of a few values, middle_of the mean of the middle two, the quantile is by nearest rank.
only_in "one quantile" "$definitions" '(mh_)?(quantile|percentile|median|middle)(_of)?\(' \
    lib/pure/statistics.c lib/pure/order_statistics.h
only_in "one median" "$plain" '.*count\)*( -|-) ?1\) / 2' \
    lib/pure/statistics.c lib/pure/order_statistics.h test/unit/test_statistics.c
# By its name, and by what it is narrowed by. exchange.c has the shortest message of each direction.
difference='remote_ns - ([a-z_]+->)?(sent|received)_ns|(sent|received)_ns - ([a-z_]+->)?remote_ns'
only_in "one offset window" "$plain" "((void|int64_t) [a-z_]*window_(narrow|middle)[a-z_]*\\(|.*($difference))" \
    lib/pure/window.h lib/pure/window.c lib/sync/exchange.c
# The virtual world sees lib alone.
only_in "one greater and one lesser of two" "$definitions" '(greater|lesser|larger|smaller|(max|min)_of)\(' \
    lib/pure/order_statistics.h test/unit/virtual_world.c
# By the factors that generators multiply with, and the names of those of the C library. The simulated clock has a
# sequence of its own: the errors in doc/scale.md came from it.
factors='0x(bf58476d1ce4e5b9|94d049bb133111eb|d6e8feb86659fd93|5deece66d|2545f4914f6cdd1d)'
factors+='|6364136223846793005|1103515245|1664525'
only_in "one generator of random numbers" "$plain" \
    "((UINT64_C\\()?($factors)|([dejlmn]rand48|rand|random|rand_r|random_r|seed48|srand|srandom|srand48)\\()" \
    lib/pure/random.h test/simulation/clock_simulated.c
only_in "one binomial tree" "$plain" \
    '.*((rank|index|place) *& *(bit|step|mask|distance|-|\(?[a-z_.>-]*(rank|index|place) *- *1))' \
    lib/pure/tree.c
only_in "one writer of quoted CSV and JSON" "$quoted" '.*(\\\\u%|\\\\ufffd)' common/cli/output.c
only_in "one parser of options" "$plain" 'getopt(_long)?(_only)?\(' common/cli/options.c

# ---- Links between pages

tap_expect_empty "links between pages lead to what is there" \
    "$(tap_lost_links ./*.md ./doc/*.md ./*/doc/*.md ./*/README.md)"

faults=$($awk -F '|' '/^## / { inside = /Faults/ } inside { print $3 }' doc/testing.md | grep -oE '`[a-z_.]+`')
complaints=$(tr -d '`' <<<"$faults" | sort -u | while read -r name; do
    [ -n "$(find "${folders[@]}" -name "$name" -o -name "$name.c")" ] || grep -q "^$name " test/mpi/testlist ||
        echo "$name is neither a script, nor a unit test, nor in test/mpi/testlist"
done)
name="the tests of faults that doc/testing.md names are there"
if [ -e bench ] && [ -e trace ]; then
    tap_expect_empty "$name" "$complaints"
else
    tap_skip "$name" "not all houses are there"
fi

tap_done
