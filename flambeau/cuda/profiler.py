"""When NVIDIA's profilers record."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from flambeau import _C
from flambeau._limits.refusing import refusal

__all__ = ["profile", "start", "stop"]


def start() -> None:
    """Let NVIDIA's profiler record from here on."""
    if not _C._cuda_device_count():
        raise refusal("cuda.profiler.start")
    _C._cuda_profile(True)


def stop() -> None:
    """Let NVIDIA's profiler stop recording."""
    if not _C._cuda_device_count():
        raise refusal("cuda.profiler.stop")
    _C._cuda_profile(False)


@contextlib.contextmanager
def profile() -> Iterator[None]:
    """Record a block."""
    start()
    try:
        yield
    finally:
        stop()
