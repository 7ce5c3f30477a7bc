"""Opens the page of vyre bench in a browser and holds what it shows against the JSON report of the same run.

    test_bench_page.py FOLDER [--shots]     FOLDER holds page.html and report.json
"""
import json
import sys
import tempfile

from browser import Browser

folder = sys.argv[1]
report = json.load(open(f"{folder}/report.json"))
checks = 0


def check(found, expected, what):
    global checks
    checks += 1
    if found != expected:
        sys.exit(f"{what}: found {found!r}, expected {expected!r}")


ROWS = """[...document.querySelectorAll('tr[data-kind=%s]')].map(row => ({...row.dataset}))"""
PLOTS = """[...document.querySelectorAll('svg[data-plot]')].map(plot => ({...plot.dataset,
    marks: [...plot.querySelectorAll('.mark, .bar')].map(mark => ({...mark.dataset})),
    crossovers: plot.querySelectorAll('.crossover').length,
    labels: [...plot.querySelectorAll('text')].every(label => label.textContent.trim().length > 0),
    titled: [...plot.querySelectorAll('.mark, .bar')].every(mark => mark.querySelector('title')),
    named: plot.querySelectorAll('.name').length}))"""
# Labels of curves that leave the plot, or lie upon one another.
UNREADABLE = """[...document.querySelectorAll('svg[data-plot]')].flatMap(plot => {
    const frame = plot.getBoundingClientRect(), bad = [];
    const boxes = [...plot.querySelectorAll('.direct')].map(label => label.getBoundingClientRect());
    for (const text of plot.querySelectorAll('text')) {
        const box = text.getBoundingClientRect();
        if (box.left < frame.left - 1 || box.right > frame.right + 1 || box.bottom > frame.bottom + 1) {
            bad.push(text.textContent);
        }
    }
    boxes.forEach((a, i) => boxes.slice(i + 1).forEach(b => {
        if (Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 4 &&
            Math.min(a.right, b.right) - Math.max(a.left, b.left) > 2) { bad.push('two labels'); }
    }));
    return bad;
})"""


def number(text):
    return float(text) if text is not None else None


def check_cells(page):
    shown = {(row["operation"], row["data"], int(row["size"]), row["device"]): row
             for row in page.evaluate(ROWS % "cell")}
    usable = {device["name"] for device in report["devices"] if not device["unavailable"]}
    count = 0
    for row in report["rows"]:
        for cell in row["cells"]:
            if cell["device"] not in usable:
                continue
            count += 1
            key = (row["operation"], row["data"], row["size"], cell["device"])
            found = shown.get(key) or sys.exit(f"the page has no {key}")
            host, on_device = cell["host"] or {}, cell["on_device"] or {}
            check(found["state"], cell["state"], f"{key}, state")
            for name, expected in (
                    ("bestNs", host.get("best_ns")), ("lowNs", host.get("low_ns")),
                    ("medianNs", host.get("median_ns")), ("highNs", host.get("high_ns")),
                    ("deviceMedianNs", on_device.get("median_ns")), ("gbPerS", cell["gb_per_s"]),
                    ("gflopPerS", cell["gflop_per_s"]), ("shareOfCopy", cell["share_of_copy"])):
                check(number(found.get(name)), expected, f"{key}, {name}")
    check(len(shown), count, "cells")


def check_summary(page):
    shown = [(row["operation"], row["data"], row["before"], row["after"], int(row["from"]), int(row["to"]))
             for row in page.evaluate(ROWS % "crossover")]
    check(shown, [(c["operation"], c["data"], c["before"], c["after"], c["from_size"], c["to_size"])
                  for c in report["crossovers"]], "crossovers")
    shown = {(row["data"], row["device"]): float(row["ratio"]) for row in page.evaluate(ROWS % "mean")}
    check(shown, {(mean["data"], name): ratio for mean in report["means"]
                  for name, ratio in mean["times_best_single"].items()}, "means")
    shown = {row["device"]: (number(row.get("copyHost")), number(row.get("copyResident")), number(row.get("peak")))
             for row in page.evaluate(ROWS % "device")}
    check(shown, {d["name"]: (d["copy_host_bytes_per_s"], d["copy_resident_bytes_per_s"],
                              d["peak_operations_per_s"]) for d in report["devices"]}, "devices")


def check_plots(page):
    plots = page.evaluate(PLOTS)
    measured = {}
    for row in report["rows"]:
        times = measured.setdefault((row["operation"], row["data"]), [])
        times += [(row["size"], cell["host"]["median_ns"]) for cell in row["cells"] if cell["state"] == "measured"]
    times = {(plot["operation"], plot["data"]): plot for plot in plots if plot["plot"] == "times"}
    check(sorted(times), sorted(key for key, value in measured.items() if value), "plots of times")
    for key, plot in times.items():
        check(sorted((int(mark["size"]), float(mark["medianNs"])) for mark in plot["marks"]),
              sorted(measured[key]), f"marks of {key}")
        check(plot["crossovers"], sum((c["operation"], c["data"]) == key for c in report["crossovers"]),
              f"crossovers in the plot of {key}")
        check(plot["named"], 2, f"names of axes of {key}")
    shares = [plot for plot in plots if plot["plot"] == "shares"]
    check({plot["data"] for plot in shares}, {row["data"] for row in report["rows"]}, "plots of shares")
    cells = {(row["operation"], row["data"], row["size"], cell["device"]): cell
             for row in report["rows"] for cell in row["cells"]}
    for plot in shares:
        for bar in plot["marks"]:
            key = (bar["operation"], plot["data"], int(bar["size"]), bar["device"])
            check(float(bar["share"]), cells[key]["share_of_copy"], f"bar of {key}")
    rooflines = [plot for plot in plots if plot["plot"] == "roofline"]
    names = {row["device"] for row in page.evaluate(ROWS % "cell")
             if row["data"] == "resident" and row.get("gflopPerS") and row["device"] != "auto"}
    check({plot["device"] for plot in rooflines}, names, "rooflines")
    for plot in rooflines:
        for mark in plot["marks"]:
            rates = [cell["gflop_per_s"] for key, cell in cells.items()
                     if key[0] == mark["operation"] and key[1] == plot["data"] and key[3] == plot["device"]]
            check(float(mark["gflopPerS"]) in rates, True, f"mark of {mark['operation']} in a roofline")
    for plot in plots:
        check(plot["labels"] and plot["titled"], True, f"every label and mark of {plot['plot']} says something")


with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile, Browser(profile) as browser:
    for width, dark, media in ((1200, False, ""), (1200, True, ""), (390, False, ""), (390, True, ""),
                               (320, False, ""), (800, False, "print")):
        what = f"{width} wide, {'dark' if dark else 'light'} {media}"
        page = browser.open(f"{folder}/page.html", width=width, dark=dark, media=media)
        check(page.complaints, [], f"{what}: what the page complains of")
        check([url for url in page.requests if not url.endswith("/page.html")], [], f"{what}: what it asks others for")
        check(page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"), True,
              f"{what}: it fits its width")
        check(page.evaluate(UNREADABLE), [], f"{what}: labels that cannot be read")
        check(page.evaluate("document.querySelectorAll('script, img, link, iframe, main i').length"), 0,
              f"{what}: elements that the page does not have")
        colours = page.evaluate("[document.body, document.querySelector('h1')].map(e => getComputedStyle(e))"
                                ".map((s, i) => i ? s.color : s.backgroundColor)")
        check(sum(map(int, colours[0][4:-1].split(","))) > sum(map(int, colours[1][4:-1].split(","))), not dark,
              f"{what}: dark on light, or the other way round")
        if width == 1200 and not dark:
            check_cells(page)
            check_summary(page)
            check_plots(page)
        if "--shots" in sys.argv:
            page.screenshot(f"{folder}/{width}{'-dark' if dark else ''}{'-' + media if media else ''}.png")
print(f"{checks} checks of the page, all as in the report")
