#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What mpix_trace_convert made of the trace of check_trace_convert.c, by other programs' readers.

check_trace_convert.py csv CSV TRUE         lines of events against the known program, and its true times
check_trace_convert.py otf2 CSV ARCHIVE     OTF2's Python reader against the lines and the known program
check_trace_convert.py perfetto CSV JSON    slices, arrows and counters against the lines and the known program

Prints what is wrong.
"""
import collections
import csv
import json
import math
import sys

# source, destination, tag, bytes, communicator, and places of both in it as OTF2 has them
MESSAGES = [
    (0, 1, 7, 8, 0, 0, 1), (1, 2, 8, 8, 0, 1, 2), (0, 2, 9, 16, 0, 0, 2),
    (0, 2, 11, 100, 2, 1, 0), (0, 1, 12, 200, 3, 0, 2), (1, 1, 13, 300, 1, 0, 0), (0, 1, 14, 8, 0, 0, 1),
    (1, 0, 14, 8, 0, 1, 0)]
COMMUNICATORS = {"MPI_COMM_WORLD": [0, 1, 2], "MPI_COMM_SELF": [], "communicator 2": [2, 0],
                 "communicator 3": [0, 2, 1]}
# Of OTF2, in the place of a root.
NO_ROOT, ROOT_SELF = 2**32 - 1, 2**32 - 2
# operation, and by rank the root, the bytes sent and received; the fifth is of a persistent request, the sixth on an
# intercommunicator, and the last one is seen complete by another thread of rank 1
COLLECTIVES = [("ALLREDUCE", [NO_ROOT] * 3, [8] * 3, [8] * 3), ("BCAST", [1] * 3, [0, 8, 0], [8] * 3),
               ("BARRIER", [NO_ROOT] * 3, [0] * 3, [0] * 3), ("ALLREDUCE", [NO_ROOT] * 3, [24] * 3, [24] * 3),
               ("ALLREDUCE", [NO_ROOT] * 3, [32] * 3, [32] * 3),
               ("BCAST", [ROOT_SELF, 0, 0], [40, 0, 0], [0, 40, 40]), ("ALLREDUCE", [NO_ROOT] * 3, [48] * 3, [48] * 3)]
# Of rank 0: the line, the target, the communicator, and the bytes that go and come.
ACCESSES = [("lock-exclusive", "2", "2", "", ""), ("put", "2", "2", "400", ""), ("flush", "2", "2", "", ""),
            ("update", "2", "2", "24", ""), ("get", "2", "2", "", "24"), ("unlock", "2", "2", "", ""),
            ("put", "", "0", "4096", "")]
# In OTF2: what there is of them, with the numbers that belong together.
OTF2_ACCESSES = [("RmaRequestLock", 0), ("RmaPut", 0, 400, "a"), ("RmaAcquireLock", 0), ("RmaOpCompleteRemote", "a"),
                 ("RmaAtomic", 0, 24, 24, "b"), ("RmaOpCompleteRemote", "b"), ("RmaReleaseLock", 0),
                 ("IoOperationBegin", 4096, "c"), ("IoOperationComplete", 4096, "c")]
RECORD_ERROR_NS = 100
SLACK_NS = 1000
LATENCY_NS = 5000


def expect(what, found, expected):
    if found != expected:
        print(f"{what}: {found}, not {expected}")


def word(value):
    """The name of a constant of OTF2."""
    return str(value).split(".")[-1]


def read_lines(path):
    """Rows by (rank, thread)."""
    rows = collections.defaultdict(list)
    with open(path, newline="") as file:
        for row in csv.DictReader(line for line in file if not line.startswith("#")):
            rows[int(row["rank"]), int(row["thread"])].append(row)
    return rows


def messages_of(rows):
    ends = collections.defaultdict(dict)
    for (rank, _), events in rows.items():
        for row in events:
            if row["event"] in ("send", "receive"):
                ends[row["message"]][row["event"]] = (rank, row)
    return list(ends.values())


def changes_of(points):
    """Of points (whether the bound is known, time): those where that changes, and the first."""
    return [point for last, point in zip([(None, None)] + points, points) if point[0] != last[0]]


def check_bounds(what, points, rows):
    """Points of the curve of a process: its bound becomes known, or unknown, at the same events as in the lines."""
    expected = changes_of([(row["bound_ns"] != "", int(row["global_ns"])) for row in rows])
    found = changes_of(points)
    expect(f"bounds of {what}, known", [known for known, _ in found], [known for known, _ in expected])
    for (_, time), (_, wanted) in zip(found, expected):
        if time is not None and abs(time - wanted) > 2:
            print(f"the bound of {what} changes at {time} ns, not {wanted}")


# ---- Lines

def check_lines(rows, true_path):
    expect("threads", sorted(rows), [(0, 0), (1, 0), (1, 1), (2, 0)])
    found = []
    for ends in messages_of(rows):
        (source, send), (destination, receive) = ends["send"], ends["receive"]
        expect("partner of a send", int(send["partner"]), destination)
        expect("partner of a receive", int(receive["partner"]), source)
        expect("communicator at both ends", send["comm"], receive["comm"])
        expect("bytes at both ends", send["sent_bytes"], receive["received_bytes"])
        found.append((source, destination, int(send["tag"]), int(send["sent_bytes"]), int(send["comm"])))
    expect("messages", sorted(found), sorted(message[:5] for message in MESSAGES))
    calls = collections.Counter(row["collective"] for events in rows.values() for row in events
                                if row["event"] == "collective")
    expect("processes of each collective call", sorted(calls.values()), [3] * len(COLLECTIVES))
    expect("accesses of windows and files",
           [tuple(row[name] for name in ("event", "partner", "comm", "sent_bytes", "received_bytes"))
            for row in rows[0, 0] if row["event"] in ACCESS_EVENTS], ACCESSES)
    polls = [row["count"] for row in rows[2, 0] if row["event"] == "leave" and row["name"] == "MPI_Test"]
    expect("unsuccessful calls", polls, ["41"])
    expect("call sites", {row["place"] for row in rows[1, 0]}, {"", "main+0x12 (0x1112) in known, of process"})
    check_truth(rows, true_path)


def check_truth(rows, path):
    """Global times are off by no more than the clock records, and are within their bounds."""
    # The line of a collective operation is of two events.
    true = {}
    with open(path) as file:
        for line in file:
            rank, thread, time_ns = line.split(",")
            true.setdefault((int(rank), int(thread)), []).append(float(time_ns))
    for key, times in true.items():
        times, events = sorted(set(map(round, times))), rows[key]
        for row in events:
            error = min(abs(time - int(row["global_ns"])) for time in times)
            if error > RECORD_ERROR_NS + 2 or error > float(row["bound_ns"]):
                print(f"rank {key[0]}: the time of {row['event']} {row['name']} is off by {error} ns")
        if len(times) < 10 or len(events) < 20:
            print(f"rank {key[0]}: only {len(events)} events")


# ---- OTF2

EVENTS = {"enter": "Enter", "leave": "Leave", "send": "MpiSend", "send-done": "MpiIsendComplete",
          "receive-post": "MpiIrecvRequest", "receive": "MpiRecv", "canceled": "MpiRequestCancelled",
          "collective": "MpiCollectiveEnd", "collective-done": "NonBlockingCollectiveComplete"}
WITH_REQUEST = {"send": "MpiIsend", "receive": "MpiIrecv", "collective": "NonBlockingCollectiveRequest"}
# What there is at the line of an access, and at the beginning of its call.
ACCESS_EVENTS = {"lock-exclusive": [], "put": ["RmaPut"], "flush": ["RmaAcquireLock", "RmaOpCompleteRemote"],
                 "update": ["RmaAtomic"], "get": [], "unlock": ["RmaOpCompleteRemote", "RmaReleaseLock"]}
BEGINS = {"MPI_Allreduce": "MpiCollectiveBegin", "MPI_Bcast": "MpiCollectiveBegin",
          "MPI_Barrier": "MpiCollectiveBegin", "MPI_Win_lock": "RmaRequestLock",
          "MPI_File_write_at": "IoOperationBegin"}


def moved_ns(rows):
    """By how many whole seconds global times are moved, as OTF2 has none below 0."""
    least = min(int(row["global_ns"]) for events in rows.values() for row in events) - SLACK_NS
    return (-least // 10**9 + 1) * 10**9 if least <= 0 else 0


def expected_events(rows):
    """Kinds and times. A call that was never left ends with the last event."""
    events, open_calls = [], []
    for row in rows:
        if row["event"] in ACCESS_EVENTS:
            kinds = ["IoOperationComplete"] if row["partner"] == "" else ACCESS_EVENTS[row["event"]]
            events += [(kind, int(row["global_ns"])) for kind in kinds]
            continue
        kind = (WITH_REQUEST if row["request"] else EVENTS).get(row["event"], EVENTS[row["event"]])
        events.append((kind, int(row["global_ns"])))
        if row["event"] == "enter":
            open_calls.append(row["name"])
            if row["name"] in BEGINS:
                events.append((BEGINS[row["name"]], int(row["global_ns"])))
        elif row["event"] == "leave":
            open_calls.pop()
    return events + [("Leave", events[-1][1])] * len(open_calls)


def check_times(trace, key, events, rows, moved):
    expected = [(kind, time + moved) for kind, time in expected_events(rows)]
    found = [(type(event).__name__, event.time) for event in events if type(event).__name__ != "Metric"]
    expect(f"events of {key}", [kind for kind, _ in found], [kind for kind, _ in expected])
    for (kind, time), (_, wanted) in zip(found, expected):
        if abs(time - wanted) > 1:
            print(f"{kind} of {key} is at {time} ns, not {wanted}")
    span = trace.definitions.clock_properties
    if events[0].time < span.global_offset or events[-1].time > span.global_offset + span.trace_length:
        print(f"times of {key} are not within the span of the clock")
    if any(later.time < earlier.time for earlier, later in zip(events, events[1:])):
        print(f"times of {key} decrease")
    bounds = [event.values[0] for event in events if type(event).__name__ == "Metric"]
    if (key[1] == 0) != bool(bounds) or any(not 100 <= bound < 200 for bound in bounds if bound != math.inf):
        print(f"bounds of {key}: {bounds}")


def check_messages(events, otf2):
    kinds = otf2.events
    for source, destination, tag, size, _, source_place, place in MESSAGES:
        sends = [event for event in events[source, 0] if isinstance(event, (kinds.MpiSend, kinds.MpiIsend))
                 and event.msg_tag == tag]
        receives = [event for event in events[destination, 0] if isinstance(event, (kinds.MpiRecv, kinds.MpiIrecv))
                    and event.msg_tag == tag]
        expect(f"sends and receives with tag {tag}", (len(sends), len(receives)), (1, 1))
        for send, receive in zip(sends, receives):
            expect(f"partners of tag {tag}", (send.receiver, receive.sender), (place, source_place))
            expect(f"bytes of tag {tag}", (send.msg_length, receive.msg_length), (size, size))
            expect(f"communicators of tag {tag}", send.communicator, receive.communicator)
            # With the other sign, clocks would be seconds apart.
            if not 0 < receive.time - send.time < 20 * LATENCY_NS:
                print(f"the message with tag {tag} took {receive.time - send.time} ns")


def check_collectives(events, otf2):
    done = (otf2.events.MpiCollectiveEnd, otf2.events.NonBlockingCollectiveComplete)
    for rank in range(3):
        found = [(word(event.collective_op), event.root, event.size_sent, event.size_received)
                 for thread in sorted(key for key in events if key[0] == rank)
                 for event in events[thread] if isinstance(event, done)]
        expect(f"collective operations of rank {rank}", found,
               [(operation, root[rank], sent[rank], received[rank])
                for operation, root, sent, received in COLLECTIVES])


def check_accesses(events):
    """Those that belong together have the same number, and no others."""
    letters, found = {}, []
    for event in events:
        kind = type(event).__name__
        if not kind.startswith(("Rma", "IoOperation")):
            continue
        values = [getattr(event, name) for name in ("remote", "bytes", "bytes_sent", "bytes_received", "bytes_request",
                                                    "bytes_result") if hasattr(event, name)]
        if hasattr(event, "matching_id"):
            values.append(letters.setdefault(event.matching_id, "abc"[min(len(letters), 2)]))
        found.append((kind, *values))
    expect("accesses of windows and files", found, OTF2_ACCESSES)


def check_requests(key, events, otf2):
    """Each request of a location has a number of its own."""
    kinds = otf2.events
    numbers = [event.request_id for event in events
               if isinstance(event, (kinds.MpiIsend, kinds.MpiIrecvRequest, kinds.NonBlockingCollectiveRequest))]
    expect(f"requests of {key} with the number of another one", len(numbers) - len(set(numbers)), 0)


def check_definitions(trace):
    definitions = trace.definitions
    expect("ticks per second", definitions.clock_properties.timer_resolution, 10**9)
    expect("nodes", [node.name for node in definitions.system_tree_nodes], ["machine", 'first, "the" node', "second"])
    expect("hosts of processes", [group.system_tree_parent.name for group in definitions.location_groups],
           ['first, "the" node'] * 2 + ["second"])
    expect("communicators", {comm.name: [int(member.group.name.split()[-1]) for member in comm.group.members]
                             for comm in definitions.comms}, COMMUNICATORS)
    roles = {region.name: (word(region.region_role), word(region.paradigm)) for region in definitions.regions}
    for name, what in {"MPI_Send": ("POINT2POINT", "MPI"), "MPI_Barrier": ("BARRIER", "MPI"),
                       "MPI_Bcast": ("COLL_ONE2ALL", "MPI"), "MPI_Iallreduce": ("COLL_ALL2ALL", "MPI"),
                       "clock": ("ARTIFICIAL", "MEASUREMENT_SYSTEM"), "region 1": ("CODE", "USER")}.items():
        expect(f"region {name}", roles.get(name), what)


def check_otf2(rows, path):
    import otf2
    events = collections.defaultdict(list)
    with otf2.reader.open(path) as trace:
        check_definitions(trace)
        for location, event in trace.events:
            rank = int(location.group.name.split()[-1])
            events[rank, int(location.name.split()[-1])].append(event)
        expect("locations", sorted(events), sorted(rows))
        for key in rows:
            check_times(trace, key, events[key], rows[key], moved_ns(rows))
            check_requests(key, events[key], otf2)
        for rank in range(3):
            points = [(math.isfinite(event.value), event.time - moved_ns(rows)) for event in events[rank, 0]
                      if isinstance(event, otf2.events.Metric)]
            check_bounds(f"rank {rank}", points, rows[rank, 0])
        check_messages(events, otf2)
        check_collectives(events, otf2)
        check_accesses(events[0, 0])
        polls = [list(event.attributes.values()) for event in events[2, 0]
                 if isinstance(event, otf2.events.Leave) and event.attributes]
        expect("attributes of leaves", polls, [[41]])
        sites = {value for event in events[0, 0] for value in (event.attributes or {}).values()}
        expect("call sites", sites, {"main+0x12 (0x1112) in known, of process"})


# ---- Perfetto

def check_slices(slices):
    """Within a thread, slices are as parentheses, and come by their time."""
    ends = []
    for item in slices:
        start, end = item["ts"], item["ts"] + item["dur"]
        if item["dur"] < 0 or start < 0:
            print(f"a slice with a negative time: {item}")
        while ends and ends[-1] <= start + 1e-6:
            ends.pop()
        if ends and end > ends[-1] + 1e-6:
            print(f"a slice ends after the one around it: {item}")
        ends.append(end)
    if any(later["ts"] < earlier["ts"] for earlier, later in zip(slices, slices[1:])):
        print("slices are not in the order of time")


def check_counters(content, rows, slices):
    """Points, and instant events where the bound is not known."""
    for rank in range(3):
        start_ns = int(rows[rank, 0][0]["global_ns"]) - round(1000 * slices[rank + 1, rank + 1][0]["ts"])
        is_global = content["otherData"]["times"] == "global"
        points = [(event["ph"] == "C", start_ns + round(1000 * event["ts"]) if is_global else None)
                  for event in content["traceEvents"]
                  if event["pid"] == rank + 1 and event["name"].startswith("clock bound")]
        check_bounds(f"rank {rank}", points, rows[rank, 0])


def check_perfetto(rows, path):
    with open(path) as file:
        content = json.load(file)
    events = content["traceEvents"]
    kinds = collections.defaultdict(list)
    for event in events:
        kind = event["ph"] if event.get("cat") not in ("wait", "cause") else "wait " + event["ph"]
        kinds[kind].append(event)
    names = [event["args"]["name"] for event in kinds["M"] if event["name"] == "process_name"]
    expect("processes", names, ['rank 0 on first, "the" node', 'rank 1 on first, "the" node', "rank 2 on second"])
    enters = sum(row["event"] == "enter" for events in rows.values() for row in events)
    expect("slices", len(kinds["X"]), enters)
    threads = collections.defaultdict(list)
    for item in kinds["X"]:
        threads[item["pid"], item["tid"]].append(item)
    expect("threads with slices", len(threads), 4)
    for slices in threads.values():
        check_slices(slices)
    check_arrows(kinds, threads)
    check_wait_slices(kinds, rows, threads)
    check_counters(content, rows, threads)
    test = [item["args"].get("unsuccessful_calls") for item in kinds["X"] if item["name"] == "MPI_Test"]
    expect("unsuccessful calls", test, [41])
    puts = [item["args"] for item in kinds["X"] if item["name"] == "MPI_Put"]
    expect("arguments of MPI_Put", [[put.get(name) for name in ("target", "sent_bytes", "received_bytes", "comm")]
                                    for put in puts], [[2, 400, 0, "communicator 2"]])
    expect("calls that were never left", [item["name"] for item in kinds["X"] if "unfinished" in item["args"]],
           ["region 1"])


def calls_around(event, threads):
    return [item for item in threads[event["pid"], event["tid"]]
            if item["ts"] <= event["ts"] <= item["ts"] + item["dur"] and item["cat"] == "MPI"]


def check_wait_slices(kinds, rows, threads):
    """Waits and what is charged for them are those of the lines, and an arrow leads to each wait that has a slice."""
    lines = [(int(rank), row) for (rank, _), events in rows.items() for row in events if row["event"] == "enter"]
    waits = [item for item in kinds["wait X"] if item["cat"] == "wait"]
    expect("waits", sorted((item["pid"] - 1, item["name"], round(item["dur"] * 1000), item["args"]["late_rank"])
                           for item in waits),
           sorted((rank, row["wait"], int(row["waited_ns"]), int(row["late_rank"])) for rank, row in lines
                  if row["wait"]))
    charged = sum(int(row[name] or 0) for _, row in lines for name in ("charged_before_ns", "charged_in_ns"))
    expect("charged", sum(item["args"]["others_wait_ns"] for item in kinds["wait X"] if item["cat"] == "cause"),
           charged)
    expect("charged, of what was waited", charged, sum(int(row["waited_ns"] or 0) for _, row in lines))
    ids = [sorted(event["id"] for event in kinds["wait " + phase]) for phase in ("s", "f")]
    expect("ids of arrows to waits", ids[0], ids[1])
    expect("arrows to waits", (len(ids[0]), len(waits) > 0), (len(waits), True))
    for start, end in zip(*(sorted(kinds["wait " + phase], key=lambda event: event["id"]) for phase in ("s", "f"))):
        if end["ts"] < start["ts"]:
            print(f"an arrow to a wait goes back in time: {start} {end}")
        if not calls_around(start, threads) or not calls_around(end, threads):
            print(f"an arrow to a wait begins or ends in no slice: {start} {end}")


def check_arrows(kinds, threads):
    ids = [[event["id"] for event in kinds[phase]] for phase in ("s", "f")]
    expect("ids of arrows", ids[0], ids[1])
    expect("arrows", (len(ids[0]), len(set(ids[0]))), (len(MESSAGES), len(MESSAGES)))
    found = []
    for start, end in zip(kinds["s"], kinds["f"]):
        if end["ts"] < start["ts"]:
            print(f"an arrow goes back in time: {end}")
        around = [calls_around(event, threads)[-1:] for event in (start, end)]
        if not all(around):
            print(f"an arrow begins or ends in no slice: {start} {end}")
            continue
        arguments = [items[0]["args"] for items in around]
        found.append((arguments[1].get("source"), arguments[0].get("destination"), arguments[0].get("send_tag"),
                      arguments[1].get("received_bytes")))
    expect("messages", sorted(found), sorted(message[:4] for message in MESSAGES))


def main():
    what, lines, path = sys.argv[1:]
    {"csv": check_lines, "otf2": check_otf2, "perfetto": check_perfetto}[what](read_lines(lines), path)


main()
