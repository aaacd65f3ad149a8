#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# mpix_bench --arrival: ranks start when they are to, and the figures are those of the raw times. No claim about speed
# is tested here.
. "$(dirname "$0")/../../test/programs/run.sh"
past_libtool
give_way

# A busy machine interrupts processes, and that is not to make samples invalid here: the tolerance is a second.
export MPIX_HARMONIZE_TOLERANCE_NS=1000000000

# OPTION...: leaves the files raw and csv.
measure() {
    succeeds run 2 mpix_bench "$@" -x 3 --format csv --raw "$scratch/raw" --output "$scratch/csv"
}

check_figures() {
    measure allreduce -m 8,64 -i 41 --arrival ascending:20,half-late:1.5x,random:30 --seed 4
    "$python" "$here/check_recompute.py" "$scratch/raw" "$scratch/csv" 2>&1
    [ "$(grep -vc '^#' "$scratch/csv")" -eq 9 ] || complain "not 8 rows"
}

# SHAPE DIFFERENCE: how much later rank 1 is to start than rank 0, in all calls of a shape in the raw file.
expect_difference() {
    from=raw columns arrival rank target_ns | awk -F, -v shape="$1" -v expected="$2" '
        $1 == shape && $2 == 0 { target = $3 }
        $1 == shape && $2 == 1 { n++; if ($3 - target != expected) bad = $3 - target }
        END { if (n == 0 || bad != "") print shape ": rank 1 is to start " bad " ns later in one of " n + 0 " calls" }'
}

check_targets() {
    printf 'call,rank,delay_ns\n0,0,0\n0,1,7000\n1,0,500\n1,1,7500\n' >"$scratch/delays.csv"
    measure reduce -m 8:8 -i 11 \
        --arrival "ascending:20,descending:20,first-late:5,last-late:5.5,one-late:1:8,bell:9,file:$scratch/delays.csv"
    expect_difference together 0
    expect_difference ascending:20 20000
    expect_difference descending:20 -20000
    expect_difference first-late:5 -5000
    expect_difference last-late:5.5 5500
    expect_difference one-late:1:8 8000
    expect_difference bell:9 0
    expect_difference "$(file_label)" 7000
    # Results name the delays, wherever the file lies: other ones have another name, comments do not count.
    label=$(file_label)
    mkdir "$scratch/there"
    { echo "# a comment"; cat "$scratch/delays.csv"; } >"$scratch/there/delays.csv"
    measure reduce -m 8:8 -i 3 --arrival "file:$scratch/there/delays.csv"
    [ "$(file_label)" = "$label" ] || complain "the same delays, another label: $label, $(file_label)"
    sed 's/7500/7501/' "$scratch/delays.csv" >"$scratch/there/delays.csv"
    measure reduce -m 8:8 -i 3 --arrival "file:$scratch/there/delays.csv"
    [ "$(file_label)" != "$label" ] || complain "other delays, the same label: $label"
}

# [NAME]
file_label() {
    from=raw columns arrival | grep "^file:${1:-delays}.csv@[0-9a-f]\{8\}$" | head -n 1
}

# Without -m, how long the delays take is told first: three sizes of five calls, 100 ms in the mean.
check_time_of_file() {
    printf 'call,rank,delay_ns\n0,0,0\n0,1,50000000\n1,0,150000000\n1,1,0\n' >"$scratch/slow.csv"
    measure bcast --size-factor 1024 -i 2 --arrival "file:$scratch/slow.csv"
    grep -q '^mpix_bench: bcast with the delays of file:slow.csv@[0-9a-f]* at 3 message sizes takes 1 s or more: ' \
        "$scratch/err" || complain "does not say how long it takes"
    measure bcast -m 8:8 -i 2 --arrival "file:$scratch/slow.csv"
    ! grep -q 'or more: give -m' "$scratch/err" || complain "says how long one size takes"
    # Two sizes of five calls of three pairs, 50 ms each.
    printf 'call,rank,delay_ns\n0,0,0\n0,1,50000000\n0,2,0\n' >"$scratch/slow.csv"
    succeeds run 3 mpix_bench latency --matrix --size-factor 1000000 -i 2 -x 3 --arrival "file:$scratch/slow.csv"
    [ "$(grep -c 'or more: give -m' "$scratch/err")" -eq 1 ] &&
        grep -q ' at 2 message sizes takes 1 s or more: ' "$scratch/err" ||
        complain "does not say once how long all pairs take"
}

# Each measured call has the delays of the next call of the file, also if calls are so long that a batch has only one.
check_calls_of_file() {
    printf 'call,rank,delay_ns\n0,0,0\n0,1,30000000\n1,0,0\n1,1,31000000\n2,0,0\n2,1,32000000\n' >"$scratch/long.csv"
    measure bcast -m 8:8 -i 7 --arrival "file:$scratch/long.csv"
    from=raw columns arrival rank target_ns call | awk -F, '
        $1 ~ /^file:long.csv/ && $2 == 0 { target = $3 }
        $1 ~ /^file:long.csv/ && $2 == 1 {
            n++
            if ($3 - target != 30000000 + $4 % 3 * 1000000) print "call " $4 ": " $3 - target " ns between the ranks"
        }
        END { if (n != 7) print n + 0 " calls" }'
}

# Each file is read once: a pipe gives its delays once only. Several operations and lists share what was read.
check_several_files() {
    local writer
    mkfifo "$scratch/pipe.csv"
    printf 'call,rank,delay_ns\n0,0,0\n0,1,6000\n' >"$scratch/six.csv"
    printf 'call,rank,delay_ns\n0,0,0\n0,1,7000\n1,0,0\n1,1,7000\n' >"$scratch/pipe.csv" &
    writer=$!
    cat >"$scratch/jobs" <<END
bcast --arrival file:$scratch/six.csv,file:$scratch/pipe.csv
reduce --arrival file:$scratch/pipe.csv
END
    measure --jobs "$scratch/jobs" -m 8:8 -i 3
    # It waits for a reader if the program did not open the pipe.
    kill "$writer" 2>/dev/null
    wait "$writer" 2>/dev/null
    expect_difference "$(file_label six)" 6000
    expect_difference "$(file_label pipe)" 7000
    [ "$(grep -c '^[a-z].*,file:pipe.csv@' "$scratch/csv")" -eq 2 ] || complain "not 2 rows of the pipe"
}

# A multiple is one of the median in the row before; without a magnitude it is the median.
check_multiples() {
    measure bcast -m 8:8 -i 21 --arrival last-late:3x,last-late
    from=csv columns arrival median_ns arrival_span_ns | awk -F, '
        $1 == "together" { median = $2 }
        { factor = $1 ~ /:3x$/ ? 3 : $1 ~ /:1x$/ ? 1 : 0 }
        !(($3 - factor * median) ^ 2 <= 4) { print "median " median ": " $0 }
        END { if (NR != 3) print NR " rows" }'
}

# In groups, each has the pattern.
check_groups() {
    succeeds run 3 mpix_bench allreduce -m 8:8 -i 5 -x 1 --comm every:2 --arrival last-late:50 --raw "$scratch/raw" \
        --format csv
    expect_difference last-late:50 50000
}

check_formats() {
    for format in table csv; do
        succeeds run 2 mpix_bench bcast -m 8:8 -i 12 -x 1 --arrival bell:3,exponential:2x --format $format
        grep -q 'bell:3' "$scratch/out" && grep -q 'exponential:2x' "$scratch/out" || complain "no row of a pattern"
    done
    columns arrival from_first_ns robustness | grep -q '^together,[0-9.]*,1\.000$' ||
        complain "no start without delays"
    for release in harmonize=together window=together barrier= none=; do
        run 2 mpix_bench bcast -m 8:8 -i 12 -x 1 --release "${release%%=*}" --format csv
        [ "$(columns arrival)" = "${release#*=}" ] || complain "not the arrival ${release#*=}"
    done
}

# Without a valid sample nobody knows how long 2x is.
check_no_sample() {
    CHECK_FAULT=never run 2 check_faults bcast -m 8:8 -i 2 -x 0 --max-repeat 2 --arrival bell:2x,half-late:3 \
        --format csv
    expect_status 1
    expect_message 'arrival bell:2x: there is no median'
    [ "$(grep -vc '^#' "$scratch/out")" -eq 3 ] || complain "not a row for together, and one for half-late"
}

quick tap_check_if "command -v $python" "it takes python3" "figures of arrivals recomputed" check_figures
quick tap_check "when ranks are to start" check_targets
tap_check "how long the delays of a file take" check_time_of_file
quick tap_check "each call of a file in turn" check_calls_of_file
quick tap_check "several files, each read once" check_several_files
tap_check "multiples of the median" check_multiples
tap_check "groups of ranks" check_groups
tap_check "formats" check_formats
tap_check "no valid sample" check_no_sample
tap_done
