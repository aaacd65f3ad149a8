# SPDX-License-Identifier: BSD-3-Clause
"""Figures of latency over sizes, ranks and schemes, by mpix_bench."""
from base import Figure, algorithms, amount, calls_for, grouped, pretty, release_jobs, run


def compared_algorithms(operation):
    """Of Open MPI's reductions, those whose curves are drawn together."""
    if operation == "reduce" and run.mpi_library.startswith("Open MPI"):
        return amount(["library", "linear", "binomial"], ["library", "linear"])
    return algorithms(operation)


class LatencySizes(Figure):
    name, data_name, plot = "latency-sizes", "latency-sizes", "latency"
    title = "Latency over message sizes, after a barrier and harmonized"
    papers = "EuroMPI 2023, Figures 6a, 7a, 9a, 10a, 12a, 13a"
    look = ("Solid and dashed lines of one color are the same operation. If they differ, the dashed one includes the "
            "exit pattern of the barrier. If it crosses another color where the solid one does not, the barrier "
            "decides which algorithm seems to be the faster one.")
    needs = "mpix_bench"
    value_column = "avg_ns"

    def measure(self):
        options = f"-m {amount('4:65536', '4:64')} {calls_for(20, 5000, 0.3)}"
        for operation in ("bcast", "reduce", "allreduce"):
            for algorithm in compared_algorithms(operation):
                self.bench(run.ranks[-1], {"algorithm": algorithm},
                           release_jobs(f"{operation} {options}", "barrier", "harmonize"), {operation: algorithm})


class LatencyRatio(LatencySizes):
    name = "latency-ratio"
    title = "Latency after a barrier / harmonized"
    papers = "EuroMPI 2023, Figures 6b, 7b, 9b, 10b, 12b, 13b"
    look = ("Above 1, the barrier makes an operation look slower than it is; below 1, faster. For large messages the "
            "ratio approaches 1, because the exit pattern of the barrier is short beside them.")

    def table(self, rows):
        times = grouped((tuple(row[key] for key in ("operation", "algorithm", "size_bytes")),
                         (row["release"], float(row["avg_ns"]))) for row in rows if row["avg_ns"])
        table = []
        for (operation, algorithm, size), pairs in times.items():
            after = dict(pairs)
            if "barrier" in after and after.get("harmonize", 0) > 0:
                table.append({"operation": operation, "algorithm": pretty(algorithm), "size_bytes": size,
                              "ratio": f"{after['barrier'] / after['harmonize']:.5f}"})
        return table

    def tell(self, rows):
        ratios = grouped((row["operation"], float(row["ratio"])) for row in self.table(rows))
        for operation, values in ratios.items():
            yield f"{operation}: from {min(values):.2f} to {max(values):.2f}."


class LatencyRanks(Figure):
    name = "latency-ranks"
    title = "Latency over processes, 4 B, after a barrier and harmonized"
    papers = "EuroMPI 2023, Figures 8, 11, 14"
    look = ("Harmonized curves should grow smoothly. Those after a barrier go up and down with the shape of the "
            "barrier.")
    needs = "mpix_bench"
    value_column = "avg_ns"

    def measure(self):
        options = f"-m 4:4 {calls_for(20, 50000, 0.5)}"
        for ranks in run.ranks:
            self.bench(ranks, {"algorithm": "library"}, [
                job for operation in ("bcast", "reduce", "allreduce")
                for job in release_jobs(f"{operation} {options}", "barrier", "harmonize")])


class OsuRoundTime(Figure):
    name = "osu-round-time"
    title = "Latency of MPI_Allreduce, by the scheme of the OSU benchmarks and by Round-Time"
    papers = "Cluster 2018, Figure 9"
    look = ("If the two differ, the difference is the effect of the barrier. Bars from the minimum to the maximum of "
            "several launches show which scheme repeats better.")
    needs = "mpix_bench"

    def measure(self):
        options = f"allreduce -m {amount('4:4096', '4:16')} {calls_for(20, 5000, 0.3)}"
        for launch in range(1, amount(5, 2) + 1):
            self.bench(run.ranks[-1], {"run": launch}, release_jobs(options, "barrier", "round-time", "harmonize"))

    def table(self, rows):
        """Mean, minimum and maximum over the launches."""
        times = grouped(((row["release"], row["size_bytes"]), float(row["avg_ns"]) / 1000)
                        for row in rows if row["avg_ns"])
        return [{"release": release, "size_bytes": size, "mean_us": f"{sum(values) / len(values):.6g}",
                 "min_us": f"{min(values):.6g}", "max_us": f"{max(values):.6g}"}
                for (release, size), values in times.items()]
