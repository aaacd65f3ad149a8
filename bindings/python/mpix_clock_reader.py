# SPDX-License-Identifier: BSD-3-Clause
"""What the timestamps of any program on a host are on the global clock, by a file of clock records.

"mpix_clock record" writes such a file. This module needs neither MPI nor numpy, and may be copied alone. It gives the
times and bounds of mpix_clock_reader.h, to the nanosecond; mpix_clock_reader(3) says what a bound relies on.

    import mpix_clock_reader
    records = mpix_clock_reader.open_records("clocks.jsonl")
    times = records.convert("node2", "monotonic", frame["time_ns"])     # any whole numbers, in any order
    frame["unix_ns"], frame["bound_ns"], frame["how"] = times.unix_ns, times.bound_ns, times.how

Run as a program, it converts whole numbers, one a line:

    python3 -m mpix_clock_reader clocks.jsonl node2 monotonic <readings >times.csv
"""

from __future__ import annotations

import json
import operator
import sys
from bisect import bisect_left, bisect_right
from math import ceil, fabs, floor, inf, isinf, isfinite, nan
from typing import Dict, Iterable, Iterator, List, NamedTuple, Optional, Tuple

__all__ = ["CLOCKS", "UNKNOWN_NS", "ClockRecords", "Time", "Times", "Utc", "open_records"]

CLOCKS = ("monotonic_raw", "monotonic", "boottime", "realtime", "tai", "counter")

#: The bound of a time of which nothing is known.
UNKNOWN_NS = 2**63 - 1

# Times and offsets are whole nanoseconds, so each reading is off by this.
_RESOLUTION_NS = 1
# A clock that the kernel corrects may differ in rate from MONOTONIC_RAW by this, if no look says more.
_CORRECTED_RATE_LIMIT = 1e-3
# The limits of mpix_clock_reader.h, which has numbers of 64 bits.
_MAX_READING = (2**63 - 1) // 4
_MAX_UPTIME_NS = _MAX_READING // 4
_MAX_RATE_LIMIT_PPB = 10**9

_EXTRAPOLATED, _AMBIGUOUS = 1, 2
_HOW = ("", "extrapolated", "ambiguous", "extrapolated+ambiguous")


class Time(NamedTuple):
    """A time on the global clock. The true time is within bound_ns of it."""

    global_ns: int
    unix_ns: int
    bound_ns: int
    how: str  #: "": interpolated; "extrapolated": before or after all records; "ambiguous": the clock was set


class Times(NamedTuple):
    """The same of many times."""

    global_ns: List[int]
    unix_ns: List[int]
    bound_ns: List[int]
    how: List[str]


class Utc(NamedTuple):
    """UTC at a global time, by the word of the kernel of a host whose clock chrony or ntpd keeps."""

    host: str
    ahead_ns: int  #: UTC less unix_ns of the same time
    within_ns: int  #: what this is wrong by at most


def _limited(time: int) -> int:
    return min(max(time, -_MAX_READING), _MAX_READING)


def _ratio(above: float, below: float) -> float:
    return above / below if below != 0 else nan if above == 0 else inf


# ---- Interpolation between readings of two clocks


class _Pair(NamedTuple):
    at_ns: int  # MONOTONIC_RAW
    ahead_ns: int  # the global clock less MONOTONIC_RAW
    bound_ns: float
    is_cut: bool = False  # a clock was set since the pair before


class _Line:
    """Pairs in the order of at_ns, and what is known of the rates of the two clocks."""

    def __init__(self, pairs: List[_Pair], rate_limit: float, wander_per_s: float):
        self.pairs, self.rate_limit, self.wander_per_s = pairs, rate_limit, wander_per_s
        self.ats = [pair.at_ns for pair in pairs]

    def part(self, begin: int, end: int) -> _Line:
        return _Line(self.pairs[begin:end], self.rate_limit, self.wander_per_s)

    def contradict(self, one: _Pair, other: _Pair) -> bool:
        apart_ns = float(other.at_ns - one.at_ns)
        limit_ns = one.bound_ns + other.bound_ns + self.rate_limit * apart_ns + 2 * _RESOLUTION_NS
        return other.is_cut or fabs(float(other.ahead_ns - one.ahead_ns)) > limit_ns

    def _bound_between_ns(self, one: _Pair, other: _Pair, at_ns: int) -> float:
        if at_ns <= one.at_ns:
            return one.bound_ns
        if self.contradict(one, other) or isinf(one.bound_ns) or isinf(other.bound_ns):
            return inf
        apart_ns, age_ns = float(other.at_ns - one.at_ns), float(at_ns - one.at_ns)
        part = age_ns / apart_ns
        change = min(self.wander_per_s * (1 + apart_ns * 1e-9 / 2), 2 * self.rate_limit)
        return one.bound_ns + part * (other.bound_ns - one.bound_ns) + change * part * (apart_ns - age_ns)

    def _bound_beyond_ns(self, neighbor: Optional[_Pair], end: _Pair, at_ns: int) -> float:
        age_ns = fabs(float(at_ns - end.at_ns))
        if not neighbor or neighbor.at_ns == end.at_ns:
            return end.bound_ns + (self.rate_limit * age_ns if age_ns > 0 else 0)
        if self.contradict(*((neighbor, end) if neighbor.at_ns < end.at_ns else (end, neighbor))):
            return inf
        apart_ns = fabs(float(end.at_ns - neighbor.at_ns))
        wandered = self.wander_per_s * (1 + (apart_ns + age_ns) / 2 * 1e-9)
        drift_bound = (end.bound_ns + neighbor.bound_ns) / apart_ns + wandered
        return end.bound_ns + min(drift_bound, 2 * self.rate_limit) * age_ns

    def end_at(self, at_ns: int) -> int:
        """The second of the pairs on both sides of a time, or of the two nearest ones."""
        return min(max(bisect_right(self.ats, at_ns), 1), len(self.pairs) - 1)

    def read(self, at_ns: int) -> Tuple[int, float]:
        end = self.end_at(at_ns)
        one, other = self.pairs[max(end - 1, 0)], self.pairs[end]
        near = other if at_ns > other.at_ns else one
        drift = 0.0
        if other.at_ns > one.at_ns:
            drift = float(other.ahead_ns - one.ahead_ns) / float(other.at_ns - one.at_ns)
        if at_ns < one.at_ns or at_ns > other.at_ns:
            drift = min(max(drift, -self.rate_limit), self.rate_limit)
        rest_ns = drift * float(at_ns - near.at_ns)
        whole_ns = floor(rest_ns)
        return at_ns + near.ahead_ns + whole_ns, rest_ns - whole_ns

    def bound_ns(self, at_ns: int) -> float:
        pairs = self.pairs
        if at_ns <= pairs[0].at_ns:
            return _RESOLUTION_NS + self._bound_beyond_ns(pairs[1] if len(pairs) > 1 else None, pairs[0], at_ns)
        if at_ns >= pairs[-1].at_ns:
            return _RESOLUTION_NS + self._bound_beyond_ns(pairs[-2] if len(pairs) > 1 else None, pairs[-1], at_ns)
        end = self.end_at(at_ns)
        return _RESOLUTION_NS + self._bound_between_ns(pairs[end - 1], pairs[end], at_ns)


# ---- From a clock to MONOTONIC_RAW


class _Look(NamedTuple):
    at: int  # the clock, nanoseconds or ticks
    raw_ns: int  # MONOTONIC_RAW at the same instant
    half_ns: int  # that instant is within this
    #: Looks that were left out since the one before were within this of the line. -1: there were none. -2: and nobody
    #: looked for a while, as is known after files were joined that have another look_ns.
    bend_ns: int


_BEHIND_GAP = -2


def _is_gap(one: _Look, other: _Look, look_ns: int) -> bool:
    """Whether nobody looked for a while."""
    return other.bend_ns == _BEHIND_GAP or other.bend_ns < 0 and other.raw_ns - one.raw_ns > 2 * look_ns


class _Interval(NamedTuple):
    """When, by MONOTONIC_RAW, less the raw time of the first look."""

    min_ns: float
    max_ns: float
    how: int


def _interval_of(one_ns: float, other_ns: float, half_ns: float, how: int) -> _Interval:
    return _Interval(min(one_ns, other_ns) - half_ns, max(one_ns, other_ns) + half_ns, how)


def _unit_ns(one: _Look, other: _Look) -> float:
    return _ratio(float(other.raw_ns - one.raw_ns), float(other.at - one.at))


class _Looks:
    """The looks at one clock, and the stretches in which it was not set."""

    def __init__(self, looks: List[_Look], clock: str, look_ns: int):
        self.looks, self.look_ns = looks, look_ns
        self.is_counter = clock == "counter"
        self.may_be_set = clock in ("realtime", "tai", "boottime")  # the last one by a suspend
        self.ats = [look.at for look in looks]
        self.zero_ns = looks[0].raw_ns
        self.stretches: List[Tuple[int, int]] = []
        begin = 0
        for i in range(len(looks)):
            if i + 1 == len(looks) or self._is_set_after(i):
                self.stretches.append((begin, i + 1))
                begin = i + 1
        first, last = looks[0], looks[-1]
        self.usual_unit_ns = _unit_ns(first, last) if self.is_counter and last.at > first.at else 1.0

    def _is_gap(self, one: _Look, other: _Look) -> bool:
        return _is_gap(one, other, self.look_ns)

    def _is_set_after(self, i: int) -> bool:
        one, other = self.looks[i], self.looks[i + 1]
        passed_ns = float(other.raw_ns - one.raw_ns)
        if other.at <= one.at:
            return True
        limit = _CORRECTED_RATE_LIMIT if self._is_gap(one, other) else 0.1
        limit_ns = limit * passed_ns + float(one.half_ns + other.half_ns) + 1e3
        return not self.is_counter and fabs(float(other.at - one.at) - passed_ns) > limit_ns

    def _in_gap(self, one: _Look, other: _Look, half_ns: float, chord_ns: float, reading: int) -> _Interval:
        passed_ns = float(other.raw_ns - one.raw_ns)
        grown_ns = fabs(self.usual_unit_ns * float(other.at - one.at) - passed_ns)
        near_ns = self.usual_unit_ns * min(float(reading - one.at), float(other.at - reading))
        limit = 0.0 if self.is_counter else _CORRECTED_RATE_LIMIT
        slewed_ns = (limit + grown_ns / passed_ns) * near_ns if passed_ns > 0 else 0.0
        return _interval_of(chord_ns, chord_ns, half_ns + slewed_ns + (grown_ns if self.may_be_set else 0.0), 0)

    def _between(self, i: int, begin: int, end: int, reading: int) -> _Interval:
        looks, zero_ns = self.looks, self.zero_ns
        one, other = looks[i], looks[i + 1]
        half_ns = float(max(one.half_ns, other.half_ns)) + _RESOLUTION_NS
        one_ns, other_ns = float(one.raw_ns - zero_ns), float(other.raw_ns - zero_ns)
        since, until, unit = float(reading - one.at), float(other.at - reading), _unit_ns(one, other)
        if other.bend_ns >= 0:
            at_ns = one_ns + unit * since
            return _interval_of(at_ns, at_ns, half_ns + float(other.bend_ns), 0)
        chord_ns = one_ns + unit * since
        previous, following = looks[i - 1 if i > begin else i], looks[i + 2 if i + 2 < end else i + 1]
        has_previous, has_following = i > begin, i + 2 < end
        are_alone = not has_previous and not has_following
        if (are_alone or self._is_gap(one, other) or has_previous and self._is_gap(previous, one)
                or has_following and self._is_gap(other, following)):
            return self._in_gap(one, other, half_ns, chord_ns, reading)
        left_ns = right_ns = chord_ns
        rough_ns = 0.0
        if has_previous:
            left_ns = one_ns + since * _unit_ns(previous, one)
            rough_ns = 2 * half_ns * since / float(one.at - previous.at)
        if has_following:
            right_ns = other_ns - until * _unit_ns(other, following)
            rough_ns = max(rough_ns, 2 * half_ns * until / float(following.at - other.at))
        if self.may_be_set and has_previous and not has_following:
            right_ns = other_ns - until * _unit_ns(previous, one)
        if self.may_be_set and has_following and not has_previous:
            left_ns = one_ns + since * _unit_ns(other, following)
        return _interval_of(min(chord_ns, left_ns, right_ns), max(chord_ns, left_ns, right_ns), half_ns + rough_ns, 0)

    def _beyond(self, i: int, unit: float, rate_limit: float, reading: int) -> _Interval:
        near = self.looks[i]
        apart_ns = unit * float(reading - near.at)
        at_ns = float(near.raw_ns - self.zero_ns) + apart_ns
        if reading == near.at:
            return _interval_of(at_ns, at_ns, float(near.half_ns) + _RESOLUTION_NS, 0)
        drifted_ns = float(_MAX_READING) if isinf(rate_limit) else rate_limit * fabs(apart_ns)
        return _interval_of(at_ns, at_ns, float(near.half_ns) + _RESOLUTION_NS + drifted_ns, _EXTRAPOLATED)

    def _unit_near(self, one: _Look, other: _Look) -> float:
        """The rate of two looks, if they are far enough apart to tell it."""
        doubt = _ratio(float(one.half_ns + other.half_ns + 2 * _RESOLUTION_NS), float(other.raw_ns - one.raw_ns))
        tells = self.is_counter or 0 <= doubt < _CORRECTED_RATE_LIMIT / 10
        return _unit_ns(one, other) if tells else self.usual_unit_ns

    def _in_stretch(self, begin: int, end: int, reading: int) -> Optional[_Interval]:
        """When the clock had a reading, while it was not set; None: it had the reading before or after that."""
        looks = self.looks
        first, last = looks[begin], looks[end - 1]
        rate_limit = 1.1 * _CORRECTED_RATE_LIMIT
        if self.is_counter:  # one look does not tell how long a tick is
            rate_limit = _ratio(float(first.half_ns + last.half_ns + 2), float(last.raw_ns - first.raw_ns))
        if reading < first.at:
            unit = self._unit_near(first, looks[begin + 1]) if end - begin > 1 else self.usual_unit_ns
            found = self._beyond(begin, unit, rate_limit, reading)
            if begin == 0:
                return found
            is_there = found.max_ns >= float(looks[begin - 1].raw_ns - self.zero_ns)
            return found._replace(how=0) if is_there else None
        if reading >= last.at:
            unit = self._unit_near(looks[end - 2], last) if end - begin > 1 else self.usual_unit_ns
            found = self._beyond(end - 1, unit, rate_limit, reading)
            if end == len(looks):
                return found
            is_there = found.min_ns <= float(looks[end].raw_ns - self.zero_ns)
            return found._replace(how=0) if is_there else None
        return self._between(bisect_right(self.ats, reading, begin, end) - 1, begin, end, reading)

    def when(self, reading: int) -> _Interval:
        """All times at which the clock may have had a reading."""
        found = []
        nearest = _Interval(0.0, 0.0, 0)
        for begin, end in self.stretches:
            interval = self._in_stretch(begin, end, reading)
            if interval:
                found.append(interval)
            elif end < len(self.looks) and reading >= self.looks[end - 1].at:
                before_ns, after_ns = self.looks[end - 1].raw_ns, self.looks[end].raw_ns
                nearest = _Interval(float(before_ns - self.zero_ns), float(after_ns - self.zero_ns), _AMBIGUOUS)
        # A clock that was set ahead has left out the reading: it was taken while the clock was set, if it was taken.
        if not found:
            return nearest
        how = _AMBIGUOUS if len(found) > 1 else 0
        for interval in found:
            how |= interval.how
        return _Interval(min(one.min_ns for one in found), max(one.max_ns for one in found), how)


# ---- Hosts


class _Host:
    def __init__(self, name: str, boot: str, look_ns: int, namespace_ns: Dict[str, int]):
        self.name, self.boot, self.look_ns, self.namespace_ns = name, boot, look_ns, namespace_ns
        self.pairs: List[_Pair] = []
        self.spans: List[Tuple[int, int]] = []  # in which files that were joined have it; none: it is of one file
        self.added: Dict[str, List[_Look]] = {}
        self.line = _Line([], 0, 0)
        self.clocks: Dict[str, _Looks] = {}
        # REALTIME, MONOTONIC_RAW, what UTC is within (-1: not known), and by the estimate
        self.utc_looks: List[Tuple[int, int, int, int]] = []
        self.utc = _Line([], 0, 0)  # from the global clock

    def settle(self, rate_limit: float, wander_per_s: float) -> None:
        self.pairs.sort(key=operator.attrgetter("at_ns"))
        self.line = _Line(self.pairs, rate_limit, wander_per_s)
        for clock, looks in self.added.items():
            looks.sort(key=operator.attrgetter("raw_ns", "at"))
            self.clocks[clock] = _Looks(looks, clock, self.look_ns)
        pairs = []
        for at, raw_ns, within_ns, estimate_ns in self.utc_looks if self.pairs else []:
            global_ns, _, bound_ns, how = self.read_global(raw_ns)
            # systemd-timesyncd and phc2sys tell the kernel that the error is 0, which is no bound.
            if 0 < estimate_ns <= within_ns and not how and abs(global_ns) < _MAX_UPTIME_NS:
                pairs.append(_Pair(global_ns, at - global_ns, within_ns + bound_ns))
        self.utc = _Line(sorted(pairs, key=operator.attrgetter("at_ns")), rate_limit, wander_per_s)

    def read_global(self, raw_ns: int) -> Tuple[int, float, float, int]:
        """Time, rest, bound, how. Where two records contradict each other, the host was suspended between them."""
        line, pairs = self.line, self.pairs
        time_ns, rest_ns = line.read(raw_ns)
        bound_ns = line.bound_ns(raw_ns)
        end = line.end_at(raw_ns)
        if isfinite(bound_ns) or end == 0 or raw_ns <= pairs[end - 1].at_ns or raw_ns >= pairs[end].at_ns:
            return time_ns, rest_ns, bound_ns, 0
        before, after = line.part(0, end), line.part(end, len(pairs))
        (one_ns, one_rest_ns), (other_ns, other_rest_ns) = before.read(raw_ns), after.read(raw_ns)
        apart_ns = float(other_ns - one_ns) + other_rest_ns - one_rest_ns
        bound_ns = fabs(apart_ns) / 2 + _RESOLUTION_NS + max(before.bound_ns(raw_ns), after.bound_ns(raw_ns))
        return one_ns + floor(apart_ns / 2), rest_ns, bound_ns, _AMBIGUOUS

    def whole_span(self) -> List[Tuple[int, int]]:
        raws = [pair.at_ns for pair in self.pairs[:1] + self.pairs[-1:]]
        raws.extend(look.raw_ns for looks in self.added.values() for look in looks[:1] + looks[-1:])
        return [(min(raws), max(raws))] if raws else []

    def is_recorded(self, since_ns: int, until_ns: int) -> bool:
        """Whether a file that was joined has the host at a time between these."""
        return any(first_ns <= until_ns and since_ns <= last_ns for first_ns, last_ns in self.spans)


class ClockRecords:
    """The clock records of some hosts."""

    def __init__(self, unix_ns: int, rate_limit: float, wander_per_s: float):
        self._unix_ns, self._rate_limit, self._wander_per_s = unix_ns, rate_limit, wander_per_s
        self._hosts: List[_Host] = []

    @property
    def hosts(self) -> List[str]:
        """The names of the hosts. One that was booted again is there twice."""
        return [host.name for host in self._hosts]

    def clocks(self, host: str) -> List[str]:
        """The clocks that the records of a host have."""
        found = self._host(host)
        return [clock for clock in CLOCKS if found.pairs and (clock == CLOCKS[0] or clock in found.clocks)]

    def span(self, host: str, clock: str) -> Tuple[int, int]:
        """The first and the last reading of a clock in the records of a host."""
        found = self._host_with(host, clock)
        ats = found.line.ats if clock == CLOCKS[0] else found.clocks[clock].ats
        return ats[0], ats[-1]

    def namespace_ns(self, host: str, clock: str) -> int:
        """What the time namespace of the recorder adds to a clock. Timestamps of the kernel are without it."""
        return self._host(host).namespace_ns.get(clock, 0)

    def time_of(self, host: str, clock: str, reading: int) -> Time:
        """The global time at which a clock of a host had a reading: nanoseconds, or ticks of the counter."""
        return self._time_of(self._host_with(host, clock), clock, reading)

    def convert(self, host: str, clock: str, readings: Iterable[int]) -> Times:
        """The same of many readings. They must be whole numbers, as a float has too few digits for a time."""
        found = self._host_with(host, clock)
        times = Times([], [], [], [])
        for reading in readings:
            time = self._time_of(found, clock, reading)
            for column, value in zip(times, time):
                column.append(value)
        return times

    def utc(self, global_ns: int) -> Optional[Utc]:
        """UTC at a global time, by the host whose word is surest. None: no word bounds it."""
        best, least_ns = None, float(_MAX_READING)
        global_ns = _limited(global_ns)
        for host in self._hosts:
            bound_ns = host.utc.bound_ns(global_ns) if host.utc.pairs else inf
            if bound_ns < least_ns:
                ahead_ns = host.utc.read(global_ns)[0] - (global_ns + self._unix_ns)
                best, least_ns = Utc(host.name, ahead_ns, ceil(bound_ns) + 1), bound_ns
        return best

    def join(self, other: ClockRecords) -> None:
        """Add the records of another job, by a host that both have: times are on the clock of this one."""
        bridges = self._junction(other)
        for host in other._hosts:
            to = self._find(host.name, host.boot)
            if not to:
                to = _Host(host.name, host.boot, host.look_ns, host.namespace_ns)
                self._hosts.append(to)
            _add_recorded(to, host, bridges)
        for host in self._hosts:
            host.settle(self._rate_limit, self._wander_per_s)

    def _junction(self, other: ClockRecords) -> List[_Bridge]:
        """By a host of both whose MONOTONIC_RAW counted from one to the other, if it can all the time of both."""
        found: List[_Bridge] = []
        is_whole = False
        why = "the files have records of no host in common, since the same boot"
        for there in other._hosts:
            here = self._find(there.name, there.boot)
            if here and here.namespace_ns != there.namespace_ns:
                raise ValueError(f"{there.name} had another time namespace when the other file was written")
            if not here or not here.pairs or not there.pairs or is_whole:
                continue
            why = (f"{there.name}, which the files have in common, was suspended between them, or while they were "
                   "written")
            bridges, are_whole = _CommonHost(here, there).bridges()
            if bridges and (not found or are_whole):
                found, is_whole = bridges, are_whole
        if not found:
            raise ValueError(why)
        return found

    def _find(self, name: str, boot: Optional[str]) -> Optional[_Host]:
        for host in reversed(self._hosts):
            if host.name == name and boot in (None, host.boot):
                return host
        return None

    def _host(self, name: str) -> _Host:
        found = [host for host in self._hosts if host.name == name]
        if len(found) > 1:
            raise ValueError(f"{name} was booted while it was recorded: convert by a file of one boot")
        if not found:
            raise ValueError(f"{name} is not in the records, which have {', '.join(self.hosts)}")
        return found[0]

    def _host_with(self, name: str, clock: str) -> _Host:
        host = self._host(name)
        if not host.pairs or clock != CLOCKS[0] and clock not in host.clocks:
            raise ValueError(f"the records of {name} do not have {clock}")
        return host

    def _time_of(self, host: _Host, clock: str, reading: int) -> Time:
        reading = _limited(operator.index(reading))
        raw_ns, half_ns, how = reading, 0.0, 0
        if clock != CLOCKS[0]:
            looks = host.clocks[clock]
            when = looks.when(reading)
            middle_ns = when.min_ns + (when.max_ns - when.min_ns) / 2
            half_ns, how = (when.max_ns - when.min_ns) / 2, when.how
            middle_ns = min(max(middle_ns, -float(_MAX_READING)), float(_MAX_READING))
            raw_ns = _limited(looks.zero_ns + int(middle_ns))
        if raw_ns < host.line.ats[0] or raw_ns > host.line.ats[-1]:
            how |= _EXTRAPOLATED
        time_ns, rest_ns, global_bound_ns, global_how = host.read_global(raw_ns)
        bound_ns = global_bound_ns + half_ns * (1 + self._rate_limit)
        global_ns = time_ns + (rest_ns >= 0.5)
        is_known = bound_ns < _MAX_READING
        return Time(global_ns, global_ns + self._unix_ns,
                    ceil(bound_ns) + _RESOLUTION_NS if is_known else UNKNOWN_NS, _HOW[how | global_how])

    # ---- Reading

    def _add_line(self, line: Dict[str, object], host: Optional[_Host]) -> Optional[str]:
        for key, value in line.items():
            numbers = value if isinstance(value, list) else [value]
            if key == "host":
                host = self._find(str(value), None)
            elif key == "raw":
                if not host or len(numbers) != 3 or numbers[2] < 0:
                    return "has a record without a host, or not of three numbers"
                if max(abs(numbers[0]), abs(numbers[1])) >= _MAX_UPTIME_NS:
                    return "has a record of more than 18 years"
                host.pairs.append(_Pair(numbers[0], numbers[1] - numbers[0], float(numbers[2])))
            elif key == "utc":
                if not host or len(numbers) != 4:
                    return "has a word of UTC without a host, or not of four numbers"
                if abs(numbers[1]) >= _MAX_UPTIME_NS:
                    return "has a word of UTC of more than 18 years"
                host.utc_looks.append((numbers[0], numbers[1], numbers[2], numbers[3]))
            elif key in CLOCKS:
                if not host or len(numbers) < 3 or numbers[2] < 0:
                    return "has a look without a host, or of fewer than three numbers"
                look = _Look(numbers[0], numbers[1], numbers[2], numbers[3] if len(numbers) > 3 else -1)
                host.added.setdefault(key, []).append(look)
        return None

    def _add_host(self, line: Dict[str, object]) -> None:
        name, boot = str(line.get("host", "")), str(line["boot"])
        namespace_ns = {clock: _number(line, clock + "_namespace_ns") for clock in CLOCKS}
        host = self._find(name, boot)
        if not host:
            host = _Host(name, boot, _number(line, "look_ns"), namespace_ns)
            self._hosts.append(host)
        host.namespace_ns = namespace_ns


# ---- Joining


class _Bridge(NamedTuple):
    """What two jobs recorded of a host while it was not suspended."""

    here: _Line
    there: _Line
    doubt_ns: float  # between the two, the host may have been suspended for so long


def _global_of(pair: _Pair) -> int:
    return pair.at_ns + pair.ahead_ns


def _away_ns(bridge: _Bridge, global_ns: int) -> float:
    """How far a time of the second job is from the records of a bridge."""
    first_ns, last_ns = _global_of(bridge.there.pairs[0]), _global_of(bridge.there.pairs[-1])
    return float(first_ns - global_ns if global_ns < first_ns else max(global_ns - last_ns, 0))


def _raw_at(line: _Line, global_ns: int) -> int:
    """MONOTONIC_RAW at a global time."""
    pairs = line.pairs
    after, end = 0, len(pairs)
    while after < end:
        middle = (after + end) // 2
        if _global_of(pairs[middle]) > global_ns:
            end = middle
        else:
            after = middle + 1
    one = pairs[max(after - 1, 0)]
    if 0 < after < len(pairs):
        other = pairs[after]
        part = float(global_ns - _global_of(one)) / float(_global_of(other) - _global_of(one))
        return one.at_ns + int(part * float(other.at_ns - one.at_ns))
    raw_ns = _limited(global_ns - one.ahead_ns)
    for _ in range(3):  # each one takes the error times the drift
        raw_ns = _limited(raw_ns + global_ns - line.read(raw_ns)[0])
    return raw_ns


def _moved(pair: _Pair, bridges: List[_Bridge]) -> _Pair:
    """A record of another file. Where no bridge has its time, MONOTONIC_RAW is what it would be without a suspend."""
    time_ns = _global_of(pair)
    here, there, doubt_ns = min(bridges, key=lambda bridge: _away_ns(bridge, time_ns))
    shared_ns = _raw_at(there, time_ns)
    moved_ns = _limited(here.read(shared_ns)[0]) + _limited(time_ns - there.read(shared_ns)[0])
    if abs(moved_ns) >= _MAX_UPTIME_NS:  # no sound files make such a time
        return _Pair(pair.at_ns, -pair.at_ns, inf)
    bound_ns = pair.bound_ns + (there.bound_ns(shared_ns) + here.bound_ns(shared_ns) + doubt_ns)
    return _Pair(pair.at_ns, moved_ns - pair.at_ns, bound_ns)


class _Silence(NamedTuple):
    """Between two looks at BOOTTIME a host was suspended, or may have been."""

    since_ns: int  # MONOTONIC_RAW
    until_ns: int
    is_known: bool  # it was suspended
    doubt_ns: float  # for so long it may have been, as nobody looked for a while


def _silence_between(one: _Look, other: _Look, monotonic: List[_Look], raws: List[int]) -> _Silence:
    """The kernel slews BOOTTIME and MONOTONIC alike, so they tell most, if somebody looked at both."""

    def nearest(raw_ns: int) -> _Look:
        after = bisect_left(raws, raw_ns)
        is_before = after == len(raws) or after > 0 and raw_ns - raws[after - 1] < raws[after] - raw_ns
        return monotonic[after - 1 if is_before else after]

    passed_ns = float(other.raw_ns - one.raw_ns)
    asleep_ns, slewed_ns = float(other.at - one.at) - passed_ns, _CORRECTED_RATE_LIMIT * passed_ns
    half_ns = float(one.half_ns + other.half_ns)
    if monotonic:
        first, last = nearest(one.raw_ns), nearest(other.raw_ns)
        before_ns, after_ns = one.raw_ns - first.raw_ns, other.raw_ns - last.raw_ns
        limit_ns = _CORRECTED_RATE_LIMIT * (fabs(float(before_ns)) + fabs(float(after_ns)))
        if limit_ns < slewed_ns:
            asleep_ns = float(other.at - one.at) - float(last.at - first.at) - float(after_ns - before_ns)
            slewed_ns = limit_ns
            half_ns += float(first.half_ns + last.half_ns)
    return _Silence(one.raw_ns, other.raw_ns, fabs(asleep_ns) > slewed_ns + half_ns + 2 * _RESOLUTION_NS,
                    fabs(asleep_ns) + slewed_ns)


class _CommonHost:
    """A host that two files have."""

    def __init__(self, here: _Host, there: _Host):
        self.here, self.there = here, there

        def merged(clock: str) -> List[_Look]:
            return sorted(here.added.get(clock, []) + there.added.get(clock, []),
                          key=operator.attrgetter("raw_ns", "at"))

        boottime, monotonic = merged("boottime"), merged("monotonic")
        raws = [look.raw_ns for look in monotonic]
        look_ns = max(here.look_ns, there.look_ns)
        self.looked = [look.raw_ns for look in boottime[:1] + boottime[-1:]]
        self.silences: List[_Silence] = []
        for one, other in zip(boottime, boottime[1:]):
            silence = _silence_between(one, other, monotonic, raws)
            if silence.is_known or _is_gap(one, other, look_ns):
                self.silences.append(silence)
        self.here_cuts, self.there_cuts = self._cuts(here), self._cuts(there)

    def _slept(self, since_ns: int, until_ns: int) -> Tuple[bool, float]:
        """Whether BOOTTIME tells that the host was suspended. If it does not, for how long it may have been."""
        doubt_ns = 0.0
        for silence in self.silences:
            if silence.since_ns >= until_ns or silence.until_ns <= since_ns:
                continue
            if silence.is_known:
                return True, doubt_ns
            doubt_ns += silence.doubt_ns
        return False, doubt_ns

    def _is_looked_at(self, since_ns: int, until_ns: int) -> bool:
        return bool(self.looked) and self.looked[0] <= since_ns and until_ns <= self.looked[-1]

    def _is_cut(self, line: _Line, i: int) -> bool:
        """Where the global clock gained on MONOTONIC_RAW, the host was suspended, unless BOOTTIME knows better."""
        one, other = line.pairs[i - 1], line.pairs[i]
        gained_ns = float(other.ahead_ns - one.ahead_ns)
        if gained_ns <= 0 or not line.contradict(one, other):
            return False
        is_known, doubt_ns = self._slept(one.at_ns, other.at_ns)
        return is_known or not self._is_looked_at(one.at_ns, other.at_ns) or gained_ns <= doubt_ns

    def _cuts(self, host: _Host) -> List[int]:
        """The records before which the host was suspended since the one before, as the records tell."""
        return [i for i in range(1, len(host.pairs)) if self._is_cut(host.line, i)]

    @staticmethod
    def _is_cut_between(line: _Line, cuts: List[int], since_ns: int, until_ns: int) -> bool:
        return any(line.ats[i - 1] < until_ns and since_ns < line.ats[i] for i in cuts)

    def _is_told(self) -> bool:
        """Whether the records there tell each suspend among them. They do not if the global clock stopped, too."""
        ats = self.there.line.ats
        return all(not silence.is_known or silence.since_ns >= ats[-1] or ats[0] >= silence.until_ns
                   or self._is_cut_between(self.there.line, self.there_cuts, silence.since_ns, silence.until_ns)
                   for silence in self.silences)

    def _bridge(self, here: _Line, there: _Line) -> Optional[_Bridge]:
        """None: the host was suspended between the records of one file and of the other."""
        if here.ats[0] <= there.ats[-1] and there.ats[0] <= here.ats[-1]:
            return _Bridge(here, there, 0.0)
        is_later = there.ats[0] > here.ats[-1]
        since_ns = here.ats[-1] if is_later else there.ats[-1]
        until_ns = there.ats[0] if is_later else here.ats[0]
        is_known, doubt_ns = self._slept(since_ns, until_ns)
        if is_known or not self._is_looked_at(since_ns, until_ns) and (
                self._is_cut_between(self.here.line, self.here_cuts, since_ns, until_ns)
                or self._is_cut_between(self.there.line, self.there_cuts, since_ns, until_ns)):
            return None
        return _Bridge(here, there, doubt_ns)

    def bridges(self) -> Tuple[List[_Bridge], bool]:
        """None, if the host is of no use. And whether they have all records of the second file."""
        found: List[_Bridge] = []
        is_whole = True
        if not self._is_told():
            return [], False
        for there in _parts(self.there.line, self.there_cuts):
            added = [bridge for here in _parts(self.here.line, self.here_cuts)
                     for bridge in [self._bridge(here, there)] if bridge]
            # What no bridge has is further than a suspend from the first file, and must not tell more.
            is_bent = any(there.contradict(one, other) for one, other in zip(there.pairs, there.pairs[1:]))
            if len(added) > 1 or not added and is_bent:
                return [], False
            found.extend(added)
            is_whole = is_whole and bool(added)
        return found, is_whole


def _parts(line: _Line, cuts: List[int]) -> List[_Line]:
    """The stretches in which the host was not suspended."""
    return [line.part(begin, end) for begin, end in zip([0] + cuts, cuts + [len(line.pairs)])]


def _with_gaps(looks: List[_Look], look_ns: int) -> List[_Look]:
    """The first one follows on none of its file."""
    return [look._replace(bend_ns=_BEHIND_GAP) if i == 0 or _is_gap(looks[i - 1], look, look_ns) else look
            for i, look in enumerate(looks)]


def _new_looks(to: _Host, looks: List[_Look]) -> List[_Look]:
    """Looks from when the other files do not have the host."""
    return [look._replace(bend_ns=_BEHIND_GAP) if i > 0 and to.is_recorded(looks[i - 1].raw_ns, look.raw_ns) else look
            for i, look in enumerate(looks) if not to.is_recorded(look.raw_ns, look.raw_ns)]


def _add_recorded(to: _Host, host: _Host, bridges: List[_Bridge]) -> None:
    """A host may have been recorded in both jobs, one after the other."""
    to.spans = to.spans or to.whole_span()
    for clock in CLOCKS:
        had = _with_gaps(to.added.get(clock, []), to.look_ns)
        looks = had + _new_looks(to, _with_gaps(host.added.get(clock, []), host.look_ns))
        if looks:
            to.added[clock] = looks
    to.look_ns = max(to.look_ns, host.look_ns)
    to.utc_looks.extend(host.utc_looks)
    # Bounds grow, so that no longer all contradict each other that did in their own file.
    for i, pair in enumerate(host.pairs):
        if not to.is_recorded(pair.at_ns, pair.at_ns):
            is_cut = pair.is_cut or i > 0 and host.line.contradict(host.pairs[i - 1], pair)
            to.pairs.append(_moved(pair, bridges)._replace(is_cut=is_cut))
    to.spans = to.spans + (host.spans or host.whole_span())


# ---- Files


def _is_value(value: object) -> bool:
    if isinstance(value, list):
        return len(value) <= 4 and all(_is_value(item) and not isinstance(item, (str, list)) for item in value)
    return isinstance(value, str) or (type(value) is int and abs(value) <= _MAX_READING)


def _parse(line: str) -> Optional[Dict[str, object]]:
    try:
        parsed = json.loads(line)
    except (ValueError, RecursionError):
        return None
    is_good = isinstance(parsed, dict) and all(map(_is_value, parsed.values()))
    return parsed if is_good else None


def _number(line: Dict[str, object], key: str, absent: int = 0) -> int:
    """One number, which may stand in brackets. What is something else is not there."""
    value = line.get(key)
    numbers = value if isinstance(value, list) else [value]
    return numbers[0] if len(numbers) == 1 and isinstance(numbers[0], int) else absent


def _head(line: str) -> ClockRecords:
    head = _parse(line)
    version = _number(head or {}, "mpix_clock_records")
    if version == 0:
        raise ValueError("is not a file of clock records")
    if version != 1:
        raise ValueError("has a version that is not known here: take a newer reader")
    rates = [_number(head, "rate_limit_ppb", -1), _number(head, "wander_ppb_per_s", -1)]
    if min(rates) < 0 or rates[0] > _MAX_RATE_LIMIT_PPB:
        raise ValueError("does not say what rates clocks may have")
    return ClockRecords(_number(head, "unix_ns"), float(rates[0]) * 1e-9, float(rates[1]) * 1e-9)


def _read(lines: Iterator[str]) -> ClockRecords:
    first = next(lines, None)
    if first is None:
        raise ValueError("is empty")
    records = _head(first)
    torn = 0
    for number, line in enumerate(lines, 2):
        if torn:
            raise ValueError(f"line {torn} is not an object of numbers and texts")
        if line.strip("\n") == "":
            continue
        parsed = _parse(line)
        if parsed is None:
            torn = number
        elif "boot" in parsed:
            records._add_host(parsed)
        else:
            wrong = records._add_line(parsed, None)
            if wrong:
                raise ValueError(f"line {number} {wrong}")
    for host in records._hosts:
        host.settle(records._rate_limit, records._wander_per_s)
    return records


def _open(path: str) -> ClockRecords:
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        try:
            return _read(file)
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None


def open_records(path: str, *others: str) -> ClockRecords:
    """Read a file of clock records, and join those of other jobs. A last line that is not complete is left out.

    The others may come in any order: one that has no host in common with those before is tried again after the others.
    """
    records = _open(path)
    waiting = [(name, _open(name)) for name in others]
    while waiting:
        left: List[Tuple[str, ClockRecords]] = []
        whys: List[str] = []
        for name, other in waiting:
            try:
                records.join(other)
            except ValueError as error:
                left.append((name, other))
                whys.append(f"{name}: {error}")
        if len(left) == len(waiting):
            raise ValueError("; ".join(whys))
        waiting = left
    return records


def _main() -> None:
    if len(sys.argv) != 4:
        sys.exit("usage: python3 -m mpix_clock_reader FILE HOST CLOCK <READINGS")
    try:
        records = open_records(sys.argv[1])
        print("reading,unix_ns,bound_ns,how")
        for line in sys.stdin:
            time = records.time_of(sys.argv[2], sys.argv[3], int(line))
            print(f"{int(line)},{time.unix_ns},{time.bound_ns},{time.how}")
    except (ValueError, OSError) as error:
        sys.exit(f"mpix_clock_reader: {error}")


if __name__ == "__main__":
    _main()
