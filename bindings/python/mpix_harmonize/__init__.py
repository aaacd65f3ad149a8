# SPDX-License-Identifier: BSD-3-Clause
"""A barrier in space and time for MPI, with the communicators of mpi4py.

harmonize(comm) waits for all processes of a communicator, as comm.Barrier() does, and then releases them at one instant
of a global clock, which global_time(comm) reads. Benchmark measures with it.

Errors of the library raise HarmonizeError with the library's message; a collective function raises the same on all
processes. Arguments of a wrong type raise TypeError.
"""
from __future__ import annotations

import ctypes
import operator
import os
from typing import Dict, Mapping, NamedTuple, Optional, Tuple, Union

from mpi4py import MPI

from . import _library
from ._agree import agree, mpi_is_active
from ._benchmark import Benchmark, Samples
from ._library import HarmonizeError

__all__ = [
    "Benchmark", "ClockPair", "GlobalTime", "HarmonizeError", "Samples", "clock_pair", "clock_sync", "clock_write",
    "get_info", "global_time", "global_time_interval", "global_time_ns", "global_time_of", "global_wait_until",
    "harmonize", "harmonize_delayed", "harmonize_instant", "set_info",
]

_PREFIX = "mpix_harmonize_"
_UNKNOWN_NS = 2**63 - 1
_BAD_DELAY_NS = -1
_NO_CLOCK = -1


class GlobalTime(NamedTuple):
    """A reading of the global clock."""

    time_ns: int  #: nanoseconds since the first synchronization of the communicator
    bound_ns: Optional[int]  #: the largest error, in nanoseconds; None if no bound is known


class ClockPair(NamedTuple):
    """A clock of this host and the global clock at one instant."""

    local_ns: int  #: nanoseconds, by the clock of the host
    time_ns: int  #: nanoseconds, by the global clock
    bound_ns: Optional[int]  #: the largest error of time_ns, in nanoseconds; None if no bound is known


def harmonize(comm: MPI.Intracomm) -> bool:
    """Wait for all processes of comm, then leave at one instant of the global clock. Collective.

    Returns whether this process left in time (setting tolerance_ns). Processes may differ: a sample is valid if the
    result is true on all of them. The interpreter continues about a microsecond after the instant.
    """
    flag = ctypes.c_int(0)
    _library.check(_library.functions.MPIX_Harmonize(_library.handle(comm), ctypes.byref(flag)))
    return flag.value != 0


def harmonize_delayed(comm: MPI.Intracomm, delay_ns: int) -> bool:
    """As harmonize, but leave delay_ns nanoseconds after the instant that is common to all processes. Collective.

    Each process gives its own delay. One that is no integer, negative or longer than the setting delay_max_ns raises
    HarmonizeError on all processes. Where it is no integer, the cause of the error (__cause__) says what it is.
    """
    flag = ctypes.c_int(0)
    delay, problem = _try_delay(delay_ns)
    _library.check(_library.functions.MPIX_Harmonize_delayed(_library.handle(comm), delay, ctypes.byref(flag)), problem)
    return flag.value != 0


def harmonize_instant(comm: MPI.Intracomm) -> int:
    """The common instant of the last release of comm, in nanoseconds of its global clock. Local."""
    instant_ns = ctypes.c_int64()
    _library.check(_library.functions.MPIX_Harmonize_instant(_library.handle(comm), ctypes.byref(instant_ns)))
    return instant_ns.value


def clock_sync(comm: MPI.Intracomm) -> None:
    """Synchronize the clocks of comm now. Collective."""
    _library.check(_library.functions.MPIX_Clock_sync(_library.handle(comm)))


def global_time(comm: MPI.Intracomm) -> float:
    """Read the global clock of comm, in seconds. Local. All processes read the same, up to the bound.

    The clock must have been synchronized, by clock_sync or harmonize.
    """
    time_s = ctypes.c_double()
    _library.check(_library.functions.MPIX_Global_time(_library.handle(comm), ctypes.byref(time_s)))
    return time_s.value


def global_time_interval(comm: MPI.Intracomm) -> Tuple[float, float]:
    """Read the global clock of comm as (earliest, latest), in seconds. Local.

    The interval contains the time of the reference clock. It is (-inf, inf) if no bound is known.
    """
    earliest_s, latest_s = ctypes.c_double(), ctypes.c_double()
    _library.check(_library.functions.MPIX_Global_time_interval(
        _library.handle(comm), ctypes.byref(earliest_s), ctypes.byref(latest_s)))
    return earliest_s.value, latest_s.value


def global_time_ns(comm: MPI.Intracomm) -> GlobalTime:
    """Read the global clock of comm and the bound of its error, in nanoseconds. Local."""
    time_ns, bound_ns = ctypes.c_int64(), ctypes.c_int64()
    _library.check(_library.functions.MPIX_Global_time_ns(
        _library.handle(comm), ctypes.byref(time_ns), ctypes.byref(bound_ns)))
    return GlobalTime(time_ns.value, _bound(bound_ns))


def global_wait_until(comm: MPI.Intracomm, instant_ns: int) -> bool:
    """Wait for an instant of the global clock of comm, in nanoseconds. Local.

    Returns whether the wait ended in time (setting tolerance_ns).
    """
    flag = ctypes.c_int(0)
    _library.check(_library.functions.MPIX_Global_wait_until(
        _library.handle(comm), _limited(operator.index(instant_ns)), ctypes.byref(flag)))
    return flag.value != 0


def clock_pair(comm: MPI.Intracomm, clock: int) -> ClockPair:
    """Read a clock of this host, such as time.CLOCK_MONOTONIC, and the global clock at one instant. Local.

    All are nanoseconds. The global time may be less than an earlier reading by global_time_ns, which never decreases.
    """
    local_ns, time_ns, bound_ns = ctypes.c_int64(), ctypes.c_int64(), ctypes.c_int64()
    _library.check(_library.functions.MPIX_Clock_pair(
        _library.handle(comm), _clock(clock), ctypes.byref(local_ns), ctypes.byref(time_ns), ctypes.byref(bound_ns)))
    return ClockPair(local_ns.value, time_ns.value, _bound(bound_ns))


def global_time_of(comm: MPI.Intracomm, clock: int, local_ns: int) -> GlobalTime:
    """The global time at which a clock of this host, such as time.CLOCK_MONOTONIC, had a reading. Local.

    All are nanoseconds. The reading is of now or of the past: time.monotonic_ns() is one of time.CLOCK_MONOTONIC.
    """
    time_ns, bound_ns = ctypes.c_int64(), ctypes.c_int64()
    _library.check(_library.functions.MPIX_Global_time_of(
        _library.handle(comm), _clock(clock), _limited(operator.index(local_ns)), ctypes.byref(time_ns),
        ctypes.byref(bound_ns)))
    return GlobalTime(time_ns.value, _bound(bound_ns))


def clock_write(comm: MPI.Intracomm, path: Union[str, "os.PathLike[str]", None]) -> None:
    """Write what the clocks of all hosts were on the global clock into a file of clock records. Collective.

    mpix_clock_convert converts timestamps by it. Rank 0 writes the file; the paths of others are ignored, and may be
    None.
    """
    handle = _library.handle(comm)
    name, problem = _try_path(path)
    if mpi_is_active() and isinstance(comm, MPI.Intracomm) and comm != MPI.COMM_NULL:
        agree(comm, problem if comm.rank == 0 else None)
    _library.check(_library.functions.MPIX_Clock_write(handle, name))


def set_info(comm: MPI.Intracomm, settings: Mapping[str, object]) -> None:
    """Change settings of comm, such as {"tolerance_ns": 2000, "sync": "hca3/100/skampi/10"}. Collective.

    The names are those in "man mpix_harmonize", with or without mpix_harmonize_. All processes give the same settings.
    Statistics are ignored, so what get_info returns may be passed on. Either all settings take effect, or none.
    """
    handle = _library.handle(comm)
    info = MPI.INFO_NULL
    if mpi_is_active() and isinstance(comm, MPI.Intracomm) and comm != MPI.COMM_NULL:
        texts, problem = _try_texts(settings)
        agree(comm, problem)
        info = MPI.Info.Create()
        for key, text in texts.items():
            info.Set(key, text)
    try:
        _library.check(_library.functions.MPIX_Harmonize_set_info(handle, _library.handle(info)))
    finally:
        if info != MPI.INFO_NULL:
            info.Free()


def get_info(comm: MPI.Intracomm) -> Dict[str, str]:
    """The settings and statistics of comm on this process, all as text. Local.

    The names are those in "man MPIX_Harmonize_get_info", without mpix_harmonize_: int(get_info(comm)["calls"]).
    """
    return {key[len(_PREFIX):]: text for key, text in _library.info_items(comm)}


def _bound(bound_ns: ctypes.c_int64) -> Optional[int]:
    return None if bound_ns.value == _UNKNOWN_NS else bound_ns.value


def _clock(clock: int) -> int:
    """A number of a clock as C takes it; one that is too large is no clock."""
    number = operator.index(clock)
    return number if -2**31 <= number < 2**31 else _NO_CLOCK


def _limited(time_ns: int) -> int:
    """The nearest number that C can take: ctypes would drop the highest bits."""
    return max(-2**63, min(2**63 - 1, time_ns))


def _try_delay(delay_ns: object) -> Tuple[int, Optional[Exception]]:
    """A delay as C takes it, or a bad one, of which the other processes learn, and why. Any object may come."""
    try:
        return _limited(operator.index(delay_ns)), None
    except Exception as error:
        return _BAD_DELAY_NS, TypeError(f"delay_ns is of type {type(delay_ns).__name__}; allowed: an integer ({error})")


def _try_path(path: object) -> Tuple[bytes, Optional[Exception]]:
    """The name of a file as C takes it, or why it cannot. Any object may come."""
    try:
        name = os.fsencode(path)  # type: ignore[arg-type]
        return name, ValueError("path has a character 0") if b"\0" in name else None
    except Exception as error:
        return b"", TypeError(f"path is of type {type(path).__name__}; allowed: the name of a file ({error})")


def _try_texts(settings: Mapping[str, object]) -> Tuple[Dict[str, str], Optional[Exception]]:
    """Settings as an info object takes them, or why it cannot. Settings may be any object, so any error may come."""
    try:
        return _texts(settings), None
    except Exception as error:
        # Errors of other types may not be known to the other processes.
        return {}, TypeError(str(error)) if isinstance(error, TypeError) else ValueError(str(error))


def _texts(settings: Mapping[str, object]) -> Dict[str, str]:
    """Settings as an info object takes them. Raises an error if it cannot."""
    texts: Dict[str, str] = {}
    if not isinstance(settings, Mapping):
        raise TypeError(f"settings are of type {type(settings).__name__}; allowed: a mapping, such as a dict")
    for name, value in settings.items():
        if not isinstance(name, str):
            raise TypeError(f"the name of a setting is {name!r}; allowed: a string")
        key = name if name.startswith(_PREFIX) else _PREFIX + name
        text = str(value)
        if key in texts:
            raise ValueError(f"the setting {key} is named twice")
        if len(key.encode()) >= MPI.MAX_INFO_KEY or "\0" in key:
            raise ValueError(f"there is no setting {name!r}")
        if not 0 < len(text.encode()) < MPI.MAX_INFO_VAL or "\0" in text:
            raise ValueError(f"the value of {key} is {text[:40]!r}; "
                             f"allowed: 1 to {MPI.MAX_INFO_VAL - 1} bytes, none of them 0")
        texts[key] = text
    return texts
