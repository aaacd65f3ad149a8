#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The module of Python that reads files of clock records, held against mpix_clock_convert, and what it refuses. Needs no
# MPI library.
. "$(dirname "$0")/../../test/programs/run.sh"
export PYTHONPATH=$top/bindings/python PYTHONDONTWRITEBYTECODE=1

check_same() {
    expect_silence "$python" "$here/check_clock_reader.py" "$programs/mpix_clock_convert" "$scratch"
}

head='{"mpix_clock_records": 1, "unix_ns": 0, "rate_limit_ppb": 500000, "wander_ppb_per_s": 100}'
host='{"host": "h1", "boot": "a", "look_ns": 50000000}'
record='{"host": "h1", "raw": [0, 1000, 10]}'

# TEXT CLOCK READING WHAT
says() {
    printf %b "$1" >"$scratch/file.jsonl"
    echo "$3" | "$python" -m mpix_clock_reader "$scratch/file.jsonl" h1 "$2" >"$scratch/out" 2>&1
    grep -qF -- "$4" "$scratch/out" || complain "not \"$4\", but $(tail -n 1 "$scratch/out")"
}

check_refusals() {
    local look='{"host": "h1", "tai": [0, 0, 9]}'
    says "$head\n$host\n$record\n" monotonic_raw 0 '0,1000,12,'
    says "$head\n$host\n$record\n{\"host" monotonic_raw 0 '0,1000,12,'
    says "$head\n$host\n$record\n{\"host\n$record" monotonic_raw 0 'line 4 is not an object'
    says "$head\n$record\n" monotonic_raw 0 'line 2 has a record without a host'
    says "$head\n$host\n$record\n" tai 0 'the records of h1 do not have tai'
    says "$head\n$host\n${host/a/b}\n" tai 0 'h1 was booted while it was recorded'
    says "$head\n${host/h1/h2}\n" tai 0 'h1 is not in the records, which have h2'
    says "$head\n$host\n$record\n" monotonic_raw 0.5 'invalid literal'
    says "${head/500000/1000000001}\n$host\n$record\n" monotonic_raw 0 'does not say what rates clocks may have'
    says "${head/500000/\"x\"}\n$host\n$record\n" monotonic_raw 0 'does not say what rates clocks may have'
    says "$head\n${host/50000000/\"x\"}\n$record\n$look\n${look/0, 0/9000, 9000}\n" tai 5000 ',extrapolated'
    says "" tai 0 'is empty'
    says "time,value\n" tai 0 'is not a file of clock records'
}

# One look does not tell how long a tick is.
check_counter() {
    local look='{"host": "h1", "counter": [5, 0, 9]}'
    says "$head\n$host\n$record\n$look\n" counter 1005 ',9223372036854775807,extrapolated'
    says "$head\n$host\n$record\n$look\n" counter 5 '5,1000,23,'
}

# h1 knows UTC later than h2, and better; the numbers are those of test_clock_reader.c.
check_utc() {
    local name
    {
        printf '%s\n' "$head"
        for name in h1 h2; do
            printf '%s\n' "${host/h1/$name}" "{\"host\": \"$name\", \"raw\": [0, 0, 10]}" \
                "{\"host\": \"$name\", \"raw\": [10000000000, 10000000000, 10]}"
        done
        echo '{"host": "h2", "utc": [500000000, 0, 3000000, 9], "tai_s": 37}'
        echo '{"host": "h1", "utc": [10500001000, 10000000000, 5000, 9], "tai_s": 37}'
    } >"$scratch/file.jsonl"
    "$python" - "$scratch/file.jsonl" >"$scratch/out" 2>&1 <<'END'
import sys, mpix_clock_reader
records = mpix_clock_reader.open_records(sys.argv[1])
for time_ns, host, ahead_ns, most_ns in (10**10, "h1", 500001000, 5015), (0, "h2", 500000000, 3000015):
    utc = records.utc(time_ns)
    if utc[:2] != (host, ahead_ns) or not most_ns - 5 <= utc.within_ns <= most_ns:
        print(time_ns, utc)
END
    # Within one nanosecond, by the bounds of 10.9 and 10.2 ns that the records have then.
    {
        printf '%s\n' "$head"
        for name in h1 h2; do
            printf '%s\n' "${host/h1/$name}" "{\"host\": \"$name\", \"raw\": [0, 0, 10]}" \
                "{\"host\": \"$name\", \"raw\": [10000000000, 10000000000, $([ $name = h1 ] && echo 19 || echo 12)]}" \
                "{\"host\": \"$name\", \"utc\": [500000000, 1000000000, 5000, 9]}"
        done
    } >"$scratch/file.jsonl"
    "$python" -c 'import sys, mpix_clock_reader
utc = mpix_clock_reader.open_records(sys.argv[1]).utc(10**9)
if utc != ("h2", -500000000, 5554): print(utc)' "$scratch/file.jsonl" >>"$scratch/out" 2>&1
    # As systemd-timesyncd and phc2sys leave the errors.
    printf '%s\n' "$head" "$host" "$record" '{"host": "h1", "utc": [1000, 0, 40, 0], "tai_s": 0}' \
        '{"host": "h1", "utc": [1000, 0, 40, 16000000000], "tai_s": 37}' >"$scratch/file.jsonl"
    "$python" -c 'import sys, mpix_clock_reader
utc = mpix_clock_reader.open_records(sys.argv[1]).utc(0)
if utc: print(utc)' "$scratch/file.jsonl" >>"$scratch/out" 2>&1
    [ ! -s "$scratch/out" ] || complain "$(cat "$scratch/out")"
    says "$head\n$host\n$record\n{\"host\": \"h1\", \"utc\": [1, 2, 3]}\n" tai 0 'not of four numbers'
    says "$head\n$host\n$record\n{\"host\": \"h1\", \"utc\": [0, 600000000000000000, 9, 1]}\n" tai 0 \
        'more than 18 years'
}

# WHAT FILE...: what is said when these are joined
joining_says() {
    local what=$1
    shift
    "$python" -c 'import sys, mpix_clock_reader
print("the hosts are", *mpix_clock_reader.open_records(*sys.argv[1:]).hosts)' "$@" >"$scratch/out" 2>&1
    grep -qF -- "$what" "$scratch/out" || complain "not \"$what\", but $(tail -n 1 "$scratch/out")"
}

# SLEPT_S NAMESPACE_NS WHAT: of two files of h1
joins_or_not() {
    printf '%s\n' "$head" "$host" "$record" '{"host": "h1", "boottime": [7000000000, 0, 9]}' >"$scratch/first.jsonl"
    printf '%s\n' "$head" "${host/\}/, \"boottime_namespace_ns\": $2\}}" '{"host": "h1", "raw": [9000000000, 0, 10]}' \
        "{\"host\": \"h1\", \"boottime\": [1$((6 + $1))000000000, 9000000000, 9]}" >"$scratch/second.jsonl"
    joining_says "$3" "$scratch/first.jsonl" "$scratch/second.jsonl"
}

# FILE HOST...: it has these hosts
file_of() {
    local file=$1 name
    shift
    printf '%s\n' "$head" >"$file"
    for name; do
        printf '%s\n' "${host/h1/$name}" "${record/h1/$name}" >>"$file"
    done
}

check_joining() {
    joins_or_not 0 0 "the hosts are h1"
    joins_or_not 3 0 "h1, which the files have in common, was suspended between them"
    joins_or_not 0 7 "h1 had another time namespace"
    file_of "$scratch/1.jsonl" h1
    file_of "$scratch/2.jsonl" h2
    file_of "$scratch/12.jsonl" h1 h2
    file_of "$scratch/3.jsonl" h3
    joining_says "the hosts are h1 h2" "$scratch"/{1,12,2}.jsonl
    joining_says "the hosts are h1 h2" "$scratch"/{1,2,12}.jsonl
    joining_says "2.jsonl: the files have records of no host in common" "$scratch"/{1,2,3}.jsonl
    joining_says "3.jsonl: the files have records of no host in common" "$scratch"/{1,3,2,12}.jsonl
    ! grep -qF "2.jsonl" "$scratch/out" || complain "a file that can be joined is named"
}

# Few hosts and rows: that they are within their bounds, not how fast they come.
check_hour() {
    capture "$python" "$here/performance/convert_hour.py" "$programs/mpix_clock_convert" 20 20000
    expect_status 0
    grep -q '^20000 rows: .* of memory; greatest error' "$scratch/out" || complain "$(cat "$scratch/out")"
    grep -q 'UTC is within 0[.][0-9]* ms of these times' "$scratch/err" || complain "$(cat "$scratch/err")"
}

quick tap_check_if "command -v $python" "it takes python3" "the same times as mpix_clock_convert" check_same
quick tap_check_if "command -v $python" "it takes python3" "UTC, by the kernels of hosts" check_utc
quick tap_check_if "command -v $python" "it takes python3" "a counter that was looked at once" check_counter
quick tap_check_if "command -v $python" "it takes python3" "files that are not as they should be" check_refusals
quick tap_check_if "command -v $python" "it takes python3" "files that cannot be joined" check_joining
tap_check_if "command -v $python" "it takes python3" "an hour of hosts" check_hour
tap_done
