"""Marks for NVIDIA's profilers."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from flambeau._limits.refusing import Function, refused

__all__ = ["mark", "range", "range_end", "range_pop", "range_push", "range_start"]

range_push: Function = refused("cuda.nvtx.range_push")
range_pop: Function = refused("cuda.nvtx.range_pop")
range_start: Function = refused("cuda.nvtx.range_start")
range_end: Function = refused("cuda.nvtx.range_end")
mark: Function = refused("cuda.nvtx.mark")


@contextlib.contextmanager
def range(msg: str, *args: Any, **kwargs: Any) -> Iterator[None]:
    """A block as a range of that name."""
    range_push(msg.format(*args, **kwargs))
    try:
        yield
    finally:
        range_pop()
