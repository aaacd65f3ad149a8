# SPDX-License-Identifier: BSD-3-Clause
"""What a choice of algorithm loses."""
from base import amount, grouped, pretty, progress
from simulate import Simulated, simulated_algorithms


class TuningRegret(Simulated):
    name = "tuning-regret"
    title = "What a choice of algorithm loses, by how it was measured, simulated"
    papers = "after EuroMPI 2023, for the choice of algorithms, where truth is known"
    look = ("A choice loses nothing if it takes the fastest algorithm. Truth is the time on clocks without an error. "
            "The mean over ranks after a barrier, which is what most benchmarks report, hides the ranks that finish "
            "last. Harmonized starts choose what is fastest if ranks come together. If they come as an arrival "
            "pattern has it, what counts is the time from the last arrival to the last exit, and the choice has to be "
            "made by measuring with this pattern.")

    def measure(self):
        """Run 0 is the truth. Ranks of an application come apart by 40 us."""
        self.prepare()
        options = f"-m {amount('8,1K,16K,128K', '8,1K')} -i 3 -x 1"
        patterns = amount("last-late:40,ascending:40,bell:40", "last-late:40")
        for operation in amount(["allreduce", "bcast", "reduce"], ["allreduce"]):
            for algorithm in simulated_algorithms(operation):
                for number in range(amount(3, 1) + 1):
                    progress(f"{self.name}: {operation} {algorithm}, run {number}")
                    schemes = ["harmonize", "barrier"] if number else ["harmonize"]
                    self.simulate(operation, algorithm, number,
                                  [f"{operation} {options} --release {scheme}" for scheme in schemes]
                                  + [f"{operation} {options} --arrival {patterns}"], number == 0)

    def table(self, rows):
        """For each way, size, pattern and run: the algorithm that seems the fastest, and how much slower than the
        fastest it is in truth."""
        truth, seen = {}, {}
        patterns = list(grouped((self.pattern_of(row), None) for row in rows if row["run"] == "0"))
        for row in rows:
            if not row["avg_ns"]:
                continue
            case, pattern = (row["operation"], row["size_bytes"]), self.pattern_of(row)
            time_ns = float(row["from_last_ns" if pattern else "median_ns"])
            if row["run"] == "0":
                truth.setdefault((*case, pattern), {})[row["algorithm"]] = time_ns
                continue
            if row["release"] == "barrier":
                ways = [("after a barrier", "", time_ns), ("by the mean over ranks", "", float(row["avg_ns"]))]
            elif pattern:
                ways = [("with its arrivals", pattern, time_ns)]
            else:
                ways = [("harmonized for arrivals" if its else "harmonized", its, time_ns) for its in patterns]
            for way, its, seems_ns in ways:
                seen.setdefault((*case, its, way, row["run"]), []).append((seems_ns, row["algorithm"]))
        table = []
        for (operation, size, pattern, way, number), times in seen.items():
            true = truth.get((operation, size, pattern), {})
            chosen = min(times, key=lambda pair: pair[0])[1]
            if true and min(true.values()) > 0:
                fastest = min(true, key=true.get)
                table.append({"operation": operation, "size_bytes": size, "arrival": pattern, "way": way, "run": number,
                              "algorithm": pretty(chosen), "fastest": pretty(fastest),
                              "lost_percent": f"{100 * (true[chosen] / true[fastest] - 1):.3f}"})
        return table

    def pattern_of(self, row):
        """Empty if ranks come together."""
        return row["arrival"] if row["release"] == "harmonize" and row["arrival"] != "together" else ""

    def tell(self, rows):
        for way, lost in grouped((row["way"], float(row["lost_percent"])) for row in self.table(rows)).items():
            yield (f"{way}: {sum(percent >= 0.5 for percent in lost)} of {len(lost)} choices are not the fastest; "
                   f"lost {sum(lost) / len(lost):.1f} % on average, at most {max(lost):.1f} %.")
