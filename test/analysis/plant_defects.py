#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Plants defects in the library or in a house, one after the other, and prints which test finds each.

Usage, in a configured build directory:
    plant_defects.py [--house lib|common|bench|trace] [--count N] [--seed N] [--only KIND] [--within PATH] [--unit]
                     [--list]

Works on a copy of the sources and of the build below ./defects. A defect is a changed operator, a dropped term, a
weaker memory order, a missing free, a lost error code. Which places are taken depends on the seed and on the text of
the line alone, so changes elsewhere in the sources hardly move them, and two versions can be compared. Unit tests run
first, those of the changed file before the others; what they do not find goes to the quick tests of the house, of the
library to its MPI tests (not with --unit). Of common/, these are the tests of both houses. A test finds a defect if it
fails with it, and passes without it.

Environment: MPIEXEC, MPIEXEC_FLAGS; UNDER: a command that each build and test is run under, e.g. "nice"
"""
import argparse
import glob
import hashlib
import os
import re
import shutil
import subprocess
import sys
import time

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
UNIT_TIMEOUT_S, SCRIPT_TIMEOUT_S, BUILD_TIMEOUT_S = 600, 300, 600
# HOUSE: its unit tests, and the folders whose scripts test it.
HOUSES = {
    "lib": (["test/unit/unit_tests"], ["test/mpi"]),
    "common": (["bench/test/unit/unit_tests", "trace/test/unit/unit_tests"],
               ["common/test", "bench/test", "trace/test"]),
    "bench": (["bench/test/unit/unit_tests"], ["bench/test", "common/test"]),
    "trace": (["trace/test/unit/unit_tests"], ["trace/test", "common/test"]),
}
# They look at the text of the sources alone.
OF_TEXT = ("check_arrows.sh", "check_inside.sh")

UNDER = os.environ.get("UNDER", "").split()

# KIND: pattern, replacement. Each match in the code of a line is one place.
KINDS = {
    "sign": [(r" \+ (?=[\w(])", " - "), (r"(?<=[\w)\]]) - (?=[\w(])", " + "), (r" \+= ", " -= "), (r" -= ", " += ")],
    "comparison": [(r" < ", " <= "), (r" <= ", " < "), (r" > ", " >= "), (r" >= ", " > "), (r" == ", " != "),
                   (r" != ", " == ")],
    "term": [(r" \+ [\w.>-]+(\([^()]*\))?(?=[;),])", ""), (r" \* [\w.>-]+(\([^()]*\))?(?=[;),])", ""),
             (r" - [\w.>-]+(\([^()]*\))?(?=[;),])", "")],
    "logic": [(r" && ", " || "), (r" \|\| ", " && "), (r"\bif \(([^()]*(\([^()]*\)[^()]*)*)\)$", r"if (!(\1))"),
              (r"\bfmax\(", "fmin("), (r"\bfmin\(", "fmax(")],
    "order": [(r"memory_order_(release|acquire)", "memory_order_relaxed"),
              (r"^(\s*)atomic_thread_fence\(.*\);", r"\1;")],
    "free": [(r"^(\s*)(mh_\w+_(free|close)|PMPI_\w+_free|free\w*|munmap|close)\(.*\);$", r"\1;")],
    "error": [(r"\breturn code;", "return MPI_SUCCESS;"), (r"\breturn -1;", "return 0;"),
              (r"\bcode = (?=\w+\()", "(void)"), (r"MH_TRY(_USER)?\(error, (\w+), (\(.*\))\);", r"\2\3;")],
}


def code_of(text):
    """The text with blanks in the place of comments, strings, assertions and preprocessor lines."""
    blank = lambda match: re.sub(r"[^\n]", " ", match.group())
    text = re.sub(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"', blank, text, flags=re.S)
    return re.sub(r"^#.*(?:\\\n.*)*|^_Static_assert\(.*;|^extern .*;", blank, text, flags=re.M)


class Defect:
    def __init__(self, path, number, kind, before, after, rank):
        self.path, self.number, self.kind, self.before, self.after, self.rank = path, number, kind, before, after, rank
        self.verdict = ""

    def row(self):
        change = f"{self.before.strip()}  ->  {self.after.strip()}"
        return f"{self.kind:10} {self.path}:{self.number}: {change[:140]:140} {self.verdict}"


def places(path, seed):
    text = open(os.path.join(SOURCE, path)).read()
    seen = {}
    for number, (line, code) in enumerate(zip(text.split("\n"), code_of(text).split("\n")), 1):
        for kind, rules in KINDS.items():
            for pattern, replacement in rules:
                for match in re.finditer(pattern, code):
                    # Of the line itself, as the code has no strings.
                    after = line[:match.start()] + match.expand(replacement) + line[match.end():]
                    key = f"{seed} {kind} {os.path.basename(path)} {line.strip()} {match.start() - len(line)}"
                    seen[key] = seen.get(key, 0) + 1
                    rank = hashlib.sha256(f"{key} {seen[key]}".encode()).hexdigest()
                    yield Defect(path, number, kind, line, after, rank)


def sources(house):
    for folder, folders, files in os.walk(os.path.join(SOURCE, house)):
        folders[:] = sorted(set(folders) - {"test"})
        path = os.path.relpath(folder, SOURCE)
        yield from (os.path.join(path, name) for name in sorted(files) if name.endswith((".c", ".h")))


def scripts(house):
    """Those of the makefile's lists, in their order of names."""
    for folder in HOUSES[house][1]:
        for path in sorted(glob.glob(os.path.join(SOURCE, folder, "*.sh"))):
            if re.match("(check|run)_", os.path.basename(path)) and os.path.basename(path) not in OF_TEXT:
                yield os.path.relpath(path, SOURCE)


def choose(arguments):
    """As many of each kind, and one of a line at most."""
    kinds = {kind: [] for kind in KINDS}
    for path in filter(re.compile(arguments.within).search, sources(arguments.house)):
        for defect in places(path, arguments.seed):
            kinds[defect.kind].append(defect)
    taken, lines = [], set()
    for kind in kinds:
        kinds[kind].sort(key=lambda defect: defect.rank)
    while len(taken) < arguments.count and any(kinds.values()):
        for kind, left in kinds.items():
            while left:
                defect = left.pop(0)
                if (defect.path, defect.number) not in lines and arguments.only in (None, kind):
                    lines.add((defect.path, defect.number))
                    taken.append(defect)
                    break
    return taken[:arguments.count]


def start(command, **options):
    return subprocess.Popen([*UNDER, *command], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True,
                            errors="replace", start_new_session=True, **options)


def run(command, timeout_s, **options):
    """The output and the status; None after the timeout. Ends the whole group of processes."""
    process = start(command, stderr=subprocess.STDOUT, **options)
    try:
        output, _ = process.communicate(timeout=timeout_s)
        return output, process.returncode
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        process.communicate()
        return "", None


class Copy:
    """A copy of the sources and of the build, of which each defect builds what it changes only."""

    def __init__(self, folder, targets):
        self.tree, self.build = os.path.join(folder, "tree"), os.path.join(folder, "tree", "build", "defects")
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(SOURCE, self.tree, symlinks=True, ignore=shutil.ignore_patterns("build", ".git", "defects"))
        os.makedirs(self.build)
        config = os.path.join(os.getcwd(), "config.status")
        options, _ = run([config, "--config"], 60)
        output, status = run(["sh", "-c", f"../../configure -q {options.strip()}"], BUILD_TIMEOUT_S, cwd=self.build)
        if status != 0 or not self.make(targets):
            sys.exit(f"plant_defects.py: the copy in {folder} cannot be built\n{output[-2000:]}")

    def make(self, targets):
        return run(["make", "-j2", *targets.split()], BUILD_TIMEOUT_S, cwd=self.build)[1] == 0

    def write(self, defect, line):
        path = os.path.join(self.tree, defect.path)
        lines = open(path).read().split("\n")
        lines[defect.number - 1] = line
        open(path, "w").write("\n".join(lines))

    def unit_tests(self, programs, first):
        """The name of a test that fails, or an empty text."""
        stem = "test_" + os.path.basename(first).split(".")[0]
        suites = [(program, suite) for program in programs
                  for suite in run([program, "--list"], 60, cwd=self.build)[0].split()]
        for is_first in (True, False):
            for program in programs:
                names = [suite for of, suite in suites if of == program and (suite == stem) == is_first]
                if not names:
                    continue
                environment = dict(os.environ, CK_DEFAULT_TIMEOUT="20")
                output, status = run([program, *names], UNIT_TIMEOUT_S, cwd=self.build, env=environment)
                if status != 0:
                    failed = re.search(r":[FE]:(\w+:\w+)", output)
                    return failed.group(1) if failed else "a timeout" if status is None else f"status {status}"
        return ""

    def script(self, path):
        """The first sub-test that fails, or an empty text."""
        environment = dict(os.environ, MPIX_TEST_QUICK="yes", MPIX_TEST_TIMEOUT="30")
        process = start(["bash", os.path.join(self.tree, path)], cwd=self.build, env=environment)
        end, found = time.time() + SCRIPT_TIMEOUT_S, ""
        for line in process.stdout:
            if re.match(r"not ok|Bail out", line) or time.time() > end:
                os.killpg(process.pid, 9)
                found = os.path.basename(path) + ": " + line.strip()
                break
        process.wait()
        return found

    def passes_without(self, defect, test, targets):
        """Whether a test that has found a defect passes without it: some fail on a machine that is busy."""
        self.write(defect, defect.before)
        passes = all(map(self.make, targets)) and not test()
        self.write(defect, defect.after)
        return passes and all(map(self.make, targets))


def judge(copy, defect, arguments):
    units, _ = HOUSES[arguments.house]
    built, all_built = [" ".join(units)], ["all", "check TESTS="]
    copy.write(defect, defect.after)
    try:
        if not all(map(copy.make, built)):
            return "does not compile"
        test = lambda: copy.unit_tests(units, defect.path)
        found = test()
        if found and copy.passes_without(defect, test, built):
            return found
        if arguments.unit:
            return ""
        if not all(map(copy.make, all_built)):
            return "does not compile"
        for path in scripts(arguments.house):
            test = lambda: copy.script(path)
            found = test()
            if found and copy.passes_without(defect, test, all_built):
                return found
        return ""
    finally:
        copy.write(defect, defect.before)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--house", choices=HOUSES, default="lib")
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=31)
    parser.add_argument("--only", choices=KINDS)
    parser.add_argument("--within", default="", help="a regular expression of paths")
    parser.add_argument("--unit", action="store_true", help="unit tests only")
    parser.add_argument("--list", action="store_true", help="only list the defects")
    arguments = parser.parse_args()
    defects = choose(arguments)
    targets = " ".join(([] if arguments.unit else ["all"]) + HOUSES[arguments.house][0])
    copy = None if arguments.list else Copy(os.path.join(os.getcwd(), "defects"), targets)
    found = 0
    for defect in defects:
        defect.verdict = "" if arguments.list else judge(copy, defect, arguments) or "SURVIVES"
        found += defect.verdict != "SURVIVES"
        print(defect.row(), flush=True)
    if not arguments.list:
        built = [defect for defect in defects if defect.verdict != "does not compile"]
        survivors = sum(defect.verdict == "SURVIVES" for defect in built)
        print(f"seed {arguments.seed}: {len(built) - survivors} of {len(built)} defects found, {survivors} survive")


main()
