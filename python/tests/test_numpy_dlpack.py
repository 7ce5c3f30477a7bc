"""NumPy's own tests of DLPack, with arrays of vyre in place of those that NumPy shares."""

import numpy as np
import pytest

import vyre

theirs = pytest.importorskip("numpy._core.tests.test_dlpack")


class Shared:
    """Stands for the module `numpy` there: from_dlpack reads an array through vyre."""

    def __getattr__(self, name):
        return getattr(np, name)

    @staticmethod
    def from_dlpack(x, **keywords):
        return np.from_dlpack(vyre.from_dlpack(x), **keywords)


class Made:
    """Stands for the module `numpy` there: arange and zeros make arrays of vyre."""

    def __getattr__(self, name):
        return getattr(np, name)

    @staticmethod
    def arange(count):
        return vyre.Device("cpu").array(np.arange(count))

    @staticmethod
    def zeros(shape, dtype):
        return vyre.Device("cpu").zeros(shape, dtype)

    @staticmethod
    def array(value):
        return vyre.Device("cpu").array(value) if isinstance(value, float) else np.array(value)

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
    monkeypatch.setattr(theirs, "np", module())
    getattr(theirs.TestDLPack(), name)(*arguments)


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
        "test_size1dims_arrays",
    ],
)
def test_arrays_of_vyre(monkeypatch, name):
    run(monkeypatch, Made, name)


@pytest.mark.parametrize("version", [(0, 0), None, (1, 0), (100, 3)])
def test_capsules_of_vyre_hold_a_reference(monkeypatch, version):
    run(monkeypatch, Made, "test_dunder_dlpack_refcount", version)
    if version in (None, (1, 0)):
        run(monkeypatch, Made, "test_dlpack_destructor_exception", version)
