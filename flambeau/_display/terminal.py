"""Capabilities of a stream: live lines, width, characters beyond ASCII, colours."""

from __future__ import annotations

import os
import unicodedata
from typing import TextIO

__all__ = [
    "Style",
    "can_show",
    "cells",
    "clipped",
    "columns",
    "is_live",
    "is_notebook",
    "printable",
]

_CODES = {"bold": 1, "dim": 2, "red": 31, "green": 32, "yellow": 33}


def is_live(stream: TextIO) -> bool:
    """Whether lines of `stream` can be rewritten: a person's terminal, not a pipe or a CI log."""
    if os.environ.get("CI") or os.environ.get("TERM") == "dumb":
        return False
    try:
        return stream.isatty()
    except (AttributeError, ValueError):  # not a whole stream, or a closed one
        return False


def is_notebook(stream: TextIO) -> bool:
    """Whether `stream` is shown below a notebook's cell, where a line can be rewritten too."""
    return type(stream).__module__.startswith("ipykernel")


def columns(stream: TextIO) -> int:
    """How many characters fit on a line of `stream`."""
    try:
        wide = os.get_terminal_size(stream.fileno()).columns
    except (AttributeError, OSError, ValueError):
        wide = 0
    if wide > 0:
        return wide
    asked = os.environ.get("COLUMNS", "")
    return int(asked) if asked.isdecimal() and int(asked) > 0 else 80


def can_show(stream: TextIO, text: str) -> bool:
    """Whether the encoding of `stream` has every character of `text`."""
    try:
        text.encode(getattr(stream, "encoding", None) or "ascii")
    except (LookupError, UnicodeEncodeError):
        return False
    return True


def printable(text: str, keep: str = "") -> str:
    """Escape everything in a text that a terminal could take for a control sequence.

    These are control characters and marks that change the direction of writing; those in
    ``keep`` may stay.
    """
    if text.isprintable():
        return text
    return "".join(
        each if each.isprintable() or each in keep else each.encode("unicode_escape").decode()
        for each in text
    )


def cells(text: str) -> int:
    """The columns of `text`: a Chinese character takes two, a combining one none."""
    if text.isascii():
        return len(text)
    return sum(_width(character) for character in text)


def clipped(text: str, room: int) -> str:
    """The beginning of `text` that fits into `room` columns."""
    if cells(text) <= room:
        return text
    kept, used = [], 0
    for character in text:
        used += _width(character)
        if used > room:
            break
        kept.append(character)
    return "".join(kept)


def _width(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


class Style:
    """Colours where a stream shows them, plain text elsewhere; NO_COLOR switches them off."""

    def __init__(self, stream: TextIO) -> None:
        self._on = is_live(stream) and not os.environ.get("NO_COLOR")

    def __call__(self, text: str, *names: str) -> str:
        """`text` in the given styles: bold, dim, red, green, yellow."""
        if not self._on or not names:
            return text
        codes = ";".join(str(_CODES[name]) for name in names)
        return f"\033[{codes}m{text}\033[0m"
