# SPDX-License-Identifier: BSD-3-Clause
"""What figures have in common: launches of the programs, algorithms of the MPI library, rows of CSV, and drawing."""
import contextlib
import csv
import fnmatch
import functools
import io
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

FAILED, BAD_OPTION, CANNOT = 1, 2, 3
# A launch that takes longer than this hangs.
MAX_SECONDS = 900

# What mpix_figures knows of the machine and was told by options.
run = SimpleNamespace(output="figures", ranks=None, quick=False, plot_only=False, trace="", format="png,svg",
                      build_dir="", measured=set(), processors=len(os.sched_getaffinity(0)))


class Failed(Exception):
    """A measurement or a chart."""


class Cannot(Exception):
    """A figure that this machine cannot make."""


def say(text):
    """On standard output. Returns whether that could be written."""
    try:
        os.write(1, f"{text}\n".encode())
        return True
    except OSError:
        complain("cannot write the results to standard output")
        return False


def progress(text):
    """On a terminal one line is written over and over."""
    if sys.stderr.isatty():
        print(f"\r{text:78.78}", end="", file=sys.stderr, flush=True)


def complain(text):
    if sys.stderr.isatty():
        print(f"\r{'':78}\r", end="", file=sys.stderr)
    print(f"{run.program}: {text}", file=sys.stderr)


def note(*words):
    """In the log, if there is room."""
    with contextlib.suppress(OSError), open(run.log, "a") as log:
        print(*words, file=log)


def write(path, content):
    """What is there stays if there is no room."""
    part = f"{run.output}/{run.program}.part"
    try:
        with open(part, "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())
        os.replace(part, path)
    except OSError:
        if os.path.exists(part):
            os.unlink(part)
        raise Failed(f"cannot write {path}")


def amount(normal, quick):
    return quick if run.quick else normal


def calls_for(quick_calls, calls, seconds):
    """As options of mpix_bench. Means feel every interruption, so there are many calls, but not for longer than this
    where calls are slow, or hardly any is valid."""
    return amount(f"-i {calls} --time-slice-s {seconds}", f"-i {quick_calls} --time-slice-s 1")


# ---- Launches


def launcher_problem(least):
    """Why programs cannot be measured with so many ranks, or None."""
    if not run.launcher or not shutil.which(run.launcher):
        named = f' "{run.launcher}"' if run.launcher else ""
        return f"there is no MPI launcher{named}, name it by MPIEXEC"
    if os.path.basename(run.launcher) == "smpirun":
        return f"{run.program} was built for the simulator, which only simulated figures are for"
    if run.ranks[-1] < least:
        return f"it needs {least} ranks, --ranks gives fewer"
    if run.processors < 2 and not run.ranks_given:
        return ("there is 1 processor, and ranks that take turns leave nothing to see; "
                "--ranks 2 tries it all the same")
    return None


def supervise(words, output=None, environment=None):
    """Runs a program without input; what it says else goes to the log. It ends with this one, or when it takes too
    long. Returns its exit status."""
    with open(run.log, "a") as log:
        child = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=output or log, stderr=log,
                                 env={**os.environ, **(environment or {})}, start_new_session=True)
        try:
            status = child.wait(MAX_SECONDS)
            return status if status >= 0 else 128 - status
        except subprocess.TimeoutExpired:
            return FAILED + 1
        finally:
            for number in (signal.SIGTERM, signal.SIGKILL):
                with contextlib.suppress(ProcessLookupError, subprocess.TimeoutExpired):
                    os.killpg(child.pid, number)
                    child.wait(5)


@functools.lru_cache(None)
def binding(ranks):
    """Flags that keep ranks on cores of their own, where there are enough and the launcher can. Processors may be more
    than cores."""
    flags = {"MPI": ["-bind-to", "core"], "Ope": ["--bind-to", "core"]}.get(run.mpi_library[:3], [])
    if "MPIEXEC_FLAGS" in os.environ or ranks > run.processors or not flags:
        return []
    words = [run.launcher, *run.launcher_flags, *flags, "-n", str(ranks), "true"]
    return flags if supervise(words, subprocess.DEVNULL) == 0 else []


# What a program says that ends before all of its rows are written.
ENDED_EARLY = re.compile(r"cannot write |rank \d+: |\w+ failed on rank \d+: ")


def launch(ranks, words, algorithms=None):
    """Runs a program on so many ranks. Leaves what it prints in the file out. Returns its exit status, and what it said
    last, or why it ended early, or where to look."""
    program = os.path.basename(words[0])
    begin = [run.launcher, *run.launcher_flags, *binding(ranks), "-n", str(ranks)]
    with contextlib.suppress(FileNotFoundError):
        os.unlink(f"{run.work}/raw")
    note("$", *begin, program, *words[1:])
    place = os.path.getsize(run.log)
    with open(f"{run.work}/out", "w") as output:
        status = supervise(begin + words, output, choice_of(algorithms or {}))
    with open(run.log, errors="replace") as log:
        log.seek(place)
        said = [line[len(program) + 2:].rstrip("\n") for line in log if line.startswith(f"{program}: ")]
    return status, (list(filter(ENDED_EARLY.match, said)) or said or [f"see {run.log}"])[-1]


# ---- Algorithms of the MPI library

# Names that can be asked for, with Open MPI's numbers. The first line that fits counts.
ALGORITHMS = (
    ("MPICH 3.[0-3]*/barrier", "recursive_doubling"),
    ("MPICH 3.*/barrier", "dissemination"),
    ("MPICH 4.0*/barrier", "dissemination smp"),
    ("MPICH*/barrier", "k_dissemination smp"),
    ("MPICH*/reduce", "binomial reduce_scatter_gather"),
    ("MPICH*/bcast", "binomial scatter_ring_allgather"),
    ("MPICH*/allreduce", "recursive_doubling reduce_scatter_allgather"),
    ("MPICH*/alltoall", "brucks pairwise scattered"),
    ("Open MPI*/barrier", "linear=1 double_ring=2 recursive_doubling=3 bruck=4 tree=6"),
    ("Open MPI*/reduce", "linear=1 chain=2 pipeline=3 binary=4 binomial=5 in_order_binary=6 rabenseifner=7"),
    ("Open MPI*/bcast", "basic_linear=1 binomial=6 knomial=7"),
    ("Open MPI*/allreduce", "nonoverlapping=2 recursive_doubling=3 ring=4"),
    ("Open MPI*/alltoall", "linear=1 pairwise=2 modified_bruck=3 linear_sync=4"),
    ("*", ""),
)


def numbered_algorithms(operation):
    wanted = f"{run.mpi_library}/{operation}"
    names = next(names for pattern, names in ALGORITHMS if fnmatch.fnmatchcase(wanted, pattern))
    return dict(name.partition("=")[::2] for name in names.split())


def algorithms(operation):
    """Those that are measured, the library's own choice first; with --quick the first two."""
    return ["library", *numbered_algorithms(operation)][:amount(None, 2)]


def forget_choices():
    """Algorithms that the user's environment chooses, of operations whose algorithms are compared."""
    for operation in ("barrier", "reduce", "bcast", "allreduce", "alltoall"):
        for name in (f"MPIR_CVAR_{operation.upper()}_INTRA_ALGORITHM", f"OMPI_MCA_coll_tuned_{operation}_algorithm"):
            os.environ.pop(name, None)


def choice_of(chosen):
    """The environment, which launchers hand on to ranks they start here, by which operations have these algorithms. The
    MPI library chooses for "library", and for operations that are not named."""
    variables = {}
    for operation, algorithm in chosen.items():
        if algorithm == "library":
            continue
        if run.mpi_library.startswith("MPICH"): # of this operation only: what another one does is not to change with it
            variables[f"MPIR_CVAR_{operation.upper()}_DEVICE_COLLECTIVE"] = "0"
            variables[f"MPIR_CVAR_{operation.upper()}_INTRA_ALGORITHM"] = algorithm
        else:
            variables["OMPI_MCA_coll_tuned_use_dynamic_rules"] = "1"
            variables[f"OMPI_MCA_coll_tuned_{operation}_algorithm"] = numbered_algorithms(operation)[algorithm]
    return variables


# ---- Jobs of mpix_bench


def own_barrier_jobs(options, quick="linear doublering"):
    """After each of its own barriers; with --quick, after these."""
    return [f"{options} --release barrier --barrier {barrier}" for barrier in
            amount("linear tree binomial doublering recursivedoubling bruck", quick).split()]


def release_jobs(options, *schemes):
    return [f"{options} --release {scheme}" for scheme in schemes]


# ---- Rows


def read_csv(lines):
    return list(csv.DictReader(line for line in lines if line.strip() and not line.startswith("#")))


def read_file(path):
    """None if a program has left no file."""
    with contextlib.suppress(FileNotFoundError), open(path, errors="replace") as file:
        return read_csv(file)
    return []


def grouped(pairs):
    """The values of each key, in the order in which keys come."""
    groups = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return groups


def pretty(name):
    name = name[5:] if name.startswith("ompi_") else name
    for word in ("recursive doubling", "double ring"):
        name = name.replace("_", " ").replace(word.replace(" ", ""), word)
    return name


def at_least(number, least):
    """Axes of logarithms have no 0."""
    return max(float(number), least)


def barrier_label(row):
    if row["release"] != "barrier":
        return "harmonized" if row["release"] == "harmonize" else row["release"]
    return pretty(row["barrier"]) if row["source"] == "own" else f"MPI: {pretty(row['source'])}"


class Figure:
    """title, papers, look: what to look for. needs: the program that is launched, if one is. data_name and plot: those
    of its data and of its gnuplot file, if they are not its name. value_column: rows that have a number there are
    drawn, if the figure has no table. tell: sentences about the rows."""
    needs = value_column = ""
    library = None
    tell = None

    def __init__(self):
        self.data_name = getattr(self, "data_name", self.name)
        self.plot = getattr(self, "plot", self.name)

    def problems(self):
        """Why it cannot be measured here, or None."""
        if self.needs:
            yield launcher_problem(2)
            yield None if os.access(f"{run.tools}/{self.needs}", os.X_OK) else f"there is no {self.needs}"

    def collect_data(self):
        self.data, self.doubts, self.notes = [], 0, {"library": self.library or run.mpi_library}
        self.measure()
        progress("")
        if self.doubts > 1:
            complain(f"{self.name}: so were {self.doubts} launches in all, see {run.log}")

    def rows(self):
        """Of what a program has left: all that it prints."""
        return read_file(f"{run.work}/out")

    def keep(self, status, message, keys, what):
        """Keeps the rows, with these columns before them. All programs exit with 1 where a row has no figures, or
        doubtful ones, of which they tell; what else there is, is kept. They exit with 1 also where they ended before
        all rows."""
        rows = self.rows() if status <= 1 else []
        if not rows or (status == 1 and ENDED_EARLY.match(message)):
            raise Failed(f"{what} failed, exit status {status}")
        self.data += [{**keys, **row} for row in rows]
        self.doubts += status
        if status == 1 and self.doubts == 1:
            complain(f"{self.name}: not all rows have figures, or good ones ({what}: {message})")

    def collect(self, ranks, keys, program, options, chosen=None):
        progress(f"{self.name}: {ranks} ranks, {' '.join(map(str, keys.values()))}")
        words = [f"{run.tools}/{program}", *options.split()]
        self.keep(*launch(ranks, words, chosen), keys, f"{program} at {ranks} ranks")

    def bench(self, ranks, keys, jobs, chosen=None, options=""):
        write_jobs(jobs)
        self.collect(ranks, keys, "mpix_bench", f"--format csv {options} --jobs {run.work}/jobs", chosen)

    def data_text(self):
        """Of which the first lines say where it is from."""
        lines = [f"# {run.program} {run.version}: {self.data_name}",
                 *(f"# {key}: {value}" for key, value in self.notes.items()),
                 time.strftime("# date: %Y-%m-%dT%H:%M:%SZ", time.gmtime()),
                 f"# machine: {run.processors} processors, {platform.system()} {platform.release()}"]
        if run.quick:
            lines.append("# quick: few calls, no measurement to rely on")
        return "\n".join(lines) + "\n" + csv_text(self.data)

    # ---- Drawing

    def table(self, rows):
        return [{**row, **({"algorithm": pretty(row["algorithm"])} if "algorithm" in row else {})}
                for row in rows if row.get(self.value_column)]

    def chart_title(self):
        """And where its data is from. Gnuplot would run what stands between backquotes in the data."""
        ranks = {row["ranks"] for row in self.drawn if row.get("ranks")}
        title = self.title + "\\n" + self.notes.get("library", "")
        title += f", {ranks.pop()} ranks" if len(ranks) == 1 else ""
        title += " (quick look)" if "quick" in self.notes else ""
        title += f"\\n{self.notes['hosts']}" if "hosts" in self.notes else ""
        return title.replace("`", "").replace('"', "")

    def script(self):
        parts = f"{run.sources}/bench/figures"
        table = self.table(self.drawn)
        text = (f"# {self.name}: drawn by {run.program} {run.version}. "
                "gnuplot -e \"format = 'png'; file = 'chart.png'\" FILE\n"
                f'name = "{self.name}"\ntitle = "{self.chart_title()}"\n'
                f"$table << END_OF_TABLE\n{csv_text(table)}END_OF_TABLE\n")
        with open(f"{parts}/style.gp") as style, open(f"{parts}/{self.plot}.gp") as plot:
            return text + style.read() + (plot.read() if table else
                                          "eval page(900, 560)\nset title title\neval draw_nothing\n")

    def draw(self, data):
        """Returns the charts."""
        with open(data, errors="replace") as file:
            text = file.read()
        self.notes = dict(re.findall("^# ([a-z]+): (.+)$", text, re.M))
        self.drawn = read_csv(text.splitlines())
        script = f"{run.output}/{self.name}.gp"
        write(script, self.script())
        charts = []
        for form in run.formats: # gnuplot does not notice that a chart cannot be written
            try:
                drawn = subprocess.run(["gnuplot", "-e", f"format = '{form}'; file = ''", script], capture_output=True,
                                       stdin=subprocess.DEVNULL, env={**os.environ, "LC_ALL": "C.UTF-8"})
            except FileNotFoundError:
                raise Cannot(f"cannot be drawn: there is no gnuplot (Debian package: gnuplot-nox); its data is {data}")
            if drawn.returncode != 0 or not drawn.stdout:
                raise Failed(f"gnuplot failed on {script}:\n{drawn.stderr.decode(errors='replace').strip()}")
            charts.append(f"{run.output}/{self.name}.{form}")
            write(charts[-1], drawn.stdout)
        return charts

    def describe(self):
        text = f"{self.title} ({self.papers})\nWhat to look for: {self.look}"
        if "quick" in self.notes:
            text += "\nMeasured with --quick: the numbers mean little."
        return text + ("\nHere:\n  " + "\n  ".join(self.tell(self.drawn)) if self.tell else "")


def write_jobs(jobs):
    with open(f"{run.work}/jobs", "w") as file:
        file.write("\n".join(jobs) + "\n")


def csv_text(rows):
    """With the columns of the first row."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]) if rows else [], lineterminator="\n", extrasaction="ignore")
    if rows:
        writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
