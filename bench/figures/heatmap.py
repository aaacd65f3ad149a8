# SPDX-License-Identifier: BSD-3-Clause
"""Maps of what barriers make of what is measured next: a row for each reduction, a column for each barrier before it,
and harmonized runs."""
from math import log2

from base import amount, pretty
from simulate import Simulated

METRICS = {"avg_ns": "mean of means", "makespan_ns": "makespan"}
HEADINGS = {"barrier": "mpix_bench", "harmonize": "MPIX_Harmonize"}


class Cells:
    """Of the mean of means or of the makespan: by row and by group and column, times in us. Groups are schemes. Ratios
    are those to the mean of the harmonized runs of the row."""

    def __init__(self, rows, metric):
        self.cells, self.columns, self.metric = {}, {group: [] for group in HEADINGS}, metric
        for row in rows:
            if not row["avg_ns"]:
                continue
            group = row["release"]
            label = pretty(row["barrier"]) if group == "barrier" else f"run {row['run']}"
            if label not in self.columns[group]:
                self.columns[group].append(label)
            times = self.cells.setdefault(row["algorithm"], {})
            if row.get(metric):
                times[group, label] = float(row[metric]) / 1000

    def times(self, row, harmonized):
        return [us for (group, _), us in self.cells[row].items() if (group == "harmonize") == harmonized]

    def range(self, row, harmonized):
        times = self.times(row, harmonized)
        return f"{max(times) / min(times):.2f}" if times and min(times) > 0 else "-"

    def base(self, row):
        runs = self.times(row, True)
        return sum(runs) / len(runs) if runs else min(self.times(row, False))

    def ratios(self, key):
        return [times[key] / self.base(row) for row, times in self.cells.items()
                if key in times and self.times(row, True)]


class SimulatedHeatmap(Simulated):
    name = "simulated-heatmap"
    title = "Reported latency of MPI_Reduce, 4 B, simulated"
    papers = "EuroMPI 2023, Figure 2, where truth is known"
    look = ("Within a row the operation is the same, on simulated hosts without noise: any color is distortion caused "
            "by the barrier before it. A column whose colors differ from row to row changes the order of the "
            "algorithms. Arrows mark values off the scale. The harmonized columns are repeated runs on clocks that "
            "differ from run to run, and agree.")

    def measure(self):
        """The simulator's own barriers repeat those of mpix_bench, digit for digit."""
        self.prepare()
        options = f"reduce -m 4:4 -i {amount(50, 10)} -x 5"
        barriers = amount("linear tree binomial doublering recursivedoubling bruck", "doublering bruck").split()
        for reduce in amount("ompi_basic_linear ompi_chain ompi_binary ompi_binomial ompi_in_order_binary",
                             "ompi_binomial").split():
            self.simulate("reduce", reduce, 1,
                          [f"{options} --release barrier --barrier {barrier}" for barrier in barriers])
            for seed in range(1, amount(3, 2) + 1):
                self.simulate("reduce", reduce, seed, [f"{options} --release harmonize"])

    def panels(self, rows):
        panels = [Cells(rows, metric) for metric in METRICS]
        return [panel for panel in panels if any(panel.cells.values())]

    def harmless(self, panels):
        """Columns of barriers that no row is told from the harmonized ones by."""
        found = []
        for label in panels[0].columns["barrier"] if panels else ():
            ratios = [ratio for panel in panels for ratio in panel.ratios(("barrier", label))]
            if ratios and all(0.95 <= ratio <= 1.05 for ratio in ratios):
                found.append(label)
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
                text=("barriers of " if group == "barrier" and len(labels) > 2 else "") + HEADINGS[group])
            for label in labels:
                places[group, label] = x = x + 1
                put("column", x=x, text=label)
            if group == "barrier":
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
