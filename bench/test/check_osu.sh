#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# mpix_osu NAME: there is a NAME for each osu_NAME, and its table has OSU's figure in OSU's column.
. "$(dirname "$0")/../../test/programs/run.sh"

collective="allgather allgatherv allreduce alltoall alltoallv alltoallw barrier bcast gather gatherv reduce \
reduce_scatter reduce_scatter_block scatter scatterv"

check_list() {
    local name
    succeeds run alone mpix_osu --list
    cut -d ' ' -f 1 "$scratch/out" | sort >"$scratch/listed"
    {
        printf '%s\n' {,i}neighbor_{allgather,allgatherv,alltoall,alltoallv,alltoallw} latency multi_lat bw bibw mbw_mr
        for name in $collective; do
            printf '%s\n' $name i$name
            # MPI libraries before MPI 4 lack them.
            ! grep -q _persistent "$scratch/listed" || echo ${name}_persistent
        done
    } | sort | diff - "$scratch/listed" >"$scratch/differences" || complain "other names: $(cat "$scratch/differences")"
}

check_names() {
    succeeds run alone mpix_osu reduce -m 4:8 -i 10 --format csv
    columns operation size_bytes | tr '\n' ' ' | grep -qx 'reduce,4 reduce,8 ' || complain "not two rows of reduce"
    run alone mpix_osu --help
    grep -qx 'Usage: .* mpix_osu NAME \[OPTION\]\.\.\.' "$scratch/out" || complain "no usage of its own"
}

# NAME TITLE COLUMN [FACTOR BYTES]: the figure is in its column; it is FACTOR times the median, or BYTES by it in MB/s,
# with one decimal.
check_columns() {
    while read -r name title place factor bytes; do
        succeeds run 2 mpix_osu "$name" -i 9 -x 1 --release barrier -m 8:8
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

quick tap_check "the names are those of OSU" check_list
quick tap_check "mpix_osu NAME measures NAME" check_names
quick tap_check "OSU's figure in OSU's column" check_columns
tap_done
