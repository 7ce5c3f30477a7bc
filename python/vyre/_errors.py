"""The exceptions of the package: one class for each status code of the library."""

from __future__ import annotations

import builtins
from typing import Any, ClassVar


class Error(RuntimeError):
    """An error of vyre.

    str() gives the whole text: what failed, what was found, and what to do about it. For a kernel
    with mistakes, it shows the line of each mistake with a caret.
    """

    #: The name of the status code, such as "INVALID_ARGUMENT".
    code: ClassVar[str] = ""
    #: The advice alone.
    fix: str = ""

    def __init__(self, text: str, fix: str = "", diagnostics: str | None = None) -> None:
        super().__init__(text)
        self.fix = fix
        self._json = diagnostics

    @property
    def diagnostics(self) -> list[dict[str, Any]]:
        """The mistakes of a kernel's text: code, message, fix, file, line and column of each."""
        import json

        found: list[dict[str, Any]] = json.loads(self._json) if self._json else []
        return found


class InvalidArgumentError(Error, ValueError):
    """An argument of a call is wrong."""

    code = "INVALID_ARGUMENT"


class ArgumentTypeError(InvalidArgumentError, TypeError):
    """An argument has the wrong type or dtype, or there are too many or too few."""


class InvalidProgramError(Error):
    """A kernel has mistakes."""

    code = "INVALID_PROGRAM"


class MalformedError(Error):
    """Data does not have the format that it should have."""

    code = "MALFORMED"


class LimitError(Error):
    """A kernel or a call exceeds a limit of the library or the device."""

    code = "LIMIT"


class OutOfMemoryError(Error, MemoryError):
    """The host or a device ran out of memory."""

    code = "OUT_OF_MEMORY"


class NotFoundError(Error, LookupError):
    """No device, operation or file has that name."""

    code = "NOT_FOUND"


class UnsupportedError(Error):
    """The device cannot do that."""

    code = "UNSUPPORTED"


class FileError(Error):
    """A file could not be read or written."""

    code = "IO"


class TimeoutError(Error, builtins.TimeoutError):  # noqa: A001
    """A run took longer than its timeout."""

    code = "TIMEOUT"


class DeviceLostError(Error):
    """The device is gone, for example after a reset of the GPU."""

    code = "DEVICE_LOST"


class UnavailableError(Error):
    """The machine cannot run the backend."""

    code = "UNAVAILABLE"


class BackendError(Error):
    """A backend failed."""

    code = "BACKEND"


class InternalError(Error):
    """An error in vyre itself."""

    code = "INTERNAL"


class AssertionFailedError(Error, AssertionError):
    """An assert of a kernel failed."""

    code = "ASSERTION"


# By the number of the status code; 0 is success.
CLASSES: tuple[type[Error], ...] = (
    Error,
    InvalidArgumentError,
    InvalidProgramError,
    MalformedError,
    LimitError,
    OutOfMemoryError,
    NotFoundError,
    UnsupportedError,
    FileError,
    TimeoutError,
    DeviceLostError,
    UnavailableError,
    BackendError,
    InternalError,
    AssertionFailedError,
)


def make(number: int, is_type: bool, text: str, fix: str, diagnostics: str | None) -> Error:
    """Make the exception for a status; the extension module calls it."""
    made = CLASSES[number] if number < len(CLASSES) else Error
    if is_type and made is InvalidArgumentError:
        made = ArgumentTypeError
    return made(text, fix, diagnostics)
