"""Writes made-up reports of `vyre bench` with figures and names at the ends of what there can be.

    bench_extremes.py FOLDER     writes FOLDER/NAME.json for each
"""
import json
import sys

SIZES = [2 ** 8, 2 ** 12, 2 ** 16, 2 ** 20]


def device(name, copy=2e10, peak=4e11, **others):
    return {"name": name, "auto": False, "hardware": f"hardware of {name}", "unavailable": None,
            "copy_host_bytes_per_s": copy, "copy_resident_bytes_per_s": copy, "copy_bytes": 2 ** 26,
            "peak_operations_per_s": peak, **others}


def cell(name, ns, spread=0.1, **others):
    measured = ns is not None
    host = {"runs": 20, "best_ns": ns * (1 - spread), "low_ns": ns * (1 - spread / 2), "median_ns": ns,
            "high_ns": ns * (1 + spread)} if measured else None
    return {"device": name, "state": "measured" if measured else "skipped", "note": None if measured else "made up",
            "ran_on": None, "host": host, "on_device": None, **others}


def report(devices, operations, sizes=SIZES, places=("host", "resident"), ns=None, nbytes=None, work=None):
    """`ns(operation, size, device)` is a time, or None where it was not measured; all by their numbers."""
    ns = ns or (lambda o, s, d: 100.0 * (o + 1) * (d + 1) * sizes[s])
    rows = [{"operation": operation, "size": size, "data": data, "bytes": nbytes(o, s) if nbytes else size * 8,
             "work": work(o, s) if work else size * 2, "oracle": False,
             "cells": [cell(d["name"], ns(o, s, k)) if not d["unavailable"] else cell(d["name"], None)
                       for k, d in enumerate(devices)]}
            for o, operation in enumerate(operations) for s, size in enumerate(sizes) for data in places]
    return {"vyre": "0.1.0", "date": "2026-11-16T01:00:00Z", "machine": "a machine", "threads": 1, "table": None,
            "budget_s": 0.05, "runs": 20, "devices": devices, "rows": rows}


LONG = "a_device_with_a_name_that_nobody_would_write_but_that_a_plugin_may_well_have_given_itself_in_the_end"
ODD = ["<b>&amp;\"'</script><script>document.title='bad'</script>", "__proto__", "装置 ‏جهاز‎ 🚀"]
PAIR = [device("cpu"), device("gpu")]
OPS = ["linalg.axpy", "reduce.sum_f32", "sort.keys_u32"]
AUTO = device("auto", None, None, auto=True, hardware=None)

reports = {
    "nothing": report(PAIR, []),
    "no_device": report([device("far", None, None, hardware=None, unavailable="there is none here")], OPS),
    "unmeasured": report(PAIR, OPS, ns=lambda o, s, d: None),
    "one_of_all": report([device("cpu")], OPS[:1], sizes=[4096], places=("host",)),
    "one_size": report(PAIR, OPS, sizes=[1000003]),
    "equal": report(PAIR, OPS, ns=lambda o, s, d: 1000.0),
    "tiny": report(PAIR, OPS, ns=lambda o, s, d: 1e-6 * (1 + s) * (1 + d), sizes=[1, 2, 3, 5]),
    "huge": report(PAIR, OPS, ns=lambda o, s, d: 2e17 * (1 + s) / (1 + d), sizes=[10 ** k for k in (6, 9, 12, 15)],
                   nbytes=lambda o, s: 10 ** 17, work=lambda o, s: 9e17),
    "far_apart": report(PAIR, OPS, ns=lambda o, s, d: [1e-3, 9e17][d] if o else [9e17, 1e-3][d]),
    # Shares from next to nothing to more than 10,000 times the copy.
    "shares": report([device("slow", 1.0, 1.0), device("fast", 9e17, 9e17), device("middle", 6e7, None)], OPS),
    "zeros_and_nulls": report([device("cpu", None, None), device("gpu", None)], OPS, nbytes=lambda o, s: o * s,
                              work=lambda o, s: None if o else 0, ns=lambda o, s, d: None if (o + s + d) % 2 else 500.0),
    "crossovers": report([*PAIR, device("third")], OPS, sizes=[2 ** k for k in range(4, 28)],
                         ns=lambda o, s, d: 1000.0 * 1.5 ** s * (1 if d == s % 3 else 2)),
    "twelve": report([device(f"device:{k}", 10.0 ** k, 10.0 ** k) for k in range(11)] + [AUTO], OPS,
                     ns=lambda o, s, d: 1000.0 * (1 + s)),
    "sixteen_of_long_names": report([device(f"{LONG}_{k}") for k in range(16)],
                                    [f"{LONG}.{LONG}_{k}" for k in range(3)], sizes=[2 ** k for k in range(0, 40, 2)]),
    "odd_names": report([device(name) for name in ODD], [f"{name}.{name}" for name in ODD]),
    "many_operations": report(PAIR, [f"library.operation_{k}" for k in range(90)], sizes=[2 ** 20],
                              work=lambda o, s: 2 ** 21 + o % 3),
}
# Not measured on the same sizes: curves that end early.
for row in reports["crossovers"]["rows"]:
    if row["size"] > 2 ** 20:
        row["cells"][0] = cell("cpu", None)

for name, made in reports.items():
    with open(f"{sys.argv[1]}/{name}.json", "w") as file:
        json.dump(made, file)
