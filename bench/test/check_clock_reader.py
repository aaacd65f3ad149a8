# SPDX-License-Identifier: BSD-3-Clause
"""check_clock_reader.py CONVERTER FOLDER: the module mpix_clock_reader says to the nanosecond what mpix_clock_convert
says, of files of clock records of any kind: with clocks that were set, gaps, suspended hosts, torn ends, several jobs.
What both say of MONOTONIC_RAW is true within the bound.

Prints what differs. FOLDER is for files. The environment variable MH_SEED replaces the seed.
"""

import os
import random
import subprocess
import sys

import mpix_clock_reader

converter, folder = sys.argv[1:]
seed = int(os.environ.get("MH_SEED") or 20261129)
rounds = 12 * int(os.environ.get("MH_ROUNDS") or 1)
NS = 10**9
UNIX_NS = 1700000000 * NS


class Suspends:
    """Of a host, for 3 s each: half of the hosts have none."""

    def __init__(self, dice):
        self.ats = []
        while len(self.ats) < 12 and (self.ats or dice.random() < 0.5):
            self.ats.append((self.ats or [0])[-1] + dice.randrange(20 * NS, 200 * NS))

    def asleep_ns(self, awake_ns):
        return 3 * NS * sum(at < awake_ns for at in self.ats)


def write_records(path, dice, hosts, shift_ns, begin_ns, suspends, has_boottime):
    """Clocks whose readings are near lines, and now and then not. Returns their readings by host and clock, and true
    times of MONOTONIC_RAW."""
    readings, truth = {}, {}
    with open(path, "w", encoding="utf-8") as file:
        file.write(f'{{"mpix_clock_records": 1, "unix_ns": {UNIX_NS}, "rate_limit_ppb": 500000, '
                   '"wander_ppb_per_s": 100, "note": "for people"}\n')
        for host in hosts:
            look_ns = dice.choice((50000000, 400000000))
            file.write(f'{{"host": "{host}", "boot": "boot of {host}", "look_ns": {look_ns}}}\n')
        for host in hosts:
            start, drift = random.Random(host).randrange(10**14), random.Random(host + "d").uniform(-3e-5, 3e-5)
            at, set_ns, rate = begin_ns, 0, 1.0
            for _ in range(dice.randrange(1, 60)):
                at += dice.choice((dice.randrange(10**7, NS), 5 * NS))
                asleep = suspends[host].asleep_ns(at)
                raw = start + int(at * (1 + drift))
                if dice.random() < 0.4:
                    half = dice.randrange(100, 10**4)
                    file.write(f'{{"host": "{host}", "raw": [{raw}, {at + asleep + shift_ns}, {half}]}}\n')
                    readings.setdefault((host, "monotonic_raw"), []).append(raw)
                    truth[host, raw] = at + asleep
                set_ns += dice.choice((0,) * 12 + (-NS // 4, NS // 3, 2000, -2000))
                rate += dice.choice((0, 0, 0, 5e-4, -3e-4))
                clocks = [("monotonic", int(raw * rate)), ("tai", int(raw * rate) + UNIX_NS + set_ns),
                          ("counter", int(raw * 2.7))]
                if has_boottime:
                    clocks.append(("boottime", int(raw * rate) + asleep))
                for clock, value in clocks:
                    bend = f", {dice.randrange(0, 300)}" if dice.random() < 0.5 else ""
                    file.write(f'{{"host": "{host}", "{clock}": [{value}, {raw}, {dice.randrange(10, 60)}{bend}]}}\n')
                    readings.setdefault((host, clock), []).append(value)
                if dice.random() < 0.1:  # twice within one step of MONOTONIC_RAW
                    file.write(f'{{"host": "{host}", "monotonic": [{int(raw * rate) + 80}, {raw}, 60]}}\n')
                    readings[host, "monotonic"].extend((int(raw * rate) + 40, int(raw * rate) + 80))
        file.write(dice.choice(("", '{"host": "h1", "raw": [12', "\n")))
    return readings, truth


def rows_of(files, host, clock, values):
    """What the converter says: Unix time, bound, how. The module's, too, or what each refuses."""
    path = os.path.join(folder, "readings.csv")
    with open(path, "w", encoding="utf-8") as file:
        file.write("t\n" + "".join(f"{value}\n" for value in values))
    # The converter refuses times that are far from the records, which is not the reader's business.
    options = [option for file in files for option in ("-c", file)]
    ran = subprocess.run([converter, *options, "--clock", clock, "--unit", "ns", f"{host}={path}"], check=False,
                         capture_output=True, text=True)
    if ran.returncode:
        return "refused: " + ran.stderr.strip()
    rows = [line.split(",")[1:] for line in ran.stdout.splitlines()[1:]]
    return [(int(time.replace(".", "")), int(bound), how) for time, bound, how in rows]


def module_rows(files, host, clock, values):
    try:
        times = mpix_clock_reader.open_records(*files).convert(host, clock, values)
    except ValueError as error:
        return f"refused: {error}"
    return list(zip(times.unix_ns, times.bound_ns, times.how))


def main():
    compared = joined = 0
    seen = set()
    for number in range(rounds):
        dice = random.Random(seed + number)
        files = [os.path.join(folder, f"{name}.jsonl") for name in ("first", "second", "third")][:number % 3 + 1]
        # One; two at one time; three, of which the last one is between the others.
        begins = ((0,), (0, 0), (0, 700 * NS, 350 * NS))[number % 3]
        readings, truth = {}, {}
        suspends = {host: Suspends(dice) for host in ("h1", "h2", "h3")}
        has_boottime = dice.random() < 0.8
        for file, begin_ns, hosts, shift_ns in zip(files, begins, (["h1", "h2"], ["h2", "h3"], ["h3", "h1", "h2"]),
                                                   (0, 7 * NS, 9 * NS)):
            known, known_truth = write_records(file, dice, hosts, shift_ns, begin_ns, suspends, has_boottime)
            for what, values in known.items():
                readings.setdefault(what, []).extend(values)
            truth.update(known_truth)
        files[1:] = dice.sample(files[1:], len(files) - 1)
        for (host, clock), known in readings.items():
            span = max(known) - min(known) + NS
            values = [dice.randrange(min(known) - span // 4, max(known) + span // 4) for _ in range(200)] + known
            theirs, mine = rows_of(files, host, clock, values), module_rows(files, host, clock, values)
            if isinstance(theirs, str) or isinstance(mine, str):
                if isinstance(theirs, str) != isinstance(mine, str):
                    print(f"seed {seed + number}: {host} {clock}: {theirs if isinstance(theirs, str) else mine}")
                continue
            for value, one, other in zip(values, theirs, mine):
                compared += 1
                joined += len(files) > 1
                seen.add(one[2])
                # Without BOOTTIME nobody knows whether a host was suspended between the files.
                true_ns = truth.get((host, value)) if clock == "monotonic_raw" else None
                if true_ns is not None and has_boottime and abs(one[0] - UNIX_NS - true_ns) > one[1]:
                    print(f"seed {seed + number}: {host} at {value} is off by {one[0] - UNIX_NS - true_ns} ns, "
                          f"bound {one[1]} ns")
                if one != other:
                    print(f"seed {seed + number}: {host} {clock} {value}: mpix_clock_convert says {one}, "
                          f"the module says {other}")
    if compared < 1000 or joined < 1000 or len(seen) < 3:
        print(f"only {compared} times were compared, {joined} of joined files, which were {sorted(seen)}")


main()
