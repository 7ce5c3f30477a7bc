"""Compute kernels that give the same bytes on every device.

>>> import numpy as np, vyre
>>> saxpy = vyre.kernel('''
... program saxpy(a: f32, x: buffer<f32>, y: inout buffer<f32>) over y {
...     y[gid] = fma(a, x[gid], y[gid]);
... }''')
>>> x, y = np.ones(4, np.float32), np.ones(4, np.float32)
>>> saxpy(2.0, x, y)
>>> y
array([3., 3., 3., 3.], dtype=float32)
"""

from typing import TYPE_CHECKING, Any

from ._device import Array, Device, from_dlpack
from ._errors import (
    ArgumentTypeError,
    AssertionFailedError,
    BackendError,
    DeviceLostError,
    Error,
    FileError,
    InternalError,
    InvalidArgumentError,
    InvalidProgramError,
    LimitError,
    MalformedError,
    NotFoundError,
    OutOfMemoryError,
    TimeoutError,  # noqa: A004
    UnavailableError,
    UnsupportedError,
)
from ._kernel import Kernel, kernel
from ._vyre import __version__

if TYPE_CHECKING:
    from . import ops
    from ._memory import pinned_empty
    from ._report import bench, certify, explain, info, trace

__all__ = [
    "ArgumentTypeError",
    "Array",
    "AssertionFailedError",
    "BackendError",
    "Device",
    "DeviceLostError",
    "Error",
    "FileError",
    "InternalError",
    "InvalidArgumentError",
    "InvalidProgramError",
    "Kernel",
    "LimitError",
    "MalformedError",
    "NotFoundError",
    "OutOfMemoryError",
    "TimeoutError",
    "UnavailableError",
    "UnsupportedError",
    "__version__",
    "bench",
    "certify",
    "explain",
    "from_dlpack",
    "info",
    "kernel",
    "ops",
    "pinned_empty",
    "trace",
]


def __getattr__(name: str) -> Any:
    """Import rarely used parts when they are first used."""
    import importlib

    if name == "ops":
        return importlib.import_module("vyre.ops")
    if name == "pinned_empty":
        return importlib.import_module("vyre._memory").pinned_empty
    if name in ("bench", "certify", "explain", "info", "trace"):
        return getattr(importlib.import_module("vyre._report"), name)
    raise AttributeError(f"module 'vyre' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
