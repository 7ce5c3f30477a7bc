"""What a machine has, where kernels run and how long they take."""

from __future__ import annotations

import copy
import html
import os
import statistics
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from . import _vyre
from ._device import Array, Device
from ._errors import ArgumentTypeError, Error, InvalidArgumentError, NotFoundError
from ._progress import Progress


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


def names_of(devices: Any) -> list[str] | None:
    """Return the names of one or several devices, which may be devices themselves."""
    if devices is None:
        return None
    several = [devices] if isinstance(devices, str | _vyre.Device) else devices
    return [device.name if isinstance(device, _vyre.Device) else device for device in several]


def bench(
    kernel: Any,
    *arguments: Any,
    devices: str | Sequence[str] | None = None,
    seconds: float = 0.2,
    **keywords: Any,
) -> Benchmark:
    """Time a kernel or operation on each device, for `seconds` on each.

    `devices` are a name or several; the default is every device but the reference. The calls get
    copies of the arguments, which do not change.
    """
    names = names_of(devices) or [name for name in device_names() if name != "reference"]
    timings = []
    with Progress("bench", len(names)) as progress:
        for name in names:
            progress.step(name)
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
    for method in ("copy", "clone"):  # clone: tensors of torch
        if hasattr(value, method):
            return getattr(value, method)()
    if isinstance(value, memoryview):
        import numpy

        return numpy.array(value)
    return copy.deepcopy(value)


@dataclass
class Route:
    """How fast an operation is on a device, for data of a size."""

    operation: str
    #: "host", or "resident" for data that stays on the device.
    data: str
    #: The bytes of all arguments are at least this, and less than twice as many.
    bytes: int
    device: str
    seconds: float


@dataclass
class Certification:
    """What vyre.certify() measured."""

    routes: list[Route]
    #: (operation, device, reason) of each device that "auto" does not use for an operation.
    excluded: list[tuple[str, str, str]]

    def __str__(self) -> str:
        rows = [
            (r.operation, r.data, str(r.bytes), r.device, show_seconds(r.seconds))
            for r in self.routes
        ]
        text = table(("operation", "data", "bytes", "device", "median"), rows)
        return "\n".join(
            [text, *(f"{op}: not {device}: {why}" for op, device, why in self.excluded)]
        )

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"


BATCH = 8  # operations that one process measures


def find_command() -> str:
    """Return the path of the `vyre` command that the package installs."""
    import shutil
    import sysconfig

    found = shutil.which("vyre", path=sysconfig.get_path("scripts")) or shutil.which("vyre")
    if found is None:
        raise NotFoundError(
            "there is no `vyre` command. Fix: install the package with pip, which brings it",
            "install the package with pip, which brings it",
        )
    return found


def failed_command(status: int, text: str) -> Error:
    """Return the error of a `vyre certify` that did not print routes; `text` is its stderr."""
    text = text.strip().removeprefix("vyre certify: ")
    if "Fix: " not in text:  # it was ended from outside
        text = f"`vyre certify` ended with status {status}: {text or 'no message'}. "
        text += "Fix: run `vyre certify` in a terminal to see more"
    return Error(text, text.partition("Fix: ")[2])


def read_certified(text: str, into: Certification) -> None:
    """Add what `vyre certify` printed as JSON."""
    import json

    for found in json.loads(text):
        name = found["operation"]
        for row in found["classes"]:
            seconds = row["latency_ns"] * 1e-9
            into.routes.append(Route(name, row["data"], 1 << row["class"], row["backend"], seconds))
        for row in found["excluded"]:
            into.excluded.append((name, row["backend"], row.get("reason", "")))


def certify(
    operations: str = "*",
    *,
    devices: str | Sequence[str] | None = None,
    sizes: str | None = None,
    budget: float | None = None,
) -> Certification:
    """Measure operations on devices, and write routes, which "auto" then follows.

    `operations` are patterns for names, such as "reduce.*,scan.*". `sizes` is "8..20:4" for 2^8 to
    2^20 elements, or a list such as "6,16". `budget` is the seconds that a device may take for one
    size. The bytes of all devices are compared, and "auto" never uses one with wrong bytes. The
    command `vyre certify` does the same.
    """
    import fnmatch
    import subprocess

    if not isinstance(operations, str):
        raise ArgumentTypeError(
            f'operations is {type(operations).__name__}. Fix: pass patterns, such as "reduce.*"',
            'pass patterns, such as "reduce.*"',
        )
    patterns = [pattern.strip() for pattern in operations.split(",")]
    names = [
        name
        for name in _vyre.operation_ids()
        if any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)
    ]
    if not names:
        raise NotFoundError(
            f"no operation matches {operations!r}. Fix: list them with dir(vyre.ops)",
            "list them with dir(vyre.ops)",
        )
    options = ["--format", "json", "--no-progress", "--quiet"]
    wanted = names_of(devices)
    options += ["--backend", ",".join(wanted)] if wanted is not None else []
    options += ["--sizes", sizes] if sizes is not None else []
    options += ["--budget", str(budget)] if budget is not None else []
    result = Certification([], [])
    command = find_command()
    with Progress("certify", len(range(0, len(names), BATCH))) as progress:
        for start in range(0, len(names), BATCH):
            batch = ",".join(names[start : start + BATCH])
            progress.step(names[start])
            done = subprocess.run(
                [command, "certify", batch, *options], capture_output=True, text=True, check=False
            )
            # 1: a device gave wrong bytes, which `excluded` tells
            if done.returncode not in (0, 1) or not done.stdout:
                raise failed_command(done.returncode, done.stderr)
            read_certified(done.stdout, result)
    return result


def trace(path: str | os.PathLike[str]) -> None:
    """Write a trace of all work on devices to a file, for ui.perfetto.dev.

    Call it before the first kernel runs: the library opens the trace with its first device, so that
    all work of the process is in it. The file is complete when the process ends.
    """
    if _vyre.has_device():
        raise InvalidArgumentError(
            "a trace begins before the first device is opened. "
            "Fix: call vyre.trace() right after import, or set VYRE_TRACE",
            "call vyre.trace() right after import, or set VYRE_TRACE",
        )
    os.environ["VYRE_TRACE"] = os.path.abspath(path)


def save_routes_at_exit() -> None:
    """Save what the router learned when the process ends; the extension module calls it."""
    import atexit

    def save() -> None:
        try:
            _vyre.save_routes()
        except Error as error:
            warnings.warn(f"the router's measurements are lost: {error}", stacklevel=1)

    atexit.register(save)
