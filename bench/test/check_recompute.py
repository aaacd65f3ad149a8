# SPDX-License-Identifier: BSD-3-Clause
"""The figures of mpix_bench --format csv, computed anew from what --raw wrote. Prints what differs in a printed digit.
Of one operation under one scheme.

check_recompute.py RAW CSV
"""
import csv
import sys
from fractions import Fraction
from itertools import groupby
from math import ceil, comb, floor, sqrt
from statistics import mean, median


def read(path):
    return list(csv.DictReader(line for line in open(path) if not line.startswith("#")))


class Call:
    """Of all ranks."""

    def __init__(self, rows):
        starts, ends = [int(row["start_ns"]) for row in rows], [int(row["end_ns"]) for row in rows]
        marks = [row["mark"] for row in rows]
        self.mark = next((mark for mark in ("missed", "late") if mark in marks), "valid")
        self.durations = [end - start for start, end in zip(starts, ends)]
        self.local, self.makespan = max(self.durations), max(ends) - min(starts)
        self.from_last = max(ends) - max(starts)
        self.early = [int(row["target_ns"]) - start for row, start in zip(rows, starts) if row["target_ns"]]


def calls_of(rows, size, arrival):
    own = [row for row in rows if (row["size_bytes"], row["arrival"]) == (size, arrival)]
    calls = [list(group) for _, group in groupby(own, key=lambda row: row["call"])]
    for number, call in enumerate(calls):
        if [(row["call"], row["rank"]) for row in call] != [(str(number), str(rank)) for rank in range(len(calls[0]))]:
            print(f"not in order: call {number} of size {size}")
    return [Call(call) for call in calls]


def nearest_rank(values, percent):
    return sorted(values)[max(ceil(Fraction(percent) * len(values) / 100), 1) - 1]


def resolution_of(path):
    return next(int(line.split(": ")[1]) for line in open(path) if line.startswith("# resolution_ns: "))


def median_interval(values, resolution_ns):
    """At least 95 %, by the binomial distribution, and half a step of the clock to each side of the median."""
    ways = place = 0
    while place < len(values) and 40 * (ways := ways + comb(len(values), place)) <= 2 ** len(values):
        place += 1
    middle, half_ns = median(values), resolution_ns / 2
    return (min(sorted(values)[place - 1], floor(max(middle - half_ns, 0))),
            max(sorted(values)[-place], ceil(middle + half_ns))) if place else ("", "")


def figures_of(calls, row, resolution_ns):
    """By their columns, as they are printed."""
    valid = [call for call in calls if call.mark == "valid"]
    counts = {mark: sum(call.mark == mark for call in calls) for mark in ("valid", "missed", "late")}
    if not valid:
        return counts
    times = [getattr(call, row["run_time"]) for call in valid]
    sums = [sum(durations) for durations in zip(*(call.durations for call in valid))]
    average = mean(times)
    squares = sum((time - average) ** 2 for time in times)
    low, high = median_interval(times, resolution_ns)
    figures = {"avg_ns": sum(sums) / len(sums) / len(valid), "min_mean_ns": min(sums) / len(valid),
               "max_mean_ns": max(sums) / len(valid), "makespan_ns": mean(call.makespan for call in valid),
               "mean_ns": average, "deviation_ns": sqrt(squares / (len(times) - 1)) if len(times) > 1 else 0,
               "median_ns": median(times)}
    if "from_last_ns" in row:
        errors = [abs(early) for call in valid for early in call.early]
        figures |= {"from_first_ns": median(call.makespan for call in valid),
                    "from_last_ns": median(call.from_last for call in valid),
                    "in_call_ns": median(sum(call.durations) for call in valid) / len(sums)}
        counts |= {"arrival_error_ns": nearest_rank(errors, 50), "arrival_error_p99_ns": nearest_rank(errors, 99)}
    counts |= {name: nearest_rank(times, name[1:-3]) for name in row if name[0] == "p" and name[1].isdigit()}
    return counts | {name: f"{figure:.1f}" for name, figure in figures.items()} | {
        "min_ns": min(times), "max_ns": max(times), "median_low_ns": low, "median_high_ns": high,
        "slowest_rank": sums.index(max(sums)), "fastest_rank": sums.index(min(sums))}


def main(raw_path, csv_path):
    raw, rows, together, resolution_ns = read(raw_path), read(csv_path), {}, resolution_of(csv_path)
    keys = {(row["size_bytes"], row["arrival"]) for row in rows}
    if not rows or keys != {(row["size_bytes"], row["arrival"]) for row in raw}:
        print("not the rows of all raw times")
    for row in rows:
        size, arrival = row["size_bytes"], row["arrival"]
        calls = calls_of(raw, size, arrival)
        expected = figures_of(calls, row, resolution_ns)
        if "from_last_ns" in expected:
            from_last = median(call.from_last for call in calls if call.mark == "valid")
            together.setdefault(size, from_last)
            expected["robustness"] = f"{from_last / together[size]:.3f}"
        for name, value in expected.items():
            if row.get(name) != str(value):
                print(f"size {size} {arrival}: {name} is {row.get(name)}, and {value} by the raw times")
        if any(early > 2 for call in calls for early in call.early):
            print(f"size {size} {arrival}: a rank started early")


main(*sys.argv[1:])
