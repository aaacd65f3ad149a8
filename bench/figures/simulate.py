# SPDX-License-Identifier: BSD-3-Clause
"""mpix_bench in the simulator, for figures of it. The way to the simulator is that of the tests."""
import glob
import os
import re
import subprocess

from base import FAILED, Failed, Figure, amount, complain, note, progress, read_csv, run, supervise

# What mpix_bench says that ends before all of its rows are written.
ENDED_EARLY = re.compile(r"mpix_bench: (cannot write |rank \d+: |\w+ failed on rank \d+: )")


def simgrid_words(*words):
    """What runs a function of simgrid.sh."""
    return ["bash", "-c", f'. "{run.sources}/test/simulation/simgrid.sh" && "$@"', "bash", *map(str, words)]


def simgrid_says(*words):
    return subprocess.run(simgrid_words(*words), stdout=subprocess.PIPE, check=False).stdout.decode().strip()


def simulated_algorithms(operation):
    """Algorithms of the simulator's MPI; with --quick the first two."""
    return {"reduce": "ompi_chain ompi_binomial ompi_basic_linear ompi_binary ompi_in_order_binary",
            "allreduce": "rdb redbcast rab1 lr",
            "bcast": "binomial_tree flattree ompi_pipeline scatter_LR_allgather",
            "alltoall": "bruck pair ring"}[operation].split()[:amount(None, 2)]


class Simulated(Figure):
    library = "SimGrid SMPI, 16 processes a host"

    def problems(self):
        yield simgrid_says("simgrid_problem")
        yield "it needs 2 ranks, --ranks gives fewer" if run.ranks == 1 else None

    def prepare(self):
        """Builds the simulation, if none is newer than the sources, and describes hosts."""
        self.ranks, self.is_doubtful = run.ranks or amount(128, 32), False
        simgrid_says("simgrid_platform", run.work, self.ranks)
        folder = os.path.abspath(run.build_dir or f"{run.work}/build")
        os.makedirs(folder, exist_ok=True)
        self.simulation = f"{folder}/mpix_bench_simulated"
        sources = [path for part in ("lib", "include", "common", "bench", "test")
                   for path in glob.glob(f"{run.sources}/{part}/**/*.[ch]", recursive=True)]
        if os.path.exists(self.simulation) and \
                os.path.getmtime(self.simulation) >= max(map(os.path.getmtime, sources)):
            return
        progress(f"{self.name}: building mpix_bench for the simulator")
        suite = [path[len(run.sources) + 1:] for path in sources if "/bench/suite/" in path and path.endswith(".c")]
        bench = [path for path in suite if not re.search("skew|mpix_osu", path)]    # without the other programs
        words = simgrid_words("simgrid_build", run.sources, self.simulation, "test/simulation/clock_simulated.c",
                              "common/cli", "common/mpi", "common/arrival",
                              *(f"common/results/{name}.c" for name in ("result_files", "schema", "table")),
                              *bench)
        if supervise(words) != 0:
            raise Failed("mpix_bench does not build for the simulator")

    def simulate(self, operation, algorithm, seed, jobs, exact_clocks=False):
        """Simulates mpix_bench, with this algorithm of the simulator's MPI, and keeps its rows. It exits with 1 where a
        row has no figures, or doubtful ones, of which it tells; what else there is, is kept. It exits with 1 also where
        it ended before all rows."""
        clock = "exact=n0,spread=0,walk=0,jitter=0,seed=1" if exact_clocks else simgrid_says("simgrid_clock", seed)
        with open(f"{run.work}/jobs", "w") as file:
            file.write("\n".join(jobs) + "\n")
        note(f"$ ({operation} {algorithm}, seed {seed}) mpix_bench", "; ".join(jobs))
        place = os.path.getsize(run.log)
        words = simgrid_words("simgrid_run", run.work, self.ranks, "--log=root.thres:critical",
                              "--cfg=smpi/barrier:ompi_bruck", f"--cfg=smpi/{operation}:{algorithm}",
                              self.simulation, "--format", "csv", "--jobs", f"{run.work}/jobs")
        with open(f"{run.work}/out", "w+") as out:
            status = supervise(words, out, {"MPIX_HARMONIZE_CLOCK": "simulated", "MH_SIMULATED_CLOCK": clock})
            out.seek(0) # smpirun adds lines of its own
            rows = read_csv(line for line in out
                            if line[0].isalpha() and "," in line and " " not in line.split(",")[0])
        with open(run.log, errors="replace") as log:
            log.seek(place)
            said = [line.strip() for line in log if line.startswith("mpix_bench: ")]
        if status > FAILED or not rows or (status == FAILED and any(map(ENDED_EARLY.match, said))):
            raise Failed(f"mpix_bench simulated with {operation} {algorithm} failed, exit status {status}")
        if status == FAILED and not self.is_doubtful:
            self.is_doubtful = True
            complain(f"{self.name}: not all rows have figures, or good ones: {(said or [f'see {run.log}'])[-1]}")
        self.data += [{"algorithm": algorithm, "run": seed, **row} for row in rows]
