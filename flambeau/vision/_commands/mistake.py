"""Errors that the user can fix: reported in one line, without a traceback."""

from __future__ import annotations

__all__ = ["Mistake"]


class Mistake(Exception):
    """A command cannot do what was asked; the message says why and what would help."""
