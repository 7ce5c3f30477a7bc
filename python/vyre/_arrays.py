"""Uses NumPy for the extension module, which imports this when it first needs NumPy."""

from __future__ import annotations

import importlib.util
import re
from collections import namedtuple
from typing import TYPE_CHECKING, Any

import numpy

from ._errors import ArgumentTypeError

if TYPE_CHECKING:
    from . import _vyre


def scalar_dtype(name: str) -> numpy.dtype[Any]:
    """Return the dtype of a scalar type, by NumPy's name."""
    if name != "bfloat16":
        return numpy.dtype(name)
    if importlib.util.find_spec("ml_dtypes") is None:
        return numpy.dtype("uint16")  # the bits
    import ml_dtypes

    dtype: numpy.dtype[Any] = numpy.dtype(ml_dtypes.bfloat16)
    return dtype


NAMES = {"i": "int", "u": "uint", "f": "float", "bf": "bfloat", "bool": "bool"}


def kind_dtype(kind: str) -> numpy.dtype[Any]:
    """Return the dtype of a scalar type, by the name that kernels use: f32."""
    letters = kind.rstrip("0123456789")
    return scalar_dtype(NAMES[letters] + kind[len(letters) :])


def record_dtype(fields: list[tuple[int, str]], size: int) -> numpy.dtype[Any]:
    """Return the dtype of records: a vector's elements, or a struct with fields by offset."""
    types = {name for _, name in fields}
    if len(types) == 1:
        element = scalar_dtype(types.pop())
        if element.itemsize * len(fields) == size:
            return numpy.dtype((element, (len(fields),)))
    return numpy.dtype(
        {
            "names": [f"f{offset}" for offset, _ in fields],
            "formats": [scalar_dtype(name) for _, name in fields],
            "offsets": [offset for offset, _ in fields],
            "itemsize": size,
        }
    )


def bfloat16_bits(array: Any) -> Any:
    """Return the bits of an array of bfloat16 as uint16, sharing its memory; else None."""
    dtype = getattr(array, "dtype", None)
    if getattr(dtype, "name", None) == "bfloat16" and hasattr(array, "view"):
        return array.view("uint16")
    if dtype == numpy.uint16 and importlib.util.find_spec("ml_dtypes") is None:
        return array
    return None


def results_type(kernel: _vyre.Kernel) -> type:
    """Return the named tuple type of a kernel with several outputs."""
    names = [name for name, access, _ in kernel.arguments if access == "out"]
    return make_results_type(re.sub(r"\W", "_", kernel.name) + "_results", names)


def make_results_type(title: str, names: list[str]) -> type:
    """Return a named tuple type whose values can be pickled, though no module has it."""
    made = namedtuple(title, names, rename=True)  # type: ignore[misc]

    def reduce(self: tuple[Any, ...]) -> tuple[Any, ...]:
        return unpickle_results, (title, names, tuple(self))

    made.__reduce__ = reduce  # type: ignore[method-assign,assignment]
    return made


def unpickle_results(title: str, names: list[str], values: tuple[Any, ...]) -> Any:
    """Make the results of a kernel again."""
    return make_results_type(title, names)(*values)


def bits_of(array: numpy.ndarray[Any, Any]) -> Any:
    """Return an array that the buffer protocol can describe and that shares the memory."""
    if array.dtype.name != "bfloat16":
        return array
    return array.view("uint16")


def element_parts(shape: tuple[int, ...], dtype: Any) -> tuple[Any, ...]:
    """Return what _vyre.Array needs: shape, type, bytes of an element, dtype and format."""
    made = numpy.dtype(dtype)
    if made.subdtype is not None:
        made, inner = made.subdtype
        shape = (*shape, *inner)
    if made.hasobject or not made.itemsize:
        raise ArgumentTypeError(
            f"kernels have no type like the dtype {made}. Fix: use numbers and records of them",
            "use numbers and records of them",
        )
    if made.names is None:
        is_native = made.isnative
        return (shape, made.name if is_native else str(made), made.itemsize, None, None)
    return (shape, "record", made.itemsize, made, memoryview(numpy.empty(0, made).data).format)
