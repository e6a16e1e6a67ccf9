"""What a user can put right: told in one line, without a traceback."""

from __future__ import annotations

__all__ = ["Mistake"]


class Mistake(Exception):
    """A command cannot do what was asked for, and its message says why and what would help."""
