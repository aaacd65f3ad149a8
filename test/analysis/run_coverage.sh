#!/usr/bin/env bash
# Line coverage of lib/ by the unit tests, the MPI tests, and those of mpix_preload and mpix_trace: builds in
# analysis/coverage, below the current directory, prints a table and the lines that were not run, and fails below the
# goal.
#
# Environment: as for scratch.sh, where CC calls gcc, and
#   ANALYSIS_RANKS   rank counts of the MPI tests (default "2 3")
#   COVERAGE_GOAL    percent (default 92)
#   GCOV             the gcov that belongs to the compiler (default gcov)
. "$(dirname "$0")/scratch.sh"

scratch=$PWD/analysis/coverage
goal=${COVERAGE_GOAL:-92}
# Not -O2, which merges lines.
flags=(CFLAGS='-g -O0 --coverage -fprofile-update=atomic')
build_tests "$scratch" "${flags[@]}"
find . -name '*.gcda' -delete
run_tests "${ANALYSIS_RANKS:-2 3}"
run_programs preload preload_odd trace trace_odd

# All in one run of gcov, which adds up what headers have in each object. By paths, as folders have files of one name.
rm -rf gcov
mkdir gcov
find "$PWD/lib" -name '*.gcda' ! -name 'test_*' >gcov/data
(cd gcov && xargs "${GCOV:-gcov}" -p >/dev/null 2>gcov.log <data)

# The first lines of a report tell the source; then each line is COUNT:LINE:TEXT; "-": no code, "#####": not run. A line
# that several objects or functions have is there several times.
table=$("${AWK:-awk}" -F: -v lib="$top/lib/" '
    FNR == 1 { name = $4; inside = index(name, lib) == 1; name = substr(name, length(lib) + 1); next }
    !inside { next }
    { count = $1; gsub(/[ *]/, "", count) }
    count == "-" || $2 + 0 == 0 { next }
    { at = $2 + 0; last[name] = at > last[name] ? at : last[name]; is_run[name, at] += count !~ /^[#=]/ }
    END {
        for (name in last) {
            for (at = 1; at <= last[name]; at++) {
                if (!((name, at) in is_run)) continue
                lines[name]++
                if (!is_run[name, at]) { missed[name]++; list[name] = list[name] " " at }
            }
            all += lines[name]; all_missed += missed[name]
            printf "%6.1f %% of %4d lines  %s%s%s\n", 100 - 100 * missed[name] / lines[name], lines[name], name,
                missed[name] ? ", not run:" : "", list[name]
        }
        if (all) printf "%6.1f %% of %4d lines  total\n", 100 - 100 * all_missed / all, all
    }' gcov/*.gcov | sort -k5)
sed 's/^/# /' <<<"$table"
covered=$(sed -n 's/^ *\([0-9.]*\) % .* total$/\1/p' <<<"$table")
tap_expect_empty "line coverage of lib/ is ${covered:-unknown} %, the goal $goal %" \
    "$("${AWK:-awk}" -v c="${covered:-0}" -v g="$goal" 'BEGIN { if (c < g) print "too little" }')"
tap_done
