"""The operations of the library, as functions: vyre.ops.sort.keys_u32(keys).

`vyre ops` lists the same names: a dialect and an operation in it. Operations are called like
kernels. help(vyre.ops.sort.keys_u32) describes one.

Elementwise operations take arrays of any shape, and numbers in place of arrays.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from . import _vyre
from ._errors import ArgumentTypeError, InvalidArgumentError
from ._kernel import Kernel

if TYPE_CHECKING:
    import inspect


class Operation:
    """An operation of the library, which is called like a kernel."""

    def __init__(self, name: str) -> None:
        facts = _vyre.operation(name)
        self.id: str = facts["id"]
        self.laws: list[str] = facts["laws"]
        self.is_function: bool = facts["is_function"]
        self.witnesses: list[tuple[str, str]] = facts["witnesses"]
        self.__name__ = self.id.rpartition(".")[2]
        self.__qualname__ = f"ops.{self.id}"
        self.__module__ = "vyre"
        self._facts = facts

    @functools.cached_property
    def kernel(self) -> Kernel:
        """The kernel, which the first use makes."""
        return Kernel.from_operation(self.id)

    @functools.cached_property
    def __doc__(self) -> str:  # type: ignore[override]
        lines = [f"{self.id}{self._words()}", "", self._facts["doc"]]
        if self.laws:
            lines += ["", f"Laws: {', '.join(self.laws)}."]
        for arguments, expected in self.witnesses[:1]:
            lines += ["", "Example, in the notation of `vyre run`:", ""]
            lines.append(f"    {' '.join(arguments.split(chr(10)))}")
            lines.append(f"    gives {' '.join(expected.split(chr(10)))}")
        return "\n".join(lines)

    def _words(self) -> str:
        given: list[str] = []
        made: list[str] = []
        for name, access, kind in self.kernel.arguments:
            words = kind if access == "scalar" else f"{kind} array"
            if access == "inout":
                words += ", changed in place"
            (made if access == "out" else given).append(f"{name}: {words}")
        return f"({'; '.join(given)})" + (f" -> {'; '.join(made)}" if made else "")

    @property
    def __signature__(self) -> inspect.Signature:
        """The parameters, for help() and completion."""
        return self.kernel.__signature__

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        """Run the operation."""
        if self.is_function:
            arguments, keywords = self._broadcast(arguments, keywords)
        return self.kernel(*arguments, **keywords)

    def _broadcast(
        self, arguments: tuple[Any, ...], keywords: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Turn numbers into arrays of the shape that the other arguments have."""
        inputs = [(name, kind) for name, access, kind in self.kernel.arguments if access == "in"]
        bound = dict(zip([name for name, _ in inputs], arguments, strict=False))
        if len(arguments) > len(inputs):
            return arguments, keywords  # outputs by position: the kernel binds them
        for name in bound.keys() & keywords.keys():
            raise ArgumentTypeError(
                f"{self.id}(): argument `{name}` is passed twice. Fix: pass it once",
                "pass it once",
            )
        given = {**bound, **{k: v for k, v in keywords.items() if k in dict(inputs)}}
        options = {k: v for k, v in keywords.items() if k not in dict(inputs)}
        if any(is_number(value) for value in given.values()):
            given = self._spread(given, dict(inputs))
        shapes = {tuple(value.shape) for value in given.values() if hasattr(value, "shape")}
        if len(shapes) > 1:
            raise InvalidArgumentError(
                f"{self.id}(): arrays have different shapes: {sorted(shapes)}. "
                "Fix: pass arrays of one shape, or numbers",
                "pass arrays of one shape, or numbers",
            )
        return (), {**given, **options}

    def _spread(self, given: dict[str, Any], kinds: dict[str, str]) -> dict[str, Any]:
        import numpy

        from ._arrays import kind_dtype

        shape = next((tuple(v.shape) for v in given.values() if not is_number(v)), ())
        spread = {}
        for name, value in given.items():
            spread[name] = value
            if is_number(value):
                # A number must fit its type, as a scalar argument of a kernel must.
                one = _vyre.convert(value, kinds[name], f"{self.id}(): argument `{name}`")
                dtype = kind_dtype(kinds[name])
                spread[name] = numpy.full(shape, numpy.frombuffer(one, dtype)[0], dtype)
        return spread

    def __reduce__(self) -> tuple[type[Operation], tuple[str]]:
        return Operation, (self.id,)  # without the kernel, which is not pickled

    def __repr__(self) -> str:
        return f"<vyre.ops.{self.id}{self._words()}>"

    def _repr_html_(self) -> str:
        import html

        return f"<pre>{html.escape(self.__doc__)}</pre>"


def is_number(value: Any) -> bool:
    """Whether a value is one number: of Python, or of NumPy without dimensions."""
    if isinstance(value, int | float):
        return True
    return getattr(value, "shape", None) == () and not isinstance(value, _vyre.Array)


class Dialect:
    """A group of operations."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # copies and pickles ask before there is a prefix
            raise AttributeError(name)
        return find(f"{self._prefix}.{name}", self)

    def __dir__(self) -> list[str]:
        return members(self._prefix)

    def __repr__(self) -> str:
        return f"<vyre.ops.{self._prefix}: {', '.join(self.__dir__())}>"


def members(prefix: str) -> list[str]:
    """Return the names directly below a prefix."""
    start = f"{prefix}." if prefix else ""
    ids = [name for name in _vyre.operation_ids() if name.startswith(start)]
    return sorted({name[len(start) :].partition(".")[0] for name in ids})


@functools.cache
def lookup(name: str) -> Operation | Dialect | None:
    """Find an operation or a dialect; a name that is a Python keyword may end with "_"."""
    for candidate in (name, name.removesuffix("_")):
        ids = _vyre.operation_ids()
        if candidate in ids:
            return Operation(candidate)
        if any(known.startswith(f"{candidate}.") for known in ids):
            return Dialect(candidate)
    return None


def find(name: str, owner: object) -> Operation | Dialect:
    """Find what an attribute names."""
    found = None if name.rpartition(".")[2].startswith("__") else lookup(name)
    if found is None:
        raise AttributeError(f"there is no operation or dialect `{name}`", name=name, obj=owner)
    return found


def __getattr__(name: str) -> Any:
    return find(name, None)


def __dir__() -> list[str]:
    return members("")
