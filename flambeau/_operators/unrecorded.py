"""Blocks that recorders do not see."""

from __future__ import annotations

from flambeau import _C

__all__: list[str] = []


class unrecorded(_C._Scope):
    """A block that is no part of a recording: a check of elements, or of the recording itself."""

    _value = True
    _begin = staticmethod(_C._pause_tapes)
    _end = staticmethod(_C._pause_tapes)
