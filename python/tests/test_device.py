"""Arrays that stay on a device, and memory that is shared with other libraries."""

import ctypes
import gc
import importlib
import os
import subprocess
import sys
import weakref

import numpy as np
import pytest
from conftest import SAXPY, has_device

import vyre

COPY = "program f(x: buffer<f32>, y: out buffer<f32>[len(x)]) over x { y[gid] = x[gid]; }"


@pytest.fixture
def place(device):
    return vyre.Device(device)


def test_arrays_stay_and_kernels_run_there(place, saxpy):
    x = np.arange(100, dtype=np.float32)
    with place as here:
        a, b = here.array(x), here.zeros(100)
        assert saxpy(2.0, a, b) is None
        saxpy(2.0, a, b)
        np.testing.assert_array_equal(b.numpy(), x * 4)
    assert a.shape == (100,)
    assert a.dtype == np.float32
    assert (a.ndim, a.size, a.nbytes, a.itemsize, len(a)) == (1, 100, 400, 4, 100)
    assert repr(a) == f"<vyre.Array (100,) float32 on {place.name}>"
    assert repr(place) == f"vyre.Device('{place.name}')"


def test_outputs_are_made_where_the_data_is(place):
    a = place.array(np.ones((3, 2), np.float32))
    y = vyre.kernel(COPY)(a)
    assert isinstance(y, vyre.Array)
    assert y.shape == (3, 2)
    assert (y.numpy() == 1).all()


def test_data_of_the_host_goes_there_and_back(place, saxpy):
    a, y = place.array(np.ones(5, np.float32)), np.ones(5, np.float32)
    saxpy(2.0, a, y)
    assert (y == 3).all()


def test_slices_share_memory(place, saxpy):
    a = place.array(np.arange(12, dtype=np.float32).reshape(6, 2))
    part = a[2:4]
    assert part.shape == (2, 2)
    part.fill(7)
    assert a.numpy()[2:4].tolist() == [[7, 7], [7, 7]]
    assert a[-1].numpy().tolist() == [10, 11]
    assert a[9:].shape == (0, 2)
    del a
    gc.collect()
    assert part.numpy().tolist() == [[7, 7], [7, 7]]
    with pytest.raises(vyre.InvalidArgumentError, match="stride"):
        part[::2]
    with pytest.raises(IndexError):
        part[2]


def test_arrays_have_every_dtype(place):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    for dtype in ("bool", "int8", "uint16", "int64", "float16", "float64", ml_dtypes.bfloat16):
        x = np.array([0, 1, 1], dtype)
        a = place.array(x)
        assert a.dtype == x.dtype
        assert a.numpy().tobytes() == x.tobytes()
        assert a.fill(1).numpy().tolist() == [1, 1, 1]
    body = np.dtype([("place", np.float32, 3), ("kind", np.uint8)], align=True)
    x = np.zeros(2, body)
    x["kind"] = 3
    a = place.array(x)
    assert a.dtype == body
    assert a.numpy().tobytes() == x.tobytes()
    vyre.kernel(
        "struct B { place: vec3<f32>, kind: u8 }"
        "program f(b: inout buffer<B>) over b { b[gid].place.x = f32(b[gid].kind); }"
    )(a)
    assert a.numpy()["place"].tolist() == [[3, 0, 0]] * 2
    with pytest.raises(TypeError, match="complex128"):
        place.array(np.zeros(2, complex))


def test_wrong_data_is_refused(place, saxpy):
    a = place.zeros(4)
    with pytest.raises(TypeError, match="dtype float64, and the array float32"):
        a.copy_from(np.zeros(4))
    with pytest.raises(ValueError, match="shape"):
        a.copy_from(np.zeros(5, np.float32))
    with pytest.raises(TypeError, match="needs float32"):
        saxpy(1.0, a, place.zeros(4, "float64"))
    with pytest.raises(ValueError, match="negative"):
        place.empty(-1)
    with pytest.raises(vyre.InvalidArgumentError):
        saxpy(1.0, a, a)


@pytest.mark.parametrize("other", ["preferred", "cpu:0"])
def test_a_device_has_several_names(saxpy, other):
    if vyre.Device("preferred").name != "cpu":
        pytest.skip("this machine prefers another device")
    a, b = vyre.Device("cpu").array(np.ones(4, np.float32)), vyre.Device(other).zeros(4)
    saxpy(2.0, a, b)
    saxpy(2.0, a, b, device=other)
    assert b.numpy().tolist() == [4, 4, 4, 4]
    assert a.device == b.device
    assert len({a.device, b.device, vyre.Device("reference")}) == 2
    assert a.device != "cpu"


def test_arrays_of_two_devices_do_not_meet(saxpy):
    a, b = vyre.Device("cpu").zeros(4), vyre.Device("reference").zeros(4)
    with pytest.raises(ValueError, match="`x` is on device cpu, and another argument on reference"):
        saxpy(1.0, a, b)
    with pytest.raises(ValueError, match="the data is on device cpu"):
        saxpy(1.0, a, a, device="reference")


def test_arrays_that_are_dropped_are_freed(place):
    a = place.zeros(4)
    watched = weakref.ref(a)
    del a
    assert watched() is None
    for _ in range(200):
        place.empty(1 << 20)


def test_numpy_takes_arrays(place):
    a = place.array(np.arange(4, dtype=np.float32))
    assert np.asarray(a).tolist() == [0, 1, 2, 3]
    assert np.asarray(a, np.float64).dtype == np.float64
    with pytest.raises(ValueError, match="without a copy"):
        np.asarray(a, copy=False)


def test_dlpack_shares_memory_of_the_host():
    a = vyre.Device("cpu").array(np.arange(6, dtype=np.float32).reshape(2, 3))
    assert a.__dlpack_device__() == (1, 0)
    shared = np.from_dlpack(a)
    assert shared.ctypes.data == a._memory()[0]
    assert shared.tolist() == [[0, 1, 2], [3, 4, 5]]
    vyre.kernel("program f(x: inout buffer<f32>) over x { x[gid] = x[gid] + 1.0; }")(a)
    assert shared[0, 0] == 1
    copied = np.from_dlpack(a, copy=True)
    assert copied.ctypes.data != a._memory()[0]
    assert copied.tolist() == shared.tolist()
    address = shared.ctypes.data
    del a
    gc.collect()
    assert shared.ctypes.data == address
    assert shared[1, 2] == 6


def test_dlpack_refuses_what_it_cannot_do():
    a = vyre.Device("cpu").zeros(3)
    with pytest.raises(ValueError, match="stream"):
        a.__dlpack__(stream=1)
    with pytest.raises(BufferError):
        a.__dlpack__(dl_device=(2, 0))
    with pytest.raises(AttributeError):
        _ = a.__cuda_array_interface__
    capsule = a.__dlpack__()
    taken = vyre.Array.from_capsule(a.device, capsule, None, False)
    assert taken.shape == (3,)
    with pytest.raises(TypeError, match="capsule"):
        vyre.Array.from_capsule(a.device, capsule, None, False)
    assert 'dltensor"' in repr(a.__dlpack__())
    assert "dltensor_versioned" in repr(a.__dlpack__(max_version=(1, 0)))


class Shares:
    """An array that has only DLPack, like a tensor of torch."""

    def __init__(self, array):
        self.array = array
        self.asked = []

    def __dlpack__(self, **keywords):
        self.asked.append(keywords)
        return self.array.__dlpack__(**keywords)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class SharesOld(Shares):
    def __dlpack__(self, stream=None):
        return self.array.__dlpack__()


@pytest.mark.parametrize("kind", [Shares, SharesOld])
def test_tensors_of_the_host_run_in_place(kind, saxpy, device):
    x, y = np.ones(4, np.float32), np.ones(4, np.float32)
    saxpy(2.0, kind(x), kind(y), device=device)
    assert (y == 3).all()


def test_strided_and_read_only_tensors(saxpy):
    x, y = np.arange(12, dtype=np.float32).reshape(3, 4), np.zeros(12, np.float32)
    saxpy(1.0, Shares(x.T), y)
    np.testing.assert_array_equal(y, x.T.ravel())
    y = np.zeros(4, np.float32)
    saxpy(1.0, Shares(x[1, ::-1]), y)
    np.testing.assert_array_equal(y, x[1, ::-1])
    with pytest.raises(ValueError, match="not C-contiguous"):
        saxpy(1.0, y, Shares(y[::-1]))
    y.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        saxpy(1.0, x[0], Shares(y))
    z = np.zeros(4, np.float32)
    saxpy(1.0, Shares(y), z)
    assert z.tolist() == y.tolist()


class Refuses(Shares):
    def __dlpack__(self, **keywords):
        raise BufferError(self.array)

    def __dlpack_device__(self):
        return (1, 0)


def test_tensors_that_cannot_be_used_are_refused_with_the_reason(saxpy):
    x = np.ones(4, np.float32)
    with pytest.raises(TypeError, match="`x` has a dtype that kernels do not have") as caught:
        saxpy(1.0, Shares(x.astype(np.complex64)), x)
    assert caught.value.fix.startswith('convert the array with .astype("float32")')
    with pytest.raises(TypeError, match=r"cannot be shared \(use detach\(\)\)") as caught:
        saxpy(1.0, Refuses("use detach()"), x)
    assert caught.value.fix == "convert the array as the text in parentheses says"
    with pytest.raises(TypeError, match="does not say why") as caught:
        saxpy(1.0, Refuses(""), x)
    assert "numpy.asarray" in caught.value.fix


def test_from_dlpack_shares(saxpy):
    x = np.ones(4, np.float32)
    a = vyre.from_dlpack(Shares(x))
    assert a._memory()[0] == x.ctypes.data
    saxpy(2.0, np.ones(4, np.float32), a)
    assert x.tolist() == [3, 3, 3, 3]
    watched = weakref.ref(x)
    del x
    gc.collect()
    assert watched() is not None
    del a
    gc.collect()
    assert watched() is None
    with pytest.raises(TypeError, match="no __dlpack__"):
        vyre.from_dlpack([1])
    frozen = np.ones(4, np.float32)
    frozen.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        saxpy(2.0, np.ones(4, np.float32), vyre.from_dlpack(frozen))


class FakeModule:
    """Stands for torch or cupy, with a current stream."""

    class cuda:
        @staticmethod
        def current_stream(device):
            return type("Stream", (), {"cuda_stream": 76 + device})

        @staticmethod
        def get_current_stream(device):
            return type("Stream", (), {"ptr": 77 + device})


def fake(library, **members):
    return type("Tensor", (), {"__module__": library, **members})()


def adopt_fake(monkeypatch, library, *stream):
    """Adopt a tensor of a library, and return what the extension module and the tensor get."""
    from vyre import _device

    asked = {}

    class FakeArray:
        @staticmethod
        def from_capsule(device, capsule, used, is_read_only):
            asked.update(device=device, capsule=capsule, used=used, is_read_only=is_read_only)

    monkeypatch.setitem(sys.modules, library, FakeModule)
    monkeypatch.setattr(_device, "Device", lambda name: name)
    monkeypatch.setattr(_device, "Array", FakeArray)
    tensor = fake(
        library,
        __dlpack_device__=lambda self: (2, 1),
        __dlpack__=lambda self, **keywords: keywords,
    )
    _device.adopt(tensor, *stream)
    return asked


@pytest.mark.parametrize("library, stream", [("torch", 77), ("cupy", 78), ("jaxlib", 1)])
def test_tensors_on_cuda_come_with_their_stream(monkeypatch, library, stream):
    asked = adopt_fake(monkeypatch, library)
    assert asked["device"] == "cuda:1"
    assert asked["used"][0] == stream
    assert asked["capsule"] == {"max_version": (1, 0), "stream": stream}
    assert (asked["used"][1] is None) == (library == "jaxlib")


def test_a_second_tensor_gets_ready_for_the_stream_of_the_first(monkeypatch):
    asked = adopt_fake(monkeypatch, "cupy", 99)
    assert asked["used"] == (99, None)
    assert asked["capsule"]["stream"] == 99


@pytest.mark.parametrize("library", ["jaxlib", "tensorflow", "torch"])
def test_arrays_of_immutable_libraries_are_read_only(monkeypatch, library):
    assert adopt_fake(monkeypatch, library)["is_read_only"] == (library != "torch")


def test_host_arrays_of_immutable_libraries_are_never_written(saxpy):
    y = np.ones(4, np.float32)
    kind = type("Array", (Shares,), {"__module__": "jaxlib"})
    with pytest.raises(ValueError, match="read-only"):
        saxpy(2.0, y, kind(y))
    with pytest.raises(ValueError, match="read-only"):
        saxpy(2.0, np.ones(4, np.float32), vyre.from_dlpack(kind(y)))
    z = np.zeros(4, np.float32)
    saxpy(2.0, kind(y), z)
    assert (z == 2).all()


@pytest.fixture
def cuda():
    if not has_device("cuda"):
        pytest.skip("this machine has no device cuda")
    return vyre.Device("cuda")


def test_tensors_on_cuda_run_in_place(cuda, saxpy):
    a, b = cuda.array(np.ones(100, np.float32)), cuda.array(np.ones(100, np.float32))
    saxpy(2.0, Shares(a), Shares(b))
    assert (b.numpy() == 3).all()
    assert vyre.from_dlpack(Shares(b))._memory()[0] == b._memory()[0]
    frozen = type("Array", (Shares,), {"__module__": "jaxlib"})
    with pytest.raises(ValueError, match="read-only"):
        saxpy(2.0, Shares(a), frozen(b))
    saxpy(2.0, frozen(a), Shares(b))
    assert (b.numpy() == 5).all()


def test_arrays_that_keep_different_streams_do_not_meet(cuda, saxpy):
    a, b = cuda.zeros(4), cuda.zeros(4)

    def keep(array, stream):
        return vyre.Array.from_pointer(
            cuda, array._memory()[0], False, (4,), "float32", False, (stream, None), array
        )

    with pytest.raises(ValueError, match="argument `y` was shared on another stream"):
        saxpy(1.0, keep(a, 1), keep(b, 2))
    saxpy(1.0, keep(a, 1), keep(b, 1))
    for order in ((Shares(a), keep(b, 2)), (keep(a, 2), Shares(b))):
        saxpy(1.0, *order)  # the tensor gets ready for the stream of the array


def load_driver():
    """Return the driver, with the context of the device current."""
    driver, context = ctypes.CDLL(os.environ.get("VYRE_CUDA") or "libcuda.so.1"), ctypes.c_void_p()
    assert driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
    assert driver.cuCtxSetCurrent(context) == 0
    return driver


class Work:
    """A stream of another library, with work on an array that the driver has not begun."""

    def __init__(self, array):
        self.driver, self.stream = load_driver(), ctypes.c_void_p()
        self.address, self.bytes = array._memory()[0], array.nbytes
        assert self.driver.cuStreamCreate(ctypes.byref(self.stream), 1) == 0
        self.shared = vyre.Array.from_pointer(
            array.device,
            self.address,
            False,
            array.shape,
            "uint8",
            False,
            (self.stream.value, self),
            array,
        )

    def put(self, value):
        address, count = ctypes.c_uint64(self.address), ctypes.c_size_t(self.bytes)
        assert self.driver.cuMemsetD8Async(address, value, count, self.stream) == 0

    def wait(self):
        assert self.driver.cuStreamSynchronize(self.stream) == 0


READS = {
    "numpy": lambda a: a.numpy(),
    "asarray": np.asarray,
    "range": lambda a: a[:].numpy(),
    "copy_from": lambda a: a.device.zeros(8, "uint8").copy_from(a).numpy(),
    "interface": lambda a: a.__cuda_array_interface__ and np.full(8, 7),
    "capsule": lambda a: a.__dlpack__(stream=1) and np.full(8, 7),
    "copied capsule": lambda a: np.from_dlpack(a, device="cpu"),
}


@pytest.mark.parametrize("read", READS.values(), ids=READS)
def test_what_is_read_or_shared_is_after_the_work_of_the_stream(cuda, read):
    a = cuda.zeros(8, "uint8")
    work = Work(a)
    work.put(7)
    assert read(work.shared).tolist() == [7] * 8
    assert a.numpy().tolist() == [7] * 8


@pytest.mark.parametrize(
    "write", [lambda a: a.fill(9), lambda a: a.copy_from(np.full(8, 9, np.uint8))]
)
def test_what_is_written_is_after_the_work_of_the_stream(cuda, write):
    a = cuda.zeros(8, "uint8")
    work = Work(a)
    work.put(7)
    write(work.shared)
    work.wait()
    assert a.numpy().tolist() == [9] * 8


def test_an_array_keeps_its_stream_alive():
    class Stream:
        pass

    here, stream = vyre.Device("cpu"), Stream()
    x, watched = np.ones(4, np.float32), weakref.ref(stream)
    a = vyre.Array.from_pointer(here, x.ctypes.data, True, (4,), "float32", False, (1, stream), x)[
        :2
    ]
    del stream
    gc.collect()
    assert watched() is not None
    del a
    gc.collect()
    assert watched() is None


def test_the_cuda_array_interface_is_read(monkeypatch):
    from vyre import _device

    asked = []

    class FakeArray:
        @staticmethod
        def from_pointer(*arguments):
            asked.extend(arguments)

    monkeypatch.setattr(_device, "Device", lambda name: name)
    monkeypatch.setattr(_device, "Array", FakeArray)
    interface = {"shape": (2, 3), "typestr": "<f4", "data": (4096, True), "version": 3}
    tensor = fake("numba", __cuda_array_interface__={**interface, "stream": 5})
    _device.adopt(tensor)
    assert asked == ["cuda", 4096, False, (2, 3), "float32", True, (5, tensor), tensor]

    def adopt(**changes):
        _device.adopt(fake("numba", __cuda_array_interface__={**interface, **changes}))

    with pytest.raises(ValueError, match="not C-contiguous"):
        adopt(strides=(4, 8))
    adopt(strides=(12, 4))
    adopt(shape=(2, 1, 3), strides=(12, 400, 4))
    adopt(shape=(2, 0), strides=(400, 40))
    with pytest.raises(TypeError, match="byte order"):
        adopt(typestr=">f4")
    with pytest.raises(TypeError, match="mask"):
        adopt(mask=tensor)
    assert _device.adopt(object()) == (None, False)


class Foreign:
    """Bytes on CUDA that are not vyre's, and tensors that begin anywhere in them."""

    def __init__(self, size):
        self.driver, address = load_driver(), ctypes.c_uint64()
        assert self.driver.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(size)) == 0
        self.address = address.value

    def part(self, start, stop):
        place = {"shape": (stop - start,), "data": (self.address + start, False)}
        return fake("numba", __cuda_array_interface__={**place, "typestr": "|u1", "version": 3})

    def free(self):
        assert self.driver.cuMemFree_v2(ctypes.c_uint64(self.address)) == 0


def test_tensors_that_are_read_may_overlap(cuda):
    add = vyre.kernel(
        "program f(x: buffer<u8>, y: buffer<u8>, z: inout buffer<u8>) over z "
        "{ z[gid] = x[gid] + y[gid]; }"
    )
    memory = Foreign(64)
    numbers = vyre._device.adopt(memory.part(0, 64))[0].copy_from(np.arange(64, dtype=np.uint8))
    del numbers
    z = cuda.zeros(31, "uint8")
    add(memory.part(0, 31), memory.part(1, 32), z)
    assert z.numpy().tolist() == list(range(1, 62, 2))
    add(memory.part(0, 31), memory.part(0, 64), z)
    assert z.numpy().tolist() == list(range(0, 62, 2))
    for written in (memory.part(0, 31), memory.part(0, 40)):
        with pytest.raises(ValueError, match="arguments `x` and `z`"):
            add(memory.part(0, 31), memory.part(40, 64), written)
    memory.free()


def test_a_device_does_not_survive_fork():
    code = f"""
import os, sys, numpy as np, vyre
k = vyre.kernel('''{SAXPY}''')
device = vyre.Device("cpu")
a = device.zeros(4)
child = os.fork()
if child == 0:
    try:
        a.numpy()
    except vyre.InvalidArgumentError as error:
        os._exit(0 if "fork" in str(error) else 2)
    os._exit(1)
assert os.waitpid(child, 0)[1] == 0
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, timeout=60)
    assert os.getpid()


def test_arrays_of_the_array_api_standard_run_in_place():
    xp = pytest.importorskip("array_api_strict")
    x, y = xp.arange(4, dtype=xp.float32), xp.zeros(4, dtype=xp.float32)
    vyre.kernel(SAXPY)(2.0, x, y)
    assert np.from_dlpack(y).tolist() == [0, 2, 4, 6]
    a = vyre.Device("cpu").array(np.arange(3, dtype=np.float32))
    assert xp.from_dlpack(a)[2] == 2
    assert np.from_dlpack(xp.from_dlpack(a)).ctypes.data == a._memory()[0]
    assert vyre.from_dlpack(x)._memory()[0] == np.from_dlpack(x).ctypes.data


def test_the_tests_of_array_api_strict_hold_for_vyre(monkeypatch):
    pytest.importorskip("array_api_strict")
    theirs = pytest.importorskip("array_api_strict.tests.test_array_object")
    creation = importlib.import_module("array_api_strict.tests.test_creation_functions")
    device = vyre.Device("cpu")
    monkeypatch.setattr(theirs, "asarray", lambda x, dtype: device.array(np.array(x, np.int8)))
    monkeypatch.setattr(creation, "asarray", lambda x, **_: device.array(np.array(x)))
    theirs.test_dlpack_2023_12("2023.12")
    a = creation.from_dlpack(creation.asarray([1.0, 2.0]))
    assert a.device == creation.CPU_DEVICE
