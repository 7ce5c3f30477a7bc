"""Arrays of torch, cupy, jax and numba on CUDA, in place and in the order of their streams.

Runs under pytest, and alone where there is no pytest: python3 python/tests/test_gpu.py
Tests of a library that is not installed are skipped.
"""

import gc
import importlib
import os
import threading
import time
import unittest
import warnings
import weakref

import numpy as np
from pages import read_needy, run

import vyre

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

SAXPY = """
program saxpy(a: f32, x: buffer<f32>, y: inout buffer<f32>) over y {
    y[gid] = fma(a, x[gid], y[gid]);
}"""
COPY = "program f(x: buffer<f32>, y: out buffer<f32>[len(x)]) over x { y[gid] = x[gid]; }"

DTYPES = {
    "i8": "int8",
    "u8": "uint8",
    "i16": "int16",
    "i32": "int32",
    "i64": "int64",
    "f16": "float16",
    "bf16": "bfloat16",
    "f32": "float32",
    "f64": "float64",
}


def load(name):
    """Import a library that can use a CUDA device; else return None."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = importlib.import_module(name)
            if name == "torch":
                return found if found.cuda.is_available() else None
            if name == "cupy":
                found.zeros(1)
            if name == "jax":
                found.devices("cuda")
            if name == "numba.cuda":
                return found if found.is_available() else None
            return found
    except Exception as error:
        print(f"{name} is not used: {type(error).__name__}: {error}")
        return None


def open_cuda():
    """Return the device, or None if this machine has none."""
    try:
        return vyre.Device("cuda")
    except vyre.Error:
        return None


GPU = open_cuda()
TORCH, CUPY, JAX, NUMBA = (
    map(load, ("torch", "cupy", "jax", "numba.cuda")) if GPU else (None, None, None, None)
)

needs_cuda = unittest.skipUnless(GPU, "this machine has no device cuda")
needs_torch = unittest.skipUnless(TORCH, "there is no torch with CUDA")
needs_cupy = unittest.skipUnless(CUPY, "there is no cupy with CUDA")
needs_jax = unittest.skipUnless(JAX, "there is no jax with CUDA")
needs_numba = unittest.skipUnless(NUMBA, "there is no numba with CUDA")


def address_of(array):
    """Return where a vyre.Array lies on the device."""
    return array._memory()[0]


class Interface:
    """An array that has the CUDA array interface alone."""

    def __init__(self, array, is_read_only=False):
        self.array = array
        self.is_read_only = is_read_only

    @property
    def __cuda_array_interface__(self):
        facts = dict(self.array.__cuda_array_interface__)
        facts["data"] = (facts["data"][0], self.is_read_only)
        return facts


@needs_cuda
class Case(unittest.TestCase):
    """What all tests share."""

    def setUp(self):
        """Make a kernel that no other test has run."""
        self.saxpy = vyre.kernel(SAXPY)


@needs_torch
class TorchTest(Case):
    """Tensors of torch."""

    def ones(self, count=1000, value=1.0):
        """Return a tensor on CUDA, after all work."""
        made = TORCH.full((count,), value, dtype=TORCH.float32, device="cuda")
        TORCH.cuda.synchronize()
        return made

    def test_a_tensor_changes_where_it_lies(self):
        x, y = self.ones(), self.ones()
        before = y.data_ptr()
        self.assertIsNone(self.saxpy(2.0, x, y))
        self.assertEqual(y.data_ptr(), before)
        self.assertTrue(bool((y == 3).all()))
        self.assertTrue(bool((x == 1).all()))

    def test_an_array_has_the_pointer_of_its_tensor(self):
        y = self.ones()
        self.assertEqual(address_of(vyre.from_dlpack(y)), y.data_ptr())
        self.assertEqual(address_of(vyre.from_dlpack(Interface(y))), y.data_ptr())

    def test_no_memory_for_a_copy_is_needed(self):
        count = 1 << 30  # 4 GiB
        self.saxpy(1.0, self.ones(), self.ones())  # compiles
        TORCH.cuda.empty_cache()
        try:
            x, y = self.ones(count), self.ones(count)
            free, _ = TORCH.cuda.mem_get_info()
            ballast = TORCH.empty(max(free - (2 << 30), 0), dtype=TORCH.uint8, device="cuda")
        except TORCH.OutOfMemoryError:
            self.skipTest("the memory of the device is in use")
        free, _ = TORCH.cuda.mem_get_info()
        self.assertLess(free, 4 * count)
        self.saxpy(2.0, x, y)
        self.assertEqual((float(y.min()), float(y.max())), (3.0, 3.0))
        del x, y, ballast
        TORCH.cuda.empty_cache()

    def ordered(self, pass_on):
        """Queue work on a stream of its own before and after a call, and return the result."""
        x, y = self.ones(1 << 20), self.ones(1 << 20, 0.0)
        self.saxpy(0.0, x, y)  # compiles
        stream = TORCH.cuda.Stream()
        with TORCH.cuda.stream(stream):
            TORCH.cuda._sleep(400_000_000)  # a fifth of a second
            y.fill_(3)
            self.saxpy(2.0, pass_on(x), pass_on(y))
            y.mul_(10)
        stream.synchronize()
        return y

    def test_a_call_is_ordered_with_the_current_stream(self):
        start = time.perf_counter()
        y = self.ordered(lambda tensor: tensor)
        self.assertGreater(time.perf_counter() - start, 0.05, "the stream was not busy")
        self.assertTrue(bool((y == 50).all()), y)

    def test_the_order_comes_from_the_stream(self):
        # Without a stream the call sees the memory before the work that waits in the stream.
        def hide(tensor):
            return vyre.Array.from_pointer(
                GPU, tensor.data_ptr(), False, tuple(tensor.shape), "float32", False, None, tensor
            )

        y = self.ordered(hide)
        print(f"control: without the stream the result is {float(y[0])}, with it 50.0")
        self.assertFalse(bool((y == 50).all()), "the stream was not busy, so nothing is shown")

    def test_an_array_keeps_the_stream_it_was_shared_on(self):
        y = self.ordered(vyre.from_dlpack)
        self.assertTrue(bool((y == 50).all()), y)

    def test_what_an_array_reads_is_after_the_work_of_its_stream(self):
        for read in (lambda a: a.numpy(), lambda a: TORCH.from_dlpack(a).cpu().numpy()):
            y = self.ones(1 << 20, 0.0)
            vyre.from_dlpack(y).numpy()  # compiles
            with TORCH.cuda.stream(TORCH.cuda.Stream()):
                shared = vyre.from_dlpack(y)
                TORCH.cuda._sleep(200_000_000)
                y.fill_(3)
            self.assertTrue((read(shared) == 3).all())
            TORCH.cuda.synchronize()

    def test_many_calls_in_a_stream_without_waiting(self):
        x, y = self.ones(1 << 16), self.ones(1 << 16, 0.0)
        stream = TORCH.cuda.Stream()
        with TORCH.cuda.stream(stream):
            for _ in range(200):
                y.add_(1)
                self.saxpy(1.0, x, y)
                y.mul_(1)
        stream.synchronize()
        self.assertTrue(bool((y == 400).all()), y)

    def test_the_default_stream(self):
        x, y = self.ones(1 << 20), self.ones(1 << 20, 0.0)
        self.saxpy(0.0, x, y)
        TORCH.cuda._sleep(200_000_000)
        y.fill_(5)
        self.saxpy(1.0, x, y)
        y.add_(1)
        self.assertTrue(bool((y == 7).all()), y)

    def test_threads_with_a_stream_each(self):
        wrong = []

        def work(number):
            stream = TORCH.cuda.Stream()
            with TORCH.cuda.stream(stream):
                x = TORCH.ones(10000, device="cuda")
                y = TORCH.zeros(10000, device="cuda")
                for _ in range(50):
                    self.saxpy(float(number), x, y)
                    y.add_(1)
                if not bool((y == 50 * (number + 1)).all()):
                    wrong.append(number)

        threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_vyre_arrays_become_tensors(self):
        data = np.arange(12, dtype=np.float32).reshape(3, 4)
        a = GPU.array(data)
        for tensor in (TORCH.from_dlpack(a), TORCH.as_tensor(a, device="cuda")):
            self.assertEqual(tensor.data_ptr(), address_of(a))
            self.assertEqual(tuple(tensor.shape), (3, 4))
            self.assertEqual(tensor.cpu().numpy().tolist(), data.tolist())
        tensor.add_(1)
        TORCH.cuda.synchronize()
        self.assertEqual(a.numpy().tolist(), (data + 1).tolist())
        self.saxpy(1.0, tensor, tensor.clone())
        watched, where = weakref.ref(a), address_of(a)
        del a
        gc.collect()
        self.assertIsNotNone(watched(), "the tensor keeps the array alive")
        self.assertEqual(tensor.data_ptr(), where)
        self.assertEqual(tensor.cpu().numpy().tolist(), (data + 1).tolist())
        del tensor
        gc.collect()
        self.assertIsNone(watched())

    def test_a_copy_is_a_copy(self):
        a = GPU.array(np.arange(4, dtype=np.float32))
        copied = TORCH.from_dlpack(a.__dlpack__(copy=True))
        self.assertNotEqual(copied.data_ptr(), address_of(a))
        self.assertEqual(copied.cpu().tolist(), [0, 1, 2, 3])
        host = np.from_dlpack(a, device="cpu")
        self.assertEqual(host.tolist(), [0, 1, 2, 3])

    def test_outputs_are_made_on_the_device(self):
        x = self.ones().reshape(10, 100)
        y = vyre.kernel(COPY)(x)
        self.assertIsInstance(y, vyre.Array)
        self.assertEqual((y.shape, y.device), ((10, 100), GPU))
        self.assertTrue(bool((TORCH.from_dlpack(y) == 1).all()))
        out = TORCH.zeros(10, 100, device="cuda")
        vyre.kernel(COPY)(x, out=out)
        self.assertTrue(bool((out == 1).all()))

    def test_arrays_of_the_host_meet_tensors(self):
        y = self.ones()
        self.saxpy(2.0, np.ones(1000, np.float32), y)
        self.assertTrue(bool((y == 3).all()))
        host = np.ones(1000, np.float32)
        self.saxpy(2.0, y, host)
        self.assertTrue((host == 7).all())
        a = GPU.array(np.ones(1000, np.float32))
        self.saxpy(2.0, y, a)
        self.assertTrue((a.numpy() == 7).all())

    def test_tensors_of_the_host_run_in_place(self):
        x, y = TORCH.ones(1000), TORCH.ones(1000)
        pinned = TORCH.ones(1000).pin_memory()
        for tensor in (y, pinned):
            before = tensor.data_ptr()
            self.saxpy(2.0, x, tensor)
            self.assertEqual(tensor.data_ptr(), before)
            self.assertTrue(bool((tensor == 3).all()))
            self.saxpy(2.0, x, tensor, device="cuda")
            self.assertTrue(bool((tensor == 5).all()))

    def test_a_read_only_tensor_is_never_written(self):
        x, y = self.ones(), self.ones()
        with self.assertRaisesRegex(ValueError, "read-only"):
            self.saxpy(2.0, x, Interface(y, is_read_only=True))
        self.assertTrue(bool((y == 1).all()))
        self.saxpy(2.0, Interface(x, is_read_only=True), y)
        self.assertTrue(bool((y == 3).all()))
        frozen = vyre.from_dlpack(Interface(x, is_read_only=True))
        with self.assertRaisesRegex(ValueError, "read-only"):
            frozen.fill(0)
        with self.assertRaises(BufferError):
            frozen.__dlpack__()  # before version 1 nobody could see that it is read-only
        self.assertTrue(frozen.__cuda_array_interface__["data"][1])

    def test_strided_tensors_are_refused_and_stay(self):
        y = TORCH.ones(8, 8, device="cuda")
        x = TORCH.ones(8, 8, device="cuda")
        for strided in (y.t()[:, :4], y[:, ::2], y[:, :4]):
            with self.assertRaisesRegex(ValueError, "contiguous") as caught:
                self.saxpy(2.0, x[:4], strided)
            self.assertIn("contiguous", caught.exception.fix)
        self.assertTrue(bool((y == 1).all()))
        self.saxpy(2.0, x[:4], y[:4])
        self.assertTrue(bool((y[:4] == 3).all()))
        self.assertTrue(bool((y[4:] == 1).all()))

    def test_a_tensor_may_start_at_any_element(self):
        for start in (1, 2, 3, 4):
            x, y = self.ones(1001), self.ones(1001)
            self.saxpy(2.0, x[start:], y[start:])
            self.assertTrue(bool((y[start:] == 3).all()))
            self.assertTrue(bool((y[:start] == 1).all()))

    def test_every_dtype(self):
        twice = "program f(x: inout buffer<{}>) over x {{ x[gid] = x[gid] + x[gid]; }}"
        for name, dtype in DTYPES.items():
            with self.subTest(name):
                tensor = TORCH.full((5,), 3, dtype=getattr(TORCH, dtype), device="cuda")
                vyre.kernel(twice.format(name))(tensor)
                self.assertEqual(tensor.tolist(), [6] * 5)
        with self.assertRaises(TypeError):
            self.saxpy(1.0, self.ones().to(TORCH.complex64), self.ones())
        with self.assertRaisesRegex(TypeError, "float64, and the kernel needs float32"):
            self.saxpy(1.0, self.ones().double(), self.ones())

    def test_what_torch_does_not_share_is_refused(self):
        weights = TORCH.ones(1000, device="cuda", requires_grad=True)
        with self.assertRaises(TypeError) as caught:
            self.saxpy(1.0, self.ones(), weights)
        print(f"requires_grad: {caught.exception}")
        self.assertTrue(bool((weights.detach() == 1).all()))
        self.saxpy(1.0, self.ones(), weights.detach())
        self.assertTrue(bool((weights.detach() == 2).all()))

    def test_the_device_is_that_of_the_data(self):
        with self.assertRaisesRegex(ValueError, "the data is on device cuda"):
            self.saxpy(1.0, self.ones(), self.ones(), device="cpu")
        self.assertEqual(vyre.explain(self.saxpy, 1.0, self.ones(), self.ones()).source, "data")
        with self.assertRaises(vyre.InvalidArgumentError):
            y = self.ones()
            self.saxpy(1.0, y, y)

    def test_nothing_is_kept(self):
        x, y = self.ones(1 << 20), self.ones(1 << 20)
        self.saxpy(1.0, x, y)
        before = TORCH.cuda.memory_allocated()
        free, _ = TORCH.cuda.mem_get_info()
        for _ in range(1000):
            self.saxpy(1.0, x, y)
        del x
        gc.collect()
        self.assertEqual(TORCH.cuda.memory_allocated(), before - (4 << 20))
        self.assertLess(free - TORCH.cuda.mem_get_info()[0], 64 << 20)
        array = vyre.from_dlpack(y)
        before = TORCH.cuda.memory_allocated()
        del y
        gc.collect()
        self.assertEqual(TORCH.cuda.memory_allocated(), before, "the array keeps the memory")
        del array
        gc.collect()
        self.assertEqual(TORCH.cuda.memory_allocated(), before - (4 << 20))

    def test_a_timeout_in_a_stream(self):
        x, y = self.ones(), self.ones()
        with TORCH.cuda.stream(TORCH.cuda.Stream()):
            y.add_(1)
            self.saxpy(2.0, x, y, timeout=10)
        TORCH.cuda.synchronize()
        self.assertTrue(bool((y == 4).all()))


@needs_cupy
class CupyTest(Case):
    """Arrays of cupy."""

    def test_an_array_changes_where_it_lies(self):
        x, y = CUPY.ones(1000, CUPY.float32), CUPY.ones(1000, CUPY.float32)
        before = y.data.ptr
        self.saxpy(2.0, x, y)
        self.assertEqual(y.data.ptr, before)
        self.assertTrue(bool((y == 3).all()))
        self.assertEqual(address_of(vyre.from_dlpack(y)), y.data.ptr)
        self.assertEqual(address_of(vyre.from_dlpack(Interface(y))), y.data.ptr)

    def test_a_call_is_ordered_with_the_current_stream(self):
        for is_default in (False, True):
            x, y = CUPY.ones(1 << 20, CUPY.float32), CUPY.zeros(1 << 20, CUPY.float32)
            big = CUPY.ones(1 << 28, CUPY.float32)
            big *= 1
            y.fill(0)
            self.saxpy(0.0, x, y)
            CUPY.cuda.Device().synchronize()
            stream = CUPY.cuda.Stream.null if is_default else CUPY.cuda.Stream(non_blocking=True)
            with stream:
                for _ in range(200):  # a tenth of a second
                    big *= 1
                y.fill(3)
                self.saxpy(2.0, x, y)
                y *= 10
            stream.synchronize()
            self.assertTrue(bool((y == 50).all()), (is_default, y))

    def test_vyre_arrays_become_arrays_of_cupy(self):
        data = np.arange(12, dtype=np.float32).reshape(3, 4)
        a = GPU.array(data)
        for array in (CUPY.from_dlpack(a), CUPY.asarray(a)):
            self.assertEqual(array.data.ptr, address_of(a))
            self.assertEqual(array.get().tolist(), data.tolist())
        array += 1
        CUPY.cuda.Device().synchronize()
        self.assertEqual(a.numpy().tolist(), (data + 1).tolist())

    def test_negative_strides_are_refused_and_the_array_stays(self):
        x, y = CUPY.ones(8, CUPY.float32), CUPY.ones(8, CUPY.float32)
        for strided in (y[::-1], y[::2], CUPY.asfortranarray(CUPY.ones((2, 4), CUPY.float32))):
            with self.assertRaisesRegex(ValueError, "contiguous"):
                self.saxpy(2.0, x[: strided.size], strided)
            with self.assertRaisesRegex(ValueError, "contiguous"):
                self.saxpy(2.0, x[: strided.size], Interface(strided))
        self.assertTrue(bool((y == 1).all()))

    def test_an_operation_of_the_library(self):
        keys = CUPY.random.randint(0, 1 << 31, 1 << 20, dtype=CUPY.int64).astype(CUPY.uint32)
        found = vyre.ops.sort.keys_u32(keys)
        self.assertIsInstance(found, vyre.Array)
        self.assertTrue(bool((CUPY.asarray(found) == CUPY.sort(keys)).all()))
        out = CUPY.empty_like(keys)
        vyre.ops.sort.keys_u32(keys, out=out)
        self.assertTrue(bool((out == CUPY.sort(keys)).all()))

    @needs_torch
    def test_tensors_of_two_libraries_meet(self):
        x, y = TORCH.ones(1000, device="cuda"), CUPY.ones(1000, CUPY.float32)
        self.saxpy(2.0, x, y)
        self.assertTrue(bool((y == 3).all()))

    @needs_torch
    def test_streams_of_two_libraries_are_both_followed(self):
        x, y = TORCH.zeros(1 << 20, device="cuda"), CUPY.zeros(1 << 20, CUPY.float32)
        self.saxpy(0.0, x, y)
        for order in (lambda a, b: self.saxpy(2.0, a, b), lambda a, b: self.saxpy(y=b, x=a, a=2.0)):
            x.zero_()
            y.fill(0)
            TORCH.cuda.synchronize()
            stream, other = TORCH.cuda.Stream(), CUPY.cuda.Stream(non_blocking=True)
            with TORCH.cuda.stream(stream), other:
                TORCH.cuda._sleep(200_000_000)
                x.fill_(3)
                y.fill(1)
                order(x, y)
            TORCH.cuda.synchronize()
            self.assertTrue(bool((y == 7).all()), y)


@needs_jax
class JaxTest(Case):
    """Arrays of jax, which nobody may change."""

    def test_an_array_is_read_where_it_lies(self):
        x = JAX.numpy.arange(1000, dtype="float32").block_until_ready()
        if "cuda" not in str(x.device).lower():
            self.skipTest(f"jax put it on {x.device}")
        shared = vyre.from_dlpack(x)
        self.assertEqual(address_of(shared), x.unsafe_buffer_pointer())
        y = np.zeros(1000, np.float32)
        self.saxpy(2.0, x, y)
        self.assertEqual(y.tolist(), (2 * np.arange(1000)).tolist())

    def test_an_array_is_never_written(self):
        x = JAX.numpy.ones(1000, "float32").block_until_ready()
        with self.assertRaisesRegex(ValueError, "read-only"):
            self.saxpy(2.0, np.ones(1000, np.float32), x)
        self.assertTrue(bool((x == 1).all()))

    def test_vyre_arrays_become_arrays_of_jax(self):
        data = np.arange(1024, dtype=np.float32).reshape(4, 256)
        a = GPU.array(data)
        array = JAX.dlpack.from_dlpack(a)
        self.assertEqual(array.unsafe_buffer_pointer(), address_of(a))
        self.assertEqual(np.asarray(array).tolist(), data.tolist())


@needs_numba
class NumbaTest(Case):
    """Arrays of numba.cuda, which have the CUDA array interface."""

    def test_an_array_changes_where_it_lies(self):
        y = NUMBA.to_device(np.ones(1000, np.float32))
        NUMBA.synchronize()
        self.saxpy(2.0, np.ones(1000, np.float32), y)
        self.assertEqual(y.copy_to_host().tolist(), [3] * 1000)
        a = GPU.array(np.ones(4, np.float32))
        there = NUMBA.as_cuda_array(a)
        self.assertEqual(there.device_ctypes_pointer.value, address_of(a))


@needs_cuda
class HostTest(Case):
    """Data of the host on CUDA."""

    def test_arrays_of_the_host_go_there_and_back(self):
        x, y = np.arange(12, dtype=np.float32), np.ones(12, np.float32)
        self.saxpy(2.0, x[::-1], y, device="cuda")
        self.assertEqual(y.tolist(), (2 * x[::-1] + 1).tolist())
        y.flags.writeable = False
        with self.assertRaisesRegex(ValueError, "read-only"):
            self.saxpy(2.0, x, y, device="cuda")

    def test_bytes_are_those_of_the_reference(self):
        wave = vyre.kernel(
            "program wave(x: buffer<f32>, y: out buffer<f32>[len(x)]) over x "
            "{ y[gid] = exp(-x[gid]) * sin(10 * x[gid]); }"
        )
        x = np.linspace(0, 3, 100_000, dtype=np.float32)
        there, exact = wave(x, device="cuda"), wave(x, device="reference")
        self.assertEqual(there.tobytes(), exact.tobytes())
        self.assertEqual(wave(GPU.array(x)).numpy().tobytes(), exact.tobytes())

    def test_a_large_array_goes_there_and_back(self):
        x = np.random.default_rng(1).standard_normal(1 << 25, dtype=np.float32)
        self.assertEqual(GPU.array(x).numpy().tobytes(), x.tobytes())


@needs_cuda
class PagesTest(Case):
    """The blocks of the documentation that use these libraries."""

    def test_blocks_run(self):
        loaded = {"cuda": GPU, "torch": TORCH, "cupy": CUPY, "numba": NUMBA}
        blocks = read_needy()
        self.assertTrue(blocks)
        for page, line, needs, code in blocks:
            with self.subTest(f"{page}:{line}"):
                if not all(loaded.get(need) for need in needs):
                    self.skipTest(f"it needs {needs}")
                run(code, page, line, {})
                print(f"{page}:{line} ran")


if __name__ == "__main__":
    print(vyre.info())
    unittest.main(verbosity=2)
