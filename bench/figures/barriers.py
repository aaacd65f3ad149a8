# SPDX-License-Identifier: BSD-3-Clause
"""Figures of barriers: how far apart they leave processes, and what follows from that for what is measured next."""
from math import ceil, log2

from base import (Figure, algorithms, amount, at_least, barrier_label, calls_for, grouped, own_barrier_jobs, pretty,
                  read_file, release_jobs, run)
from simulate import Simulated


class BarrierSkew(Figure):
    name = "barrier-skew"
    title = "Exit skew of MPI_Barrier and MPIX_Harmonize"
    papers = "EuroMPI 2023, Figure 3"
    look = ("The skew of a barrier grows with the number of processes, and reaches what a small collective operation "
            "takes. The skew of MPIX_Harmonize stays near the time that it takes to read a clock.")
    needs = "mpix_skew"
    value_column = "p50_ns"

    def measure(self):
        for ranks in run.ranks:
            if ranks > 1:
                self.collect(ranks, {"ranks": ranks}, "mpix_skew",
                             f"--format csv -i {amount(200000, 2000)} --time-slice-s {amount(3, 0.3)}")

    def tell(self, rows):
        for ranks, own in grouped((row["ranks"], row) for row in rows).items():
            medians = {row["release"]: f"{row['p50_ns']} ns" for row in own if row["p50_ns"]}
            yield (f"{ranks} processes, median: MPI_Barrier {medians.get('barrier', 'no valid call')}, "
                   f"MPIX_Harmonize {medians.get('harmonize', 'no valid call')}.")


class AllreduceBarriers(Figure):
    name = "allreduce-barriers"
    title = "Latency of MPI_Allreduce after different barriers"
    papers = "Cluster 2018, Figure 7"
    look = ("All bars of one size measure the same operation. Only the barrier before it differs. There is none "
            "before the harmonized one.")
    needs = "mpix_bench"

    def measure(self):
        options = f"allreduce -m 4,8,16,64 {calls_for(20, 20000, 0.5)}"
        self.bench(run.ranks[-1], {"algorithm": "library", "source": "own"},
                   own_barrier_jobs(options) + release_jobs(options, "harmonize"))
        for barrier in algorithms("barrier"):
            self.bench(run.ranks[-1], {"algorithm": "library", "source": barrier}, release_jobs(options, "barrier"),
                       {"barrier": barrier})

    def table(self, rows):
        return [{"ranks": row["ranks"], "label": barrier_label(row), "size_bytes": row["size_bytes"],
                 "avg_us": f"{float(row['avg_ns']) / 1000:.6g}"} for row in rows if row["avg_ns"]]


class BarrierImbalance(Figure):
    name = "barrier-imbalance"
    title = "How far apart processes start what follows a synchronization"
    papers = "Cluster 2018, Figure 8"
    look = "A barrier with a low and flat box disturbs the next measurement little."
    needs = "mpix_bench"

    def rows(self):
        """After a synchronization, all ranks start as far apart as it leaves them, so raw times of starts are skews."""
        calls = grouped((tuple(row[name] for name in ("release", "barrier", "size_bytes", "call")), row)
                        for row in read_file(f"{run.work}/raw"))
        starts = {key: [int(row["start_ns"]) for row in rows] for key, rows in calls.items()
                  if all(row["mark"] == "valid" for row in rows)}
        return [dict(zip(("release", "barrier", "size_bytes", "call", "skew_ns"), (*key, max(times) - min(times))))
                for key, times in starts.items()]

    def measure(self):
        ranks, options = run.ranks[-1], f"bcast -m 4:4 {calls_for(20, 1000, 1)}"
        raw = f"--raw {run.work}/raw"
        self.bench(ranks, {"ranks": ranks, "source": "own"},
                   own_barrier_jobs(options) + release_jobs(options, "round-time", "harmonize"), options=raw)
        for barrier in algorithms("barrier"):
            self.bench(ranks, {"ranks": ranks, "source": barrier}, release_jobs(options, "barrier"),
                       {"barrier": barrier}, raw)

    def table(self, rows):
        skews = grouped((barrier_label(row), at_least(row["skew_ns"], 1)) for row in rows)
        return [{"label": label, **{f"p{percent}": f"{sorted(values)[ceil(percent * len(values) / 100) - 1]:.6g}"
                                    for percent in (5, 25, 50, 75, 95)}} for label, values in skews.items()]


# ---- Maps: a row for each reduction, a column for each barrier before it, and harmonized runs

METRICS = {"avg_ns": "mean of means", "makespan_ns": "makespan"}
HEADINGS = {"MPI": "MPI_Barrier", "own": "mpix_bench", "harmonized": "MPIX_Harmonize"}
WIDE = {"MPI": "algorithms of ", "own": "barriers of "}


class Cells:
    """Of the mean of means or of the makespan: by row and by group and column, times in us. Ratios are those to the
    mean of the harmonized runs of the row."""

    def __init__(self, rows, metric):
        self.cells, self.columns, self.metric = {}, {group: [] for group in HEADINGS}, metric
        for row in rows:
            if not row["avg_ns"]:
                continue
            group = "harmonized" if row["release"] == "harmonize" else "own" if row["source"] == "own" else "MPI"
            label = (f"run {row['run']}" if group == "harmonized" else
                     pretty(row["barrier" if group == "own" else "source"]))
            if label not in self.columns[group]:
                self.columns[group].append(label)
            times = self.cells.setdefault(row["algorithm"], {})
            if row.get(metric):
                times[group, label] = float(row[metric]) / 1000

    def times(self, row, harmonized):
        return [us for (group, _), us in self.cells[row].items() if (group == "harmonized") == harmonized]

    def range(self, row, harmonized):
        times = self.times(row, harmonized)
        return f"{max(times) / min(times):.2f}" if times and min(times) > 0 else "-"

    def base(self, row):
        runs = self.times(row, True)
        return sum(runs) / len(runs) if runs else min(self.times(row, False))

    def ratios(self, key):
        return [times[key] / self.base(row) for row, times in self.cells.items()
                if key in times and self.times(row, True)]


class Heatmap(Figure):
    plot = "heatmap"

    def panels(self, rows):
        panels = [Cells(rows, metric) for metric in METRICS]
        return [panel for panel in panels if any(panel.cells.values())]

    def harmless(self, panels):
        """Columns of barriers that no row is told from the harmonized ones by."""
        found = []
        for group in ("MPI", "own"):
            for label in panels[0].columns[group] if panels else ():
                ratios = [ratio for panel in panels for ratio in panel.ratios((group, label))]
                if ratios and all(0.95 <= ratio <= 1.05 for ratio in ratios):
                    found.append(f"{'MPI: ' if group == 'MPI' else ''}{label}")
        return "; ".join(found) or "none"

    def table(self, rows):
        """The cells and all that is written beside them."""
        panels = self.panels(rows)
        table, x = [], 0

        def put(kind, panel="", x="", y="", log2="", text=""):
            table.append({"kind": kind, "panel": panel, "x": x, "y": y, "log2": log2, "text": text})
        places = {}
        for group, labels in panels[0].columns.items() if panels else ():
            if not labels:
                continue
            put("heading", x=f"{x + (len(labels) + 1) / 2:g}",
                text=(WIDE.get(group, "") if len(labels) > 2 else "") + HEADINGS[group])
            for label in labels:
                places[group, label] = x = x + 1
                put("column", x=x, text=label)
            if group != "harmonized":
                put("line", x=x + 0.5)
        if panels:
            put("harmless", text=self.harmless(panels))
        for number, panel in enumerate(panels, 1):
            for y, (row, times) in zip(range(len(panel.cells), 0, -1), panel.cells.items()):
                put("row", number, y=y, text=pretty(row))
                put("barriers", number, y=y, text=panel.range(row, False))
                put("harmonized", number, y=y, text=panel.range(row, True))
                for key, us in sorted(times.items(), key=lambda cell: places[cell[0]]):
                    ratio = log2(us / panel.base(row))
                    arrow = " ▲" if ratio > 3 else " ▼" if ratio < -3 else ""
                    put("cell", number, places[key], y, f"{ratio:.4f}",
                        f"{us:.{2 if us < 10 else 1 if us < 100 else 0}f}{arrow}")
            put("base", number, text="harmonized" if any(panel.times(row, True) for row in panel.cells) else
                "minimum of the row")
        return table

    def tell(self, rows):
        panels = self.panels(rows)
        for panel in panels:
            for row in panel.cells:
                after, runs = panel.times(row, False), panel.times(row, True)
                text = (f"{min(runs):.2f} to {max(runs):.2f} us harmonized ({panel.range(row, True)} times in "
                        f"{len(runs)} runs)." if runs else "harmonized without a valid sample.")
                barriers = (f"{min(after):.2f} to {max(after):.2f} us after barriers ({panel.range(row, False)} times)"
                            if after else "no time after a barrier")
                yield f"{pretty(row)}, {METRICS[panel.metric]}: {barriers}, {text}"
        yield f"Barriers after which each latency is within 5 % of the harmonized one: {self.harmless(panels)}."


class ReduceHeatmap(Heatmap):
    name = "reduce-heatmap"
    title = "Reported latency of MPI_Reduce, 4 B, by reduction and by barrier before it"
    papers = "EuroMPI 2023, Figure 2"
    look = ("Within a row the operation is the same: any color is distortion caused by the barrier before it. A "
            "column whose colors differ from row to row changes the order of the algorithms. Arrows mark values off "
            "the scale.")
    needs = "mpix_bench"

    def measure(self):
        """The first launches for an algorithm are harmonized, too, to see how far repeated runs agree."""
        ranks, options = run.ranks[-1], f"reduce -m 4:4 {calls_for(20, 50000, 0.5)}"
        for reduce in algorithms("reduce"):
            self.bench(ranks, {"algorithm": reduce, "run": 1, "source": "own"},
                       own_barrier_jobs(options) + release_jobs(options, "harmonize"), {"reduce": reduce})
            for number, barrier in enumerate(algorithms("barrier"), 2):
                schemes = ["barrier", "harmonize"] if number <= 3 else ["barrier"]
                self.bench(ranks, {"algorithm": reduce, "run": number, "source": barrier},
                           release_jobs(options, *schemes), {"reduce": reduce, "barrier": barrier})


class SimulatedHeatmap(Simulated, Heatmap):
    name = "simulated-heatmap"
    title = "Reported latency of MPI_Reduce, 4 B, simulated"
    papers = "EuroMPI 2023, Figure 2, where truth is known"
    look = ("As in reduce-heatmap, on simulated hosts without noise. The harmonized columns are repeated runs on "
            "clocks that differ from run to run, and agree.")

    def measure(self):
        """The simulator's own barriers repeat those of mpix_bench, digit for digit."""
        self.prepare()
        options = f"reduce -m 4:4 -i {amount(50, 10)} -x 5"
        for reduce in amount("ompi_basic_linear ompi_chain ompi_binary ompi_binomial ompi_in_order_binary",
                             "ompi_binomial").split():
            self.simulate("reduce", reduce, 1, own_barrier_jobs(options, "doublering bruck"))
            for seed in range(1, amount(3, 2) + 1):
                self.simulate("reduce", reduce, seed, release_jobs(options, "harmonize"))
