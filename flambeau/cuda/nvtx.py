"""Marks for NVIDIA's profilers, by their library, libnvToolsExt.

Where the library is not installed no profiler sees the marks, and nothing else changes.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import threading
from collections.abc import Iterator
from typing import Any

from flambeau import _C
from flambeau._limits.accepted import accepted
from flambeau._limits.refusing import refusal

__all__ = ["mark", "range", "range_end", "range_pop", "range_push", "range_start"]


class _Depth(threading.local):
    value = 0


_depth = _Depth()


@functools.cache
def _library() -> ctypes.CDLL | None:
    for name in ("libnvToolsExt.so.1", "libnvToolsExt.so"):
        with contextlib.suppress(OSError):
            library = ctypes.CDLL(name)
            library.nvtxRangeStartA.restype = ctypes.c_uint64
            library.nvtxRangeEnd.argtypes = (ctypes.c_uint64,)
            return library
    return None


def _call(name: str, function: str, *arguments: Any) -> int:
    """Call the library, or say once that it is not there."""
    if not _C._cuda_device_count():
        raise refusal(f"cuda.nvtx.{name}")
    library = _library()
    if library is None:
        accepted("torch.cuda.nvtx", stacklevel=2)
        return 0
    given = (each.encode() if isinstance(each, str) else each for each in arguments)
    return int(getattr(library, function)(*given))


def range_push(msg: str) -> int:
    """Open a range, and return how many there are around it."""
    _call("range_push", "nvtxRangePushA", msg)
    _depth.value += 1
    return _depth.value - 1


def range_pop() -> int:
    """Close the innermost range, and return how many there are around it."""
    _call("range_pop", "nvtxRangePop")
    _depth.value = max(_depth.value - 1, 0)
    return _depth.value


def range_start(msg: str) -> int:
    """Open a range that any thread may close, and return its handle."""
    return _call("range_start", "nvtxRangeStartA", msg)


def range_end(range_id: int) -> None:
    """Close a range by its handle."""
    _call("range_end", "nvtxRangeEnd", range_id)


def mark(msg: str) -> None:
    """Mark a moment."""
    _call("mark", "nvtxMarkA", msg)


@contextlib.contextmanager
def range(msg: str, *args: Any, **kwargs: Any) -> Iterator[None]:
    """A block as a range of that name."""
    range_push(msg.format(*args, **kwargs))
    try:
        yield
    finally:
        range_pop()
