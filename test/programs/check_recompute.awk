# SPDX-License-Identifier: BSD-3-Clause
# The figures of mpix_bench --format csv, computed anew from what --raw wrote. Prints what differs in a printed digit.
# Of one operation under one scheme.
# Usage: awk -F, [-v run_time=makespan] [-v reach=REACH] -f check_recompute.awk RAW CSV

function complain(what, is, expected) {
    print "size " size ": " what " is " is ", and " expected " by the raw times"
}

function expect(name, expected) {
    if (!(name in place)) print "no column " name
    else if ($place[name] != expected) complain(name, $place[name], expected)
}

# Ascending, v[1] to v[n].
function sort_values(n,    gap, i, j, value) {
    for (gap = int(n / 2); gap > 0; gap = int(gap / 2))
        for (i = gap + 1; i <= n; i++) {
            value = v[i]
            for (j = i - gap; j > 0 && v[j] > value; j -= gap) v[j + gap] = v[j]
            v[j + gap] = value
        }
}

# The place, from 1, of the lower bound of the median's interval, 0 for none.
function interval_place(n,    k, chance, sum, log_choices) {
    for (k = 0; k < n; k++) {
        sum += exp(log_choices - n * log(2))
        if (2 * sum > 0.05) return k
        log_choices += log((n - k) / (k + 1))
    }
}

# Takes in the lines of one call.
function end_call(    rank) {
    if (ranks == 0) return
    counts[at, worst]++
    if (worst == "valid") {
        value = run_time == "makespan" ? last - first : longest
        values[at, ++samples[at]] = value
        makespans[at] += last - first
        for (rank = 0; rank < ranks; rank++) sums[at, rank] += durations[rank]
        ranks_of[at] = ranks
    }
    everything[at, ++all[at]] = longest
    ranks = 0
}

# Sets n, and puts the run times of a size in v, ascending.
function load_values(    i) {
    n = samples[size]
    for (i = 1; i <= n; i++) v[i] = values[size, i]
    sort_values(n)
}

function check_ranks(    rank, sum, most, least, slowest, fastest) {
    for (rank = 0; rank < ranks_of[size]; rank++) {
        sum += sums[size, rank]
        if (rank == 0 || sums[size, rank] > most) { most = sums[size, rank]; slowest = rank }
        if (rank == 0 || sums[size, rank] < least) { least = sums[size, rank]; fastest = rank }
    }
    expect("avg_ns", sprintf("%.1f", sum / (n * ranks_of[size])))
    expect("max_mean_ns", sprintf("%.1f", most / n))
    expect("makespan_ns", sprintf("%.1f", makespans[size] / n))
    expect("slowest_rank", slowest)
    expect("fastest_rank", fastest)
}

function check_distribution(    i, sum, mean, squares, low, column, percent, need) {
    for (i = 1; i <= n; i++) sum += v[i]
    mean = sum / n
    for (i = 1; i <= n; i++) squares += (v[i] - mean) ^ 2
    expect("mean_ns", sprintf("%.1f", mean))
    expect("deviation_ns", sprintf("%.1f", n > 1 ? sqrt(squares / (n - 1)) : 0))
    expect("min_ns", v[1])
    expect("max_ns", v[n])
    expect("median_ns", sprintf("%.1f", (v[int((n + 1) / 2)] + v[int(n / 2) + 1]) / 2))
    low = interval_place(n)
    expect("median_low_ns", low > 0 ? v[low] : "")
    expect("median_high_ns", low > 0 ? v[n + 1 - low] : "")
    for (column in place)
        if (column ~ /^p[0-9.]+_ns$/) {
            percent = substr(column, 2, length(column) - 4)
            need = int(percent * n / 100 + 1e-9)
            if (need < percent * n / 100 - 1e-9) need++
            expect(column, v[need > 0 ? need : 1])
        }
}

# With samples left out by chance, the median of all is where that of the valid ones is told to be: in its interval, or
# in one REACH times as wide.
function check_bias(    i, low, high, median) {
    n = all[size]
    for (i = 1; i <= n; i++) v[i] = everything[size, i]
    sort_values(n)
    median = (v[int((n + 1) / 2)] + v[int(n / 2) + 1]) / 2
    low = $place["median_ns"] - reach * ($place["median_ns"] - $place["median_low_ns"])
    high = $place["median_ns"] + reach * ($place["median_high_ns"] - $place["median_ns"])
    if (median < low || median > high) complain("median_ns", $place["median_ns"], median " of all samples")
}

FNR == 1 { file++; titled = 0 }
/^#/ { next }
!titled {
    end_call()
    split("", place)
    for (i = 1; i <= NF; i++) place[$i] = i
    titled = 1
    next
}
file == 1 {
    rank = $place["rank"]
    start_ns = $place["start_ns"]
    end_ns = $place["end_ns"]
    mark = $place["mark"]
    if (rank == 0) end_call()
    if (ranks == 0) { at = $place["size_bytes"]; worst = "valid"; first = start_ns; last = end_ns; longest = 0 }
    if ($place["call"] != counts_of_calls(at) || rank != ranks) print "not in order: " $0
    if (mark == "missed" || mark == "late" && worst == "valid") worst = mark
    durations[ranks++] = end_ns - start_ns
    if (end_ns - start_ns > longest) longest = end_ns - start_ns
    if (start_ns < first) first = start_ns
    if (end_ns > last) last = end_ns
    next
}
{
    size = $place["size_bytes"]
    rows++
    expect("valid", counts[size, "valid"] + 0)
    expect("missed", counts[size, "missed"] + 0)
    expect("late", counts[size, "late"] + 0)
    load_values()
    if (n > 0) {
        check_ranks()
        check_distribution()
        if (reach) check_bias()
    }
}
END { if (rows == 0) print "no rows" }

function counts_of_calls(at) {
    return all[at] + 0
}
