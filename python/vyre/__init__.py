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
    "from_dlpack",
    "kernel",
]
