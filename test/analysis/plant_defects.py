#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Plants defects in the library or in a house, one after the other, and prints which test finds each.

Usage, in a configured build directory:
    plant_defects.py [--house lib|common|bench|trace] [--count N] [--seed N] [--only KIND] [--within PATH] [--unit]
                     [--like TREE] [--survivors FILE] [--list]

Works on a copy of the sources and of the build below ./defects. A defect is a changed operator, a dropped term, a
weaker memory order, a missing free, a lost error code. Which places are taken depends on the seed and on the text of
the line alone, so changes elsewhere in the sources hardly move them. Unit tests run first, those of the changed file
before the others; what they do not find goes to those quick tests of the house, of the library to those of its MPI
tests, that run the line (not with --unit), the shortest first. Of common/, these are the tests of both houses. A test
finds a defect if it fails with it, and passes without it.

To see whether the tests of this tree find as much as those of another TREE: --like TREE plants only defects that can be
planted there, too. In TREE, the same command with --survivors FILE, which has what this printed, tries those that
survived here.

Environment: MPIEXEC, MPIEXEC_FLAGS, CC; UNDER: a command that each build and test is run under, e.g. "nice"
"""
import argparse
import glob
import hashlib
import json
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

    def name(self):
        """Of the same defect in another tree, too."""
        return self.rank[:8]

    def row(self):
        change = f"{self.before.strip()}  ->  {self.after.strip()}"[:140]
        return f"{self.name()} {self.kind:10} {self.path}:{self.number}: {change:140} {self.verdict}"


def places(path, seed, tree=SOURCE):
    text = open(os.path.join(tree, path)).read()
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


def sources(house, tree=SOURCE):
    for folder, folders, files in os.walk(os.path.join(tree, house)):
        folders[:] = sorted(set(folders) - {"test"})
        path = os.path.relpath(folder, tree)
        yield from (os.path.join(path, name) for name in sorted(files) if name.endswith((".c", ".h")))


def scripts(house):
    """Those of the makefile's lists, in their order of names."""
    for folder in HOUSES[house][1]:
        for path in sorted(glob.glob(os.path.join(SOURCE, folder, "*.sh"))):
            if re.match("(check|run)_", os.path.basename(path)) and os.path.basename(path) not in OF_TEXT:
                yield os.path.relpath(path, SOURCE)


def read_survivors(path):
    """The names of the defects that survive in what this program printed; None without a path."""
    return path and {line.split()[0] for line in open(path) if line.rstrip().endswith(" SURVIVES")}


def choose(arguments):
    """As many of each kind, and one of a line at most."""
    kinds = {kind: [] for kind in KINDS}
    # A rank tells the line and the place in it, wherever it stands.
    like = {defect.rank for path in sources(arguments.house, arguments.like or SOURCE)
            for defect in places(path, arguments.seed, arguments.like or SOURCE)}
    if not like:
        sys.exit(f"plant_defects.py: {arguments.like} has no sources in {arguments.house}/")
    wanted = read_survivors(arguments.survivors)
    for path in filter(re.compile(arguments.within).search, sources(arguments.house)):
        for defect in places(path, arguments.seed):
            if defect.rank in like and (wanted is None or defect.name() in wanted):
                kinds[defect.kind].append(defect)
    taken, lines = [], set()
    for kind in kinds:
        kinds[kind].sort(key=lambda defect: defect.rank)
    count = arguments.count if wanted is None else len(wanted)
    while len(taken) < count and any(kinds.values()):
        for kind, left in kinds.items():
            while left:
                defect = left.pop(0)
                if (defect.path, defect.number) not in lines and arguments.only in (None, kind):
                    lines.add((defect.path, defect.number))
                    taken.append(defect)
                    break
    missing = (wanted or set()) - {defect.name() for defect in taken}
    if missing:
        sys.exit("plant_defects.py: not to be planted here: " + "; ".join(sorted(missing)))
    return taken[:count]


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

    def __init__(self, folder, targets, *flags):
        self.tree, self.build = os.path.join(folder, "tree"), os.path.join(folder, "tree", "build", "defects")
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(SOURCE, self.tree, symlinks=True, ignore=shutil.ignore_patterns("build", ".git", "defects"))
        os.makedirs(self.build)
        config = os.path.join(os.getcwd(), "config.status")
        options, _ = run([config, "--config"], 60)
        output, status = run(["sh", "-c", f"../../configure -q {options.strip()} {' '.join(flags)}"], BUILD_TIMEOUT_S,
                             cwd=self.build)
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

    def lines_run(self):
        """{PATH: {LINE: whether it was run since the last call}}, of a build with --coverage."""
        lines = {}
        for folder, _, files in os.walk(self.build):
            for name in filter(lambda name: name.endswith(".gcda"), files):
                path = os.path.join(folder, name)
                output = subprocess.run(["gcov", "-j", "-t", path], cwd=folder, capture_output=True).stdout
                os.remove(path)
                for file in json.loads(output or '{"files": []}')["files"]:
                    source = os.path.relpath(os.path.join(self.build, file["file"]), self.tree)
                    counts = lines.setdefault(source, {})
                    for line in file["lines"]:
                        counts[line["line_number"]] = counts.get(line["line_number"], 0) or line["count"]
        return lines

    def script(self, path, to_the_end=False):
        """The first sub-test that fails, or an empty text."""
        environment = dict(os.environ, MPIX_TEST_QUICK="yes", MPIX_TEST_TIMEOUT="30")
        process = start(["bash", os.path.join(self.tree, path)], cwd=self.build, env=environment)
        end, found = time.time() + SCRIPT_TIMEOUT_S, ""
        for line in process.stdout:
            if re.match(r"not ok|Bail out", line) and not to_the_end or time.time() > end:
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


def runs(lines, defect):
    """Whether these lines of lines_run have it, or the statement that it is in begins on one."""
    counts = lines.get(defect.path, {})
    return counts.get(max((number for number in counts if number <= defect.number), default=0), 0) > 0


def scripts_of_lines(house):
    """[(SCRIPT, the lines that it runs)], the shortest first."""
    copy = Copy(os.path.join(os.getcwd(), "defects.lines"), "all", "CFLAGS='-O0 --coverage -fprofile-update=atomic'")
    copy.make("check TESTS=")
    timed = []
    for path in scripts(house):
        begin = time.time()
        copy.script(path, to_the_end=True)
        timed.append((time.time() - begin, path, copy.lines_run()))
    if not any(any(counts.values()) for _, _, lines in timed for counts in lines.values()):
        sys.exit("plant_defects.py: no script seems to run a line: does gcov fit the compiler?")
    return [(path, lines) for _, path, lines in sorted(timed, key=lambda script: script[0])]


def judge(copy, defect, tests, arguments):
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
        for path in [path for path, lines in tests if runs(lines, defect)]:
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
    parser.add_argument("--like", metavar="TREE", help="only defects that TREE can have, too")
    parser.add_argument("--survivors", metavar="FILE", help="all those that survive in FILE, and no other")
    parser.add_argument("--list", action="store_true", help="only list the defects")
    arguments = parser.parse_args()
    if not (arguments.unit or arguments.list or {"MPIEXEC", "CC"} <= os.environ.keys()):
        parser.error("scripts of tests take MPIEXEC and CC in the environment, as make plant-defects sets them")
    defects = choose(arguments)
    targets = " ".join(([] if arguments.unit else ["all"]) + HOUSES[arguments.house][0])
    copy = None if arguments.list else Copy(os.path.join(os.getcwd(), "defects"), targets)
    tests = [] if arguments.list or arguments.unit else scripts_of_lines(arguments.house)
    for defect in defects:
        defect.verdict = "" if arguments.list else judge(copy, defect, tests, arguments) or "SURVIVES"
        print(defect.row(), flush=True)
    if not arguments.list:
        built = [defect for defect in defects if defect.verdict != "does not compile"]
        survivors = sum(defect.verdict == "SURVIVES" for defect in built)
        print(f"seed {arguments.seed}: {len(built) - survivors} of {len(built)} defects found, {survivors} survive")


main()
