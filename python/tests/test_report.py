"""What the package tells: devices, routes, times, traces and notebooks."""

import json
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
