"""Kernels: programs of the vyre language that Python calls."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from . import _vyre

if TYPE_CHECKING:
    import inspect


class Kernel(_vyre.Kernel):
    """A kernel, which is called like a function. vyre.kernel() makes one.

    Arguments are those of the program, by position or by name. Positional arguments are either all
    of them, in the order of their declaration, or all but the `out` buffers.

    - A scalar is a Python or NumPy number. An integer must fit its type.
    - A buffer is an array with the right dtype. The kernel reads `buffer` arguments and changes
      `inout` arguments in place.
    - The call makes `out` arrays that are not given, and returns all of them: one array, or a
      named tuple of several. `out=` takes one array, or a tuple of them in declaration order.

    Further keywords of a call:

    - device: "auto" (the device that was measured fastest), "cpu", "cuda", "cuda:1", "reference"
    - timeout: in seconds
    """

    __slots__ = ()

    def __repr__(self) -> str:
        words = []
        for name, access, kind in self.arguments:
            buffer = kind if access == "scalar" else f"buffer<{kind}>"
            words.append(f"{name}: {'' if access in ('scalar', 'in') else access + ' '}{buffer}")
        return f"<vyre.Kernel {self.name}({', '.join(words)})>"

    @property
    def __name__(self) -> str:
        """The name of the program."""
        return self.name

    @property
    def __signature__(self) -> inspect.Signature:
        """The parameters, for help() and completion."""
        import inspect

        kinds = inspect.Parameter
        given, made = [], []
        for name, access, _ in self.arguments:
            if access == "out":
                made.append(kinds(name, kinds.KEYWORD_ONLY, default=None))
            else:
                given.append(kinds(name, kinds.POSITIONAL_OR_KEYWORD))
        taken = {parameter.name for parameter in given + made}
        options = [
            kinds(name, kinds.KEYWORD_ONLY, default=None)
            for name in ("out", "device", "timeout")
            if name not in taken
        ]
        return inspect.Signature(given + made + options)

    def _repr_html_(self) -> str:
        from ._html import highlight

        return highlight(self.text.strip("\n"))


def kernel(source: str | os.PathLike[str], *, program: str | None = None) -> Kernel:
    """Make a kernel from a text in the vyre language, or from a file that contains one.

    A str on one line that ends with ".vyre" is a path, and so is every os.PathLike. `program` names
    the program if there are several, or an instance of a generic one: "gather<f32>".

    >>> saxpy = vyre.kernel('''
    ... program saxpy(a: f32, x: buffer<f32>, y: inout buffer<f32>) over y {
    ...     y[gid] = fma(a, x[gid], y[gid]);
    ... }''')
    >>> saxpy(2.0, x, y)
    """
    is_path = not isinstance(source, str) or ("\n" not in source and source.endswith(".vyre"))
    if not is_path:
        return Kernel(str(source), None, program)
    path = os.fspath(source)
    with open(path, encoding="utf-8") as file:
        return Kernel(file.read(), path, program)
