#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The figures of OSU's programs, of IMB's and of mpix_osu side by side, as a table in Markdown.

Programs of one operation are launched one after the other, in another order in each round, with as many calls and the
same sizes. Of all rounds the best figure counts, so that what else runs on the machine counts little. mpix_osu releases
processes as OSU does: by MPI_Barrier before collective calls, and not at all between pairs; the last column has it by
MPI_Barrier there, too. Nothing else should run meanwhile.
"""
import argparse
import os
import random
import shlex
import subprocess
import sys

SIZES = (8, 1024, 65536)
TIMEOUT_S = 120
MANY = ["-b", "multiple"]  # as MPI wants it, and mpix_osu

# Of each operation: what mpix_osu is asked for, and by how much it is divided to be in OSU's unit; IMB's program,
# benchmark and column; and what both OSU and mpix_osu are given besides.
OPERATIONS = {
    "latency": ("latency_ns", 1e3, "IMB-MPI1", "PingPong", "t[usec]", []),
    "bw": ("mb_per_s", 1, "IMB-MPI1", "Uniband", "Mbytes/sec", MANY),
    "bibw": ("mb_per_s", 1, "IMB-MPI1", "Biband", "Mbytes/sec", MANY),
    "mbw_mr": ("mb_per_s", 1, "IMB-MPI1", "Uniband", "Mbytes/sec", MANY),
    "put_latency": ("latency_ns", 1e3, "IMB-RMA", "Unidir_put", "t[usec]", []),
    "get_bw": ("mb_per_s", 1, "IMB-RMA", "Unidir_get", "Mbytes/sec", []),
    "allreduce": ("avg_ns", 1e3, "IMB-MPI1", "Allreduce", "t_avg[usec]", ["-T", "mpi_float"]),
    "bcast": ("avg_ns", 1e3, "IMB-MPI1", "Bcast", "t_avg[usec]", []),
    "alltoall": ("avg_ns", 1e3, "IMB-MPI1", "Alltoall", "t_avg[usec]", []),
}


COLLECTIVE = ("allreduce", "bcast", "alltoall")  # before each call of which OSU has MPI_Barrier


def is_rate(operation):
    return OPERATIONS[operation][0] == "mb_per_s"


def find_programs(folder, prefix):
    """The programs in a folder and those below it, by name."""
    return {name: os.path.join(place, name) for place, _, names in os.walk(folder or "") for name in names
            if name.startswith(prefix) and os.access(os.path.join(place, name), os.X_OK)}


def read_table(lines, title, column):
    """By sizes, the best number in a column of tables whose titles begin with a word."""
    place, found = None, {}
    for words in (line.split() for line in lines):
        if words and words[0] == title:
            place = words.index(column) if column in words else None
        elif place is not None and len(words) > place and words[0].isdigit():
            found.setdefault(int(words[0]), []).append(float(words[place]))
    return found


def read_osu(text, _operation):
    rows = (line.split() for line in text.splitlines() if line[:1].isdigit())
    return {int(words[0]): float(words[1]) for words in rows}


def read_own(text, operation):
    column, divisor = OPERATIONS[operation][:2]
    rows = [line.split(",") for line in text.splitlines() if line and line[0] != "#"]
    if not rows or column not in rows[0]:
        return {}
    size, place = rows[0].index("size_bytes"), rows[0].index(column)
    return {int(row[size]): float(row[place]) / divisor for row in rows[1:] if row[place]}


def read_imb(text, operation):
    """IMB's accesses one by one come before those of many at once, of which bandwidths are."""
    column = OPERATIONS[operation][4]
    found = read_table(text.splitlines(), "#bytes", column)
    return {size: values[-1 if is_rate(operation) else 0] for size, values in found.items()}


def commands(settings, operation):
    """Programs that there are: a name, its words, and what reads its output."""
    _, _, imb, benchmark, _, extra = OPERATIONS[operation]
    usual = ["-m", f"{SIZES[0]}:{SIZES[-1]}", "-i", str(settings.calls), "-x", str(settings.calls // 5), *extra]
    if f"osu_{operation}" in settings.osu:
        yield "OSU", [settings.osu[f"osu_{operation}"], *usual], read_osu
    if imb in settings.imb:
        logs = [f"{size.bit_length() - 1}" for size in (SIZES[0], SIZES[-1])]
        yield "IMB", [settings.imb[imb], benchmark, "-npmin", "2", "-msglog", ":".join(logs), "-iter",
                      str(settings.calls), "-iter_policy", "off"], read_imb
    own = [settings.bench, operation, *usual, "--format", "csv", "--release"]
    if operation not in COLLECTIVE:
        yield "mpix_osu", [*own, "none"], read_own
    yield "mpix_osu" if operation in COLLECTIVE else "barrier", [*own, "barrier"], read_own


def measure(settings, operation):
    """By program and size, the best figure of all rounds."""
    best, better = {}, max if is_rate(operation) else min
    for _ in range(settings.rounds):
        programs = list(commands(settings, operation))
        random.shuffle(programs)
        for name, words, read in programs:
            try:
                ended = subprocess.run([*settings.launcher, *words], capture_output=True, text=True, timeout=TIMEOUT_S,
                                       stdin=subprocess.DEVNULL)
            except (OSError, subprocess.TimeoutExpired) as error:
                sys.exit(f"side_by_side.py: {error}")
            figures = read(ended.stdout, operation)
            if not figures:
                sys.exit(f"side_by_side.py: no figures of {name} in what this prints: {shlex.join(words)}\n"
                         f"{ended.stderr}")
            for size, figure in figures.items():
                best[name, size] = better(figure, best.get((name, size), figure))
    return best


def show(operation, best):
    for size in SIZES:
        osu, imb, own, barrier = (best.get((name, size)) for name in ("OSU", "IMB", "mpix_osu", "barrier"))
        figures = ["" if value is None else f"{value:.4g}" for value in (osu, imb, own)]
        figures += ["" if not value or not own else f"{own / value:.2f}" for value in (osu, imb)]
        figures += ["" if barrier is None else f"{barrier:.4g}"]
        print(f"| {operation} ({'MB/s' if is_rate(operation) else 'us'}) | {size:,} | {' | '.join(figures)} |",
              flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--osu", metavar="FOLDER", help="where OSU's programs are, in it or below it")
    parser.add_argument("--imb", metavar="FOLDER", help="likewise IMB-MPI1 and IMB-RMA")
    parser.add_argument("--bench", metavar="PROGRAM", default="bin/mpix_osu", help="mpix_osu (%(default)s)")
    parser.add_argument("--launcher", default="mpiexec --bind-to core -n 2",
                        help="what starts two processes (%(default)s)")
    parser.add_argument("--rounds", type=int, default=10, help="launches of each program (%(default)s)")
    parser.add_argument("--calls", type=int, default=1000, help="of each size in a launch (%(default)s)")
    parser.add_argument("operations", nargs="*", metavar="OPERATION", help="of " + ", ".join(OPERATIONS))
    settings = parser.parse_args()
    unknown = [name for name in settings.operations if name not in OPERATIONS]
    if unknown or settings.rounds < 1 or settings.calls < 1:
        parser.error(f"{unknown[0]} is unknown" if unknown else "there is no round, or no call")
    settings.launcher = shlex.split(settings.launcher)
    settings.osu = find_programs(settings.osu, "osu_")
    settings.imb = find_programs(settings.imb, "IMB-")
    print("| operation | bytes | OSU | IMB | mpix_osu | mpix_osu / OSU | mpix_osu / IMB | after MPI_Barrier |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    for operation in settings.operations or OPERATIONS:
        show(operation, measure(settings, operation))


main()
