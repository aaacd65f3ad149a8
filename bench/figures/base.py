# SPDX-License-Identifier: BSD-3-Clause
"""What figures have in common: running programs, rows of CSV, and drawing."""
import contextlib
import csv
import io
import os
import platform
import re
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

FAILED, BAD_OPTION, CANNOT = 1, 2, 3
ENDING = signal.SIGHUP, signal.SIGINT, signal.SIGTERM
# A program that takes longer than this hangs.
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


def supervise(words, output=None, environment=None):
    """Runs a program without input; what it says else goes to the log. It ends with this one, or when it takes too
    long. Returns its exit status."""
    with open(run.log, "a") as log:
        child = None
        # A signal that ends this program waits until the child is known.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
        try:
            child = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=output or log, stderr=log,
                                     env={**os.environ, **(environment or {})}, start_new_session=True,
                                     preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_SETMASK, before))
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            status = child.wait(MAX_SECONDS)
            return status if status >= 0 else 128 - status
        except subprocess.TimeoutExpired:
            return FAILED + 1
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            for number in (signal.SIGTERM, signal.SIGKILL) if child else ():
                with contextlib.suppress(ProcessLookupError, subprocess.TimeoutExpired):
                    os.killpg(child.pid, number)
                    child.wait(5)


# ---- Rows


def read_csv(lines):
    return list(csv.DictReader(line for line in lines if line.strip() and not line.startswith("#")))


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


class Figure:
    """title, papers, look: what to look for. problems: why it cannot be measured here, if so. measure: leaves rows in
    data. table: what is drawn of them. tell: sentences about them. data_name: of its data, if it is not its name."""
    library = None

    def __init__(self):
        self.data_name = getattr(self, "data_name", self.name)

    def collect_data(self):
        self.data, self.notes = [], {"library": self.library or run.mpi_library}
        self.measure()
        progress("")

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
        with open(f"{parts}/style.gp") as style, open(f"{parts}/{self.name}.gp") as plot:
            return text + style.read() + (plot.read() if table else 'eval page(900, 560)\nset title title\n'
                                          'set label "no valid samples" at graph 0.5, graph 0.5 center\n'
                                          'plot [1:10] [1:10] 20 notitle\n')

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
        return text + "\nHere:\n  " + "\n  ".join(self.tell(self.drawn))


def csv_text(rows):
    """With the columns of the first row."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]) if rows else [], lineterminator="\n", extrasaction="ignore")
    if rows:
        writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
