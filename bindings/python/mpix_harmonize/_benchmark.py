# SPDX-License-Identifier: BSD-3-Clause
"""Measure an operation after harmonized starts, and keep the samples that are valid."""
from __future__ import annotations

import ctypes
import gc
import time
from dataclasses import dataclass
from typing import Callable, List, Optional, Tuple

import numpy
from mpi4py import MPI

from . import _library
from ._agree import agree, mpi_is_active


@dataclass(frozen=True)
class Samples:
    """The valid samples of an operation, in the order of their calls."""

    durations_ns: numpy.ndarray  #: on this process, in nanoseconds
    longest_ns: numpy.ndarray  #: on the process that took longest, in nanoseconds; the same on all processes
    iterations: int  #: how often it was measured; the others were discarded, as some process started late

    @property
    def valid(self) -> int:
        """How many samples are valid."""
        return len(self.durations_ns)


class Benchmark:
    """Times an operation after harmonized starts.

        samples = Benchmark(comm).run(lambda: comm.Allreduce(values, sums))
        print(numpy.median(samples.longest_ns), samples.valid)

    Making one is collective, and synchronizes the clocks.
    """

    def __init__(self, comm: MPI.Intracomm) -> None:
        self._handle = _library.handle(comm)
        _library.check(_library.functions.MPIX_Clock_sync(self._handle))
        self._comm = comm

    def run(self, operation: Callable[[], object], iterations: int = 1000, warm_up: int = 10) -> Samples:
        """Measure an operation and return the samples that all processes started in time. Collective.

        operation    called without arguments. It must not raise an error on some processes only.
        iterations   how often it is measured
        warm_up      how often it is called before that
        All processes give the same numbers. A duration is taken by time.perf_counter_ns.
        """
        if not mpi_is_active() or self._comm == MPI.COMM_NULL:
            _library.check(_library.functions.MPIX_Clock_sync(self._handle))  # which says what is wrong
        agree(self._comm, _problem(operation, iterations, warm_up))
        _check_same(self._comm, (iterations, warm_up))
        self._measure(operation, warm_up)
        collecting = gc.isenabled()
        gc.disable()
        try:
            durations, flags = self._measure(operation, iterations)
        finally:
            if collecting:
                gc.enable()
        durations_ns = numpy.array(durations, dtype=numpy.int64)
        longest_ns = numpy.empty_like(durations_ns)
        in_time = numpy.array(flags, dtype=numpy.int32)
        self._comm.Allreduce(durations_ns, longest_ns, MPI.MAX)
        self._comm.Allreduce(MPI.IN_PLACE, in_time, MPI.MIN)
        valid = in_time != 0
        return Samples(durations_ns[valid], longest_ns[valid], iterations)

    def _measure(self, operation: Callable[[], object], times: int) -> Tuple[List[int], List[int]]:
        """The durations and flags of this process."""
        harmonize, handle, clock = _library.functions.MPIX_Harmonize, self._handle, time.perf_counter_ns
        flag = ctypes.c_int(0)
        flag_address = ctypes.byref(flag)
        durations, flags = [0] * times, [0] * times
        for i in range(times):
            code = harmonize(handle, flag_address)
            if code:
                _library.check(code)
            begin_ns = clock()
            operation()
            end_ns = clock()
            durations[i] = end_ns - begin_ns
            flags[i] = flag.value
        return durations, flags


def _problem(operation: object, iterations: object, warm_up: object) -> Optional[Exception]:
    if not callable(operation):
        return TypeError(f"operation is of type {type(operation).__name__}; allowed: a function without parameters")
    for name, number, minimum in (("iterations", iterations, 1), ("warm_up", warm_up, 0)):
        if not isinstance(number, int) or isinstance(number, bool):
            return TypeError(f"{name} is of type {type(number).__name__}; allowed: an integer")
        if number < minimum:
            return ValueError(f"{name} is {number}; allowed: at least {minimum}")
    return None


def _check_same(comm: MPI.Intracomm, numbers: Tuple[int, int]) -> None:
    """Raise the same error on all processes unless they have the same numbers. Collective."""
    all_numbers = comm.allgather(numbers)
    for rank, others in enumerate(all_numbers):
        if others != all_numbers[0]:
            raise ValueError("iterations and warm_up are {} and {} on rank 0, ".format(*all_numbers[0])
                             + "{} and {} on rank {}; allowed: the same on all".format(*others, rank))
