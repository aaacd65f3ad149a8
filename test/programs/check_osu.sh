#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# mpix_osu_NAME: it exists where OSU has osu_NAME, and its table has OSU's figure in OSU's column.
. "$(dirname "$0")/run.sh"

# What is installed is what the program calls OSU's.
check_list() {
    succeeds run alone mpix_bench --list
    awk '/^suite_operations =/ || /^suite_persistent_operations =/ { inside = 1; sub(/.*=/, "") }
         inside { more = /\\$/; sub(/\\$/, ""); for (i = 1; i <= NF; i++) print $i; inside = more }' \
        "$here/../../tools/tools.am" | sort >"$scratch/installed"
    sed -n 's/.* mpix_osu_//p' "$scratch/out" | sort >"$scratch/listed"
    # Libraries before MPI 4 lack some forms, which are not installed then.
    grep -q _persistent "$scratch/listed" || sed -i /_persistent/d "$scratch/installed"
    differences=$(diff "$scratch/installed" "$scratch/listed") || complain "tools.am has other names: $differences"
}

# Program that tests link are programs where others may be scripts of libtool.
bench=$(cd "$checks" && pwd)/check_faults
for name in reduce scan fence latency bw iallreduce barrier; do ln -s "$bench" "$scratch/mpix_osu_$name"; done

check_names() {
    programs=$scratch
    succeeds run alone mpix_osu_reduce -m 4:8 -i 10 --format csv
    columns operation size_bytes | tr '\n' ' ' | grep -qx 'reduce,4 reduce,8 ' || complain "not two rows of reduce"
    refuses '"bcast"' run alone mpix_osu_reduce bcast
    run alone mpix_osu_reduce --help
    grep -q '^Usage: .* mpix_osu_reduce \[OPTION\]\.\.\.$' "$scratch/out" || complain "no usage of its own"
    for name in scan fence; do # one of mpix_bench, and one of nobody
        refuses "OSU has no operation \"$name\"" run alone mpix_osu_$name
    done
}

# NAME TITLE COLUMN [FACTOR BYTES]: the figure is in its column; it is FACTOR times the median, or BYTES by it in MB/s,
# with one decimal.
check_columns() {
    programs=$scratch
    while read -r name title place factor bytes; do
        succeeds run 2 "mpix_osu_$name" -i 9 -x 1 --release barrier -m 8:8
        problems=$(tail -n 2 "$scratch/out" | awk -v title="$title" -v place="$place" -v factor="$factor" \
            -v bytes="$bytes" '
            NR == 1 { sub(/^#/, ""); for (i = 1; i <= NF; i++) column[$i] = i; next }
            { median = $column["Median(us)"]; expected = bytes ? bytes / median : factor * median; figure = $place }
            column[title] != place { print title " is in column " column[title] }
            factor != "" && (figure - expected) ^ 2 > (0.05 * expected + (bytes ? 0.051 : 0.011)) ^ 2 {
                print figure ", not " expected
            }' 2>&1)
        [ -z "$problems" ] || complain "$problems"
    done <<'END'
latency Latency(us) 2 0.5
bw MB/s 2 1 512
iallreduce Total(us) 2
iallreduce Overlap(%) 5
reduce Avg(us) 2
barrier Avg(us) 1
END
}

quick tap_check "those installed are those that OSU has" check_list
quick tap_check "mpix_osu_NAME measures NAME" check_names
quick tap_check "OSU's figure in OSU's column" check_columns
tap_done
