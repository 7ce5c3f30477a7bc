"""Finds llvmlite, whose LLVM the cpu device uses if the system has no libLLVM."""

from __future__ import annotations

import importlib.util
import os


def find_llvmlite() -> str | None:
    """Return the path of llvmlite's library without importing it; None if it is not installed."""
    found = importlib.util.find_spec("llvmlite")
    if found is None or not found.submodule_search_locations:
        return None
    for folder in found.submodule_search_locations:
        path = os.path.abspath(os.path.join(folder, "binding", "libllvmlite.so"))
        if os.path.exists(path):
            return path
    return None
