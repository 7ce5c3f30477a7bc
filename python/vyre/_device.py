"""Devices, and arrays that stay on them."""

from __future__ import annotations

import operator
import sys
from typing import TYPE_CHECKING, Any, Self, SupportsIndex, cast

from . import _vyre
from ._errors import ArgumentTypeError, InvalidArgumentError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

    import numpy as np
    from numpy.typing import DTypeLike, NDArray

# DLPack's numbers for kinds of devices.
CPU, CUDA, CUDA_HOST, CUDA_MANAGED = 1, 2, 3, 13

Shape = SupportsIndex | tuple[SupportsIndex, ...]


class Device(_vyre.Device):
    """A device: "cpu", "cuda", "cuda:1", "reference", or "preferred" for the most capable one.

    The process opens each device once. The end of `with` waits for all work. Arrays keep their
    device open after that.

    >>> with vyre.Device("cuda") as gpu:
    ...     a, b = gpu.array(x), gpu.array(y)
    ...     saxpy(2.0, a, b)
    ...     y = b.numpy()
    """

    __slots__ = ()

    def __new__(cls, name: str = "preferred") -> Self:
        """Open a device, or find it if it is open."""
        return super().__new__(cls, name)

    def array(self, source: Any, dtype: DTypeLike | None = None) -> Array:
        """Copy an array, or anything that numpy.asarray takes, to the device."""
        import numpy

        if isinstance(source, _vyre.Array):
            source = cast(Array, source).numpy()
        data = numpy.asarray(source, dtype, order="C")
        made = self.empty(data.shape, data.dtype)
        made.copy_from(data)
        return made

    def empty(self, shape: Shape, dtype: DTypeLike = "float32") -> Array:
        """Make an array whose elements are not set."""
        from ._arrays import element_parts

        sides = tuple(shape) if isinstance(shape, tuple | list) else (shape,)
        return Array(self, *element_parts(cast(tuple[int, ...], sides), dtype))

    def zeros(self, shape: Shape, dtype: DTypeLike = "float32") -> Array:
        """Make an array of zeros."""
        return self.empty(shape, dtype).fill(0)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.synchronize()

    def __repr__(self) -> str:
        return f"vyre.Device({self.name!r})"

    def _repr_html_(self) -> str:
        import html

        rows = "".join(
            f"<tr><th style='text-align:left'>{html.escape(str(key))}</th>"
            f"<td style='text-align:left'>{html.escape(str(value))}</td></tr>"
            for key, value in self.profile.items()
            if value not in ("", 0)
        )
        return f"<table><caption>{html.escape(self.name)}</caption>{rows}</table>"


class Array(_vyre.Array):
    """Data on a device. Device.array() and Device.empty() make one.

    Kernels take arrays in place of NumPy's, and run where the data is. numpy() copies the data to
    the host. Other libraries share it without a copy: torch.from_dlpack(a), cupy.asarray(a).
    """

    __slots__ = ()

    device: Device

    def numpy(self) -> NDArray[Any]:
        """Return a copy of the data as a NumPy array."""
        import numpy

        from ._arrays import bits_of

        made = numpy.empty(self.shape, self.dtype)
        self._read_into(bits_of(made))
        return made

    @property
    def dtype(self) -> np.dtype[Any]:
        """The NumPy dtype of the elements."""
        from ._arrays import scalar_dtype

        record: np.dtype[Any] | None = self._record_dtype
        return scalar_dtype(self._type) if record is None else record

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return self.nbytes // self.itemsize

    def copy_from(self, source: Any) -> Self:
        """Replace the data with that of another array of the same shape and dtype."""
        import numpy

        from ._arrays import bits_of

        if isinstance(source, Array):
            same = source.shape == self.shape and source.dtype == self.dtype
            if same and source.device.name == self.device.name:
                self._copy_from(source)
                return self
            source = source.numpy()
        data = numpy.asarray(source, order="C")
        if data.dtype != self.dtype:
            raise ArgumentTypeError(
                f"the data has dtype {data.dtype}, and the array {self.dtype}. "
                f'Fix: pass x.astype("{self.dtype}")',
                f'pass x.astype("{self.dtype}")',
            )
        if data.shape != self.shape:
            raise InvalidArgumentError(
                f"the data has shape {data.shape}, and the array {self.shape}. "
                "Fix: pass data of the same shape",
                "pass data of the same shape",
            )
        self._upload(bits_of(data))
        return self

    def fill(self, value: Any) -> Self:
        """Set all elements to a value."""
        import numpy

        element = numpy.zeros((), self.dtype)
        element[()] = value  # a tuple, for a record
        one = element.tobytes()
        if len(one) in (1, 2, 4, 8, 16):
            self._fill_bytes(one)
        elif not any(one):
            self._fill_bytes(b"\0")
        else:
            self.copy_from(numpy.full(self.shape, element, self.dtype))
        return self

    def __getitem__(self, key: int | slice) -> Array:
        """Return a part along the first dimension, which shares the memory."""
        if not self.shape:
            raise IndexError("an array without dimensions has no parts")
        length = self.shape[0]
        step = self.nbytes // length if length else 0
        if isinstance(key, slice):
            start, stop, stride = key.indices(length)
            if stride != 1:
                raise InvalidArgumentError(
                    "a part with a stride is not contiguous. Fix: take a[start:stop], or numpy()",
                    "take a[start:stop], or numpy()",
                )
            count = max(stop - start, 0)
            return self._range(start * step, (count, *self.shape[1:]))
        try:
            index = operator.index(key)
        except TypeError:
            raise ArgumentTypeError(
                f"an index is {type(key).__name__}. Fix: take a[i], a[start:stop], or numpy()[...]",
                "take a[i], a[start:stop], or numpy()[...]",
            ) from None
        if not -length <= index < length:
            raise IndexError(f"index {index} is out of range for {length} elements")
        return self._range(index % length * step, self.shape[1:])

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("an array without dimensions has no length")
        return self.shape[0]

    def __iter__(self) -> Iterator[Array]:
        return map(self.__getitem__, range(len(self)))

    # The elements are on the device: `in` would compare parts with a number, and never be true.
    __contains__ = None

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """Return a copy of the data for NumPy."""
        if copy is False:
            raise ValueError("the data of a device cannot become a NumPy array without a copy")
        made = self.numpy()
        return made if dtype is None else made.astype(dtype, copy=False)

    def __dlpack_device__(self) -> tuple[int, int]:
        """Return DLPack's numbers for the kind of the device and the device."""
        is_host = self._memory()[2]
        kind, _, number = self.device.name.partition(":")
        return (CPU, 0) if is_host or kind != "cuda" else (CUDA, int(number or 0))

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """Share the data with another library through DLPack.

        All work on the array has ended when this returns, so no stream has to wait for it. With
        stream=-1, work in the stream that the array keeps may go on.
        """
        own = self.__dlpack_device__()
        if own[0] == CPU and stream is not None:
            raise InvalidArgumentError(
                "memory of the host has no stream. Fix: pass stream=None", "pass stream=None"
            )
        if stream != -1:
            self._settle()
        if dl_device is not None and tuple(dl_device) != own:
            if tuple(dl_device) != (CPU, 0) or copy is False:
                raise BufferError(f"the data is on device {own}, not {tuple(dl_device)}")
            shared = Device("reference").array(self)
            return shared._export(CPU, 0, is_versioned(max_version), True)
        if copy:
            shared = self.device.empty(self.shape, self.dtype).copy_from(self)
            return shared._export(*own, is_versioned(max_version), True)
        if self._memory()[3] and not is_versioned(max_version):
            raise BufferError("DLPack before version 1 cannot say that an array is read-only")
        return self._export(*own, is_versioned(max_version), False)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """The data for libraries that use CUDA; only on cuda."""
        if self.__dlpack_device__()[0] != CUDA:
            raise AttributeError("the data is not on a CUDA device")
        self._settle()
        address, _, _, is_read_only = self._memory()
        return {
            "shape": self.shape,
            "typestr": self.dtype.str,
            "data": (address, is_read_only),
            "version": 3,
            "strides": None,
            "stream": None,  # all work on it has ended
        }

    def __repr__(self) -> str:
        return f"<vyre.Array {self.shape} {self.dtype} on {self.device.name}>"


def is_versioned(max_version: tuple[int, int] | None) -> bool:
    """Whether a consumer understands capsules of DLPack 1."""
    return max_version is not None and max_version[0] >= 1


# Libraries whose arrays never change. Most of them do not say so through DLPack.
IMMUTABLE = ("jax", "jaxlib", "tensorflow")


def library_of(source: Any) -> str:
    """Return the name of the package that an array comes from."""
    return type(source).__module__.partition(".")[0]


def current_stream(source: Any, device: int) -> tuple[int, Any]:
    """Return the stream that a library puts its work into, for one of its arrays on CUDA.

    The second item keeps the stream alive.
    """
    library = library_of(source)
    module: Any = sys.modules.get(library)
    if library == "torch":
        stream = module.cuda.current_stream(device)
        return int(stream.cuda_stream) or 1, stream
    if library == "cupy":
        stream = module.cuda.get_current_stream(device)
        return int(stream.ptr) or 1, stream
    return 1, None  # the legacy default stream


def ask_for_capsule(source: Any, stream: int | None) -> Any:
    """Call __dlpack__, also of libraries that do not know max_version."""
    keywords: dict[str, Any] = {} if stream is None else {"stream": stream}
    try:
        return source.__dlpack__(max_version=(1, 0), **keywords)
    except TypeError:
        return source.__dlpack__(**keywords)


def adopt(source: Any, stream: int | None = None, is_read: bool = False) -> tuple[Any, bool]:
    """Share the memory of another library's array.

    Returns a DLPack capsule for memory of the host, an Array for memory of a CUDA device, and None
    for an object that shares nothing; and whether nobody may write the memory. `stream` is the one
    that the array gets ready for, in place of the library's current one. With `is_read` nobody
    writes it: several such arrays may overlap, as x[:-1] and x[1:] do.
    """
    if hasattr(source, "__dlpack__") and hasattr(source, "__dlpack_device__"):
        kind, number = source.__dlpack_device__()
        is_read_only = is_read or library_of(source) in IMMUTABLE
        if kind in (CPU, CUDA_HOST):
            return ask_for_capsule(source, None), is_read_only
        if kind in (CUDA, CUDA_MANAGED):
            ordered = current_stream(source, number) if stream is None else (stream, None)
            capsule = ask_for_capsule(source, ordered[0])
            device = Device(f"cuda:{number}")
            return Array.from_capsule(device, capsule, ordered, is_read_only), is_read_only
        raise ArgumentTypeError(
            f"an array is on a device that DLPack numbers {int(kind)}. "
            "Fix: move it to the CPU or to a CUDA device",
            "move it to the CPU or to a CUDA device",
        )
    interface = getattr(source, "__cuda_array_interface__", None)
    if interface is None:
        return None, False
    return adopt_interface(source, interface, stream, is_read), is_read


def adopt_interface(
    source: Any, interface: dict[str, Any], stream: int | None, is_read: bool
) -> Array:
    """Share memory on CUDA through the CUDA array interface."""
    import numpy

    dtype = numpy.dtype(interface["typestr"])
    if not dtype.isnative or interface.get("mask") is not None:
        raise ArgumentTypeError(
            "an array on CUDA has a mask or another byte order. "
            "Fix: convert it to a plain array of this machine's byte order",
            "convert it to a plain array of this machine's byte order",
        )
    shape = tuple(interface["shape"])
    strides = interface.get("strides")
    if strides is not None and not is_compact(shape, strides, dtype.itemsize):
        raise InvalidArgumentError(
            "an array on CUDA is not C-contiguous. Fix: make it contiguous first",
            "make it contiguous first",
        )
    address, is_read_only = interface["data"]
    own = interface.get("stream")  # None: the array is ready for every stream
    if own is not None:
        ordered = (own, source)
    else:
        ordered = current_stream(source, 0) if stream is None else (stream, None)
    return Array.from_pointer(
        Device("cuda"),
        address,
        False,
        shape,
        dtype.name,
        is_read or is_read_only,
        ordered,
        source,
    )


def is_compact(shape: tuple[int, ...], strides: tuple[int, ...], itemsize: int) -> bool:
    """Whether an array is in C order; strides of sides that have one element do not matter."""
    for side, stride in zip(reversed(shape), reversed(strides), strict=True):
        if side != 1 and stride != itemsize:
            return 0 in shape
        itemsize *= side
    return True


def from_dlpack(source: Any) -> Array:
    """Make an Array that shares the memory of another library's array.

    Memory of the host is shared with the cpu device, memory on CUDA with the cuda device.
    """
    shared, is_read_only = adopt(source)
    if isinstance(shared, Array):
        return shared
    if shared is None:
        raise ArgumentTypeError(
            f"{type(source).__name__} has no __dlpack__. Fix: pass an array",
            "pass an array",
        )
    return Array.from_capsule(Device("cpu"), shared, None, is_read_only)


def make_output(shape: Any, dtype: Any, device: Device) -> Array:
    """Make an array for an output of a kernel; the extension module calls it."""
    return device.empty(shape, dtype)
