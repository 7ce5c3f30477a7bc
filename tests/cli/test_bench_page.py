"""Opens pages of vyre bench in a browser and holds what they show against the JSON reports of the same runs.

    test_bench_page.py [--brief] [--shots] FOLDER...     each holds page.html and report.json

--brief looks at fewer widths, --shots leaves a picture of each view in its folder.
"""
import json
import sys
import tempfile

from browser import Browser

report, folder, checks = {}, "", 0


def check(found, expected, what):
    global checks
    checks += 1
    if found != expected:
        sys.exit(f"{folder}: {what}: found {found!r}, expected {expected!r}")


ROWS = """[...document.querySelectorAll('tr[data-kind=%s]')].map(row => ({...row.dataset}))"""
PLOTS = """[...document.querySelectorAll('svg[data-plot]')].map(plot => ({...plot.dataset,
    marks: [...plot.querySelectorAll('.mark, .bar')].map(mark => ({...mark.dataset})),
    crossovers: plot.querySelectorAll('.crossover').length,
    notes: plot.querySelectorAll('.note').length,
    directs: plot.querySelectorAll('.direct').length,
    points: plot.querySelectorAll('.point').length,
    unnamed: (plot.parentElement.querySelector('p')?.textContent.match(/, |: /g) ?? []).length,
    values: plot.querySelectorAll('.value').length,
    ticks: plot.querySelectorAll('.tick').length,
    labels: [...plot.querySelectorAll('text')].every(label => label.textContent.trim().length > 0),
    titled: [...plot.querySelectorAll('.mark, .bar')].every(mark => mark.querySelector('title')),
    named: plot.querySelectorAll('.name').length}))"""
# Words in plots that leave the plot, lie upon one another, or are too small to be read.
UNREADABLE = """[...document.querySelectorAll('svg[data-plot]')].flatMap(plot => {
    const frame = plot.getBoundingClientRect(), bad = [];
    const boxes = [...plot.querySelectorAll('text')].map(text => {
        const words = text.firstChild.textContent + (text.querySelector('tspan')?.textContent ?? '');
        return [words, text.getBoundingClientRect(), text];
    });
    boxes.forEach(([words, a, text], i) => {
        if (a.left < frame.left - 1 || a.right > frame.right + 1 || a.top < frame.top - 2 || a.bottom > frame.bottom + 1) {
            bad.push(`${words} is cut off`);
        }
        if (parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a < 11) {
            bad.push(`${words} is too small`);
        }
        boxes.slice(i + 1).forEach(([others, b]) => {
            if (Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3 &&
                Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1) { bad.push(`${words} and ${others}`); }
        });
    });
    return bad;
})"""
# Words that say that a script met what it did not expect, but for those in names.
NONSENSE = """document.body.innerText.match(/\\b(NaN|undefined|Infinity|null|\\[object \\w+\\])\\b/g) ?? []"""


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


def check_comparison(page):
    cells = (report["comparison"] or {"cells": []})["cells"]
    check([float(row["ratio"]) for row in page.evaluate(ROWS % "change")], [cell["ratio"] for cell in cells], "comparison")


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
        check(plot["notes"], plot["crossovers"], f"crossovers with a name in the plot of {key}")
        devices = {cell["device"] for row in report["rows"] if (row["operation"], row["data"]) == key
                   for cell in row["cells"] if cell["state"] == "measured"}
        check(plot["directs"], len(devices), f"curves with a name in the plot of {key}")
        check(plot["ticks"] >= 4, True, f"numbers at the axes of {key}")
    shares = [plot for plot in plots if plot["plot"] == "shares"]
    check({plot["data"] for plot in shares},
          {row["data"] for row in report["rows"] for cell in row["cells"] if cell["share_of_copy"] and cell["device"] != "auto"},
          "plots of shares")
    cells = {(row["operation"], row["data"], row["size"], cell["device"]): cell
             for row in report["rows"] for cell in row["cells"]}
    for plot in shares:
        for bar in plot["marks"]:
            key = (bar["operation"], plot["data"], int(bar["size"]), bar["device"])
            check(float(bar["share"]), cells[key]["share_of_copy"], f"bar of {key}")
        check(plot["values"], len(plot["marks"]), "bars with a number")
    rooflines = [plot for plot in plots if plot["plot"] == "roofline"]
    place = "resident" if any(row["data"] == "resident" for row in report["rows"]) else "host"
    names = {cell["device"] for row in report["rows"] for cell in row["cells"] if row["data"] == place and row["bytes"]
             and cell["gflop_per_s"] and cell["device"] != "auto" and row["size"] == max(
                 other["size"] for other in report["rows"] for its in other["cells"] if other["data"] == place
                 and other["operation"] == row["operation"] and its["device"] == cell["device"] and its["host"])}
    check({plot["device"] for plot in rooflines}, names, "rooflines")
    for plot in rooflines:
        for mark in plot["marks"]:
            rates = [cell["gflop_per_s"] for key, cell in cells.items()
                     if key[0] == mark["operation"] and key[1] == plot["data"] and key[3] == plot["device"]]
            check(float(mark["gflopPerS"]) in rates, True, f"mark of {mark['operation']} in a roofline")
        check(plot["points"] + plot["unnamed"], len(plot["marks"]), f"marks with a name in the roofline of {plot['device']}")
    for plot in plots:
        check(plot["labels"] and plot["titled"], True, f"every label and mark of {plot['plot']} says something")


def check_view(browser, width, dark, media):
    what = f"{width} wide, {'dark' if dark else 'light'} {media}"
    page = browser.open(f"{folder}/page.html", width=width, dark=dark, media=media)
    check(page.complaints, [], f"{what}: what the page complains of")
    check([url for url in page.requests if not url.endswith("/page.html")], [], f"{what}: what it asks others for")
    check(page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"), True,
          f"{what}: it fits its width")
    check(page.evaluate(UNREADABLE), [], f"{what}: labels that cannot be read")
    check(page.evaluate("document.querySelectorAll('script[src], img, link, iframe, main script, main b i').length"), 0,
          f"{what}: elements that the page does not have")
    check(page.evaluate("[document.title, document.scripts.length]"), ["vyre bench", 2], f"{what}: title and scripts")
    check(page.evaluate(NONSENSE), [], f"{what}: words of a script that went wrong")
    colours = page.evaluate("[document.body, document.querySelector('h1')].map(e => getComputedStyle(e))"
                            ".map((s, i) => i ? s.color : s.backgroundColor)")
    check(sum(map(int, colours[0][4:-1].split(","))) > sum(map(int, colours[1][4:-1].split(","))), not dark,
          f"{what}: dark on light, or the other way round")
    if "--shots" in sys.argv:
        page.screenshot(f"{folder}/{width}{'-dark' if dark else ''}{'-' + media if media else ''}.png")
    return page


def check_resizing(page):
    """A window that becomes narrow gets plots of its width, in letters of the same size."""
    page.call("Emulation.setDeviceMetricsOverride", width=400, height=900, deviceScaleFactor=1, mobile=False)
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))", wait=True)
    check(page.evaluate("[...document.querySelectorAll('svg[data-plot]')].every(plot => "
                        "Math.abs(plot.viewBox.baseVal.width - plot.getBoundingClientRect().width) < 1)"), True,
          "plots as wide as their places in a narrower window")
    check(page.evaluate(UNREADABLE), [], "labels that cannot be read in a narrower window")


folders = [word for word in sys.argv[1:] if not word.startswith("--")]
with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile, Browser(profile) as browser:
    for folder in folders:
        report = json.load(open(f"{folder}/report.json"))
        page = check_view(browser, 1200, False, "")
        check_cells(page)
        check_summary(page)
        check_comparison(page)
        check_plots(page)
        check_resizing(page)
        views = [(390, True, ""), (320, False, "")]
        if "--brief" not in sys.argv:
            views += [(1200, True, ""), (390, False, ""), (800, False, "print")]
        for view in views:
            check_view(browser, *view)
print(f"{checks} checks of {len(folders)} pages, all as in the reports")
