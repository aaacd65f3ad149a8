# shellcheck shell=bash
# Running clock_truth and judging what it prints, to be sourced after tap.sh.

# More interruptions a second say that the machine is too busy to compare clocks closely: an idle one has a few.
most_interruptions=20

# Judge a line of clock_truth: no reading may be outside its bound, ever, and errors are at most so large, unless the
# machine is too noisy to tell. The figures that are reached are kept with the performance record.
judge_truth() {     # NAME LINE MOST_P99_NS LEAST_READINGS [JUMPS]
    local name=$1 line=$2 most=$3 least=$4 jumps=${5:-0} complaints=
    value_of() { tr ' ' '\n' <<<"$line" | sed -n "s/^$1=//p" | head -n 1; }
    local readings violations p99 interruptions end=
    # Between a jump and the next call nobody knows of it.
    [ "$jumps" -eq 0 ] || end=end_
    readings=$(value_of readings)
    violations=$(value_of violations)
    p99=$(value_of "${end}error_p99")
    interruptions=$(value_of interrupted)
    if [ -z "$readings" ]; then
        tap_not_ok "$name" "no result: $line"
        return
    fi
    [ "$readings" -ge "$least" ] || complaints="only $readings readings, at least $least expected; "
    # A jump that falls between the end of a call and the reading after it shows there.
    [ "$violations" -le "$jumps" ] || complaints+="$violations readings were further off than their bound; "
    [ "$(value_of disruptions)" -ge "$jumps" ] || complaints+="no disruption was found; "
    if [ -n "$complaints" ]; then
        tap_not_ok "$name" "$complaints
$line"
    elif [ "${p99%.*}" -le "$most" ]; then
        tap_ok "$name"
    elif [ "$interruptions" -gt "$most_interruptions" ]; then
        tap_skip "$name" "too noisy: $interruptions interruptions a second, 99th percentile of the error $p99 ns; no \
bound violated"
    else
        tap_not_ok "$name" "the 99th percentile of the error is $p99 ns, at most $most expected
$line"
    fi
}
