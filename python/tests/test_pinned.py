"""Arrays in pinned memory are arrays like others."""

import gc

import numpy as np
import pytest

import vyre


@pytest.mark.parametrize(
    "shape",
    [0, 1, 1000, (3, 5), (0, 4), (), (2, 1 << 20), np.int64(3), [2, np.int8(3)], np.array([4, 2])],
)
@pytest.mark.parametrize(
    "dtype", ["f4", np.uint8, np.dtype([("a", "i4"), ("b", "f8")], align=True)]
)
def test_shape_and_dtype(shape, dtype):
    array = vyre.pinned_empty(shape, dtype)
    like = np.empty(shape, dtype)
    assert array.shape == like.shape
    assert array.dtype == like.dtype
    assert array.flags.writeable
    assert array.flags.c_contiguous
    assert not array.size or array.ctypes.data % 4096 == 0


def test_kernels_change_it_in_place(saxpy, device):
    x, y = vyre.pinned_empty(100000, "f4"), vyre.pinned_empty(100000, np.float32)
    x[:] = np.arange(100000)
    y[:] = 1
    saxpy(2.0, x, y, device=device)
    np.testing.assert_array_equal(y, 2 * np.arange(100000, dtype="f4") + 1)


def test_views_keep_the_memory():
    view = vyre.pinned_empty(1000, "u4")[10:20]
    view[:] = 7
    for _ in range(20):
        vyre.pinned_empty(1000, "u4")[:] = 9
    gc.collect()
    assert (view == 7).all()


def test_wrong_arguments_are_refused():
    with pytest.raises(vyre.ArgumentTypeError, match="hold Python objects"):
        vyre.pinned_empty(3, object)
    for shape in (-1, (-2, -3), (0, -1)):
        with pytest.raises(vyre.InvalidArgumentError, match="negative"):
            vyre.pinned_empty(shape, "f4")
    for shape in (1 << 62, 1 << 70, (1 << 40, 1 << 40)):
        with pytest.raises(vyre.InvalidArgumentError, match="more bytes than an address space"):
            vyre.pinned_empty(shape, "f4")
    for shape in (2.0, (2, 2.5), "ab", None):
        with pytest.raises(TypeError):
            vyre.pinned_empty(shape, "f4")
    with pytest.raises(vyre.OutOfMemoryError):
        vyre.pinned_empty(1 << 55, "f4")


def test_the_default_is_numpys():
    assert vyre.pinned_empty(3).dtype == np.empty(3).dtype
