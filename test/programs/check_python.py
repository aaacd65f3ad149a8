# SPDX-License-Identifier: BSD-3-Clause
"""All functions of the Python module, with good and bad arguments. Prints complaints, and ok if there are none."""
import gc
import inspect
import math
import pathlib
import tempfile
import time

import numpy
from mpi4py import MPI

import mpix_harmonize as mpix
from mpix_harmonize import _library

world = MPI.COMM_WORLD
comm = world.Dup()
complaints = []


def expect(condition, what):
    if not condition:
        complaints.append(f"rank {world.rank}: not so: {what}")


def expect_error(kind, parts, function, *arguments, error_class=None):
    """All processes get the same error, of this kind, and its text has these parts."""
    try:
        function(*arguments)
        text = "no error"
    except Exception as error:
        text = f"{type(error).__name__}: {error}"
        expect(error_class is None or error.Get_error_class() == error_class, f"the class of '{text}'")
    texts = world.allgather(text)
    expect(texts.count(texts[0]) == len(texts), f"the same error on all: {texts}")
    for part in (kind.__name__ + ":", *parts):
        expect(part in text, f"'{part}' is in '{text}'")


def expect_cause(part, function, *arguments):
    """The error of this process has this cause."""
    try:
        function(*arguments)
        cause = "no error"
    except Exception as error:
        cause = str(error.__cause__)
    expect(part in cause, f"'{part}' is in '{cause}'")


class Unusable:
    """Like an integer, but one cannot be made of it."""

    def __index__(self):
        raise ValueError("no index")


def check_descriptions():
    """Each function says what it does, what it takes, and the unit of a number that it returns."""
    for name in mpix.__all__:
        thing = getattr(mpix, name)
        expect(bool((thing.__doc__ or "").strip()), f"{name} has a docstring")
        for function in [thing] if inspect.isfunction(thing) else []:
            hints = function.__annotations__
            expect(set(hints) == {*inspect.signature(function).parameters, "return"}, f"{name} has type hints")
            has_number = any(word in hints["return"] for word in ("int", "float", "GlobalTime"))
            expect(not has_number or "seconds" in function.__doc__, f"{name} says the unit of what it returns")


def check_clock():
    expect_error(mpix.HarmonizeError, ["not been synchronized", "MPIX_Clock_sync"], mpix.global_time, comm,
                 error_class=MPI.ERR_OTHER)
    expect_error(mpix.HarmonizeError, ["not been synchronized"], mpix.global_time_ns, comm)
    mpix.clock_sync(comm)
    before_s = mpix.global_time(comm)
    reading = mpix.global_time_ns(comm)
    after_s = mpix.global_time(comm)
    expect(before_s - 1e-8 <= reading.time_ns * 1e-9 <= after_s + 1e-8, "the readings are in order")
    expect(reading.bound_ns >= 0, "the bound is not negative")
    earliest_s, latest_s = mpix.global_time_interval(comm)
    expect(earliest_s <= latest_s and latest_s >= before_s, "the interval is one")
    before_ns = time.monotonic_ns()
    pair = mpix.clock_pair(comm, time.CLOCK_MONOTONIC)
    expect(before_ns <= pair.local_ns <= time.monotonic_ns(), f"the clock of the host is read: {pair}")
    expect(pair.bound_ns > 0 and pair.time_ns > (latest_s - 1) * 1e9, f"and the global one: {pair}")
    of = mpix.global_time_of(comm, time.CLOCK_MONOTONIC, pair.local_ns)
    expect(abs(of.time_ns - pair.time_ns) <= of.bound_ns + pair.bound_ns, f"the time of the reading: {of}, {pair}")
    for bad in -1000, 10**30, time.CLOCK_PROCESS_CPUTIME_ID:
        expect_error(mpix.HarmonizeError, ["clock is ", "CLOCK_MONOTONIC_RAW"], mpix.clock_pair, comm, bad,
                     error_class=MPI.ERR_ARG)
    expect_error(TypeError, ["float"], mpix.clock_pair, comm, 1.5)
    expect_error(mpix.HarmonizeError, ["/nowhere/clocks", "No such file"], mpix.clock_write, comm, "/nowhere/clocks",
                 error_class=MPI.ERR_IO)
    expect_error(TypeError, ["path is of type int"], mpix.clock_write, comm, 7 if world.rank == 0 else "x")
    expect_error(TypeError, ["path is of type NoneType"], mpix.clock_write, comm, None if world.rank == 0 else "x")
    expect_error(ValueError, ["character 0"], mpix.clock_write, comm, "a\0b" if world.rank == 0 else "x")
    with tempfile.TemporaryDirectory() as folder:
        for ignored in None, 7, "a\0b":
            mpix.clock_write(comm, pathlib.Path(folder) / "clocks.jsonl" if world.rank == 0 else ignored)
        expect(world.rank > 0 or list(pathlib.Path(folder).iterdir()) == [pathlib.Path(folder) / "clocks.jsonl"],
               "the file is there, and nothing else")
    unbounded = world.Dup()
    mpix.set_info(unbounded, {"sync": "none"})
    mpix.clock_sync(unbounded)
    if world.size > 1:
        bounds = world.gather((mpix.global_time_ns(unbounded).bound_ns, mpix.global_time_interval(unbounded)))
        expect(bounds is None or (None, (-math.inf, math.inf)) in bounds, f"no bound is None: {bounds}")
    unbounded.Free()


def check_release():
    flags = [mpix.harmonize(comm) for _ in range(5)]
    expect(all(type(flag) is bool for flag in flags), "a flag is a bool")
    statistics = mpix.get_info(comm)
    expect(statistics["calls"] == "5", "the calls are counted")
    expect(flags.count(False) >= int(statistics["calls_late"]), "late calls return False")
    expect(any(flags) or int(statistics["calls_late"]) > 0, "calls in time return True")


def check_delays():
    fresh = world.Dup()
    expect_error(mpix.HarmonizeError, ["released"], mpix.harmonize_instant, fresh, error_class=MPI.ERR_OTHER)
    flag = mpix.harmonize_delayed(fresh, world.rank * 1000)
    expect(type(flag) is bool, "a flag is a bool")
    instants = world.allgather(mpix.harmonize_instant(fresh))
    expect(min(instants) == max(instants), f"the instant is common: {instants}")
    left_ns = mpix.global_time_ns(fresh).time_ns
    expect(not flag or left_ns >= instants[0] + world.rank * 1000 - 1, "left after the delay")
    soon_ns = mpix.global_time_ns(fresh).time_ns + 100_000
    mpix.global_wait_until(fresh, soon_ns)
    expect(mpix.global_time_ns(fresh).time_ns >= soon_ns, "the instant has come after the wait for it")
    expect(mpix.global_wait_until(fresh, -10**30) is False, "an instant long ago is not in time")
    expect_error(TypeError, ["float"], mpix.global_wait_until, fresh, 1.5)
    mine, bad_delay = world.rank == world.size - 1, ["delay_ns is out of range", "allowed: 0 to "]
    for bad in (-1, -10**30, 10**30, 2**64):
        expect_error(mpix.HarmonizeError, bad_delay, mpix.harmonize_delayed, fresh, bad if mine else 0,
                     error_class=MPI.ERR_ARG)
    for bad in (0.5, math.nan, math.inf, "0", None, [1], numpy.zeros(2, int), numpy.float64(1), Unusable()):
        expect_error(mpix.HarmonizeError, bad_delay, mpix.harmonize_delayed, fresh, bad if mine else 0,
                     error_class=MPI.ERR_ARG)
        expect_cause(f"delay_ns is of type {type(bad).__name__}; allowed: an integer" if mine else "None",
                     mpix.harmonize_delayed, fresh, bad if mine else 0)
    for good in (numpy.int64(1000), numpy.uint8(1), True):
        expect(type(mpix.harmonize_delayed(fresh, good)) is bool, f"{good!r} is a delay")
    fresh.Free()


def check_settings():
    mpix.set_info(comm, {"tolerance_ns": 12345, "mpix_harmonize_slack_max_ns": "1000000"})
    found = mpix.get_info(comm)
    expect((found["tolerance_ns"], found["slack_max_ns"]) == ("12345", "1000000"), f"what was set is there: {found}")
    mpix.set_info(comm, found)
    expect(mpix.get_info(comm)["tolerance_ns"] == "12345", "what get_info returns may be passed on")
    mpix.set_info(comm, {})

    mine = world.rank == world.size - 1     # what is bad on one process only is an error on all
    value, key = MPI.ERR_INFO_VALUE, MPI.ERR_INFO_KEY
    expect_error(mpix.HarmonizeError, ["mpix_harmonize_tolerance_ns", "soon"], mpix.set_info, comm,
                 {"tolerance_ns": "soon"}, error_class=value)
    expect_error(mpix.HarmonizeError, ["tolerance_ns"], mpix.set_info, comm,
                 {"tolerance_ns": 1 + mine if world.size > 1 else "soon"}, error_class=value)
    # Messages quote a part, which may end within a character.
    for text in "é" * 50, "x" + "é" * 50:
        expect_error(mpix.HarmonizeError, ["mpix_harmonize_tolerance_ns", "éééé"], mpix.set_info, comm,
                     {"tolerance_ns": text}, error_class=MPI.ERR_INFO_VALUE)
    expect_error(mpix.HarmonizeError, ["mpix_harmonize_tolerence_ns"], mpix.set_info, comm, {"tolerence_ns": 1},
                 error_class=key)
    expect_error(ValueError, ["mpix_harmonize_tolerance_ns", "twice"], mpix.set_info, comm,
                 {"tolerance_ns": 1, "mpix_harmonize_tolerance_ns": 1})
    expect_error(ValueError, ["mpix_harmonize_sync", "''"], mpix.set_info, comm, {"sync": "" if mine else "track"})
    expect_error(ValueError, ["surrogates"], mpix.set_info, comm, {"sync": "\udc80" if mine else "track"})
    expect_error(ValueError, ["tttt"], mpix.set_info, comm, {"t" * 1000: 1} if mine else {})
    expect_error(TypeError, ["settings", "list"], mpix.set_info, comm, ["tolerance_ns"] if mine else {})
    expect_error(TypeError, ["name", "7"], mpix.set_info, comm, {7: 1} if mine else {})
    expect(mpix.get_info(comm)["tolerance_ns"] == "12345", "an error changes nothing")


def check_communicators():
    for function in (mpix.harmonize, mpix.clock_sync, mpix.global_time, mpix.global_time_interval, mpix.global_time_ns,
                     mpix.get_info, mpix.Benchmark, lambda bad: mpix.set_info(bad, {"tolerance_ns": 1})):
        expect_error(TypeError, ["comm", "str"], function, "world")
        expect_error(mpix.HarmonizeError, ["MPI_COMM_NULL"], function, MPI.COMM_NULL, error_class=MPI.ERR_COMM)
    if world.size > 1:
        half = world.Split(world.rank % 2)
        both = half.Create_intercomm(0, world, 1 - world.rank % 2)
        both.Set_errhandler(MPI.ERRORS_RETURN)
        expect_error(mpix.HarmonizeError, ["intercommunicator"], mpix.harmonize, both, error_class=MPI.ERR_COMM)
        expect_error(mpix.HarmonizeError, ["intercommunicator"], mpix.set_info, both, {"tolerance_ns": 1})
        both.Free()
        mpix.harmonize(half)
        half.Free()


def check_benchmark():
    benchmark = mpix.Benchmark(comm)
    calls = []
    samples = benchmark.run(lambda: calls.append(gc.isenabled()), iterations=20, warm_up=2)
    expect(calls == [True] * 2 + [False] * 20, "operations are called, without collecting garbage in between")
    expect(gc.isenabled(), "garbage is collected again")
    expect(samples.iterations == 20 and 0 <= samples.valid <= 20, "the number of samples")
    expect((samples.durations_ns >= 0).all() and (samples.durations_ns <= samples.longest_ns).all(), "durations")
    for kind, part, bad in ((TypeError, "operation", ["f"]), (ValueError, "iterations is 0", [len, 0]),
                            (TypeError, "float", [len, 2.5]), (ValueError, "warm_up is -1", [len, 1, -1])):
        mine = bad if world.rank == world.size - 1 else [lambda: None, 1, 0]
        expect_error(kind, [part, "allowed:"], benchmark.run, *mine)
    if world.size > 1:
        expect_error(ValueError, ["iterations", "rank"], benchmark.run, lambda: None, 1 + world.rank)
    freed = comm.Dup()
    benchmark = mpix.Benchmark(freed)
    freed.Free()
    expect_error(mpix.HarmonizeError, ["MPI_COMM_NULL"], benchmark.run, lambda: None, error_class=MPI.ERR_COMM)


def check_discarded():
    """With flags and durations that are known: sample i takes i + rank, and every third one is late on one process."""
    iterations, harmonize, clock = 10, _library.functions.MPIX_Harmonize, time.perf_counter_ns
    late = [i % 3 == 0 for i in range(iterations)]
    flags = iter([not (is_late and world.rank == world.size - 1) for is_late in late])
    readings = iter([reading for i in range(iterations) for reading in (1000, 1000 + i + world.rank)])

    def known_flag(handle, address):
        address._obj.value = next(flags)
        return MPI.SUCCESS
    benchmark = mpix.Benchmark(comm)
    _library.functions.MPIX_Harmonize, time.perf_counter_ns = known_flag, lambda: next(readings)
    try:
        samples = benchmark.run(lambda: None, iterations, warm_up=0)
    finally:
        _library.functions.MPIX_Harmonize, time.perf_counter_ns = harmonize, clock
    valid = [i for i in range(iterations) if not late[i]]
    expect(samples.durations_ns.dtype == samples.longest_ns.dtype == numpy.int64, "durations are integers")
    expect(samples.durations_ns.tolist() == [i + world.rank for i in valid], f"durations: {samples}")
    expect(samples.longest_ns.tolist() == [i + world.size - 1 for i in valid], f"the longest ones: {samples}")
    expect(samples.valid == len(valid) and samples.iterations == iterations, f"the count of valid samples: {samples}")


for check in (check_descriptions, check_clock, check_release, check_delays, check_settings, check_communicators,
              check_benchmark, check_discarded):
    check()
comm.Free()
complaints = world.gather(complaints)
rank = world.rank
last = mpix.Benchmark(world)
MPI.Finalize()
for function in (mpix.harmonize, lambda ended: mpix.set_info(ended, {"tolerance_ns": 1}), mpix.get_info,
                 lambda ended: last.run(lambda: None)):
    try:
        function(world)
        print(f"rank {rank}: no error after MPI_Finalize")
    except mpix.HarmonizeError as error:
        if "finalized" not in str(error):
            print(f"rank {rank}: after MPI_Finalize: {error}")
if rank == 0:
    lines = [line for lines in complaints for line in lines]
    print("\n".join(lines) if lines else "ok")
