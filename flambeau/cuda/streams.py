"""Queues of work on a GPU, and marks in them."""

from __future__ import annotations

from typing import Any

from flambeau import _C
from flambeau import device as _device
from flambeau.cuda._device import chosen_index, needs_gpu

__all__ = ["Event", "ExternalStream", "Stream"]


class Stream:
    """A queue of work on a GPU, which runs beside that of other streams.

    Args:
        device: The GPU. Default: the current one.
        priority: Below 0 for work that goes before others. Default: 0.
    """

    device: _device
    device_index: int
    cuda_stream: int
    priority: int
    device_type = 1
    _contexts: list[StreamContext]  # blocks that have not ended

    def __new__(cls, device: Any = None, priority: int = 0, **kwargs: Any) -> Stream:
        needs_gpu(RuntimeError)
        index = chosen_index(device)
        handle = kwargs.get("stream_ptr")
        if handle is None:
            handle = _C._cuda_new_stream(index, priority)
        return _stream(cls, index, handle, priority)

    def __init__(self, device: Any = None, priority: int = 0, **kwargs: Any) -> None:
        return

    @property
    def stream_id(self) -> int:
        return self.cuda_stream

    @staticmethod
    def priority_range() -> tuple[int, int]:
        """The lowest and the highest priority."""
        return 0, -1

    def __enter__(self) -> Stream:
        self._contexts.append(StreamContext(self))
        self._contexts[-1].__enter__()
        return self

    def __exit__(self, type: Any, value: Any, traceback: Any) -> None:
        self._contexts.pop().__exit__(type, value, traceback)

    @property
    def _as_parameter_(self) -> Any:
        import ctypes

        return ctypes.c_void_p(self.cuda_stream)

    def synchronize(self) -> None:
        """Wait until all work of the stream is done."""
        _C._cuda_stream_synchronize(self.device_index, self.cuda_stream)

    def query(self) -> bool:
        """Whether all work of the stream is done."""
        return _C._cuda_stream_query(self.device_index, self.cuda_stream)

    def wait_event(self, event: Event) -> None:
        """Let later work of this stream wait for an event."""
        event.wait(self)

    def wait_stream(self, stream: Stream) -> None:
        """Let later work of this stream wait for what another one has been given so far."""
        self.wait_event(stream.record_event())

    def record_event(self, event: Event | None = None) -> Event:
        """Mark this place in the stream, by a new event if none is given."""
        event = Event() if event is None else event
        event.record(self)
        return event

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Stream):
            return False
        return (self.device_index, self.cuda_stream) == (other.device_index, other.cuda_stream)

    def __hash__(self) -> int:
        return hash((self.device_index, self.cuda_stream))

    def __repr__(self) -> str:
        return f"<torch.cuda.Stream device={self.device} cuda_stream={self.cuda_stream:#x}>"


def _stream(cls: type[Stream], index: int, handle: int, priority: int = 0) -> Stream:
    made = object.__new__(cls)
    made.device = _device("cuda", index)
    made.device_index = index
    made.cuda_stream = handle
    made.priority = -1 if priority < 0 else 0
    made._contexts = []
    return made


class ExternalStream(Stream):
    """A stream that another library has made; it must outlive this object."""

    def __new__(cls, stream_ptr: int, device: Any = None, **kwargs: Any) -> ExternalStream:
        made = super().__new__(cls, device=device, stream_ptr=stream_ptr)
        assert isinstance(made, cls)
        return made

    def __init__(self, stream_ptr: int, device: Any = None, **kwargs: Any) -> None:
        return


class Event:
    """A mark in a stream, to wait for and to measure time with.

    Args:
        enable_timing: Whether `elapsed_time` can be asked for. Default: False.
        blocking: Whether waiting sleeps rather than spins. Default: False.
        interprocess: Events are not shared with other processes: must be False.

    Example:
        >>> if torch.cuda.is_available():
        ...     start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        ...     start.record()
        ...     end.record()
        ...     end.synchronize()
        ...     milliseconds = start.elapsed_time(end)
    """

    def __new__(
        cls, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False
    ) -> Event:
        needs_gpu(RuntimeError)
        return object.__new__(cls)

    def __init__(
        self, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False
    ) -> None:
        if interprocess:
            raise NotImplementedError("cuda.Event: events are not shared with other processes here")
        self._options = (enable_timing, blocking)
        self._handle = 0
        self._index = -1

    @property
    def cuda_event(self) -> int:
        return self._handle

    @property
    def device(self) -> _device | None:
        return None if self._index < 0 else _device("cuda", self._index)

    def record(self, stream: Stream | None = None) -> None:
        """Mark a place in a stream, by default in the current one."""
        stream = current_stream() if stream is None else stream
        if not self._handle:
            self._index = stream.device_index
            self._handle = _C._cuda_new_event(self._index, *self._options)
        elif self._index != stream.device_index:
            raise RuntimeError(
                f"cuda.Event: recorded on cuda:{self._index}, so not on {stream.device}"
            )
        _C._cuda_record_event(self._index, self._handle, stream.cuda_stream)

    def wait(self, stream: Stream | None = None) -> None:
        """Let later work of a stream, by default of the current one, wait for the event."""
        if self._handle:
            stream = current_stream() if stream is None else stream
            _C._cuda_wait_event(stream.device_index, stream.cuda_stream, self._handle)

    def query(self) -> bool:
        """Whether all work before the event is done."""
        return not self._handle or _C._cuda_event_query(self._handle)

    def synchronize(self) -> None:
        """Wait until all work before the event is done."""
        if self._handle:
            _C._cuda_event_synchronize(self._index, self._handle)

    def elapsed_time(self, end_event: Event) -> float:
        """The milliseconds from this event to another one."""
        for event in (self, end_event):
            if not event._options[0]:
                raise ValueError("Both events must be created with argument 'enable_timing=True'.")
            if not event._handle:
                raise ValueError("Both events must be recorded before calculating elapsed time.")
        return _C._cuda_elapsed_time(self._handle, end_event._handle)

    def __del__(self) -> None:
        if getattr(self, "_handle", 0):
            _C._cuda_destroy_event(self._handle)

    def __repr__(self) -> str:
        return (
            f"<torch.cuda.Event {self._handle:#x}>"
            if self._handle
            else "<torch.cuda.Event uninitialized>"
        )


class StreamContext:
    """Makes a stream the current one while a block runs; None leaves it as it is."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def __enter__(self) -> None:
        if self.stream is None:
            return
        needs_gpu()
        self._device = _C._cuda_current_device()
        self._before = _C._cuda_current_stream(self.stream.device_index)
        _C._cuda_set_device(self.stream.device_index)
        _C._cuda_set_stream(self.stream.device_index, self.stream.cuda_stream)

    def __exit__(self, type: Any, value: Any, traceback: Any) -> None:
        if self.stream is None:
            return
        _C._cuda_set_stream(self.stream.device_index, self._before)
        _C._cuda_set_device(self._device)


def stream(stream: Any) -> StreamContext:
    """A block whose work goes into ``stream``."""
    return StreamContext(stream)


def set_stream(stream: Any) -> None:
    """Make a stream the current one; None leaves it as it is."""
    if stream is not None:
        needs_gpu()
        _C._cuda_set_stream(stream.device_index, stream.cuda_stream)


def current_stream(device: Any = None) -> Stream:
    """The stream that work on a GPU goes into now.

    Args:
        device: The GPU. Default: the current one.

    Example:
        >>> if torch.cuda.is_available():
        ...     torch.cuda.current_stream().synchronize()
    """
    needs_gpu()
    index = chosen_index(device)
    return _stream(Stream, index, _C._cuda_current_stream(index))


def default_stream(device: Any = None) -> Stream:
    """The stream that work on a GPU goes into if nothing else is said."""
    needs_gpu()
    return _stream(Stream, chosen_index(device), 0)


def get_stream_from_external(data_ptr: int, device: Any = None) -> Stream:
    """A stream that another library has made; it must outlive the object."""
    needs_gpu()
    return _stream(Stream, chosen_index(device), data_ptr)
