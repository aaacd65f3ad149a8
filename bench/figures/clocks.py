# SPDX-License-Identifier: BSD-3-Clause
"""Figures of clocks and their synchronization, by mpix_clock."""
from statistics import median

from base import Figure, amount, at_least, grouped, read_file, run


def error_ns(row):
    return row.get("true_ns") or row["max_ns"]


class ClockCheck(Figure):
    needs = "mpix_clock"

    def check_clocks(self, ranks, algorithms, ages):
        """In several launches, a row for each algorithm and age: the time that the synchronization took, and errors."""
        for launch in range(1, amount(10, 2) + 1):
            self.collect(ranks, {"ranks": ranks, "run": launch}, "mpix_clock",
                         f"check --format csv --sync {algorithms} --ages-s {ages}")

    def values(self, rows, *figures):
        """Single launches, and their medians: figures are what each is called, what its median is, and its value."""
        single = [[name, name_of_median, row["sync"], row["ranks"], value(row)]
                  for name, name_of_median, value in figures for row in rows if value(row) != ""]
        medians = grouped(((name, sync, ranks), value) for _, name, sync, ranks, value in single)
        table = [(name, *key, value) for name, _, *key, value in single if name]
        table += [(*key, median(values)) for key, values in medians.items()]
        return [dict(zip(("what", "sync", "ranks", "value"), row)) for row in table]


class SyncDuration(ClockCheck):
    name, data_name, plot = "sync-duration", "sync", "sync"
    title = "Duration of clock synchronization over processes"
    papers = "EuroMPI 2023, Figure 15"
    look = ("Algorithms that are trees grow with the logarithm of the number of processes, those that visit one "
            "process after the other in proportion to it.")

    def measure(self):
        for ranks in run.ranks:
            if ranks > 1:
                self.check_clocks(ranks, amount("track,hca3o,hca3,jk", "track,hca3o"), 0)

    def table(self, rows):
        return self.values(rows, ("launch", "median", lambda row: float(row["took_ns"]) / 1e6))


class SyncAccuracy(SyncDuration):
    name = "sync-accuracy"
    title = "Error of the global clock just after synchronization, over processes"
    papers = "EuroMPI 2023, Figure 16"
    look = ("Errors should stay far below what a small collective operation takes. The bound that the library states "
            "must not be below them.")

    def table(self, rows):
        return self.values(rows, ("launch", "error", lambda row: at_least(error_ns(row), 1)),
                           ("", "bound", lambda row: row["bound_ns"] and float(row["bound_ns"])))


class AccuracyDuration(ClockCheck):
    name = "accuracy-duration"
    title = "Accuracy of the global clock against the duration of synchronization"
    papers = "Cluster 2018, Figures 3 to 6"
    look = ("Good algorithms are in the lower left corner, and stay there for some time after the synchronization, "
            "when a bad estimate of the drift shows.")
    value_column = "took_ns"

    def measure(self):
        self.check_clocks(run.ranks[-1], amount("track,skampi,jk,hca,hca2,hca3,hca3o,hca3+prop", "track,hca3o"),
                          amount("0,2", "0,0.1"))


class Drift(Figure):
    name = "drift"
    title = "Clocks of all ranks against those of rank 0"
    papers = "Cluster 2018, Figure 2"
    look = ("Clocks of different hosts drift apart by microseconds per second, along a straight line for seconds, but "
            "not for minutes. Ranks of one host share a clock, so only noise is left.")
    needs = "mpix_clock"

    def measure(self):
        ranks = run.ranks[-1]
        self.collect(ranks, {"measured": "raw"}, "mpix_clock", f"drift --format csv --duration-s {amount(60, 1)} "
                     f"--interval-s {amount(0.1, 0.02)} --raw {run.work}/raw")

    def rows(self):
        return read_file(f"{run.work}/raw")

    def table(self, rows):
        """Offsets minus the first, and their residuals from a line through all, of each clock and rank."""
        used, first, table = [row for row in rows if row["used"] == "1"], {}, []
        for row in used:
            offset_ns = float(row["offset_ns"])
            offset_ns -= first.setdefault((row["clock"], row["rank"]), offset_ns)
            table.append({"clock": row["clock"], "rank": row["rank"], "time_s": f"{float(row['time_ns']) / 1e9:.6g}",
                          "offset_ns": f"{offset_ns:.1f}", "residual_ns": row["residual_ns"]})
        return table
