# SPDX-License-Identifier: BSD-3-Clause
"""The figures of mpix_clock drift of one clock of rank 1, computed anew from the bursts that --raw wrote, and the drift
that is known. Prints what differs.

check_drift.py RAW CSV THRESHOLD BEND   BEND: the clock is ahead by so many ns times the square of the seconds
"""
import csv
import sys
from statistics import mean, median_low

REACH_STEPS = 16


def read(path):
    return list(csv.DictReader(line for line in open(path) if not line.startswith("#")))


def is_about(printed, value, unit):
    return printed == "" if value is None else printed != "" and abs(float(printed) - value) <= unit + 1e-7 * abs(value)


def fit(points):
    """The slope of a line through them, and how far each is from it."""
    middle_x, middle_y = mean(x for x, _ in points), mean(y for _, y in points)
    slope = sum((x - middle_x) * (y - middle_y) for x, y in points) / sum((x - middle_x) ** 2 for x, _ in points)
    return slope, [y - middle_y - slope * (x - middle_x) for x, y in points]


def windows(points, length_s, parts, width=1):
    """Lines through so many parts of the run, wherever they begin; None where there are too few points."""
    for begin in range(parts - width + 1):
        inside = [(x, y) for x, y in points if x >= length_s / parts * begin and
                  (begin + width == parts or x < length_s / parts * (begin + width))]
        yield fit(inside) if len(inside) >= 3 else None


def linear_s(points, length_s, threshold_ns):
    reach_s = 0
    for steps in range(1, REACH_STEPS + 1):
        fits = [line for line in windows(points, length_s, REACH_STEPS, steps) if line]
        if any(abs(residual) > threshold_ns for _, residuals in fits for residual in residuals):
            break
        reach_s = length_s * steps / REACH_STEPS if fits else reach_s
    return reach_s


def figures_of(points, length_s, parts):
    fits = list(windows(points, length_s, parts))
    if None in fits:
        return dict.fromkeys(("slope_ppb", "slope_min_ppb", "slope_max_ppb", "residual_rms_ns", "residual_max_ns"))
    slopes, residuals = [slope for slope, _ in fits], [residual for _, window in fits for residual in window]
    return {"slope_ppb": mean(slopes), "slope_min_ppb": min(slopes), "slope_max_ppb": max(slopes),
            "residual_rms_ns": mean(residual ** 2 for residual in residuals) ** 0.5,
            "residual_max_ns": max(map(abs, residuals))}


def main(raw_path, csv_path, threshold, bend):
    bursts = [(int(row["time_ns"]) / 1e9, int(row["offset_ns"]), int(row["half_width_ns"]), row)
              for row in read(raw_path)]
    half, length_s = median_low(width for _, _, width, _ in bursts), bursts[-1][0]
    used = [(x, y) for x, y, width, _ in bursts if width <= 1.5 * half]
    points = [(x, y - used[0][1]) for x, y in used]
    for _, _, width, row in bursts:
        if row["used"] != str(int(width <= 1.5 * half)) or (row["residual_ns"] != "") != (row["used"] == "1"):
            print("used or not:", *row.values())
    if [burst[0] for burst in bursts] != sorted({burst[0] for burst in bursts}):
        print("bursts are not in order")
    in_raw = [row["residual_ns"] for *_, row in bursts if row["residual_ns"]]
    if not all(is_about(one, other, 0.06) for one, other in zip(in_raw, fit(points)[1])):
        print("other residuals in the raw file")
    rows = read(csv_path)
    if [(row["rank"], row["clock"], row["fits"]) for row in rows] != [("1", "realtime", fits) for fits in "8421"]:
        print("not these rows")
    for row in rows:
        parts = int(row["fits"])
        expected = {"window_ns": length_s * 1e9 / parts, "half_width_ns": half, "points": len(points),
                    "linear_ns": linear_s(points, length_s, float(threshold)) * 1e9,
                    **figures_of(points, length_s, parts)}
        for name, value in expected.items():
            if not is_about(row[name], value, 2 if name == "window_ns" else 0.06):
                print(f"{parts} windows: {name} is \"{row[name]}\" instead of {value}")
    # An offset is known to its half width, and what the clock drifts in a burst, which is long on a busy machine.
    known_ns = 3 * max(width for _, _, width, row in bursts if row["used"] == "1") + 5e5
    for residual in fit([(x, y - float(bend) * x ** 2) for x, y in points])[1]:
        if abs(residual) > known_ns:
            print(f"the drift is wrong by {residual} ns")


main(*sys.argv[1:])
