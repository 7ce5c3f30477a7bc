"""Arrays in host memory that all devices copy fast."""

from __future__ import annotations

import math
import operator
import sys
from typing import TYPE_CHECKING, Any

import numpy

from . import _vyre
from ._errors import ArgumentTypeError, InvalidArgumentError

if TYPE_CHECKING:
    from ._device import Shape


def sides_of(shape: Any) -> tuple[int, ...]:
    """Return a shape, which may be a number, as numpy.empty takes it."""
    try:
        sides: tuple[int, ...] = (operator.index(shape),)
    except TypeError:
        sides = tuple(map(operator.index, shape))
    if any(side < 0 for side in sides):
        raise InvalidArgumentError(
            "a side of the shape is negative. Fix: pass sides of 0 or more",
            "pass sides of 0 or more",
        )
    return sides


def pinned_empty(shape: Shape, dtype: Any = float) -> numpy.ndarray[Any, Any]:
    """Return a new NumPy array that GPUs copy at the full speed of their bus.

    Its contents are undefined, as those of numpy.empty. The memory is pinned: it stays in RAM, and
    pinning takes about as long as writing it once. So use it for arrays that many calls share.

    >>> import vyre
    >>> x = vyre.pinned_empty((2, 3), "f4")
    >>> x.shape, x.dtype
    ((2, 3), dtype('float32'))
    """
    made = numpy.dtype(dtype)
    if made.hasobject:
        raise ArgumentTypeError(
            f"arrays of the dtype {made} hold Python objects. Fix: use numbers and records of them",
            "use numbers and records of them",
        )
    sides = sides_of(shape)
    size = math.prod(sides) * made.itemsize
    if size > sys.maxsize:
        raise InvalidArgumentError(
            "the shape has more bytes than an address space. Fix: make a smaller array",
            "make a smaller array",
        )
    memory = _vyre.Memory(size)
    return numpy.ndarray(sides, made, buffer=memoryview(memory))
