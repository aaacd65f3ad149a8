# SPDX-License-Identifier: BSD-3-Clause
"""check_files.py KIND BEFORE1 BEFORE2 AFTER1 [AFTER2] [WORD...]: files of two hosts, before and after the conversion.

Prints what is wrong: where a question comes after its answer, delays that are negative, or off by more than
MH_BOUND_NS, an environment variable. Lines that begin with # say how it was. "delays" prints delays as CSV instead;
"stamps WHAT FILE" the times of a file, and "restamp WHAT FILE TO STAMPS" writes it with others.
"""

import json
import os
import re
import struct
import sys

NS = 10**9
# Clocks of hosts that are nearer to each other tell nothing.
LEAST_APART_NS = 20000


def say_delays(name, errors):
    """Of errors of delays, in ns."""
    errors = sorted(abs(error) for error in errors)
    p99 = errors[len(errors) * 99 // 100]
    print(f"# {name}: {len(errors)} delays, error p50 {errors[len(errors) // 2]} ns, p99 {p99} ns, "
          f"max {errors[-1]} ns")
    bound_ns = int(os.environ["MH_BOUND_NS"])
    if errors[-1] > bound_ns:
        print(f"{name}: the error of a delay is {errors[-1]} ns, which bounds of {bound_ns} ns exclude")


def say_orders(name, before, after):
    """Triples of times of which the first and the last are of host1, and each may not be after the next one."""
    wrong = [sum(not one <= two <= three for one, two, three in triples) for triples in (before, after)]
    print(f"# {name}: {wrong[0]} of {len(before)} orders are impossible before, {wrong[1]} of {len(after)} after")
    if len(after) < 200:
        print(f"{name}: only {len(after)} questions and answers")
    if wrong[0] < len(before) / 2:
        print(f"{name}: the clocks of the hosts agree before the conversion, so this tells nothing")
    if wrong[1]:
        print(f"{name}: {wrong[1]} questions come after their answers")


def nanoseconds(text):
    whole, _, fraction = text.partition(".")
    return int(whole) * NS + int(f"{fraction:0<9.9}")


# ---- Text

TIME = r"(\d+\.\d+)"


def strace_times(path, what):
    with open(path, encoding="utf-8") as file:
        found = (re.search(rf'{TIME} sendto\(.*"{what} (\d+)"', line) for line in file)
        return {int(match[2]): nanoseconds(match[1]) for match in found if match}


def triples_of(questions, answers):
    return [(questions[k], answers[k], questions[k + 1]) for k in answers if k + 1 in questions]


def check_strace(one, two, after_one, after_two):
    say_orders("strace", *(triples_of(strace_times(asking, "ask"), strace_times(answering, "answer"))
                           for asking, answering in ((one, two), (after_one, after_two))))


def perf_times(path):
    with open(path, encoding="utf-8") as file:
        return [nanoseconds(re.search(rf" {TIME}:", line)[1]) for line in file if "sys_enter_sendto" in line]


def check_perf(one, two, after_one, after_two):
    """Messages take turns, but for the first ones, and the last one, which has no answer."""
    files = [perf_times(path) for path in (one, two + ".true", two, after_one, after_two)]
    files[0].pop()
    files[3].pop()
    count = min(map(len, files)) - 1
    asked, true_answered, answered, after_asked, after_answered = (times[-count:] for times in files)
    drifted = sorted(abs(one - two) for one, two in zip(answered, true_answered))
    print(f"# perf: delays are off by {drifted[0]} to {drifted[-1]} ns before")
    if drifted[0] < LEAST_APART_NS:
        print("perf: the clocks of the hosts agree before the conversion, so this tells nothing")
    say_delays("perf", [after_answered[k] - after_asked[k] - (true_answered[k] - asked[k]) for k in range(count)])


def malloc_times(path):
    """By size, of what babeltrace2 prints."""
    with open(path, encoding="utf-8") as file:
        found = (re.match(r"\[([\d.]+)\].*malloc:.* size = ([123]\d{6}),", line) for line in file)
        return {int(match[2]): nanoseconds(match[1]) for match in found if match}


def check_lttng(one, two, after_one, after_two):
    say_orders("LTTng", *([(asking[10**6 + k], answering[2 * 10**6 + k], asking[3 * 10**6 + k])
                           for k in range(10**6) if 2 * 10**6 + k in answering and 3 * 10**6 + k in asking]
                          for asking, answering in ((malloc_times(one), malloc_times(two)),
                                                    (malloc_times(after_one), malloc_times(after_two)))))


# ---- Chrome's JSON


def events_of(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    events = json.loads(text, parse_float=str, parse_int=str)
    return events["traceEvents"] if isinstance(events, dict) else events


def spans_of(events, name):
    """Beginnings and ends, in order of time. name: a phase, a slash, and how the name begins."""
    spans = []
    for event in events:
        if f"{event['ph']}/{event.get('name', '')}".startswith(name):
            begin_ns = nanoseconds(event["ts"]) // 1000
            spans.append((begin_ns, begin_ns + nanoseconds(event.get("dur", "0")) // 1000))
    return sorted(set(spans))


def chrome_triples(one, two, first, second, third):
    begins, middles, ends = spans_of(one, first), spans_of(two, second), spans_of(one, third)
    # What is no question is answered, too, at first.
    return [(begin[0], middle[0], end[1]) for begin, middle, end in zip(begins[::-1], middles[::-1], ends[::-1])]


def check_chrome(one, two, after, *names):
    hosts = {}
    for event in events_of(after):
        hosts.setdefault(str(event.get("pid"))[0], []).append(event)
    say_orders("events", chrome_triples(events_of(one), events_of(two), *names),
               chrome_triples(hosts["1"], hosts["2"], *names))


# ---- Packets


def packets_of(path):
    """Bytes of the head, and of each packet: time, rest of its head, bytes."""
    with open(path, "rb") as file:
        data = file.read()
    unit = {0xA1B2C3D4: 1000, 0xA1B23C4D: 1}[struct.unpack_from("<I", data)[0]]
    packets, at = [], 24
    while at < len(data):
        seconds, fraction, length = struct.unpack_from("<III", data, at)
        packets.append((seconds * NS + fraction * unit, data[at + 8:at + 16], data[at + 16:at + 16 + length]))
        at += 16 + length
    return data[:24], packets


def message_times(path):
    times = {}
    for time_ns, _, data in packets_of(path)[1]:
        found = re.search(rb"(ask|answer) \d+$", data.rstrip(b"\0"))
        if found:
            times[found[0]] = time_ns
    return times


def delays_of(one, two):
    """By message: from the host that sent it to the other one; and when it was sent, by the clock of the first one."""
    sent, got = message_times(one), message_times(two)
    return {message: (got[message] - sent[message] if message.startswith(b"ask") else sent[message] - got[message],
                      sent[message]) for message in sent if message in got}


def check_packets(one, two, after_one, after_two):
    before, true, after = delays_of(one, two), delays_of(one, two + ".true"), delays_of(after_one, after_two)
    negative = [sum(delay < 0 for delay, _ in delays.values()) for delays in (before, after)]
    print(f"# tcpdump: {negative[0]} of {len(before)} delays are negative before, {negative[1]} of {len(after)} after")
    if len(after) < 200 or negative[0] < len(before) / 3:
        print("tcpdump: too few packets, or the clocks of the hosts agree before the conversion")
    if negative[1]:
        print(f"tcpdump: {negative[1]} delays are negative")
    say_delays("tcpdump", [after[message][0] - true[message][0] for message in after])


def print_delays(one, two, after_one, after_two):
    """Before; with one offset, by which the first delays in both directions are equal; converted; and the truth."""
    before, true, after = delays_of(one, two), delays_of(one, two + ".true"), delays_of(after_one, after_two)
    first_ns = min(sent_ns for _, sent_ns in before.values())
    early = [[delay for message, (delay, _) in list(before.items())[:40] if message.startswith(kind)]
             for kind in (b"ask", b"answer")]
    offset_ns = (min(early[0]) - min(early[1])) / 2
    print("time_s,direction,before_us,one_offset_us,converted_us,true_us")
    for message, (delay, sent_ns) in before.items():
        is_question = message.startswith(b"ask")
        shifted = delay - offset_ns if is_question else delay + offset_ns
        print(f"{(sent_ns - first_ns) / 1e9:.6f},{'there' if is_question else 'back'},{delay / 1e3:.3f},"
              f"{shifted / 1e3:.3f},{after[message][0] / 1e3:.3f},{true[message][0] / 1e3:.3f}")


# ---- Times of the kernel, which are to be those of another clock


def print_stamps(what, path):
    if what == "packets":
        stamps = [packet[0] for packet in packets_of(path)[1]]
    else:
        with open(path, encoding="utf-8") as file:
            stamps = [nanoseconds(match) for match in re.findall(rf" {TIME}:", file.read())]
    print("\n".join(map(str, stamps)))


def restamp(what, path, to, stamps):
    with open(stamps, encoding="utf-8") as file:
        times = iter([int(line) for line in file])
    if what == "packets":
        head, packets = packets_of(path)
        with open(to, "wb") as file:
            file.write(head)
            for (_, rest, data), time_ns in zip(packets, times):
                file.write(struct.pack("<II", time_ns // NS, time_ns % NS) + rest + data)
        return
    with open(path, encoding="utf-8") as file:
        text = file.read()
    with open(to, "w", encoding="utf-8") as file:
        file.write(re.sub(rf" {TIME}:", lambda _: " {}.{:09}:".format(*divmod(next(times), NS)), text))


{"strace": check_strace, "perf": check_perf, "chrome": check_chrome, "packets": check_packets, "lttng": check_lttng,
 "delays": print_delays, "stamps": print_stamps, "restamp": restamp}[sys.argv[1]](*sys.argv[2:])
