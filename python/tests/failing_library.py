"""Fails the allocations of libvyre, one at a time, in a process of its own.

failing_library.py ALLOCATOR DEVICE         each allocation of calls that have run before
failing_library.py ALLOCATOR DEVICE fresh   those from the import to the first results
"""

import contextlib
import ctypes
import gc
import importlib.util
import os
import sys
import traceback

import numpy as np

SAXPY = """
program saxpy(a: f32, x: buffer<f32>, y: inout buffer<f32>) over y {
    y[gid] = fma(a, x[gid], y[gid]);
}"""
BOTH = """
program both(h: u32, x: buffer<f32>, y: out buffer<f32>[len(x)], z: out buffer<f32>[h][2]) over x {
    y[gid] = x[gid];
    z[gid][0] = x[gid];
}"""
DEVICE = sys.argv[2]


class Allocator(ctypes.Structure):
    """vyre_allocator."""

    _fields_ = [("resize", ctypes.c_void_p), ("free", ctypes.c_void_p), ("user", ctypes.c_void_p)]


def install():
    """Give libvyre the allocator, before vyre is imported."""
    folder = os.path.dirname(importlib.util.find_spec("vyre").origin)
    library = ctypes.CDLL(os.path.join(folder, "libvyre.so.0"))
    failing = ctypes.CDLL(sys.argv[1])
    failing.failing_start.argtypes = [ctypes.c_size_t]
    failing.failing_live.restype = ctypes.c_ssize_t
    functions = (failing.failing_resize, failing.failing_free)
    addresses = [ctypes.cast(function, ctypes.c_void_p).value for function in functions]
    library.vyre_allocator_set(ctypes.byref(Allocator(*addresses, None)))
    return failing


FAILING = install()


def fail(act, n):
    """Run with a failing n-th allocation; return whether it failed, and whether that raised."""
    raised = False
    FAILING.failing_start(n)
    try:
        act()
    except MemoryError:
        raised = True
    return bool(FAILING.failing_stop()), raised


def check_each(name, act, watched):
    """Fail each allocation of a call, and return how many raised a MemoryError."""
    total = 0
    for _ in range(3):
        act()
    gc.collect()
    start = FAILING.failing_live()
    act()
    gc.collect()
    growth = FAILING.failing_live() - start  # a device keeps the code of the latest kernels
    for n in range(1, 5000):
        references = [sys.getrefcount(item) for item in watched]
        live = FAILING.failing_live()
        failed, raised = fail(act, n)
        gc.collect()
        assert FAILING.failing_live() - live <= growth, (name, n, "leaks")
        assert [sys.getrefcount(item) for item in watched] == references, (name, n)
        if not failed:
            return total
        total += raised
    raise AssertionError(f"{name} never ends")


def warm():
    """Fail each allocation of calls that have run before."""
    import vyre

    x, y = np.ones(16, np.float32), np.ones(16, np.float32)
    saxpy, both, here = vyre.kernel(SAXPY), vyre.kernel(BOTH), vyre.Device(DEVICE)
    a, numbers = here.array(x), iter(range(10**9))

    def compile_new():
        text = f"program f(y: inout buffer<f32>) over y {{ y[gid] = {next(numbers)}.0; }}"
        vyre.kernel(text)(y, device=DEVICE)

    def mistaken():
        with contextlib.suppress(vyre.InvalidProgramError):
            vyre.kernel("program f(x: buffer<f32>) over x { y[gid] = 1; }")

    acts = {
        "kernel": lambda: vyre.kernel(SAXPY),
        "compile": compile_new,
        "call": lambda: saxpy(2.0, x, y, device=DEVICE),
        "strided": lambda: saxpy(2.0, x[::-1], y, device=DEVICE),
        "results": lambda: both(16, x, device=DEVICE),
        "resident": lambda: saxpy(2.0, a, y),
        "arrays": lambda: both(16, a),
        "array": lambda: here.array(x).numpy(),
        "fill": lambda: here.zeros(5),
        "part": lambda: a[2:4].fill(1),
        "export": lambda: a.__dlpack__(max_version=(1, 0)),
        "mistaken": mistaken,
        "operation": lambda: vyre.Kernel.from_operation("sort.keys_u32"),
        "sort": lambda: vyre.ops.sort.keys_u32(np.arange(9, dtype=np.uint32), device=DEVICE),
        "explain": lambda: vyre.explain(saxpy, 2.0, x, y),
        "bench": lambda: vyre.bench(saxpy, 2.0, x, y, devices=[DEVICE], seconds=1e-4),
        "info": vyre.info,
        "pinned": lambda: vyre.pinned_empty(5, "f4").fill(1),
    }
    if DEVICE == "cpu":
        acts["share"] = lambda: vyre.from_dlpack(x)
    if DEVICE == "cuda":
        place = (a._memory()[0], False, a.shape, "float32", False, (1, None), a)
        acts["stream"] = lambda: vyre.Array.from_pointer(here, *place).numpy()
    total = sum(check_each(name, act, (x, y, saxpy, a, here)) for name, act in acts.items())
    y[:] = 1
    saxpy(2.0, x, y, device=DEVICE)
    assert (y == 3).all()
    assert total > 100, total


def begin():
    """Do what a short script does, from the import on."""
    import vyre

    x, y = np.ones(4, np.float32), np.ones(4, np.float32)
    here = vyre.Device(DEVICE)
    vyre.kernel(SAXPY)(2.0, here.array(x), y)
    assert (y == 3).all()
    keys = np.array([2, 1], np.uint32)
    assert vyre.ops.sort.keys_u32(keys, device=DEVICE).tolist() == [1, 2]


def begin_after_failure(n):
    """Fail in a child of fork(), and begin again there; return the child's exit status."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            failed, raised = fail(begin, n)
            status = 0 if not failed else 2 if raised else 3
            begin()
        except MemoryError:
            pass  # the registry of backends remembers that it could not be made
        except BaseException:
            status = 1
            traceback.print_exc()
        sys.stderr.flush()
        os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def fresh():
    """Fail allocations of a process from the import on, most of the early ones."""
    n, statuses = 1, []
    while not statuses or statuses[-1] != 0:
        statuses.append(begin_after_failure(n))
        assert statuses[-1] in (0, 2, 3), (n, statuses[-1])
        n += 1 + n // 60
    assert statuses.count(2) > 50, statuses


fresh() if "fresh" in sys.argv else warm()
