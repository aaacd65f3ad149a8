# shellcheck shell=bash
# Running clock_truth and judging what it prints, to be sourced after tap.sh.

# More interruptions a second say that the machine is too busy to compare clocks closely: an idle one has a few.
most_interruptions=20

# One interruption at the wrong time spoils what a synchronization learns. The best of so many runs tells how accurate
# the synchronization is. Wrong bounds are an error in any run.
truth_runs=3

truth_value() {         # LINE KEY
    tr ' ' '\n' <<<"$1" | sed -n "s/^$2=//p" | head -n 1
}

# What is wrong with a run, whatever disturbed it: nothing, on a good one.
truth_complaints() {    # LINE MIN_READINGS JUMPS
    local readings violations disruptions
    readings=$(truth_value "$1" readings)
    violations=$(truth_value "$1" violations)
    disruptions=$(truth_value "$1" disruptions)
    [ -n "$readings" ] || { echo "no result"; return; }
    [ "$readings" -ge "$2" ] || echo "only $readings readings, at least $2 expected"
    # A jump that falls between the end of a call and the reading after it shows there.
    [ "$violations" -le "$3" ] || echo "$violations readings were further off than their bound"
    [ "$disruptions" -ge "$3" ] || echo "no disruption was found"
}

# Judge what COMMAND prints: no reading may be outside its bound, ever, and errors are at most so large, unless the
# machine is too noisy to tell. The figures that are reached are kept with the performance record.
judge_truth() {         # NAME MAX_P99_NS MIN_READINGS JUMPS COMMAND...
    local name=$1 most=$2 least=$3 jumps=$4 end='' line complaints p99 run interruptions=0 lines=''
    shift 4
    # Between a jump and the next call nobody knows of it.
    [ "$jumps" -eq 0 ] || end=end_
    for ((run = 0; run < truth_runs; run++)); do
        line=$("$@")
        lines+=$line$'\n'
        complaints=$(truth_complaints "$line" "$least" "$jumps")
        [ -z "$complaints" ] || { tap_not_ok "$name" "$complaints"$'\n'"$line"; return; }
        p99=$(truth_value "$line" "${end}error_p99")
        [ "${p99%.*}" -gt "$most" ] || { tap_ok "$name"; return; }
        interruptions=$((interruptions + $(truth_value "$line" interrupted)))
    done
    if [ $((interruptions / truth_runs)) -gt "$most_interruptions" ]; then
        tap_skip "$name" "too noisy: $((interruptions / truth_runs)) interruptions a second, 99th percentile of the \
error $p99 ns; no bound violated"
    else
        tap_not_ok "$name" "the 99th percentile of the error is over $most ns in each of $truth_runs runs"$'\n'"$lines"
    fi
}
