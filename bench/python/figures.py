#!/usr/bin/env python3
"""The Python package beside its peers, in one run: what each does in turns, best and median.

    PYTHONPATH=UNPACKED_WHEEL python3 bench/python/figures.py [--cores N] [--rounds N] [PART ...]

Parts: imports, first, small, saxpy, mandelbrot, sort, transfers, tensors; all of them by default.
--cores runs the whole process on that many cores. A peer that is not installed, and a part without
its device, says so and costs nothing.
"""

import argparse
import importlib
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
SAXPY = """
program saxpy(a: f32, x: buffer<f32>, y: inout buffer<f32>) over y {
    y[gid] = fma(a, x[gid], y[gid]);
}"""


def options():
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cores", type=int, default=0)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("parts", nargs="*", metavar="PART")
    return parser.parse_args()


CHOSEN = options()
if CHOSEN.cores:  # before any library counts the cores
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: CHOSEN.cores])
    os.environ["NUMBA_NUM_THREADS"] = str(CHOSEN.cores)

import numpy as np  # noqa: E402

import vyre  # noqa: E402


def load(name):
    """Import a peer, or say why not."""
    try:
        return importlib.import_module(name)
    except Exception as error:
        print(f"  {name} is unavailable: {type(error).__name__}: {str(error)[:80]}")
        return None


def has_device(name):
    """Whether kernels run there."""
    try:
        vyre.kernel("program f() over 1 { }")(device=name)
    except vyre.Error as error:
        print(f"  device {name} is unavailable: {str(error)[:160]}")
        return False
    return True


def time_once(act, calls=1):
    """Return the milliseconds of one call."""
    start = time.perf_counter()
    for _ in range(calls):
        act()
    return (time.perf_counter() - start) * 1e3 / calls


def compare(title, acts, amount=0.0, *, unit="GB/s", calls=1, rounds=0):  # noqa: PLR0913
    """Run all in turns, and print a line for each; the last column compares with the first."""
    acts = {name: act for name, act in acts.items() if act}
    times = {name: [] for name in acts}
    for name in list(acts):
        try:
            acts[name]()
            acts[name]()
        except Exception as error:
            print(f"  {title:30} {name:26} failed: {type(error).__name__}: {str(error)[:120]}")
            del acts[name], times[name]
    for _ in range(rounds or CHOSEN.rounds):
        for name, act in acts.items():
            times[name].append(time_once(act, calls))
    first = min(next(iter(times.values()))) if times else 0
    for name, found in times.items():
        best, middle = min(found), statistics.median(found)
        rate = f"{amount / best / 1e6:9.2f} {unit}" if amount else ""
        print(
            f"  {title:30} {name:26} best {best:10.4f} ms  median {middle:10.4f} ms {rate}"
            f"   {best / first:6.2f}x",
            flush=True,
        )
    return {name: min(found) for name, found in times.items()}


def in_process(code, **environment):
    """Run a script in a process of its own and return the last number that it prints."""
    shown = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )
    if shown.returncode:
        raise RuntimeError((shown.stderr.strip().splitlines() or ["?"])[-1])
    return float(shown.stdout.split()[-1])


def imports():
    """Time imports, after that of NumPy."""
    code = "import numpy, time; t = time.perf_counter(); import {}; print(time.perf_counter() - t)"
    for name in ("vyre", "numba", "cupy", "jax", "torch", "taichi"):
        try:
            found = [in_process(code.format(name)) * 1e3 for _ in range(7 if name == "vyre" else 2)]
        except RuntimeError as error:
            print(f"  import {name:10} unavailable: {str(error)[:80]}")
            continue
        print(f"  import {name:10} best {min(found):8.2f} ms  of {len(found)}", flush=True)


FIRST = f"""
import time, numpy as np, vyre
device = vyre.Device("DEVICE")
vyre.kernel("program f(x: inout buffer<f32>) over x {{ x[gid] = 1.0; }}")(
    np.ones(4, np.float32), device="DEVICE")
x, y = np.ones(16, np.float32), np.ones(16, np.float32)
start = time.perf_counter()
vyre.kernel('''{SAXPY}''')(2.0, x, y, device="DEVICE")
print(time.perf_counter() - start)
"""


def first():
    """Time the first call of a new kernel, with an empty cache and from disk."""
    for device in ("cpu", "cuda"):
        if not has_device(device):
            continue
        code = FIRST.replace("DEVICE", device)
        cold, warm = [], []
        for _ in range(5):
            with tempfile.TemporaryDirectory() as folder:
                cold.append(in_process(code, XDG_CACHE_HOME=folder) * 1e3)
                warm.append(in_process(code, XDG_CACHE_HOME=folder) * 1e3)
        print(
            f"  first call on {device:5} cold best {min(cold):8.2f} median"
            f" {statistics.median(cold):8.2f} ms; from disk best {min(warm):8.2f} median"
            f" {statistics.median(warm):8.2f} ms",
            flush=True,
        )


def small():
    """Time calls on 16 elements, in a loop of Python."""
    saxpy = vyre.kernel(SAXPY)
    x, y = np.ones(16, np.float32), np.ones(16, np.float32)
    acts = {}
    if has_device("cpu"):
        acts["vyre device=cpu"] = lambda: saxpy(2.0, x, y, device="cpu")
        acts["vyre"] = lambda: saxpy(2.0, x, y)
    acts["numpy"] = lambda: np.add(np.multiply(x, np.float32(2)), y, out=y)
    numba = load("numba")
    if numba:

        @numba.njit
        def peer(a, x, y):
            for i in range(x.size):
                y[i] = a * x[i] + y[i]

        two = np.float32(2)
        acts["numba njit"] = lambda: peer(two, x, y)
    y[:] = 0
    compare("call on 16 elements", acts, calls=20000)
    if has_device("cuda"):
        a, b = vyre.Device("cuda").array(x), vyre.Device("cuda").array(y)
        more = {"vyre Array": lambda: saxpy(2.0, a, b)}
        torch = load("torch")
        if torch and torch.cuda.is_available():
            tx, ty = torch.ones(16, device="cuda"), torch.ones(16, device="cuda")
            more["vyre on torch tensors"] = lambda: saxpy(2.0, tx, ty)

            def add():
                ty.add_(tx, alpha=2.0)
                torch.cuda.synchronize()

            more["torch add_ and wait"] = add
        compare("16 elements on cuda", more, calls=500)


def saxpy_large():
    """Time saxpy of 2^24 in place."""
    if not has_device("cpu"):
        return
    count = 1 << 24
    x, y = np.arange(count, dtype=np.float32), np.ones(count, np.float32)
    ours = vyre.kernel(SAXPY)
    acts = {"vyre": lambda: ours(2.0, x, y, device="cpu")}
    numba = load("numba")
    if numba:

        @numba.njit(parallel=True)
        def peer(a, x, y):
            for i in numba.prange(x.size):
                y[i] = a * x[i] + y[i]

        acts["numba parallel"] = lambda: peer(np.float32(2), x, y)
    temporary = np.empty_like(x)

    def plain():
        np.multiply(x, np.float32(2), out=temporary)
        np.add(temporary, y, out=y)

    acts["numpy out="] = plain
    compare("saxpy 2^24 in place", acts, 12 * count, rounds=3 * CHOSEN.rounds)


def taichi_mandelbrot(ti, out):
    """Make the same of Taichi, which compiles what it finds in a file; None without it."""
    if not ti:
        return None
    ti.init(arch=ti.cpu, log_level=ti.ERROR, default_fp=ti.f32, fast_math=False)

    @ti.kernel
    def peer(out: ti.types.ndarray(dtype=ti.i32, ndim=2)):
        for j, i in ti.ndrange(1024, 1024):
            cr = -2.0 + ti.cast(i, ti.f32) * (3.0 / 1024)
            ci = -1.5 + ti.cast(j, ti.f32) * (3.0 / 1024)
            zr, zi, k = 0.0, 0.0, 0
            while k < 256 and zr * zr + zi * zi <= 4.0:
                zr, zi, k = zr * zr - zi * zi + cr, 2.0 * zr * zi + ci, k + 1
            out[j, i] = k

    def act():
        peer(out)
        ti.sync()

    return act


def mandelbrot():
    """Time 1024 x 1024 points of at most 256 turns."""
    if not has_device("cpu"):
        return
    step = 3.0 / 1024
    ours = vyre.kernel(ROOT / "bench" / "kernels" / "mandelbrot.vyre")
    turns = np.empty(1 << 20, np.uint32)
    acts = {"vyre": lambda: ours(1024, 1024, -2.0, -1.5, step, 256, out=turns, device="cpu")}
    numba, theirs = load("numba"), np.zeros((1024, 1024), np.int32)
    if numba:
        f32 = np.float32

        @numba.njit(parallel=True)
        def peer(width, height, limit, out):
            for j in numba.prange(height):
                for i in range(width):
                    cr = f32(-2.0) + f32(i) * f32(3.0 / 1024)
                    ci = f32(-1.5) + f32(j) * f32(3.0 / 1024)
                    zr, zi, k = f32(0), f32(0), 0
                    while k < limit and zr * zr + zi * zi <= f32(4):
                        zr, zi, k = zr * zr - zi * zi + cr, f32(2) * zr * zi + ci, k + 1
                    out[j, i] = k

        acts["numba parallel"] = lambda: peer(1024, 1024, 256, theirs)
    acts["taichi"] = taichi_mandelbrot(load("taichi"), np.zeros((1024, 1024), np.int32))
    compare("mandelbrot 1024^2 x 256", acts)
    if numba:
        differing = int((turns.reshape(1024, 1024) != theirs).sum())
        print(f"  mandelbrot: {differing} of {theirs.size} counts differ from numba's")


def sort():
    """Time sorting 2^22 keys of u32."""
    if not has_device("cpu"):
        return
    keys = np.random.default_rng(1).integers(0, 1 << 32, 1 << 22, dtype=np.uint32)
    out = np.empty_like(keys)
    operation = vyre.ops.sort.keys_u32

    def numpy_sort():
        np.sort(keys)

    acts = {
        "vyre out=": lambda: operation(keys, out=out, device="cpu"),
        "vyre": lambda: operation(keys, device="cpu"),
        "np.sort": numpy_sort,
    }
    compare("sort 2^22 u32", acts, 1 << 22, unit="Gkeys/s")
    assert (out == np.sort(keys)).all()


def torch_transfers(torch, host, acts_in, acts_out):
    """Add what torch does with the same bytes."""
    cuda = torch.cuda
    pageable = torch.from_numpy(host)
    there = pageable.cuda()
    pinned = pageable.pin_memory()

    def wait(act):
        def both():
            act()
            cuda.synchronize()

        return both

    acts_in["torch .cuda()"] = wait(pageable.cuda)
    acts_in["torch copy_ pageable"] = wait(lambda: there.copy_(pageable))
    acts_in["torch copy_ pinned"] = wait(lambda: there.copy_(pinned, non_blocking=True))
    acts_out["torch .cpu()"] = wait(there.cpu)
    back = torch.empty_like(pageable).fill_(0)
    acts_out["torch copy_ pageable"] = wait(lambda: back.copy_(there))
    acts_out["torch copy_ pinned"] = wait(lambda: pinned.copy_(there, non_blocking=True))
    return pinned.numpy()


def transfers():
    """Time 1 GiB from the host to the GPU and back, in pageable and in pinned memory."""
    if not has_device("cuda"):
        return
    count = 1 << 28
    host = np.random.default_rng(1).standard_normal(count, dtype=np.float32)
    back = np.zeros_like(host)
    gpu = vyre.Device("cuda")
    there = gpu.array(host)
    acts_in = {
        "vyre copy_from pageable": lambda: there.copy_from(host),
        "vyre Device.array": lambda: gpu.array(host),
    }
    acts_out = {
        "vyre into pageable": lambda: there._read_into(back),
        "vyre .numpy()": there.numpy,
    }
    torch = load("torch")
    if torch and torch.cuda.is_available():
        pinned = torch_transfers(torch, host, acts_in, acts_out)
        acts_in["vyre copy_from pinned"] = lambda: there.copy_from(pinned)
        acts_out["vyre into pinned"] = lambda: there._read_into(pinned)
    compare("1 GiB host to GPU", acts_in, 4 * count)
    compare("1 GiB GPU to host", acts_out, 4 * count)
    assert there.numpy().tobytes() == host.tobytes()
    saxpy, y = vyre.kernel(SAXPY), back
    compare(
        "saxpy 2^28 of the host",
        {
            "vyre device=cuda": lambda: saxpy(0.5, host, y, device="cuda"),
            "vyre device=cpu": (lambda: saxpy(0.5, host, y, device="cpu"))
            if has_device("cpu")
            else None,
        },
        12 * count,
        rounds=5,
    )


def tensors():
    """Time saxpy of 2^28 on tensors where they lie."""
    if not has_device("cuda"):
        return
    torch, cupy = load("torch"), load("cupy")
    count, saxpy = 1 << 28, vyre.kernel(SAXPY)
    acts = {}
    if torch and torch.cuda.is_available():
        x, y = torch.ones(count, device="cuda"), torch.ones(count, device="cuda")
        acts["vyre on torch tensors"] = lambda: saxpy(2.0, x, y)

        def add():
            y.add_(x, alpha=2.0)
            torch.cuda.synchronize()

        acts["torch add_"] = add
    if cupy:
        cx, cy = cupy.ones(count, cupy.float32), cupy.ones(count, cupy.float32)
        acts["vyre on cupy arrays"] = lambda: saxpy(2.0, cx, cy)
        peer = cupy.ElementwiseKernel("float32 a, float32 x", "float32 y", "y = a * x + y", "peer")

        def fused():
            peer(np.float32(2), cx, cy)
            cupy.cuda.Device().synchronize()

        acts["cupy ElementwiseKernel"] = fused
    if acts:
        compare("saxpy 2^28 on the GPU", acts, 12 * count)


PARTS = {
    "imports": imports,
    "first": first,
    "small": small,
    "saxpy": saxpy_large,
    "mandelbrot": mandelbrot,
    "sort": sort,
    "transfers": transfers,
    "tensors": tensors,
}


def main():
    """Run the parts."""
    print(vyre.info())
    print(f"{len(os.sched_getaffinity(0))} cores, Python {sys.version.split()[0]}")
    for name in CHOSEN.parts or PARTS:
        print(f"== {name}", flush=True)
        try:
            PARTS[name]()
        except Exception as error:
            print(f"  {name} failed: {type(error).__name__}: {error}")


if __name__ == "__main__":
    main()
