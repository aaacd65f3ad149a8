# SPDX-License-Identifier: BSD-3-Clause
"""Runs a program in which one rank is late, and prints where the first sentence of mpix_trace_report is wrong. The exit
status is not 0 if the program does not run as it is to.

check_planted.py REPORT LAUNCH RANKS KIND STATE RANK MS SEED HOW [exact]
    REPORT: the program mpix_trace_report
    LAUNCH: the command that runs and traces planted; @TRACE@ stands for the folder
    STATE:  of the waits for the late rank, or nothing
    KIND, RANK, MS, SEED, HOW: see planted.c
    exact:  times are. The program runs without the delay, too: so long it has to take in the sentence, and then no
            sentence names a cause. Otherwise ranks are late by themselves, too, now and then: the gain is at least
            half of the time that the late rank measured, and one of three runs has to be right.

check_planted.py -    The same for the arguments in each line of standard input, quoted as for a shell. After what it
                      prints, there is a line "done".
"""
import csv
import os
import re
import shlex
import subprocess
import sys
import tempfile

UNITS_NS = {"s": 1e9, "ms": 1e6, "µs": 1e3, "ns": 1}
OFF = 0.1       # of the run without the delay: how far the predicted run time may be off
WORTH = 0.05    # of the run: what the delay has to cost


def said_ns(text):
    number, unit = text.split()
    return float(number) * UNITS_NS[unit]


class Run:
    """A traced run: when ranks were where, which one was late, and what the report says."""

    def __init__(self, folder, *without):
        os.mkdir(folder)
        command = shlex.split(launch.replace("@TRACE@", folder)) + [kind, late_rank, ms, seed, how, *without]
        ran = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        lines = [line.split() for line in ran.stdout.splitlines()]
        times = [[int(word) for word in line[1:]] for line in lines if line[:1] == ["ran"]]
        missing = re.search(r"Not yet implemented: P(MPI_\w+)|(diskless host)", ran.stderr)
        if missing:
            sys.exit(f"skip: the simulator has no {missing[1] or 'disk'}")
        if ran.returncode != 0 or len(times) != int(ranks):
            sys.exit(f"{shlex.join(command)} ends with {ran.returncode}:\n{ran.stdout}{ran.stderr}")
        # Between MPI_Init and MPI_Finalize, and with the one in which the delay is.
        begin, end = {"begin": (0, 2), "end": (1, 3)}.get(kind, (1, 2))
        self.ns = max(time[end] for time in times) - min(time[begin] for time in times)
        self.late = next((line[1:] for line in lines if line[:1] == ["late"]), None)
        answer = self.start_report(folder)
        waits = self.start_report(folder, "--format", "csv", "--show", "waits") if state and not without else None
        self.first = self.end_report(answer)[0]
        self.waited_ns = sum(int(wait["waited_ns"]) for wait in
                             csv.DictReader(line for line in self.end_report(waits) if not line.startswith("#"))
                             if wait["state"] == state) if waits else 0

    @staticmethod
    def start_report(*options):
        return subprocess.Popen([report, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    @staticmethod
    def end_report(process):
        said, complaints = process.communicate()
        if process.returncode != 0:
            sys.exit(f"{shlex.join(process.args)} ends with {process.returncode}:\n{complaints}")
        return said.splitlines()

    def names_the_late_rank(self):
        rank, _, *places = self.late
        after, before = place(*places[:3]), place(*places[3:])
        if kind == "begin":
            what = "begins late"
        elif kind == "in_call":
            what = f"is late in {after}"
        else:
            what = f"(ends late|computes too long between {after}.* and {before})"
        return re.match(f"Rank {rank} {what}", self.first)

    def gain_ns(self):
        said = re.search(r"would take ([\d.]+ \S+) instead of ([\d.]+ \S+)\.", self.first)
        return said_ns(said[2]) - said_ns(said[1]) if said else 0

    def more_ns(self, cost_ns):
        """By how much the late rank was later at this place than it was told to, as the report sees it."""
        late = re.search(r", by ([\d.]+ [^ ;]+)", self.first)
        return 0 if is_exact else max(0, said_ns(late[1]) - cost_ns)


def place(function, file, line):
    """As a program without lines of the source has it, too."""
    if function == "MPI_Finalize":
        return function
    return rf"{function} at (\S*{re.escape(os.path.basename(file))}:{line}\b|(?!\S*planted\w*\.c:))"


def problems(folder):
    run = Run(folder + "/with")
    if not run.late:
        sys.exit("no rank was late")
    cost_ns = int(run.late[1])
    if is_exact:
        without = Run(folder + "/without", "without")
        cost_ns = run.ns - without.ns
        if re.match(r"Rank \d|mpix_trace itself", without.first):
            yield f"without a delay: {without.first}"
    without_ns = run.ns - cost_ns
    less = OFF if is_exact else cost_ns / 2 / without_ns
    if cost_ns < WORTH * run.ns:
        yield f"the delay costs {cost_ns / 1e6:.1f} ms only"
    if not run.names_the_late_rank():
        yield f"late is {' '.join(run.late)}, not: {run.first}"
    elif not -less * without_ns < run.gain_ns() - cost_ns < OFF * without_ns + run.more_ns(cost_ns):
        yield f"it took {run.ns / 1e6:.1f} ms, and without the delay {without_ns / 1e6:.1f} ms: {run.first}"
    if state and run.waited_ns < cost_ns / 2:
        yield f"{run.waited_ns / 1e6:.1f} ms of {cost_ns / 1e6:.1f} ms are {state}"


def check():
    for _ in range(1 if is_exact else 3):
        with tempfile.TemporaryDirectory() as scratch:
            found = list(problems(scratch))
        if not found:
            break
    print("".join(f"{kind}: {line}\n" for line in found), end="")


def lines_of_arguments():
    """In a process of its own each, as what is wrong ends it."""
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            os.dup2(os.open(os.devnull, os.O_RDONLY), sys.stdin.fileno())
            os.dup2(sys.stdout.fileno(), sys.stderr.fileno())
            yield shlex.split(line)
            sys.exit()
        _, status = os.waitpid(child, 0)
        print("done" if status == 0 else f"the judge ends with {status}\ndone", flush=True)


for arguments in lines_of_arguments() if sys.argv[1:] == ["-"] else [sys.argv[1:]]:
    report, launch, ranks, kind, state, late_rank, ms, seed, how = arguments[:9]
    is_exact = arguments[9:] == ["exact"]
    check()
