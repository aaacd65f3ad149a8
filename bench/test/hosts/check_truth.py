# SPDX-License-Identifier: BSD-3-Clause
"""check_truth.py RECORDS[,RECORDS] STAMPS HOSTS: timestamps of hosts, converted by records, against the true time
beside each.

Prints a table, and what is wrong after it: a time that is off by more than its bound, or bounds that are of no use.
"""

import os
import sys
from collections import defaultdict

import mpix_clock_reader

records = mpix_clock_reader.open_records(*sys.argv[1].split(","))
wrong = []


def stamps_of(host):
    stamps = defaultdict(list)
    with open(f"{sys.argv[2]}.{host}", encoding="utf-8") as file:
        for line in file:
            clock, *numbers = line.split(",")
            stamps[clock].append([int(number) for number in numbers])
    return stamps


def converted(host, clock, stamps):
    times = records.convert(host, clock, [stamp[0] for stamp in stamps])
    return zip(stamps, times.global_ns, times.bound_ns, times.how)


# What global time is: that of the first host, by the tightest of its stamps.
first = min(converted("host1", "monotonic_raw", stamps_of("host1")["monotonic_raw"]), key=lambda row: row[0][2])
zero_ns, zero_half_ns = first[1] - first[0][1], first[0][2]

print(f"{'host':6} {'clock':14} {'times':>6} {'p50 ns':>8} {'p99 ns':>8} {'max ns':>10} {'bound p50':>10} "
      "   marked outside")
for host in sys.argv[3:]:
    for clock, stamps in stamps_of(host).items():
        errors, bounds, marked, outside = [], [], 0, 0
        for (_, true_ns, half_ns), global_ns, bound_ns, how in converted(host, clock, stamps):
            error_ns = abs(global_ns - true_ns - zero_ns)
            outside += error_ns > bound_ns + half_ns + zero_half_ns
            marked += how != ""
            if how == "":
                errors.append(error_ns)
                bounds.append(bound_ns)
        errors.sort()
        bounds.sort()
        count = len(errors)
        if count < 100:
            wrong.append(f"{host} {clock}: only {count} times are interpolated")
            continue
        print(f"{host:6} {clock:14} {count:6} {errors[count // 2]:8} {errors[count * 99 // 100]:8} {errors[-1]:10} "
              f"{bounds[count // 2]:10} {marked:9} {outside:7}")
        if host != "host1" and clock == "realtime" and marked == 0 and "MH_SKEW_ONLY" not in os.environ:
            wrong.append(f"{host}: no time is marked as ambiguous, although the clock was set")
        if outside:
            wrong.append(f"{host} {clock}: {outside} times are off by more than their bound")
        if bounds[count // 2] > 500000:
            wrong.append(f"{host} {clock}: the median bound is {bounds[count // 2]} ns, which is of no use")
print("\n".join(wrong))
sys.exit(1 if wrong else 0)
