"""When NVIDIA's profilers record."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from flambeau._limits.refusing import Function, refused

__all__ = ["profile", "start", "stop"]

start: Function = refused("cuda.profiler.start")
stop: Function = refused("cuda.profiler.stop")


@contextlib.contextmanager
def profile() -> Iterator[None]:
    """Record a block."""
    start()
    try:
        yield
    finally:
        stop()
