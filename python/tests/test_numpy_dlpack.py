"""NumPy's own tests of DLPack, with arrays of vyre in place of those that NumPy shares.

All of them run but test_writeable: vyre writes arrays of the old protocol, which has no flag for
read-only ones, since libraries do not share those through it.
"""

import numpy as np
import pytest

import vyre

theirs = pytest.importorskip("numpy._core.tests.test_dlpack")


class StandIn:
    """Stands for the module `numpy` there, and counts what goes through vyre."""

    def __init__(self):
        self.uses = 0

    def __getattr__(self, name):
        return getattr(np, name)

    def make(self, array):
        self.uses += 1
        return vyre.Device("cpu").array(array)


class Shared(StandIn):
    """Its from_dlpack reads an array through vyre."""

    def from_dlpack(self, x, **keywords):
        self.uses += 1
        return np.from_dlpack(vyre.from_dlpack(x), **keywords)


class Made(StandIn):
    """Its arange, zeros and array make arrays of vyre."""

    def arange(self, count):
        return self.make(np.arange(count))

    def zeros(self, shape, dtype):
        return self.make(np.zeros(shape, dtype))

    def array(self, value):
        return self.make(np.array(value)) if isinstance(value, float) else np.array(value)

    @staticmethod
    def may_share_memory(x, y):
        return np.may_share_memory(np.from_dlpack(x), y)


@pytest.fixture(autouse=True)
def needs_cpu():
    try:
        vyre.Device("cpu")
    except vyre.UnavailableError:
        pytest.skip("this machine has no LLVM")


def run(monkeypatch, module, name, *arguments):
    stand_in = module()
    monkeypatch.setattr(theirs, "np", stand_in)
    try:
        getattr(theirs.TestDLPack(), name)(*arguments)
    finally:
        assert stand_in.uses, f"{name} does not use vyre"


TYPES = [
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float16",
    "float32",
    "float64",
]


@pytest.mark.parametrize("dtype", TYPES)
def test_dtypes_pass_through(monkeypatch, dtype):
    for array in theirs.new_and_old_dlpack():
        run(monkeypatch, Shared, "test_dtype_passthrough", array, np.dtype(dtype))


@pytest.mark.parametrize(
    "name",
    [
        "test_strides_not_multiple_of_itemsize",
        "test_invalid_dtype",
        "test_invalid_byte_swapping",
        "test_dlpack_device",
        "test_readonly",
        "test_ndim0",
        "test_device",
    ],
)
def test_arrays_of_numpy_through_vyre(monkeypatch, name):
    run(monkeypatch, Shared, name)


@pytest.mark.parametrize("name", ["test_non_contiguous", "test_size1dims_arrays"])
def test_strides_are_refused(monkeypatch, name):
    with pytest.raises(ValueError, match="contiguous"):
        run(monkeypatch, Shared, name)


def test_from_dlpack_holds_a_reference(monkeypatch):
    for array in theirs.new_and_old_dlpack():
        run(monkeypatch, Shared, "test_from_dlpack_refcount", array)


@pytest.mark.parametrize("module", [Shared, Made])
def test_higher_dims(monkeypatch, module):
    for dimensions in range(33):
        run(monkeypatch, module, "test_higher_dims", dimensions)


@pytest.mark.parametrize(
    "name",
    [
        "test_dunder_dlpack_stream",
        "test_dunder_dlpack_copy",
        "test_ndim0",
        "test_copy",
        "test_device",
    ],
)
def test_arrays_of_vyre(monkeypatch, name):
    run(monkeypatch, Made, name)


@pytest.mark.parametrize("version", [(0, 0), None, (1, 0), (100, 3)])
def test_capsules_of_vyre_hold_a_reference(monkeypatch, version):
    run(monkeypatch, Made, "test_dunder_dlpack_refcount", version)
    if version in (None, (1, 0)):
        run(monkeypatch, Made, "test_dlpack_destructor_exception", version)
