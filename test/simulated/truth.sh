# shellcheck shell=bash
# Running clock_truth and judging what it prints, to be sourced after tap.sh.

# Judge a line of clock_truth: no reading may be outside its bound; errors at most so large, or a tenth of the mean bound, which
# is wide where other programs keep the machine busy. The figures that are reached are kept with the performance record.
judge_truth() {     # NAME LINE MOST_P99_NS LEAST_READINGS [JUMPS]
    local name=$1 line=$2 most=$3 least=$4 jumps=${5:-0} complaints=
    value_of() { tr ' ' '\n' <<<"$line" | sed -n "s/^$1=//p" | head -n 1; }
    local readings violations p99 bound end=
    # Readings never go back: after a jump ahead they stand still until time has caught up.
    [ "$jumps" -eq 0 ] || end=end_
    readings=$(value_of readings)
    violations=$(value_of violations)
    p99=$(value_of "${end}error_p99")
    bound=$(value_of "${end}bound_mean")
    if [ -z "$readings" ]; then
        tap_not_ok "$name" "no result: $line"
        return
    fi
    [ $((${bound%.*} / 10)) -le "$most" ] || most=$((${bound%.*} / 10))
    [ "$readings" -ge "$least" ] || complaints="only $readings readings, at least $least expected; "
    # A jump in the middle of a call is found out by the next one; without a root, its process hears of it in the one after.
    [ "$violations" -le $((2 * jumps)) ] || complaints+="$violations readings were further off than their bound; "
    [ "$(value_of disruptions)" -ge "$jumps" ] || complaints+="no disruption was found; "
    [ "${p99%.*}" -le "$most" ] || complaints+="the 99th percentile of the error is $p99 ns, at most $most expected; "
    if [ -z "$complaints" ]; then tap_ok "$name"; else tap_not_ok "$name" "$complaints
$line"; fi
}
