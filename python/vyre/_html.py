"""Kernels in colour, for notebooks."""

from __future__ import annotations

import html
import re

WORDS = (
    "program fn struct const over out inout buffer workgroup subgroup scratch shared private phase "
    "repeat while swap if else for in step loop break continue return let var use dialect require "
    "barrier grid_barrier view claim deterministic true false atomic print assert"
)
TYPES = "bool i8 u8 i16 u16 i32 u32 i64 u64 f16 bf16 f32 f64 vec2 vec3 vec4"
VALUES = "gid gid_x gid_y gid_z lid group lane"

TOKEN = re.compile(
    r"(?P<comment>//[^\n]*|/\*.*?\*/)|(?P<text>\"(?:\\.|[^\"\\])*\")"
    r"|(?P<number>\b\d[\w.]*)|(?P<word>[A-Za-z_]\w*)",
    re.DOTALL,
)
COLOURS = {
    "comment": "#6a737d",
    "text": "#b35900",
    "number": "#1c7c54",
    "keyword": "#a626a4",
    "type": "#0550ae",
    "value": "#953800",
}
KINDS = {
    **dict.fromkeys(WORDS.split(), "keyword"),
    **dict.fromkeys(TYPES.split(), "type"),
    **dict.fromkeys(VALUES.split(), "value"),
}


def highlight(text: str) -> str:
    """Return a kernel's text as HTML."""

    def paint(match: re.Match[str]) -> str:
        kind = match.lastgroup or ""
        colour = COLOURS.get(KINDS.get(match[0], "") if kind == "word" else kind)
        word = html.escape(match[0])
        return f'<span style="color:{colour}">{word}</span>' if colour else word

    parts, end = [], 0
    for match in TOKEN.finditer(text):
        parts += [html.escape(text[end : match.start()]), paint(match)]
        end = match.end()
    return f"<pre>{''.join(parts)}{html.escape(text[end:])}</pre>"
