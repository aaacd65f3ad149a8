# SPDX-License-Identifier: BSD-3-Clause
"""convert_hour.py CONVERTER [HOSTS [ROWS]]: an hour's clock records of 1,000 simulated hosts, and 10^7 timestamps of
one of them, which mpix_clock_convert converts.

Prints the size of the records, how long it takes to read them and to convert, and the memory. Fails if a time that is
looked at, each thousandth, is off by more than its bound. Files are in a folder of their own in TMPDIR, which needs
1 GB.
"""

import math
import os
import random
import subprocess
import sys
import tempfile
import time

NS = 10**9
UNIX_NS, BOOTED_NS = 1700000000 * NS, 1000 * NS  # the time of day, and MONOTONIC, as the records begin
DURATION_S = 3600
RECORD_S, WRITTEN_S, CHANGE_S = 5, 30, 64  # from a record, from looks that are written, and from a new rate to the next
LOOK_S = 0.05
HALF_NS, LOOK_HALF_NS, BEND_NS = 4000, 30, 200
SAMPLE = 1000


class Host:
    """Its oscillator drifts and wanders, by 20 ppb a second at most. Its kernel keeps the time of day within 40 us."""

    def __init__(self, name, dice):
        self.name = name
        self.drift, self.phase = dice.uniform(-30e-6, 30e-6), dice.uniform(0, 2 * math.pi)
        self.start_ns = dice.randrange(10**14)
        errors_ns = [dice.randrange(-20000, 20000) for _ in range(DURATION_S // CHANGE_S + 2)]
        self.changes = [(self.raw_ns(i * CHANGE_S), BOOTED_NS + i * CHANGE_S * NS + error)
                        for i, error in enumerate(errors_ns)]

    def raw_ns(self, true_s):
        wander_ns = 200000 * math.sin(2 * math.pi * true_s / 600 + self.phase)
        return self.start_ns + int(true_s * NS * (1 + self.drift) + wander_ns)

    def monotonic_ns(self, true_s):
        """By MONOTONIC_RAW, whose rate the kernel corrects now and then."""
        change = int(true_s // CHANGE_S)
        (raw_ns, at_ns), (next_raw_ns, next_ns) = self.changes[change:change + 2]
        return at_ns + (self.raw_ns(true_s) - raw_ns) * (next_ns - at_ns) // (next_raw_ns - raw_ns)

    def true_s(self, monotonic_ns):
        low_s, high_s = 0.0, float(DURATION_S)
        for _ in range(60):
            middle_s = (low_s + high_s) / 2
            low_s, high_s = (middle_s, high_s) if self.monotonic_ns(middle_s) <= monotonic_ns else (low_s, middle_s)
        return low_s

    def looks(self, true_s, bend):
        raw_ns, monotonic_ns = self.raw_ns(true_s), self.monotonic_ns(true_s)
        real_ns = UNIX_NS - BOOTED_NS + monotonic_ns
        for clock, at_ns in (("monotonic", monotonic_ns), ("boottime", monotonic_ns + 7 * NS), ("realtime", real_ns),
                             ("tai", real_ns + 37 * NS)):
            yield f'{{"host": "{self.name}", "{clock}": [{at_ns}, {raw_ns}, {LOOK_HALF_NS}{bend}]}}\n'

    def word(self, true_s):
        real_ns = UNIX_NS - BOOTED_NS + self.monotonic_ns(true_s)
        return f'{{"host": "{self.name}", "utc": [{real_ns}, {self.raw_ns(true_s)}, 500000, 40000], "tai_s": 37}}\n'

    def lines(self, since_s, until_s, dice):
        """What mpix_clock record writes for a record."""
        error_ns = dice.randrange(-HALF_NS // 2, HALF_NS // 2)
        yield (f'{{"host": "{self.name}", "raw": [{self.raw_ns(until_s)}, {until_s * NS + error_ns}, '
               f"{HALF_NS}]}}\n")
        change_s = until_s // CHANGE_S * CHANGE_S
        if change_s > max(since_s, 0):
            yield from self.looks(change_s - LOOK_S / 2, f", {BEND_NS}")
            yield from self.looks(change_s + LOOK_S / 2, "")
        if until_s % WRITTEN_S == 0:
            yield from self.looks(until_s, f", {BEND_NS}" if until_s > 0 else "")
            yield self.word(until_s)


def write_records(path, hosts, dice):
    with open(path, "w", encoding="ascii") as file:
        file.write(f'{{"mpix_clock_records": 1, "unix_ns": {UNIX_NS}, "rate_limit_ppb": 500000, '
                   '"wander_ppb_per_s": 100}\n')
        for host in hosts:
            file.write(f'{{"host": "{host.name}", "boot": "b", "look_ns": {int(LOOK_S * NS)}}}\n')
        for until_s in range(0, DURATION_S + 1, RECORD_S):
            for host in hosts:
                file.writelines(host.lines(until_s - RECORD_S, until_s, dice))


def write_rows(path, host, rows):
    first_ns, last_ns = host.monotonic_ns(0), host.monotonic_ns(DURATION_S)
    with open(path, "w", encoding="ascii") as file:
        file.write("event,time\n")  # MONOTONIC, in seconds
        for begin in range(0, rows, 100000):
            ats = (first_ns + (last_ns - first_ns) * row // rows for row in range(begin, min(begin + 100000, rows)))
            file.writelines(f"work,{at // NS}.{at % NS:09d}\n" for at in ats)


def convert(converter, records, host, path, output):
    """Seconds, and the greatest memory in MB."""
    began_s = time.monotonic()
    child = subprocess.Popen([converter, "-c", records, "--clock", "monotonic", "--column", "time",
                              f"{host.name}={path}", "-o", output])
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = status
    if status != 0:
        sys.exit(1)
    return time.monotonic() - began_s, usage.ru_maxrss / 1000


def check(path, host, rows):
    """How many times are off by more than their bound, and the greatest error."""
    outside, most_ns, count = 0, 0, 0
    with open(path, encoding="ascii") as file:
        next(file)
        for count, line in enumerate(file, 1):
            if count % SAMPLE:
                continue
            _, local, unix, bound, how = line.rstrip("\n").split(",")
            true_ns = round(host.true_s(int(local.replace(".", ""))) * 1e9)
            error_ns = abs(int(unix.replace(".", "")) - UNIX_NS - true_ns)
            outside += error_ns > int(bound) + 2 or how != ""  # true_s is a double
            most_ns = max(most_ns, error_ns)
    if count != rows or outside:
        print(f"{count} rows, not {rows}" if count != rows else f"{outside} times are outside of their bounds",
              file=sys.stderr)
        sys.exit(1)
    return most_ns


def main():
    converter, host_count, rows = (sys.argv[1:] + ["1000", "10000000"][len(sys.argv) - 2:])[:3]
    dice, rows = random.Random(1), int(rows)
    hosts = [Host(f"node{i:04d}", dice) for i in range(int(host_count))]
    with tempfile.TemporaryDirectory() as folder:
        records, none, table, output = (os.path.join(folder, name) for name in ("r.jsonl", "0.csv", "1.csv", "2.csv"))
        write_records(records, hosts, dice)
        write_rows(none, hosts[-1], 1)
        write_rows(table, hosts[-1], rows)
        opened_s, opened_mb = convert(converter, records, hosts[-1], none, output)
        took_s, took_mb = convert(converter, records, hosts[-1], table, output)
        most_ns = check(output, hosts[-1], rows)
        print(f"records of {len(hosts)} hosts: {os.path.getsize(records) / 1e6:.1f} MB, read in {opened_s:.2f} s, "
              f"{opened_mb:.0f} MB of memory")
        print(f"{rows} rows: {took_s - opened_s:.2f} s more, {rows / (took_s - opened_s) / 1e6:.2f} million a second, "
              f"{took_mb:.0f} MB of memory; greatest error of each {SAMPLE}th {most_ns} ns")


main()
