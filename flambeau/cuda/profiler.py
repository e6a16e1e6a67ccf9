"""When NVIDIA's profilers record."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from flambeau._limits.absent import Function
from flambeau.cuda._absence import CUDA

__all__ = ["profile", "start", "stop"]

start: Function = CUDA.function("profiler.start", "Start to record.")
stop: Function = CUDA.function("profiler.stop", "Stop to record.")


@contextlib.contextmanager
def profile() -> Iterator[None]:
    """Record a block."""
    start()
    try:
        yield
    finally:
        stop()
