#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# What must hold of mpix_compare: figures near those by which the results were made, and texts that command no terminal.
# check_golden.sh has what it prints.
. "$(dirname "$0")/../../test/programs/run.sh"
tap_selecting=yes

need_tool mpix_compare
cd "$scratch" || exit 1
. "$here/golden/mpix_compare/inputs.sh"

compare() {         # [OPTION]...: mpix_compare
    run alone mpix_compare "$@"
}

has_controls() { LC_ALL=C grep -qP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\\u00' out err; }

# Names that turn a terminal red, with each kind of control character; a letter beyond ASCII stays.
check_terminal() {
    local hostile='all\u001b[31mreduce\u009b31m\u0007\u007f µ' what file text
    for what in a slower; do
        mkdir -p "red_$what"
        for file in "$what"/*.json; do
            text=$(<"$file")
            text=${text//allreduce/$hostile}
            printf '%s\n' "${text//\"here\"/\"$hostile\"}" >"red_$what/${file##*/}"
        done
    done
    for what in table csv json; do
        compare red_a red_slower --format $what
        grep -q 'µ' out || complain "$what: a letter beyond ASCII is lost"
        ! has_controls || complain "$what: there are control characters"
    done
}

check_ratio() {     # interval, p and ratio of the row of 8 bytes
    compare a slower --format json
    grep '"size_bytes":8,' out | tr -d '{}"' | tr ',' '\n' | awk -F: '
        { value[$1] = $2 }
        END {
            if (!(value["ratio"] > 1.19 && value["ratio"] < 1.21)) print "ratio " value["ratio"]
            if (!(value["ratio_low"] > 1.15 && value["ratio_low"] < value["ratio"])) print "low " value["ratio_low"]
            if (!(value["ratio_high"] < 1.25 && value["ratio_high"] > value["ratio"])) print "high " value["ratio_high"]
            if (!(value["p"] > 0 && value["p"] <= 0.05)) print "p " value["p"]
            if (!(value["time_ns"] > 1195 && value["time_ns"] < 1205)) print "time_ns " value["time_ns"]
            if (value["ranks"] != 4 || value["verdict"] != "slower") print "ranks " value["ranks"]
        }'
}

quick tap_check "texts of files command no terminal" check_terminal
quick tap_check "the ratio, its interval and p" check_ratio
tap_done
