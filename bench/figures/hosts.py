# SPDX-License-Identifier: BSD-3-Clause
"""Figures of hosts whose clocks drift, from a trace."""
import bisect
import glob
import os
import shutil
import subprocess

from base import FAILED, Failed, Figure, amount, grouped, note, progress, read_csv, run, supervise

# What corrects times, and how a sentence begins about it.
CLOCKS = {"start": "Set at the start", "linear": "By a line", "global": "By the global clock"}
COLUMNS = ("site", "call", "rank", "enter_ns", "leave_ns", "bound_ns")


def launcher_problem():
    """Why programs cannot be launched, or None."""
    if not run.launcher or not shutil.which(run.launcher):
        named = f' "{run.launcher}"' if run.launcher else ""
        return f"there is no MPI launcher{named}, name it by MPIEXEC"
    if os.path.basename(run.launcher) == "smpirun":
        return f"{run.program} was built for the simulator, which only simulated figures are for"
    if run.processors < 2 and not run.ranks:
        return ("there is 1 processor, and ranks that take turns leave nothing to see; "
                "--ranks 2 tries it all the same")
    return None


def launched_ranks():
    """If not given, the greatest power of 2 up to the number of processors, and 2 at least."""
    return run.ranks or max(2, 2 ** (run.processors.bit_length() - 1))


def no_two_hosts():
    """Why this machine cannot be made into two hosts, or None."""
    tried = subprocess.run([f"{run.sources}/test/hosts/with_hosts.sh", "2", "true"], stdin=subprocess.DEVNULL,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if tried.returncode != 77:
        return None
    return ("it takes several hosts, and this machine cannot be made into two: "
            + tried.stdout.decode().replace("skip: ", "").strip())


class Gantt(Figure):
    name = data_name = "gantt"
    title = "MPI_Allreduce on hosts whose clocks drift: by clocks set once, by a line, and by the global clock"
    papers = "Cluster 2018, Figure 10"
    look = ("No process can leave the call before all have arrived. By clocks that were set once at the start, and by "
            "a line from start to end, some seem to; by the global clock, none do. Bars side by side are one call: in "
            "each part of the run, the one that was disturbed least.")

    def source(self):
        """Where the trace is from: given, of ranks on several hosts, or of two hosts that a test makes of this
        machine."""
        if run.trace:
            return "given"
        if launcher_problem():
            return "made"
        with open(f"{run.work}/hosts", "w+") as output:
            supervise([run.launcher, *run.launcher_flags, "-n", str(launched_ranks()), "hostname"], output)
            output.seek(0)
            return "launched" if len(set(output.read().split())) > 1 else "made"

    def problems(self):
        source = self.source()
        for tool in ("mpix_trace_report", "mpix_trace_convert"):
            yield None if os.path.exists(f"{run.tools}/{tool}") else f"there is no {tool}"
        if source != "given":
            yield None if os.path.exists(f"{run.tools}/mpix_trace") else "there is no mpix_trace"
        if source == "made":
            yield launcher_problem()
            yield no_two_hosts()

    # ---- Recording

    def trace_hosts(self):
        """Once in some milliseconds, for long enough that clocks drift apart."""
        calls, folder = amount(6000, 100), f"{os.path.abspath(run.output)}/gantt.trace"
        shutil.rmtree(folder, ignore_errors=True)
        progress(f"{self.name}: {launched_ranks()} ranks, {calls // 100} seconds")
        words = [run.launcher, *run.launcher_flags, "-n", str(launched_ranks()),
                 f"{run.tools}/mpix_trace", "-o", folder, f"{run.tools}/mpix_bench",
                 *f"allreduce -m 8:8 --release window --window-us 10000 -i {calls} --max-repeat 2 -x 5".split()]
        note("$", *words)
        if supervise(words) > FAILED: # the row may be doubtful, the trace is wanted
            raise Failed("hosts could not be traced")
        return folder

    def trace_made_hosts(self):
        """The test's clock of the second host is one that drifts in a known way."""
        build, folder = os.path.dirname(run.tools), f"{run.work}/two"
        with open(f"{build}/Makefile") as file:
            compiler = next(line.split(" = ")[1].strip() for line in file if line.startswith("CC = "))
        progress(f"{self.name}: two hosts, {amount(60, 5)} seconds")
        status = supervise([os.environ.get("MAKE", "make"), "-C", build, "trace/test/simulation/trace_truth",
                            "trace/test/simulation/interpose_simulated.la"])
        if status == 0:
            status = supervise(["env", "-C", build, "-u", "MPIX_TEST_BRIEF", "-u", "MPIX_TEST_QUICK",
                                f"MPIEXEC={run.launcher}", f"CC={compiler}", "bash",
                                f"{run.sources}/trace/test/simulation/run_trace_tests.sh",
                                *amount("60 100000", "5 8000").split(), folder])
        if status != 0 or not os.path.isdir(f"{folder}/trace"):
            raise Failed("two hosts could not be traced")
        return f"{folder}/trace"

    def told(self, folder, key):
        """What processes of the trace tell of themselves, each answer once."""
        answers = set()
        for path in glob.glob(f"{folder}/rank-*.mpixtrace"):
            with open(path, "rb") as file:
                answers |= {line.split(b" ", 1)[1] for line in file if line.startswith(f"{key} ".encode())}
        return ",".join(sorted(answer.decode(errors="replace").replace("\\", "").strip() for answer in answers))

    def rows_of(self, tool, folder, *options):
        with open(f"{run.work}/out", "w") as output:
            status = supervise([f"{run.tools}/{tool}", folder, "--format", "csv", *options], output)
        with open(f"{run.work}/out", errors="replace") as output:
            rows = read_csv(output)
        if status != 0:
            raise Failed(f"{tool} failed, exit status {status}")
        return rows

    def by_clock(self, times, clock, global_ns):
        """A global time as a clock that is corrected less has it. times: global and local ones, of the same rank."""
        (first, first_local), (last, last_local) = times[0], times[-1]
        local = times[bisect.bisect_left(times, (global_ns - 1,))][1]
        rate = (last - first) / (last_local - first_local) if clock == "linear" else 1
        return round(first + (local - first_local) * rate)

    def measure(self):
        """The calls of the site that calls MPI_Allreduce most often, by each clock."""
        source = self.source()
        folder = {"given": lambda: run.trace, "launched": self.trace_hosts, "made": self.trace_made_hosts}[source]()
        self.notes["hosts"] = self.told(folder, "host") if source != "made" else (
            "two namespaces of one machine, of which one clock was made to drift by 20 ppm, and to swing by 3 ppm")
        if source == "given":
            self.notes["library"] = " ".join(self.told(folder, "mpi").split())
        sites = [(int(row["calls"]), row["site"]) for row in self.rows_of("mpix_trace_report", folder)
                 if row["function"] == "MPI_Allreduce"]
        if not sites:
            raise Failed("the trace has no calls of MPI_Allreduce by several processes")
        site = max(sites, key=lambda pair: pair[0])[1]
        rows = [row for row in self.rows_of("mpix_trace_report", folder, "--show", "calls") if row["site"] == site]
        times = grouped((row["rank"], (int(row["global_ns"]), int(row["local_ns"])))
                        for row in self.rows_of("mpix_trace_convert", folder))
        times = {rank: sorted(pairs) for rank, pairs in times.items()}
        ranks = len(times)
        for clock in CLOCKS:
            for row in rows:
                moved = {} if clock == "global" else {
                    name: self.by_clock(times[row["rank"]], clock, int(row[name])) for name in ("enter_ns", "leave_ns")}
                self.data.append({"ranks": ranks, "clock": clock, **{name: row[name] for name in COLUMNS}, **moved})

    # ---- Drawing

    def calls_of(self, rows):
        """By clock and number: the times of all processes."""
        return grouped(((row["clock"], int(row["call"])),
                        (float(row["enter_ns"]), float(row["leave_ns"]), row["rank"])) for row in rows)

    def calls_together(self, rows):
        """Each call by each clock: when a process came, and whether one left before another one came."""
        return [{"clock": clock, "call": call, "enter_ns": f"{times[0][0]:.0f}",
                 "wrong": int(min(time[1] for time in times) < max(time[0] for time in times))}
                for (clock, call), times in self.calls_of(rows).items()]

    def table(self, rows):
        """From each part of the run the call that was disturbed least, by each clock: times from when its first row
        came."""
        calls, parts, best = self.calls_of(rows), 16, {}
        last = max(call for _, call in calls)
        for (clock, call), times in calls.items():
            if clock == "global":
                took = max(max(time[:2]) for time in times) - min(min(time[:2]) for time in times)
                part = call * parts // (last + 1)
                best[part] = min(best.get(part, (took, call)), (took, call))
        return [{"clock": clock, "row": call * parts // (last + 1), "time_s": f"{times[0][0] / 1e9:.2f}", "rank": rank,
                 "enter_us": f"{(enter - times[0][0]) / 1e3:.3f}", "leave_us": f"{(leave - times[0][0]) / 1e3:.3f}"}
                for (clock, call), times in calls.items() if call == best[call * parts // (last + 1)][1]
                for enter, leave, rank in times]

    def tell(self, rows):
        yield f"Hosts: {self.notes.get('hosts', '')}."
        for clock, wrong in grouped((row["clock"], row["wrong"]) for row in self.calls_together(rows)).items():
            yield (f"{CLOCKS[clock]}, a process seems to leave before all have come in {sum(wrong)} of {len(wrong)} "
                   "calls.")
        bounds = [float(row["bound_ns"]) / 1e3 for row in rows
                  if row["clock"] == "global" and int(row["rank"]) > 0 and row["bound_ns"]]
        if bounds:
            yield f"The bound of the global clock is {min(bounds):.2f} to {max(bounds):.2f} us."


class Violations(Gantt):
    name = "violations"
    title = "Calls of MPI_Allreduce that seem to end before all have come, on hosts whose clocks drift"
    papers = "Cluster 2008, Figure 7"
    look = ("Nobody can leave a call before all have come. Clocks that were set once are wrong soon, and those "
            "corrected by a line amid the run, as drifts are not constant. The global clock stays near 0.")

    def table(self, rows):
        return self.calls_together(rows)


class Delays(Figure):
    name = "delays"
    title = "One-way delays of packets, captured by tcpdump on two hosts"
    papers = "mpix_clock_convert(1)"
    look = ("As captured, one direction takes seconds, and the other one less than nothing. One offset, by which both "
            "directions take as long at the start, is wrong soon, as clocks drift. Converted, both directions take "
            "what packets take.")
    clocks = {"before_us": "as captured", "one_offset_us": "one offset", "converted_us": "converted"}

    def problems(self):
        yield launcher_problem()
        for tool in ("mpix_clock", "mpix_clock_convert"):
            yield None if os.path.exists(f"{run.tools}/{tool}") else f"there is no {tool}"
        yield None if shutil.which("tcpdump") else "there is no tcpdump"
        yield no_two_hosts()

    def measure(self):
        """A question and its answer take about 2 ms."""
        times, file = amount(20000, 500), f"{run.work}/delays.csv"
        progress(f"{self.name}: {times} questions and answers")
        status = supervise(["env", "-C", os.path.dirname(run.tools), "-u", "MPIX_TEST_BRIEF", f"MPIEXEC={run.launcher}",
                            "bash", f"{run.sources}/bench/test/hosts/run_files_tests.sh", "delays", str(times), file])
        if status != 0 or not os.path.exists(file):
            raise Failed("no packets could be captured on two hosts")
        with open(file) as delays:
            self.data = read_csv(delays)
        self.notes["hosts"] = ("two namespaces of one machine; as the kernel's clock is one, the capture of the second "
                               "one got a clock that drifts by 20 ppm and is 3.5 s ahead")

    def table(self, rows):
        """A part of them, as directions take turns."""
        return rows[::len(rows) // 500 | 1]

    def tell(self, rows):
        yield f"Hosts: {self.notes.get('hosts', '')}."
        for column, clock in self.clocks.items():
            negative = sum(float(row[column]) < 0 for row in rows)
            yield f"{clock[0].upper()}{clock[1:]}, {negative} of {len(rows)} delays are negative."
        errors = sorted(abs(float(row["converted_us"]) - float(row["true_us"])) for row in rows)
        yield (f"Converted, a delay is off by {errors[len(errors) // 2]:.2f} us (p50), "
               f"{errors[len(errors) * 99 // 100]:.2f} us (p99).")
