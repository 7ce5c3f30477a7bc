"""What goes wrong: the class, the argument's name and the advice."""

import pathlib
import subprocess
import sys

import numpy as np
import pytest

import vyre
from vyre import _errors, _vyre

X = np.ones(4, np.float32)


def test_every_status_code_has_a_class():
    codes = _vyre.status_codes()
    assert len(_errors.CLASSES) == len(codes)
    for name, number in codes.items():
        if number:
            assert _errors.CLASSES[number].code == name


def test_mistakes_in_kernels_have_carets_and_fixes():
    with pytest.raises(vyre.InvalidProgramError) as caught:
        vyre.kernel("program f(x: buffer<f32>) over x { y[gid] = 1; }")
    error = caught.value
    assert "^~~~" in str(error)
    assert "Fix: " in str(error)
    assert error.fix
    assert error.code == "INVALID_PROGRAM"
    assert error.diagnostics[0]["code"] == "V0201"


@pytest.mark.parametrize(
    "arguments, error, text",
    [
        (
            (2.0, X.astype(float), X),
            TypeError,
            r"`x` has dtype float64, and the kernel needs float32. Fix: convert the array with",
        ),
        ((2.0, X.astype(">f4"), X), TypeError, "`x` has a dtype of format"),
        ((2.0, [1.0], X), TypeError, "`x` is list, and the kernel needs an array"),
        (("a", X, X), TypeError, "`a` is str"),
        ((1e39, X, X), ValueError, "`a` is 1e\\+39, which f32 cannot hold"),
        ((2.0, X), TypeError, "`y` is missing"),
        ((2.0, X, X, X), TypeError, "takes 3 arguments"),
    ],
)
def test_wrong_arguments_are_named(saxpy, arguments, error, text):
    with pytest.raises(error, match=text) as caught:
        saxpy(*arguments)
    assert isinstance(caught.value, vyre.InvalidArgumentError)
    assert caught.value.fix
    assert str(caught.value).endswith("Fix: " + caught.value.fix)


def test_wrong_keywords_are_named(saxpy):
    with pytest.raises(TypeError, match="no argument `z`"):
        saxpy(2.0, X, X, z=1)
    with pytest.raises(TypeError, match="`a` is passed twice"):
        saxpy(2.0, X, X, a=1)
    with pytest.raises(vyre.NotFoundError, match="nowhere"):
        saxpy(2.0, X, X.copy(), device="nowhere")
    with pytest.raises(ValueError, match="timeout"):
        saxpy(2.0, X, X.copy(), timeout=-1)
    with pytest.raises(TypeError, match="device is neither"):
        saxpy(2.0, X, X.copy(), device=7)


def test_memory_that_cannot_be_written_is_refused(saxpy):
    y = X.copy()
    y.flags.writeable = False
    with pytest.raises(ValueError, match="`y` is read-only"):
        saxpy(2.0, X, y)
    assert (y == 1).all()
    with pytest.raises(ValueError, match="`y` is not C-contiguous"):
        saxpy(2.0, X, np.ones(8, np.float32)[::2])


@pytest.mark.parametrize(
    "kind, good, bad",
    [
        ("i8", (-128, 127), (-129, 128)),
        ("u8", (0, 255), (-1, 256)),
        ("i16", (-(2**15), 2**15 - 1), (2**15,)),
        ("u16", (2**16 - 1,), (2**16,)),
        ("i32", (-(2**31), 2**31 - 1), (2**31,)),
        ("u32", (2**32 - 1,), (2**32, -1)),
        ("i64", (-(2**63), 2**63 - 1), (2**63, -(2**63) - 1)),
        ("u64", (2**64 - 1,), (2**64, -1)),
    ],
)
def test_integers_must_fit(kind, good, bad):
    k = vyre.kernel(f"program f(v: {kind}, y: out buffer<{kind}>[1]) over 1 {{ y[0] = v; }}")
    for value in good:
        assert k(value, device="reference")[0] == value
    for value in bad:
        with pytest.raises(ValueError, match=f"which {kind} cannot hold"):
            k(value, device="reference")
    with pytest.raises(TypeError, match="`v` is float"):
        k(1.0, device="reference")


@pytest.mark.parametrize("kind, dtype", [("f16", np.float16), ("f32", np.float32)])
def test_floats_round_as_in_numpy(kind, dtype):
    k = vyre.kernel(f"program f(v: {kind}, y: out buffer<{kind}>[1]) over 1 {{ y[0] = v; }}")
    random = np.random.default_rng(1)
    values = [*(random.standard_normal(300) * 10.0 ** random.integers(-9, 4, 300))]
    values += [0.0, -0.0, np.inf, -np.inf, 65504.0, 65519.9, 2.0**-24, 2.0**-25, 6e-8, 1 + 2**-11]
    for value in values:
        assert k(value, device="reference").tobytes() == np.array([value]).astype(dtype).tobytes()
    assert np.isnan(k(np.nan, device="reference")[0])
    with pytest.raises(ValueError, match="cannot hold"):
        k(65520.0 if kind == "f16" else 3.5e38, device="reference")


def test_bools_are_bools():
    k = vyre.kernel("program f(v: bool, y: out buffer<u8>[1]) over 1 { y[0] = u8(v); }")
    assert k(True, device="reference")[0]
    assert not k(np.False_, device="reference")[0]
    with pytest.raises(TypeError, match="pass True or False"):
        k(1, device="reference")


def test_outputs_must_have_the_length():
    k = vyre.kernel(
        "program f(x: buffer<f32>, y: out buffer<f32>[len(x)]) over x { y[gid] = x[gid]; }"
    )
    with pytest.raises(ValueError, match="has 3 elements, and the kernel writes 4"):
        k(X, out=np.empty(3, np.float32), device="reference")
    with pytest.raises(TypeError, match="out does not match"):
        k(X, out=(X.copy(), X.copy()), device="reference")


def test_asserts_are_exceptions(device):
    k = vyre.kernel('program f(x: buffer<u32>) over x { assert(x[gid] < 3, "x is {}", x[gid]); }')
    k(np.array([1, 2], np.uint32), device=device)
    with pytest.raises(AssertionError, match="x is 5") as caught:
        k(np.array([1, 5], np.uint32), device=device)
    assert isinstance(caught.value, vyre.AssertionFailedError)


def test_timeouts_are_timeout_errors(device):
    k = vyre.kernel("program f(x: inout buffer<u32>) over x { loop { if x[gid] == 1 { break; } } }")
    with pytest.raises(TimeoutError) as caught:
        k(np.zeros(1, np.uint32), device=device, timeout=0.2)
    assert isinstance(caught.value, vyre.TimeoutError)


def test_an_exception_of_stdout_is_raised(monkeypatch):
    class Full:
        def write(self, text):
            raise OSError("no space left")

    k = vyre.kernel('program f(x: buffer<u32>) over x { print("x is {}", x[gid]); }')
    monkeypatch.setattr(sys, "stdout", Full())
    with pytest.raises(OSError, match="no space left"):
        k(np.array([4, 5], np.uint32), device="reference")


def test_a_child_of_fork_has_devices_of_its_own():
    code = """
import os, numpy as np, vyre
k = vyre.kernel("program f(x: inout buffer<u32>) over x { x[gid] = x[gid] + 1; }")
x = np.zeros(4, np.uint32)
k(x, device="cpu"); k(x)
child = os.fork()
if child == 0:
    k(x, device="cpu"); k(x)
    os._exit(0 if x.tolist() == [4] * 4 else 1)
assert os.waitpid(child, 0)[1] == 0
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, timeout=60)


def test_missing_files_are_python_errors():
    with pytest.raises(FileNotFoundError):
        vyre.kernel(pathlib.Path("nowhere.vyre"))
