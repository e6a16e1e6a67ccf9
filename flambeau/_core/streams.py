"""``torch.Stream`` and ``torch.Event``: queues of work on any device, here on the CPU."""

from __future__ import annotations

from typing import Any

import flambeau as fb
from flambeau._limits.refusing import refusal

__all__ = ["Event", "Stream"]


def _checked(device: Any, name: str) -> fb.device:
    place = fb.device("cpu" if device is None else device)
    if place.type != "cpu":
        raise refusal(f"accelerator.{name}")
    return place


def _on_gpu(device: Any) -> bool:
    """Whether a device is a GPU that there is; one that there is not is refused later."""
    place = fb.device("cpu" if device is None else device)
    return place.type == "cuda" and fb.cuda.is_available()


class Stream:
    """A queue of work. On the CPU operators have run when they return, so it is always empty.

    On a GPU it is a `cuda.Stream`.
    """

    def __new__(cls, device: Any = None, *, priority: int = 0) -> Any:
        if cls is Stream and _on_gpu(device):
            return fb.cuda.Stream(device, priority)
        return super().__new__(cls)

    def __init__(self, device: Any = None, *, priority: int = 0) -> None:
        self.device: fb.device = _checked(device, "Stream")
        self.stream_id = 0
        self.device_index = -1
        self.device_type = 0
        self.priority = priority

    def query(self) -> bool:
        """Whether all work is done."""
        return True

    def synchronize(self) -> None:
        """Wait until all work is done."""

    def wait_event(self, event: Event) -> None:
        """Let later work wait for an event."""

    def wait_stream(self, stream: Stream) -> None:
        """Let later work wait for another stream."""

    def record_event(self, event: Event | None = None) -> Event:
        """Record an event, and return it."""
        mark = Event(self.device) if event is None else event
        mark.record(self)
        return mark

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *exc_info: object) -> None:
        return

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and self.device == other.device

    def __hash__(self) -> int:
        return hash((Stream, self.device))

    def __repr__(self) -> str:
        return f"torch.Stream device_type={self.device.type}, device_index=-1, stream_id=0"


class Event:
    """An event in a queue of work. Elapsed times are between the moments of recording.

    On a GPU it is a `cuda.Event`.
    """

    def __new__(
        cls,
        device: Any = None,
        *,
        enable_timing: bool = False,
        blocking: bool = False,
        interprocess: bool = False,
    ) -> Any:
        if cls is Event and _on_gpu(device):
            return fb.cuda.Event(enable_timing, blocking, interprocess)
        return super().__new__(cls)

    def __init__(
        self,
        device: Any = None,
        *,
        enable_timing: bool = False,
        blocking: bool = False,
        interprocess: bool = False,
    ) -> None:
        self.device: fb.device = _checked(device, "Event")
        self.event_id = 0
        self._times = enable_timing
        self._seconds: float | None = None

    def record(self, stream: Stream | None = None) -> None:
        """Record the event in a queue."""
        import time  # rarely needed

        self._seconds = time.perf_counter()

    def query(self) -> bool:
        """Return whether the event has been reached."""
        return True

    def synchronize(self) -> None:
        """Wait until the event has been reached."""

    def wait(self, stream: Stream | None = None) -> None:
        """Let a queue wait until the event has been reached."""

    def elapsed_time(self, end_event: Event) -> float:
        """Return the milliseconds between two events."""
        if not (self._times and end_event._times):
            raise ValueError("Event.elapsed_time: both events need enable_timing=True")
        if self._seconds is None or end_event._seconds is None:
            raise ValueError("Event.elapsed_time: both events must have been recorded")
        return (end_event._seconds - self._seconds) * 1000

    def __repr__(self) -> str:
        return f"torch.Event device_type={self.device.type}, device_index=-1, event_flag=0"
