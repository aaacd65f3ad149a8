# SPDX-License-Identifier: BSD-3-Clause
"""Computes who waits for whom a second time, by brute force, and prints where mpix_trace_report differs.

check_waits.py TOOLS TRACE...   TOOLS: the folder of mpix_trace_convert and mpix_trace_report
"""
import csv
import functools
import subprocess
import sys

POST, COMPLETE = "-2147483648", "-2147483647"
SIGNALS = {POST: "late post", COMPLETE: "late complete"}  # tags
POLL_NS = 1000000
LONG_SEND_NS, LEAST_EAGER_BYTES = 50000, 64
LOCKS, TRANSFERS = ("lock-shared", "lock-exclusive"), ("put", "get", "update")
LONG_ACCESS_NS = 50000
ALL_FOR_ALL = {"MPI_Barrier": "wait at barrier", "MPI_Allreduce": "wait at N x N", "MPI_Iallreduce": "wait at N x N"}


def rows_of(tool, *options):
    text = subprocess.run([tool, *options], capture_output=True, text=True, check=True).stdout
    return list(csv.DictReader(line for line in text.splitlines() if not line.startswith("#")))


def middle(values):
    values = sorted(values)
    return (values[(len(values) - 1) // 2] + values[len(values) // 2]) // 2


class Call:
    """A call of a rank, by its number there."""

    def __init__(self, rank, number, event):
        self.rank, self.number, self.name = rank, number, event["name"]
        self.enter, self.bound = int(event["global_ns"]), float(event["bound_ns"])
        self.recorded = event["global_ns"]
        self.place = f"{self.name} at {event['place']}" if event["place"] else self.name
        self.depends, self.gatherings, self.joins, self.wait = [], set(), set(), None
        self.depth, self.places, self.is_series, self.has_unknown_holder = 0, set(), False, False
        self.accesses = []  # of windows: kind, target or None for all, window, bytes

    def goes_on(self, ns, event):
        """Whether an event is of this call, too: series of tests in turn are in each other, and then one succeeds."""
        return self.depth > 0 or (
            self.is_series and event["name"] == "MPI_Test" and
            (ns - self.leave <= POLL_NS or
             (event["place"] in self.places and ns - self.leave <= self.leave - self.enter)))

    def work_end(self):
        return self.wait.end if self.wait else self.enter


class Lock:
    """From the call that asks for it to the one that shows that the rank has it, and the one that gives it back."""

    def __init__(self, call, kind, target, window):
        self.asks, self.has, self.releases = call, None, None
        self.rank, self.is_exclusive, self.target, self.window = call.rank, kind == "lock-exclusive", target, window

    def see(self, call, kind, target, window):
        if not self.is_at(target, window):
            return
        self.has = self.has or call
        if kind == "unlock" and self.target == target:
            self.releases = call

    def is_at(self, target, window):
        return window == self.window and (self.target == target or None in (self.target, target))

    def is_before(self, other):
        """Whether it was seen to be had before it was given back, or was asked for first."""
        return (self.has is not self.releases or
                other.asks.enter - self.asks.enter > self.asks.bound + other.asks.bound)

    def key(self):
        return (self.has.leave, self.asks.enter, self.rank)

    def excludes(self, other):
        return (self.window == other.window and (self.is_exclusive or other.is_exclusive) and
                (self.target == other.target or None in (self.target, other.target)))


class Wait:
    def __init__(self, call, late, end, state, bound):
        self.call, self.late, self.end, self.state, self.bound = call, late, end, state, bound
        self.ns, self.passed = end - call.enter, 0

    def key(self):
        return (self.end, self.call.rank, self.call.number)


class Trace:
    def __init__(self, folder, tools):
        self.calls = {}
        self.sends, self.receives, self.requests, self.parts = {}, {}, {}, {}
        self.charged, self.passed, self.late, self.instance, self.path = {}, {}, {}, {}, {}
        lines = rows_of(tools + "/mpix_trace_convert", "--format", "csv", folder)
        self.said = [(int(event["rank"]), event["global_ns"], event["wait"], event["waited_ns"], event["late_rank"])
                     for event in lines if event["wait"]]
        for event in lines:
            self.read(event)
        self.find_edges()
        self.add_messages()
        self.add_collectives()
        self.add_locks()
        self.add_progress()
        self.add_overlaps()
        self.add_edge("begin", 0, "wait at init")
        self.add_edge("end", -1, "wait at finalize")
        self.waits = [wait for calls in self.calls.values() for call in calls if (wait := self.wait_of(call))]
        for wait in sorted(self.waits, key=Wait.key, reverse=True):
            self.charge(wait)
        self.walk_path()

    # ---- Events

    def read(self, event):
        rank, kind, ns = int(event["rank"]), event["event"], int(event["global_ns"])
        calls = self.calls.setdefault(rank, [])
        if kind == "enter":
            if not calls or not calls[-1].goes_on(ns, event):
                calls.append(Call(rank, len(calls), event))
            calls[-1].depth += 1
            calls[-1].places.add(event["place"])
        elif kind == "leave":
            calls[-1].depth -= 1
            calls[-1].leave, calls[-1].leave_bound = ns, float(event["bound_ns"])
            calls[-1].is_series = int(event["count"]) > 0
        else:
            self.note(calls[-1], kind, event, rank)

    def note(self, call, kind, event, rank):
        request = (rank, event["request"]) if event["request"] else None
        if kind == "send":
            self.sends[event["message"]] = (call, int(event["sent_bytes"]), request, event["tag"])
            if event["tag"] == COMPLETE:
                call.accesses.append(("complete", int(event["partner"]), event["comm"], 0))
        elif kind == "receive-post":
            self.requests[request] = call
        elif kind == "receive":
            self.receives[event["message"]] = (call, self.requests[request] if request else call)
        elif kind == "send-done":
            self.requests["sent", request] = call
        elif kind == "collective":
            part = (call, event["partner"], int(event["sent_bytes"] or 0), int(event["received_bytes"] or 0), request)
            self.parts.setdefault(event["collective"], {})[rank] = part
        elif kind == "collective-done":
            self.requests["done", request] = call
        elif kind in LOCKS + TRANSFERS + ("flush", "flush-local", "unlock"):
            call.accesses.append((kind, int(event["partner"]) if event["partner"] else None, event["comm"],
                                  int(event["sent_bytes"] or event["received_bytes"] or 0)))

    def find_edges(self):
        """The run is from when the first rank calls MPI_Init until the last one calls MPI_Finalize. What all take in
        MPI_Init when all are there is before it."""
        inits = [calls[0] for calls in self.calls.values()]
        common = max(0, min(call.leave for call in inits) - max(call.enter for call in inits))
        for call in inits:
            call.enter += common
        self.begin = min(call.enter for call in inits)
        self.end = max(calls[-1].enter for calls in self.calls.values())
        for calls in self.calls.values():
            calls[-1].leave = min(calls[-1].leave, self.end)

    # ---- What calls depend on

    def add_messages(self):
        found = []
        for message, (receive, post) in self.receives.items():
            send, size, request, tag = self.sends[message]
            if tag in SIGNALS:
                for call in {receive, post} if tag == POST else {receive}:
                    if tag != POST or send.enter <= call.leave:
                        call.depends.append((send, SIGNALS[tag]))
                continue
            found.append((send, receive, post, size, self.requests["sent", request] if request else send))
        eager = max((size for _, _, post, size, sent in found
                     if post.enter - sent.leave > sent.leave_bound + post.bound), default=0)
        eager, short_sends = max(eager, LEAST_EAGER_BYTES), []
        for send, receive, post, size, sent in found:
            is_overtaken = any(other.rank == receive.rank and other.number > receive.number and
                               its_send.enter < receive.enter for its_send, other, *_ in found)
            receive.depends.append((send, "wrong order" if is_overtaken else "late sender"))
            if sent.enter <= post.enter <= sent.leave:
                if size > eager:
                    sent.depends.append((post, "late receiver"))
                else:
                    short_sends.append((sent, post))
        self.add_probes(found)
        self.messages = found
        explained = {id(sent): max([late.enter for late, _ in sent.depends], default=0) for sent, _ in short_sends}
        for sent, post in short_sends:
            if post.enter - max(sent.enter, explained[id(sent)]) > LONG_SEND_NS:
                sent.depends.append((post, "late receiver"))

    def add_probes(self, found):
        """A probe waits for the message that is received directly after it. If there is none, or it had been sent
        before the probe, for all that were sent in the last millisecond of the probe and are received later."""
        def depend(call, send):
            is_overtaken = any(other.rank == call.rank and other.number > call.number and its_send.enter < call.enter
                               for its_send, other, *_ in found)
            call.depends.append((send, "wrong order" if is_overtaken else "late sender"))

        probes = [call for calls in self.calls.values() for call in calls if call.name == "MPI_Probe"]
        direct = {}
        for send, _, post, *_ in found:
            direct.setdefault((post.rank, post.number - 1), send)
        for probe in probes:
            if (probe.rank, probe.number) in direct:
                depend(probe, direct[probe.rank, probe.number])
                if direct[probe.rank, probe.number].enter >= probe.enter:
                    continue
            for send, _, post, *_ in found:
                if (post.rank == probe.rank and post.number > probe.number and
                        probe.enter <= send.enter < probe.leave <= send.enter + POLL_NS):
                    depend(probe, send)

    def add_collectives(self):
        self.members = {}
        for number, parts in self.parts.items():
            name = next(iter(parts.values()))[0].name
            root = next(iter(parts.values()))[1]
            if name in ("MPI_Scan", "MPI_Alltoallv"):
                self.add_partial({rank: part[0] for rank, part in parts.items()}, "wait at N x N")
                continue
            if name == "MPI_Neighbor_allgather":
                self.add_neighbors({rank: part[0] for rank, part in parts.items()})
                continue
            if name == "MPI_Allgather":
                self.add_groups(number, {rank: part[0] for rank, part in parts.items()})
                continue
            for rank, (call, _, gives, gets, request) in parts.items():
                done = self.requests["done", request] if request else call
                is_root = root != "" and rank == int(root)
                if (name == "MPI_Barrier" or gives > 0) and (name != "MPI_Bcast" or is_root):
                    self.members.setdefault(number, []).append(call)
                    call.joins.add(number)
                if name in ALL_FOR_ALL and (name == "MPI_Barrier" or gets > 0):
                    done.gatherings.add((number, ALL_FOR_ALL[name]))
                elif name == "MPI_Bcast" and not is_root and gets > 0:
                    done.gatherings.add((number, "late broadcast"))
                elif name == "MPI_Reduce" and is_root and gets > 0:
                    done.gatherings.add((number, "early reduce"))
            if name in ("MPI_Bcast", "MPI_Reduce"):
                self.add_partial({rank: part[0] for rank, part in parts.items()}, "inner wait", name, int(root))

    @staticmethod
    def add_partial(calls, state, name="", root=-1):
        """A rank depends on the last that came before it left of the others; in a rooted operation, if not yet so."""
        for rank, call in calls.items():
            others = [calls[other] for other in sorted(calls) if other != rank and calls[other].enter <= call.leave]
            last = max(others, key=lambda other: (other.enter, other.rank), default=None)
            if last and not (name == "MPI_Bcast" and last.rank == root) and not (name == "MPI_Reduce" and rank == root):
                call.depends.append((last, state))

    @staticmethod
    def add_neighbors(calls):
        """Ranks are in a line: each depends on the one before it and the one after it, if they came before it left."""
        for rank, call in calls.items():
            call.depends += [(calls[other], "late neighbor") for other in (rank - 1, rank + 1)
                             if other in calls and calls[other].enter <= call.leave]

    def add_groups(self, number, calls):
        """Rank 0 waits for all others, and they for it."""
        for rank, call in calls.items():
            group = rank == 0
            self.members.setdefault((number, group), []).append(call)
            call.joins.add((number, group))
            call.gatherings.add(((number, not group), "wait at N x N"))

    def add_edge(self, name, which, state):
        """All wait for all in MPI_Init and MPI_Finalize, if they meet; else each for the last before it left."""
        edge = {rank: calls[which] for rank, calls in self.calls.items()}
        if max(call.enter for call in edge.values()) > min(call.leave for call in edge.values()):
            self.add_partial(edge, state)
            return
        self.members[name] = list(edge.values())
        for call in edge.values():
            call.joins.add(name)
            call.gatherings.add((name, state))

    def add_locks(self):
        """A rank waits for the last other one that gave back a lock, of those that had it before and exclude its own,
        in that of its calls at the target in which it was then; if it is known that this one had it first."""
        locks = []
        for calls in self.calls.values():
            open_locks = []
            for call in calls:
                for kind, target, window, _ in call.accesses:
                    if kind in LOCKS:
                        open_locks.append(Lock(call, kind, target, window))
                        locks.append(open_locks[-1])
                    elif kind in ("flush", "unlock"):
                        for lock in open_locks:
                            lock.see(call, kind, target, window)
                        open_locks = [lock for lock in open_locks if not lock.releases]
        locks = sorted((lock for lock in locks if lock.has), key=Lock.key)
        for number, lock in enumerate(locks):
            before = [other for other in locks[:number]
                      if other.releases and other.rank != lock.rank and other.excludes(lock)]
            last = max(before, key=lambda other: other.releases.enter, default=None)
            asking = [call for call in self.calls[lock.rank][lock.asks.number:lock.has.number + 1]
                      if last and call.enter <= last.releases.enter <= call.leave]
            if not asking or not any(lock.is_at(target, window) for kind, target, window, _ in asking[-1].accesses
                                     if kind != "complete"):
                continue
            if last.is_before(lock):
                asking[-1].depends.append((last.releases, "lock contention"))
            else:
                asking[-1].has_unknown_holder = True

    def completed(self):
        """What calls complete at targets: (call, kind, target, window, bytes, since when, whether the call need not
        wait); locks of one target, and unlocks of those that were accessed, are such, too. A lock may be taken when
        something is completed. Who locks all of two, and accesses none, may wait for the other one."""
        has_two = len(self.calls) == 2
        for rank, calls in self.calls.items():
            other, begun = 1 - rank, {}
            for call in calls:
                for kind, target, window, size in call.accesses:
                    is_one = has_two or target is not None
                    if kind in LOCKS + TRANSFERS and is_one:
                        key = (window, target, "lock" if kind in LOCKS else kind)
                        most, since = begun.get(key, (0, call.enter))
                        begun[key] = (max(most, size), since)
                        if kind in TRANSFERS:
                            begun[window, target, "unlock"] = (0, None)
                    if kind in LOCKS and is_one:
                        yield call, "lock", other if target is None else target, window, 0, call.enter, True
                    elif kind in ("flush", "unlock", "complete"):
                        if kind == "unlock" and is_one:
                            begun[window, target, "unlock"] = (0, None)
                        ended = {one: begun.pop(one) for one in list(begun) if one[0] == window and
                                 (None in (target, one[1]) or target == one[1]) and
                                 (one[2] != "unlock" or kind != "flush")}
                        has_targets = any(to is not None for _, to, what in ended
                                          if what != "unlock" or kind == "unlock")
                        for (_, to, what), (most, since) in ended.items():
                            if (what != "unlock" or kind == "unlock") and not (to is None and has_targets):
                                yield (call, what, other if to is None else to, window, most,
                                       call.enter if what == "unlock" else since, kind == "complete")

    def add_progress(self):
        """A long call that completes something at a rank that computed when it began, or soon after, waits until this
        rank calls MPI, unless as much of the same kind was complete while a rank computed all the time. After that, the
        call has to take as long as the shortest one that completed as much."""
        completed, begins = list(self.completed()), {}
        for call, *_ in completed:
            begins[call] = min(call.leave, max([late.enter for late, _ in call.depends] + [call.enter]))
        found = []
        for one in completed:
            call, kind, target, window, size, *_ = one
            others = [other for other in completed if other[1] == kind and other[3] == window and other[4] >= size and
                      other[6] == one[6] and (other[2] == other[0].rank) == (target == call.rank)]
            if target == call.rank or any(self.computes(other) for other in others):
                continue
            late = next((one for one in self.calls[target] if one.leave > begins[call] + LONG_ACCESS_NS), None)
            if call.has_unknown_holder:
                continue
            if call.leave - begins[call] > LONG_ACCESS_NS and late and begins[call] < late.enter <= call.leave and \
                    call.leave - late.enter >= min(other.leave - begins[other] for other, *_ in others):
                found.append((call, late))
        for call, late in found:
            if late not in [other for other, _ in call.depends]:
                call.depends.append((late, "wait for progress"))

    @functools.lru_cache(maxsize=None)
    def computes(self, access):
        """Whether the target of an access computes until its end."""
        call, _, target, _, _, since, is_local = access
        following = next((one for one in self.calls[target] if one.leave > since), None)
        if not following or is_local or target == call.rank:
            return False
        bound = call.bound + following.bound
        before = self.calls[target][:following.number]
        return (not before or since - before[-1].leave > bound) and following.enter - call.leave > bound

    def known_until(self, call):
        """Until when a call waits for what is no progress."""
        late = [late.enter for late, state in call.depends if state != "wait for progress"]
        late += [late.enter for number, _ in call.gatherings for late in self.members.get(number, ())
                 if late.rank != call.rank]
        return min(call.leave, max(late + [call.enter]))

    def add_overlaps(self):
        """A long call that completes a message whose other end computes, and calls MPI then, waits until that if it
        ends within a tenth of this time after it, or takes no less than the shortest one that completed as much then;
        but not if as much was complete while the other end computed, except in MPI_Send, if it ends so soon. One that
        completes an operation waits for the last rank that calls MPI after it computed, if it ends within this time.
        It does not wait for one that computed until all others had completed such an operation of as many bytes."""
        ends, found = [], []  # of a message: kind, bytes, call, rank, number of its first call and of its last, since
        for send, receive, post, size, sent in self.messages:
            is_posted = post.leave < sent.leave
            if sent is not send:
                ends.append(("receive", size, receive, send.rank, send.number, sent.number, send.leave))
            since = send.enter if sent is not send else float("inf")
            ends.append(("sent" if sent is not send else "send", size, sent, receive.rank,
                         post.number if is_posted else 0, receive.number,
                         max(post.leave, send.enter) if is_posted else since))
        known = {end[2]: self.known_until(end[2]) for end in ends}
        for kind, size, call, other, first, last, _ in ends:
            late = self.called_after_work(other, known[call] + LONG_ACCESS_NS)
            if (call.leave - call.enter <= LONG_ACCESS_NS or not late or not first < late.number <= last or
                    not known[call] < late.enter <= call.leave):
                continue
            alike = [end for end in ends if end[0] == kind and end[1] >= size]
            takes, is_soon = call.leave - late.enter, call.leave - late.enter <= (late.enter - known[call]) // 10
            if any(self.is_alone(end) for end in alike) and not (kind == "send" and is_soon):
                continue
            if is_soon or takes >= min(end[2].leave - known[end[2]] for end in alike):
                found.append((call, late))
        operations = [(next(iter(parts.values()))[0].name, max(part[2] for part in parts.values()),
                       {rank: (part[0], self.requests["done", part[4]]) for rank, part in parts.items()})
                      for parts in self.parts.values() if all(part[4] for part in parts.values())]
        idle = [(name, size, rank) for name, size, parts in operations for rank in parts if self.is_idle(rank, parts)]
        for name, size, parts in operations:
            found += self.overlaps_of(parts, [rank for like, most, rank in idle if like == name and most >= size])
        for call, late in found:
            call.depends.append((late, "wait for progress"))

    def is_idle(self, rank, parts):
        """Whether a rank computed from when it had begun an operation until all others had completed it."""
        following = self.calls[rank][parts[rank][0].number + 1]
        return all(following.enter - done.leave > following.bound + done.bound
                   for other, (_, done) in parts.items() if other != rank)

    def overlaps_of(self, parts, idle):
        """Of an operation: of each rank the calls that begin and complete it; and who it does without."""
        called = [call for rank, (begin, done) in parts.items() if rank not in idle
                  for call in self.calls[rank][begin.number + 1:done.number + 1]
                  if self.length_before(call) > LONG_ACCESS_NS]
        for rank, (_, done) in parts.items():
            last = max((call for call in called if call.rank != rank and call.enter <= done.leave),
                       key=lambda call: (call.enter, call.rank), default=None)
            since = self.known_until(done)
            if (last and done.leave - done.enter > LONG_ACCESS_NS and last.enter - since > LONG_ACCESS_NS and
                    done.leave - last.enter <= last.enter - since):
                yield done, last

    def called_after_work(self, rank, ns):
        """The first call that ends after a time, if the rank computed for long before it."""
        call = next((call for call in self.calls[rank] if call.leave > ns), None)
        return call if call and self.length_before(call) > LONG_ACCESS_NS else None

    @functools.lru_cache(maxsize=None)
    def is_alone(self, end):
        """Whether the other end computed until the call ended."""
        _, _, call, rank, first, last, since = end
        following = next((one for one in self.calls[rank] if one.leave > since), None)
        if since >= call.leave or not following or not first < following.number <= last:
            return False
        bound = call.bound + following.bound
        return ((following.number - 1 == first or since - self.calls[rank][following.number - 1].leave > bound) and
                following.enter - call.leave > bound)

    def wait_of(self, call):
        waits = [(late.enter, late, state) for late, state in call.depends]
        for number, state in call.gatherings:
            waits += [(late.enter, late, state) for late in self.members.get(number, ()) if late.rank != call.rank]
        enter, late, state = max(waits, key=lambda one: one[0], default=(0, None, None))
        end = min(enter, call.leave)
        if late and end - call.enter > call.bound + late.bound:
            call.wait = Wait(call, late, end, state, call.bound + late.bound)
        return call.wait

    # ---- Charges

    def meetings(self, one, other):
        """When calls of one rank before `one` and those of another rank before `other` knew of each other."""
        mine, others = self.calls[one.rank][:one.number], self.calls[other.rank][:other.number]
        for first, second, edge in ((mine, other, others), (others, one, mine)):
            yield from (late.enter for call in first for late, _ in call.depends if late in edge)
        for number, members in self.members.items():
            last = [next((call for call in reversed(calls) if number in call.joins or
                          number in [waited for waited, _ in call.gatherings]), None) for calls in (mine, others)]
            if None in last:
                continue
            depends = [number in [waited for waited, _ in call.gatherings] for call in last]
            if all(depends):
                yield max(member.enter for member in members)
            elif any(depends):
                yield last[depends.index(False)].enter

    def parts_of(self, end, met):
        """What a rank did until a call, the last first: (key, ns, call)."""
        calls, parts = self.calls[end.rank], []

        def add(key, low, high, call):
            low = max(low, met)
            if low < high:
                parts.append([key, high - low, call, 0])
        for number in range(end.number, -1, -1):
            call, before = calls[number], calls[number - 1] if number > 0 else None
            places = (before.place if before else "the edge of the run", call.place)
            add(("before",) + places, before.leave if before else self.begin, call.enter, call)
            if before:
                add(("in", before.place, before.place), before.work_end(), before.leave, before)
                add(("wait", before.place, before.place), before.enter, before.work_end(), before)
        return parts

    @functools.cached_property
    def medians(self):
        """Of computations between two places: {places: {rank: how long they are in the middle}}."""
        lengths = {}
        for rank, calls in self.calls.items():
            for call in calls:
                lengths.setdefault(self.places_before(call), {}).setdefault(rank, []).append(self.length_before(call))
        return {places: {rank: middle(every) for rank, every in of.items()} for places, of in lengths.items()}

    def places_before(self, call):
        return (self.calls[call.rank][call.number - 1].place if call.number > 0 else "the edge of the run", call.place)

    def length_before(self, call):
        return call.enter - (self.calls[call.rank][call.number - 1].leave if call.number > 0 else self.begin)

    def unusual(self, part):
        """How much longer the computation is than those of other ranks between these places, or than its own ones."""
        key, ns, call, _ = part
        if key[0] != "before":
            return 0
        medians = self.medians[self.places_before(call)]
        others = [median for rank, median in medians.items() if rank != call.rank]
        return min(ns, max(0, self.length_before(call) - (middle(others) if others else medians[call.rank])))

    def pair(self, late, waiting):
        """Sets the excess of the late rank's parts."""
        alone = []
        free = list(waiting)
        for part in late:
            partner = next((other for other in free if other[0] == part[0]), None)
            if partner:
                free.remove(partner)
                part[3] = max(0, part[1] - partner[1])
            else:
                alone.append(part)
        for kind in ("before", "in", "wait"):
            mine, others = ([part for part in parts if part[0][0] == kind] for parts in (alone, free))
            for place, part in enumerate(mine):
                part[3] = max(0, part[1] - (others[place][1] if place < len(others) else 0))
            self.share(mine, max(0, sum(part[1] for part in mine) - sum(part[1] for part in others)))

    def share(self, parts, longer):
        """No more excess than parts are longer: first what is unusual, then shares of the rest."""
        unusual = [self.unusual(part) for part in parts]
        rest = [max(0, part[3] - ns) for part, ns in zip(parts, unusual)]
        first = float(longer) / sum(unusual) if longer < sum(unusual) else 1
        left = max(0, longer - sum(unusual))
        then = float(left) / sum(rest) if left < sum(rest) else 1
        for part, ns, other in zip(parts, unusual, rest):
            part[3] = int(ns * first) + int(other * then)

    def charge(self, wait):
        met = max(self.meetings(wait.late, wait.call), default=float("-inf"))
        late, waiting = self.parts_of(wait.late, met), self.parts_of(wait.call, met)
        self.pair(late, waiting)
        for part in late:
            if part[0][0] == "wait" and part[2].wait.key() >= wait.key():
                part[3] = 0
        late, is_shown = [part for part in late if part[3] > 0], True
        if not late:
            calls = self.calls[wait.late.rank]
            before = calls[wait.late.number - 1].place if wait.late.number > 0 else "the edge of the run"
            late, is_shown = [[("before", before, wait.late.place), 1, wait.late, 1]], False
        total, left = sum(part[3] for part in late), [wait.ns, wait.passed]
        for key, _, call, excess in late:
            share = [ns if excess == total else min(ns, int(float(ns) * (float(excess) / float(total)))) for ns in left]
            left = [ns - given for ns, given in zip(left, share)]
            total -= excess
            if key[0] == "wait":
                call.wait.passed += sum(share)
                continue
            self.add(wait.late.rank, key, call, share, excess if is_shown else 0)

    def add(self, rank, key, call, share, excess):
        cause, instance = (rank,) + key, (rank, call.number, key[0])
        self.charged[cause] = self.charged.get(cause, 0) + sum(share)
        self.passed[cause] = self.passed.get(cause, 0) + share[1]
        late, charged = self.late.setdefault(cause, {}).get(instance, (0, 0))
        self.late[cause][instance] = (max(late, excess), charged + sum(share))

    def worst(self, key, late):
        """Where the instance with the greatest charge begins and ends, the first one of several."""
        if not self.charged.get(key):
            return (0, 0)
        number = max(sorted(one[1] for one in late), key=lambda one: late[key[0], one, key[1]][1])
        call, calls = self.calls[key[0]][number], self.calls[key[0]]
        if key[1] == "in":
            return (call.work_end(), call.leave)
        return (calls[number - 1].leave if number > 0 else self.begin, call.enter)

    # ---- The critical path

    def walk_path(self):
        rank = max(rank for rank, calls in self.calls.items() if calls[-1].leave == self.end)
        ns, first = self.end, self.begin
        while ns > first:
            call = next((one for one in reversed(self.calls[rank]) if one.enter < ns), None)
            after = self.calls[rank][call.number + 1 if call else 0:][:1]
            before = call.place if call else "the edge of the run"
            to_place = after[0].place if after else "the edge of the run"
            if not call or call.leave < ns:
                low = call.leave if call else first
                self.step((rank, "before", before, to_place), ns - low)
            elif call.wait and call.wait.end < ns:
                low = call.wait.end
                self.step((rank, "in", call.place, call.place), ns - low)
            elif call.wait:
                rank, low = call.wait.late.rank, ns
            else:
                low = call.enter
                self.step((rank, "in", call.place, call.place), ns - low)
            ns = low

    def step(self, key, ns):
        self.path[key] = self.path.get(key, 0) + ns


def differences(folder, tools, found):
    trace = Trace(folder, tools)
    found.update(wait.state for wait in trace.waits)
    found.update(["passed on"] if any(trace.passed.values()) else [])
    said = {}
    for row in rows_of(tools + "/mpix_trace_report", "--format", "csv", "--show", "causes", folder):
        kind = "in" if row["does"] == "call" else "before"
        said[int(row["rank"]), kind, row["from"], row["to"]] = tuple(
            int(row[name] or 0) for name in ("charged_ns", "passed_on_ns", "late_ns", "instances", "path_ns",
                                             "worst_begin_ns", "worst_end_ns"))
    mine = {}
    for key in set(trace.charged) | set(trace.path):
        late = trace.late.get(key, {})
        mine[key] = (trace.charged.get(key, 0), trace.passed.get(key, 0), sum(one[0] for one in late.values()),
                     len(late), trace.path.get(key, 0)) + trace.worst(key, late)
        if not mine[key][0] and not mine[key][4]:
            del mine[key]
    for key in sorted(set(said) | set(mine)):
        if said.get(key) != mine.get(key):
            yield f"cause {key}: charged, passed on, late, instances, path, worst: {said.get(key)}, not {mine.get(key)}"
    waits = [(wait.call.rank, wait.call.recorded, wait.state, str(wait.ns), str(wait.late.rank))
             for wait in trace.waits]
    if sorted(trace.said) != sorted(waits):
        yield f"waits by mpix_trace_convert: {sorted(trace.said)[:3]} ..., not {sorted(waits)[:3]} ..."
    sums = {}
    for wait in trace.waits:
        old = sums.get((wait.state, wait.call.place), (0, 0, 0))
        sums[wait.state, wait.call.place] = (old[0] + 1, old[1] + wait.ns, max(old[2], wait.ns))
    rows = rows_of(tools + "/mpix_trace_report", "--format", "csv", "--show", "waits", folder)
    said = {(row["state"], row["place"]): tuple(int(row[name]) for name in ("count", "waited_ns", "longest_ns"))
            for row in rows}
    for key in sorted(set(said) | set(sums)):
        if said.get(key) != sums.get(key):
            yield f"waits {key}: count, waited, longest: {said.get(key)}, not {sums.get(key)}"


seen = set()
for path in sys.argv[2:]:
    for line in list(differences(path, sys.argv[1], seen))[:3]:
        print(f"trace {path.rsplit('/', 1)[-1]}: {line}")
ENOUGH_TRACES = 100   # for all kinds to occur
KINDS = {"passed on", "late sender", "wrong order", "late receiver", "late broadcast", "early reduce", "inner wait",
         "wait at init", "wait at finalize", "late neighbor", "lock contention", "wait for progress",
         *ALL_FOR_ALL.values(), *SIGNALS.values()}
for name in sorted(KINDS - seen if len(sys.argv) - 2 >= ENOUGH_TRACES else ()):
    print(f"no trace has waits of this kind: {name}")
