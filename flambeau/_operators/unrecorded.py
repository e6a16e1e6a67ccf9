"""Blocks that recorders do not see."""

from __future__ import annotations

from flambeau import _C

__all__: list[str] = []


class unrecorded(_C._Scope):
    """A block in which an operator checks elements of its arguments, which is not recorded."""

    _value = True
    _begin = staticmethod(_C._pause_tapes)
    _end = staticmethod(_C._pause_tapes)
