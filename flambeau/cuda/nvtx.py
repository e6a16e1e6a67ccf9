"""Marks for NVIDIA's profilers."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from flambeau._limits.absent import Function
from flambeau.cuda._absence import CUDA

__all__ = ["mark", "range", "range_end", "range_pop", "range_push", "range_start"]

range_push: Function = CUDA.function("nvtx.range_push", "Open a range.", RuntimeError)
range_pop: Function = CUDA.function("nvtx.range_pop", "Close the innermost range.", RuntimeError)
range_start: Function = CUDA.function(
    "nvtx.range_start", "Open a range by its handle.", RuntimeError
)
range_end: Function = CUDA.function("nvtx.range_end", "Close a range by its handle.", RuntimeError)
mark: Function = CUDA.function("nvtx.mark", "Mark a moment.", RuntimeError)


@contextlib.contextmanager
def range(msg: str, *args: Any, **kwargs: Any) -> Iterator[None]:
    """A block as a range of that name."""
    range_push(msg.format(*args, **kwargs))
    try:
        yield
    finally:
        range_pop()
