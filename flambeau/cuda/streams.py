"""Queues of work on a GPU, and marks in them."""

from __future__ import annotations

from typing import Any

from flambeau._limits.absent import Function
from flambeau.cuda._absence import CUDA

__all__ = ["Event", "ExternalStream", "Stream"]

_STREAM = ("query", "record_event", "synchronize", "wait_event", "wait_stream")
_EVENT = ("elapsed_time", "from_ipc_handle", "ipc_handle", "query", "record", "synchronize", "wait")

# PyTorch's classes refuse with a RuntimeError, its functions with an AssertionError.
Stream: Any = CUDA.type("Stream", "A queue of work on a GPU.", RuntimeError, _STREAM)
ExternalStream: Any = CUDA.type("ExternalStream", "A queue made elsewhere.", RuntimeError, _STREAM)
Event: Any = CUDA.type("Event", "A mark in a queue of work.", RuntimeError, _EVENT)


class StreamContext:
    """Makes a stream the current one while a block runs; None leaves it as it is."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def __enter__(self) -> None:
        if self.stream is not None:
            raise CUDA.error("stream")

    def __exit__(self, type: Any, value: Any, traceback: Any) -> None:
        return


def stream(stream: Any) -> StreamContext:
    """A block whose work goes into ``stream``."""
    return StreamContext(stream)


def set_stream(stream: Any) -> None:
    """Make a stream the current one; None leaves it as it is."""
    if stream is not None:
        raise CUDA.error("set_stream")


current_stream: Function = CUDA.function("current_stream", "The stream that work goes into.")
default_stream: Function = CUDA.function("default_stream", "The stream that is current at first.")
get_stream_from_external: Function = CUDA.function(
    "get_stream_from_external", "A stream made elsewhere."
)
