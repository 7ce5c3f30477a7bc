"""What a machine has, where kernels run and how long they take."""

from __future__ import annotations

import html
import os
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from . import _vyre
from ._device import Array, Device
from ._errors import Error, InvalidArgumentError


def table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    """Lay out rows in columns."""
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in [head, *rows]
    ]
    return "\n".join(lines)


def html_table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    """Lay out rows as a table of HTML."""

    def line(cells: tuple[str, ...], tag: str) -> str:
        style = "text-align:left"
        inner = "".join(f"<{tag} style='{style}'>{html.escape(cell)}</{tag}>" for cell in cells)
        return f"<tr>{inner}</tr>"

    return f"<table>{line(head, 'th')}{''.join(line(row, 'td') for row in rows)}</table>"


def device_names() -> list[str]:
    """Return the names of the devices that programs may run on, whether they work or not."""
    names: list[str] = []
    for backend, runs, count in _vyre.backends():
        if runs:
            names += [backend] + [f"{backend}:{i}" for i in range(1, count)]
    return names


@dataclass
class Info:
    """What this machine has: vyre.info()."""

    version: str
    llvm: str
    #: What each device is, by name, or why it does not work.
    devices: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        rows = list(self.devices.items())
        return f"vyre {self.version}\nLLVM for the cpu device: {self.llvm}\n\n" + table(
            ("device", "what it is"), rows
        )

    __repr__ = __str__

    def _repr_html_(self) -> str:
        text = f"vyre {self.version}, LLVM for the cpu device: {self.llvm}"
        return f"<p>{html.escape(text)}</p>" + html_table(
            ("device", "what it is"), list(self.devices.items())
        )


def info() -> Info:
    """Say which devices this machine has, and which LLVM the cpu device uses."""
    found = Info(_vyre.__version__, "none: pip install vyre[cpu], or install libLLVM 16 to 22")
    for name in device_names():
        try:
            profile = Device(name).profile
        except Error as error:
            found.devices[name] = str(error)
            continue
        parts = [profile["device"], profile["driver"]]
        found.devices[name] = ", ".join(part for part in parts if part) or profile["version"]
        if name == "cpu":
            found.llvm = profile["driver"]
    return found


@dataclass
class Explanation:
    """Where a call runs and why: vyre.explain()."""

    device: str
    #: "measured for this size", "certified", "preferred", "named" or "data"
    source: str
    why: str
    #: Why a measurement was ignored; "" if none was.
    note: str
    bytes: int
    #: The measured time; None if there is no measurement.
    seconds: float | None

    def __str__(self) -> str:
        text = f"{self.device}: {self.why} ({self.bytes} bytes of arguments)"
        return f"{text}\nnote: {self.note}" if self.note else text

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"


def explain(kernel: Any, *arguments: Any, **keywords: Any) -> Explanation:
    """Say on which device a call of a kernel or operation would run, and why.

    The kernel does not run, but devices are opened.
    """
    found: dict[str, Any] = getattr(kernel, "kernel", kernel)._explain(*arguments, **keywords)
    return Explanation(**found)


@dataclass
class Timing:
    """How long calls took on a device. `error` says why they failed; "" if they did not."""

    device: str
    #: The first call, which includes compiling. All times are in seconds.
    first: float = 0.0
    #: The median and the fastest of later calls.
    median: float = 0.0
    best: float = 0.0
    calls: int = 0
    error: str = ""


def show_seconds(seconds: float) -> str:
    """Write a time with a unit that suits it."""
    for unit, factor in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= factor:
            return f"{seconds / factor:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} us"


@dataclass
class Benchmark:
    """The times of a kernel on several devices: vyre.bench()."""

    kernel: str
    timings: list[Timing]

    def _rows(self) -> list[tuple[str, ...]]:
        return [
            (t.device, "", "", "", t.error.partition(". Fix: ")[0])
            if t.error
            else (
                t.device,
                show_seconds(t.first),
                show_seconds(t.median),
                show_seconds(t.best),
                f"{t.calls} calls",
            )
            for t in self.timings
        ]

    _head = ("device", "first call", "median", "best", "")

    def __str__(self) -> str:
        return f"{self.kernel}\n" + table(self._head, self._rows())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """Show the table, and a bar for each device."""
        slowest = max((t.median for t in self.timings), default=0) or 1
        bars = "".join(
            f"<div>{html.escape(t.device)} <span style='display:inline-block;height:0.8em;"
            f"background:#4c78a8;width:{t.median / slowest * 20:.2f}em'></span> "
            f"{show_seconds(t.median)}</div>"
            for t in self.timings
            if not t.error
        )
        return f"<b>{html.escape(self.kernel)}</b>{html_table(self._head, self._rows())}{bars}"


def time_calls(
    kernel: Any, arguments: list[Any], options: dict[str, Any], seconds: float
) -> Timing:
    """Call a kernel for some time on one device."""
    timing = Timing(options["device"])
    times: list[float] = []
    start = time.perf_counter()
    while not times or time.perf_counter() - start < seconds:
        before = time.perf_counter()
        kernel(*arguments, **options)
        times.append(time.perf_counter() - before)
    timing.first = times[0]
    later = times[1:] or times
    timing.median, timing.best, timing.calls = statistics.median(later), min(later), len(times)
    return timing


def bench(
    kernel: Any,
    *arguments: Any,
    devices: list[str] | None = None,
    seconds: float = 0.2,
    **keywords: Any,
) -> Benchmark:
    """Time a kernel or operation on each device, for `seconds` on each.

    `devices` are names; the default is every device but the reference. The calls get copies of the
    arguments, which do not change.
    """
    names = devices or [name for name in device_names() if name != "reference"]
    timings = []
    for name in names:
        copies = [copy_array(value) for value in arguments]
        options = {key: copy_array(value) for key, value in keywords.items()}
        try:
            timings.append(time_calls(kernel, copies, {**options, "device": name}, seconds))
        except InvalidArgumentError:
            raise
        except Error as error:
            timings.append(Timing(name, error=str(error)))
    return Benchmark(getattr(kernel, "id", None) or kernel.name, timings)


def copy_array(value: Any) -> Any:
    """Copy what a kernel might change."""
    if isinstance(value, Array):
        raise InvalidArgumentError(
            "the data is on one device. Fix: pass NumPy arrays, which go to all devices",
            "pass NumPy arrays, which go to all devices",
        )
    return value.copy() if hasattr(value, "copy") else value


def trace(path: str | os.PathLike[str]) -> None:
    """Write a trace of all work on devices to a file, for ui.perfetto.dev.

    Call it before the first kernel runs. The file is complete when the process ends.
    """
    if _vyre.has_device():
        raise InvalidArgumentError(
            "a trace begins before the first device is opened. "
            "Fix: call vyre.trace() right after import, or set VYRE_TRACE",
            "call vyre.trace() right after import, or set VYRE_TRACE",
        )
    os.environ["VYRE_TRACE"] = os.path.abspath(path)
