"""The blocks of code on pages for users of Python.

A block of `python` runs after those above it, in one namespace. A block of `text` right behind one
is what it prints. Words behind `python` name libraries, or the device `cuda`: such a block stands
alone, and runs where they are to be had.
"""

import contextlib
import io
import pathlib
import re

ROOT = pathlib.Path(__file__).parents[2]
PAGES = ["docs/python.md", "docs/coming_from.md", "README.md", "python/README.md"]

FENCE = re.compile(r"^```(\S*)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def read_blocks(page):
    """Return (line, needs, code, output) of each block of Python; output is None if not shown."""
    text = (ROOT / page).read_text(encoding="utf-8")
    fences = list(FENCE.finditer(text))
    blocks = []
    for fence, after in zip(fences, [*fences[1:], None], strict=True):
        language, needs, code = fence.groups()
        if language != "python":
            continue
        line = text.count("\n", 0, fence.start(3))
        shown = None
        if after and after[1] == "text" and not text[fence.end() : after.start()].strip():
            shown = after[3]
        blocks.append((line, needs.split(), code, shown))
    return blocks


def run(code, name, line, namespace):
    """Run a text, whose lines a traceback numbers as the page does, and return what it prints."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile("\n" * line + code, str(ROOT / name), "exec"), namespace)
    return printed.getvalue()


def read_needy():
    """Return (page, line, needs, code) of each block that needs a library or a device."""
    return [(page, *block[:3]) for page in PAGES for block in read_blocks(page) if block[1]]
