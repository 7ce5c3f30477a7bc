"""Reads a trace strictly, checks that it holds together, and that events are there.

    trace_check.py FILE [--killed] [KIND@DEVICE[=COUNT]]... [KEY:VALUE]...

KIND is an event's category and DEVICE the beginning of a device's name; KEY an argument of any event.
Who was killed while the kernel went from one page of an event to the next has only its first part.
"""
import collections
import json
import mmap
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    text = file.read()
try:
    events = json.loads(text)
except ValueError:
    # Of the end before, which was three bytes, something may be left behind the page.
    if "--killed" not in sys.argv or len(text.encode()) % mmap.PAGESIZE > 3:
        raise
    head, _, _ = text.rstrip("\n]").rpartition(",\n")
    events = json.loads(head + "]")

assert isinstance(events, list) and events[0]["name"] == "process_name", "no list with a process"
tracks, spans, open_async = {}, collections.defaultdict(list), {}
counts, facts = collections.Counter(), set()
assert len({event["pid"] for event in events}) == 1, "several processes in one file"

for event in events:
    phase = event["ph"]
    if phase == "M":
        if event["name"] == "thread_name":
            tracks[event["tid"]] = event["args"]["name"]
        continue
    assert event["tid"] in tracks, f"an event before its track has a name: {event}"
    assert event["name"] and event["cat"] and event["ts"] >= 0, event
    device = event["args"]["device"]
    assert tracks[event["tid"]].startswith(device), event
    for key, value in event["args"].items():
        facts.add(f"{key}:{value}")
    own = tracks[event["tid"]][len(device):].startswith(", device time")
    kind = "device" if own else event["cat"]
    if phase == "X":
        assert event["dur"] >= 0, event
        # Nanoseconds, as integers: sums of floats would be off by some.
        start, length = round(event["ts"] * 1000), round(event["dur"] * 1000)
        spans[event["tid"]].append((start, start + length, event["name"]))
        counts[kind, device.split(":")[0]] += 1
    elif phase == "b":
        assert event["cat"] != "enqueued" or event["args"]["ticket"] > 0, event
        key = event["cat"], event["id2"]["local"]
        assert key not in open_async, event
        open_async[key] = event
        counts[kind, device.split(":")[0]] += 1
    elif phase == "e":
        begun = open_async.pop((event["cat"], event["id2"]["local"]))
        assert begun["name"] == event["name"] and begun["ts"] <= event["ts"], event
        counts[kind + "-end", device.split(":")[0]] += 1
    else:
        raise AssertionError(event)

for tid, listed in spans.items():
    stack = []
    # Timestamps lose their last digits in a float: a microsecond's tenth is allowed for.
    for start, end, name in sorted(listed, key=lambda span: (span[0], -span[1])):
        while stack and stack[-1][1] <= start + 100:
            stack.pop()
        assert not stack or end <= stack[-1][1] + 100, f"{tracks[tid]}: {name} overlaps {stack[-1]}"
        stack.append((start, end, name))

for wanted in (word for word in sys.argv[2:] if word != "--killed"):
    if "@" in wanted:
        kind, rest = wanted.split("@")
        device, _, least = rest.partition("=")
        found = counts[kind, device]
        assert found == int(least) if least else found, f"{wanted}: {found}, of {dict(counts)}"
    else:
        assert wanted in facts, f"{wanted} is not among {sorted(facts)}"
print(f"{len(events)} events, {len(tracks)} tracks")
