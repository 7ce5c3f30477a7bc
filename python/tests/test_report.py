"""What the package tells: devices, routes, times, traces and notebooks."""

import array
import json
import os
import pty
import subprocess
import sys

import numpy as np
import pytest

import vyre


def test_info_names_devices_and_llvm():
    info = vyre.info()
    assert info.version == vyre.__version__
    assert "reference" in info.devices
    assert "LLVM" in str(info)
    assert "<table>" in info._repr_html_()
    shown = subprocess.run(
        [sys.executable, "-m", "vyre"], check=True, capture_output=True, text=True
    )
    assert shown.stdout == f"{info}\n"


def test_explain_says_where_and_why(saxpy):
    x, y = np.ones(16, np.float32), np.ones(16, np.float32)
    found = vyre.explain(saxpy, 2.0, x, y)
    assert found.device in vyre.info().devices
    assert found.bytes == 4 + 64 + 64
    assert found.why in str(found)
    assert (y == 1).all()
    assert vyre.explain(saxpy, 2.0, x, y, device="reference").source == "named"
    a = vyre.Device("reference").array(x)
    assert vyre.explain(saxpy, 2.0, a, y).source == "data"
    assert vyre.explain(vyre.ops.sort.keys_u32, np.zeros(4, np.uint32)).device


def test_bench_times_every_device(saxpy):
    x, y = np.ones(16, np.float32), np.ones(16, np.float32)
    result = vyre.bench(saxpy, 2.0, x, y, devices=["reference", "cuda"], seconds=0.01)
    assert (y == 1).all()
    first = result.timings[0]
    assert first.calls > 0
    assert first.best <= first.median
    assert "reference" in str(result)
    assert "<table>" in result._repr_html_()
    with pytest.raises(vyre.InvalidArgumentError):
        vyre.bench(saxpy, 2.0, y, devices=["reference"])
    assert vyre.bench(vyre.ops.sort.keys_u32, np.zeros(4, np.uint32), seconds=0.01).kernel


class Tensor:
    """A tensor like those of torch, which have no copy()."""

    def __init__(self, array):
        self.array = array

    def clone(self):
        return Tensor(self.array.copy())

    def __dlpack__(self, **keywords):
        return self.array.__dlpack__(**keywords)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


@pytest.mark.parametrize("make", [Tensor, memoryview, lambda y: array.array("f", y)])
def test_bench_changes_no_argument(saxpy, make):
    x = np.ones(16, np.float32)
    y = make(np.ones(16, np.float32))
    timing = vyre.bench(saxpy, 2.0, x, y, devices="reference", seconds=1e-4).timings[0]
    assert (timing.device, timing.error) == ("reference", "")
    assert (np.from_dlpack(y) if make is Tensor else np.array(y)).tolist() == [1] * 16


def test_one_device_may_be_named_alone():
    result = vyre.bench(vyre.kernel("program f() over 1 { }"), devices=vyre.Device("reference"))
    assert [timing.device for timing in result.timings] == ["reference"]
    with pytest.raises(vyre.Error, match="backend `nowhere`"):
        vyre.certify("reduce.sum_u32", sizes="6", devices="nowhere")
    with pytest.raises(TypeError, match="operations is int"):
        vyre.certify(3)


def test_trace_writes_a_file(tmp_path):
    path = tmp_path / "t.json"
    code = f"""
import numpy as np, vyre
vyre.trace({str(path)!r})
vyre.kernel("program f(x: inout buffer<u32>) over x {{ x[gid] = 1; }}")(np.zeros(4, np.uint32))
try:
    vyre.trace("late.json")
except vyre.InvalidArgumentError as error:
    assert "before the first device" in str(error)
else:
    raise SystemExit(1)
"""
    subprocess.run([sys.executable, "-c", code], check=True)
    events = json.loads(path.read_text())
    assert events


def test_notebooks_show_kernels_in_colour(saxpy):
    shown = saxpy._repr_html_()
    assert '<span style="color:#a626a4">program</span>' in shown
    assert "buffer</span>&lt;<span" in shown
    assert "<table>" in vyre.Device("reference")._repr_html_()


def test_dir_lists_what_there_is():
    assert "ops" in dir(vyre)
    for name in vyre.__all__:
        assert getattr(vyre, name) is not None
    with pytest.raises(AttributeError):
        _ = vyre.nothing


LEARNS = """
import numpy as np, vyre
twice = vyre.kernel('''
program twice(x: inout buffer<u32>, y: out buffer<u32>[len(x)]) over x {
    y[gid] = x[gid];
    x[gid] = x[gid] * 2u;
}''')
for device in (None, "auto") * 4:
    x = np.arange(1000, dtype=np.uint32)
    y = twice(x, device=device)
    assert (x == 2 * np.arange(1000)).all() and (y == np.arange(1000)).all()
assert vyre.ops.sort.keys_u32(np.array([3, 1], np.uint32)).tolist() == [1, 3]
vyre.kernel('program f(x: buffer<u32>) over x { print("x is {}", x[gid]); }')(x[:1])
try:
    vyre.kernel('program f(x: buffer<u32>) over x { assert(x[gid] > 5, "small"); }')(x)
except vyre.AssertionFailedError:
    print("refused")
print(twice.digest)
"""


@pytest.mark.parametrize("learns", [True, False])
def test_calls_on_auto_teach_the_router(tmp_path, learns):
    routes = tmp_path / "routes.toml"
    done = subprocess.run(
        [sys.executable, "-c", LEARNS],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "VYRE_LEARN": str(int(learns)), "VYRE_ROUTES": str(routes)},
    )
    *shown, digest = done.stdout.split("\n")[:-1]
    assert shown == ["x is 0", "refused"]
    written = routes.read_text() if routes.exists() else ""
    assert (f'"program:twice:{digest}"' in written) == learns


def test_routes_that_cannot_be_saved_are_told(tmp_path):
    place = tmp_path / "a_file"
    place.write_text("")
    done = subprocess.run(
        [sys.executable, "-c", LEARNS],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "VYRE_LEARN": "1", "VYRE_ROUTES": str(place / "routes.toml")},
    )
    assert "the router's measurements are lost: " in done.stderr
    assert "Fix: " in done.stderr


def test_certify_writes_routes(tmp_path, monkeypatch):
    routes = tmp_path / "routes.toml"
    monkeypatch.setenv("VYRE_ROUTES", str(routes))
    found = vyre.certify("reduce.sum_u32,reduce.max_*", devices=["reference"], sizes="6,8")
    assert {"reduce.sum_u32", "reduce.max_u32"} <= {route.operation for route in found.routes}
    assert {route.data for route in found.routes} == {"host", "resident"}
    assert all(route.device == "reference" and route.seconds > 0 for route in found.routes)
    assert found.excluded == []
    assert "reduce.sum_u32" in str(found)
    assert "reduce.sum_u32" in routes.read_text()
    with pytest.raises(LookupError, match=r"no operation matches 'reduce.nothing'") as caught:
        vyre.certify("reduce.nothing")
    assert "dir(vyre.ops)" in caught.value.fix
    with pytest.raises(vyre.Error, match="nonsense") as caught:
        vyre.certify("reduce.sum_u32", devices=["nonsense"])
    assert caught.value.fix


def test_options_of_certify_are_not_ignored():
    for options in ({"budget": 0}, {"devices": []}, {"sizes": ""}):
        with pytest.raises(vyre.Error) as caught:
            vyre.certify("reduce.sum_u32", **options)
        assert caught.value.fix


@pytest.mark.parametrize("script", ["kill -9 $$", "exit 1", "echo; echo broken >&2; exit 7"])
def test_certify_tells_that_its_command_ended_early(tmp_path, monkeypatch, script):
    command = tmp_path / "vyre"
    command.write_text(f"#!/bin/sh\n{script}\n")
    command.chmod(0o755)
    monkeypatch.setattr("vyre._report.find_command", lambda: str(command))
    with pytest.raises(vyre.Error, match="ended with status") as caught:
        vyre.certify("reduce.sum_u32")
    assert caught.value.fix == "run `vyre certify` in a terminal to see more"


def test_patterns_of_certify_may_have_spaces(tmp_path, monkeypatch):
    monkeypatch.setenv("VYRE_ROUTES", str(tmp_path / "routes.toml"))
    found = vyre.certify("reduce.sum_u32, reduce.max_u32", devices=["reference"], sizes="6")
    assert {route.operation for route in found.routes} == {"reduce.sum_u32", "reduce.max_u32"}


class OnlyWrites:
    def write(self, text):
        pass


def closed_file(tmp_path):
    with open(tmp_path / "closed", "w") as file:
        pass
    return file


@pytest.mark.parametrize("make", [lambda _: None, lambda _: OnlyWrites(), closed_file])
def test_bench_needs_no_stderr(tmp_path, monkeypatch, make):
    monkeypatch.setattr(sys, "stderr", make(tmp_path))
    kernel = vyre.kernel("program f(x: inout buffer<u32>) over x { x[gid] += 1u; }")
    x = np.zeros(4, np.uint32)
    assert vyre.bench(kernel, x, devices=["reference"], seconds=0.01).timings[0].error == ""


SHOWS = """
import sys, time
from vyre import _progress
_progress.PATIENCE = float(sys.argv[1])
_progress.PACE = 0.01
with _progress.Progress("bench", 2) as progress:
    for name in ("cpu", "cuda"):
        progress.step(name)
        time.sleep(0.1)
"""


def run_on_terminal(patience):
    """Run SHOWS with a terminal as its stderr, and return what comes there."""
    ours, theirs = pty.openpty()
    done = subprocess.run(
        [sys.executable, "-c", SHOWS, str(patience)], check=True, stderr=theirs, stdout=theirs
    )
    assert done.returncode == 0
    os.close(theirs)
    shown = b""
    try:
        while part := os.read(ours, 1 << 16):
            shown += part
    except OSError:  # all was read
        pass
    os.close(ours)
    return shown.decode()


def test_a_bar_is_shown_on_a_terminal_and_erased():
    shown = run_on_terminal(0.05)
    assert f"bench [{'':24}] 0/2 cpu" in shown
    assert f"bench [{'#' * 12:24}] 1/2 cuda" in shown
    assert shown.endswith("\r\x1b[K")


def test_short_work_shows_no_bar():
    assert run_on_terminal(1.0) == ""


def test_no_bar_goes_to_a_file():
    command = [sys.executable, "-c", SHOWS, "0"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert done.stderr == done.stdout == ""
