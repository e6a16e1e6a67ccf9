"""``torch.cpu``: the CPU by the interface of the other devices, for code that serves them all."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from flambeau._C import _isa
from flambeau._core.lazy import lazy as _lazy

__all__ = [
    "Event",
    "Stream",
    "StreamContext",
    "current_device",
    "current_stream",
    "device_count",
    "get_capabilities",
    "is_available",
    "is_initialized",
    "set_device",
    "stream",
    "synchronize",
]


class Stream:
    """A queue of work: on the CPU operators have run when they return."""

    def __init__(self, priority: int = -1) -> None:
        self.priority = priority

    def wait_stream(self, stream: Stream) -> None:
        """Wait for another queue."""

    def record_event(self) -> None:
        """Leave a mark."""

    def wait_event(self, event: Event) -> None:
        """Wait for a mark."""

    def synchronize(self) -> None:
        """Wait for the work in the queue."""


class Event:
    """A mark in a queue of work, which has always been reached."""

    def query(self) -> bool:
        """Whether it has been reached."""
        return True

    def record(self, stream: Stream | None = None) -> None:
        """Put it into a queue."""

    def synchronize(self) -> None:
        """Wait until it has been reached."""

    def wait(self, stream: Stream | None = None) -> None:
        """Let a queue wait until it has been reached."""


_default_stream = Stream()
_current_stream = _default_stream


class StreamContext(contextlib.AbstractContextManager[None]):
    """Makes a stream the current one while a block runs; None leaves it as it is."""

    def __init__(self, stream: Stream | None) -> None:
        self.stream = stream
        self.prev_stream: Stream = _default_stream

    def __enter__(self) -> None:
        global _current_stream
        if self.stream is not None:
            self.prev_stream, _current_stream = _current_stream, self.stream

    def __exit__(self, type: Any, value: Any, traceback: Any) -> None:
        global _current_stream
        if self.stream is not None:
            _current_stream = self.prev_stream


def stream(stream: Stream | None) -> StreamContext:
    """A block whose work goes into ``stream``."""
    return StreamContext(stream)


def current_stream(device: Any = None) -> Stream:
    """The current stream."""
    return _current_stream


def synchronize(device: Any = None) -> None:
    """Wait for everything the CPU was given to do, which is done."""


def device_count() -> int:
    """One: the processors together."""
    return 1


def is_available() -> bool:
    """Always."""
    return True


def is_initialized() -> bool:
    """Always."""
    return True


def set_device(device: Any) -> None:
    """Accepted: there is one."""


def current_device() -> str:
    """Its name."""
    return "cpu"


def get_capabilities() -> Mapping[str, Any]:
    """Which instruction sets the kernels use."""
    level = _isa()
    return MappingProxyType({"avx2": level in ("avx2", "avx512"), "avx512": level == "avx512"})


if TYPE_CHECKING:
    from flambeau.cpu import amp as amp
else:
    __getattr__ = _lazy(__name__, "amp")
