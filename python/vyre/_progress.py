"""A progress bar for work that takes longer than a second."""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from types import TracebackType

WIDTH = 24
#: Seconds before the bar appears, and between two drawings.
PATIENCE, PACE = 1.0, 0.25


def is_terminal(stream: Any) -> bool:
    """Return whether a bar can be drawn; programs replace sys.stderr, and close it."""
    try:
        return bool(stream.isatty())
    except (AttributeError, ValueError):
        return False


class Progress:
    """A bar on stderr; nothing is drawn if that is not a terminal, as in notebooks and logs.

    >>> with Progress("bench", len(names)) as progress:
    ...     for name in names:
    ...         progress.step(name)
    """

    def __init__(self, title: str, total: int) -> None:
        self.title, self.total = title, total
        self.done, self.now = -1, ""
        self.ended = threading.Event()
        self.thread: threading.Thread | None = None

    def step(self, now: str) -> None:
        """Begin the next part, which `now` names."""
        self.done, self.now = self.done + 1, now

    def line(self) -> str:
        """Return the bar as it is now."""
        part = max(self.done, 0) / max(self.total, 1)
        bar = "#" * round(part * WIDTH)
        return f"{self.title} [{bar:{WIDTH}}] {max(self.done, 0)}/{self.total} {self.now}"

    def _draw(self) -> None:
        if self.ended.wait(PATIENCE):
            return
        while True:
            sys.stderr.write(f"\r\x1b[K{self.line()[:79]}")
            sys.stderr.flush()
            if self.ended.wait(PACE):
                break
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()

    def __enter__(self) -> Self:
        if is_terminal(sys.stderr):
            self.thread = threading.Thread(target=self._draw, name="vyre progress", daemon=True)
            self.thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.ended.set()
        if self.thread is not None:
            self.thread.join()
