# SPDX-License-Identifier: BSD-3-Clause
"""Maps of arrival patterns: a row for each operation and algorithm, a column for each pattern. Times are from the last
arrival to the last exit, means over runs."""
from math import log2

from base import amount, grouped, pretty, progress
from simulate import Simulated, simulated_algorithms


class SimulatedArrivals(Simulated):
    name = "simulated-arrivals"
    title = "Collective operations by algorithm and by arrival pattern, 4 B, simulated"
    papers = "after CLUSTER 2024, algorithm selection by process arrival patterns, where truth is known"
    look = ("Each column is an arrival pattern, on simulated hosts without noise. If the fastest algorithm of an "
            "operation differs between columns, the best choice depends on how processes arrive. Runs whose clocks "
            "drift and jitter differently find the same orders.")

    def measure(self):
        """With all shapes that need no number; with --quick, two."""
        self.prepare()
        shapes = amount("ascending last-late descending first-late half-late bell exponential random",
                        "ascending last-late").split()
        patterns = ",".join(f"{shape}:40" for shape in shapes)
        for operation in ("reduce", "allreduce", "bcast", "alltoall"):
            for algorithm in simulated_algorithms(operation):
                for number in range(1, amount(3, 1) + 1):
                    progress(f"{self.name}: {operation} {algorithm}, run {number}")
                    self.simulate(operation, algorithm, number,
                                  [f"{operation} -m 4:4 -i {amount(10, 8)} -x 2 --arrival {patterns}"])

    def times(self, rows, number=None):
        """Of all runs or of one: means by operation and algorithm, and by pattern."""
        cells = grouped(((row["operation"], row["algorithm"], row["arrival"].partition(":")[0]),
                         float(row["from_last_ns"])) for row in rows
                        if row["from_last_ns"] and number in (None, row["run"]))
        return {key: sum(values) / len(values) for key, values in cells.items()}

    def table(self, rows):
        times = self.times(rows)
        names = list(grouped((key[:2], None) for key in times))
        patterns = list(grouped((key[2], None) for key in times))
        table = [("column", x, 0, "", pattern) for x, pattern in enumerate(patterns, 1)]
        for y, (before, name) in zip(range(len(names), 0, -1), zip([names[0]] + names if names else [], names)):
            if before[0] != name[0]:
                table.append(("line", "", f"{y + 0.5:.1f}", "", ""))
            table.append(("row", 0, y, "", f"{name[0]} {pretty(name[1])}"))
            for x, pattern in enumerate(patterns, 1):
                if (*name, pattern) in times:
                    mine = times[(*name, pattern)]
                    least = min(times[key] for key in times if (key[0], key[2]) == (name[0], pattern))
                    table.append(("cell", x, y, f"{log2(mine / max(least, 1)):.4f}",
                                  f"{mine / 1000:.2f}" + (" ★" if mine == least else "")))
        return [dict(zip(("kind", "panel", "x", "y", "log2", "text"), (row[0], "", *row[1:]))) for row in table]

    def order(self, times, operation, pattern):
        """Algorithms by their times, joined by <. Those within 5 % of the first of them are joined by = and listed by
        name."""
        sets = []
        for time, name in sorted(((time, name) for (its, name, with_), time in times.items()
                                  if (its, with_) == (operation, pattern)), key=lambda pair: pair[0]):
            if not sets or time > 1.05 * sets[-1][0]:
                sets.append((time, []))
            sets[-1][1].append(pretty(name))
        return " < ".join(" = ".join(sorted(names)) for _, names in sets)

    def tell(self, rows):
        """The order of the algorithms with each pattern, and in how many runs it is the same."""
        times = self.times(rows)
        runs = [self.times(rows, number) for number in grouped((row["run"], None) for row in rows)]
        for operation in grouped((key[0], None) for key in times):
            for pattern in grouped((key[2], None) for key in times):
                text = self.order(times, operation, pattern)
                same = sum(self.order(own, operation, pattern) == text for own in runs)
                yield f"{operation}, {pattern}: {text} (in {same} of {len(runs)} runs)"
