"""Queues of work on a GPU, and marks in them."""

from __future__ import annotations

from typing import Any

from flambeau._limits.refusing import Function, refusal, refused, refused_type

__all__ = ["Event", "ExternalStream", "Stream"]

_STREAM = ("query", "record_event", "synchronize", "wait_event", "wait_stream")
_EVENT = ("elapsed_time", "from_ipc_handle", "ipc_handle", "query", "record", "synchronize", "wait")

# PyTorch's classes refuse with a RuntimeError, its functions with an AssertionError.
Stream: Any = refused_type("cuda.Stream", _STREAM)
ExternalStream: Any = refused_type("cuda.ExternalStream", _STREAM)
Event: Any = refused_type("cuda.Event", _EVENT)


class StreamContext:
    """Makes a stream the current one while a block runs; None leaves it as it is."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def __enter__(self) -> None:
        if self.stream is not None:
            raise refusal("cuda.stream")

    def __exit__(self, type: Any, value: Any, traceback: Any) -> None:
        return


def stream(stream: Any) -> StreamContext:
    """A block whose work goes into ``stream``."""
    return StreamContext(stream)


def set_stream(stream: Any) -> None:
    """Make a stream the current one; None leaves it as it is."""
    if stream is not None:
        raise refusal("cuda.set_stream")


current_stream: Function = refused("cuda.current_stream")
default_stream: Function = refused("cuda.default_stream")
get_stream_from_external: Function = refused("cuda.get_stream_from_external")
