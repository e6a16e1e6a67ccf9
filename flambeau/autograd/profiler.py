"""Profiles of a block of code: the events of operators, nodes and named ranges."""

from __future__ import annotations

import warnings
import weakref
from contextlib import ContextDecorator
from types import TracebackType
from typing import Any, NoReturn

from flambeau import _C
from flambeau._limits.accepted import accepted
from flambeau._profiling.events import events_of
from flambeau._profiling.modules import ModuleList, by_module
from flambeau._profiling.records import Recording, Session
from flambeau._profiling.trace import Trace
from flambeau.autograd.profiler_util import EventList, FunctionEvent, FunctionEventAvg, Kernel

__all__ = [
    "EventList",
    "FunctionEvent",
    "FunctionEventAvg",
    "Kernel",
    "emit_itt",
    "emit_nvtx",
    "profile",
    "record_function",
]

_UNFINISHED = "<unfinished torch.autograd.profile>"
_running: weakref.WeakSet[profile] = weakref.WeakSet()


class profile:
    """Record what operators take inside a ``with`` block.

    ``record_shapes`` keeps the shapes of arguments, ``profile_memory`` the memory that operators
    take and give back, ``with_stack`` the lines of the program that called them, ``with_flops``
    their floating point operations and ``with_modules`` the calls of modules. All threads are
    recorded.
    """

    def __init__(
        self,
        enabled: bool = True,
        *,
        use_cuda: bool = False,
        use_device: str | None = None,
        record_shapes: bool = False,
        with_flops: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_modules: bool = False,
        use_kineto: bool = False,
        use_cpu: bool = True,
        experimental_config: Any = None,
        acc_events: bool = False,
        custom_trace_id_callback: Any = None,
    ) -> None:
        if experimental_config is not None:
            accepted("torch.profiler.profile(experimental_config)")
        if custom_trace_id_callback is not None:
            accepted("torch.profiler.profile(custom_trace_id_callback)")
        self.enabled = enabled
        self.entered: bool = False
        self.record_shapes: bool = record_shapes or with_flops
        self.with_flops = with_flops
        self.profile_memory = profile_memory
        self.with_stack = with_stack
        self.with_modules = with_modules
        self.use_cpu = use_cpu
        self.acc_events = acc_events
        self.use_device: str | None = None
        self.metadata: dict[str, Any] = {}
        self._session: Session | None = None
        self._recordings: list[Recording] = []
        self._events: EventList | None = None  # made of the recordings when somebody looks
        if enabled:
            _refuse_devices(use_cuda, use_device)

    def __enter__(self) -> profile | None:
        if not self.enabled:
            return None
        if self.entered:
            raise RuntimeError("Profiler context manager is not reentrant")
        self.entered = True
        self._start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self.enabled:
            self._stop()

    def _start(self) -> None:
        self._session = Session(
            arguments=self.record_shapes,
            memory=self.profile_memory,
            stacks=self.with_stack,
            modules=self.with_modules,
        )
        _running.add(self)

    def _stop(self) -> None:
        if self._session is None:
            return
        recording = self._session.stop()
        self._session = None
        _running.discard(self)
        self._events = None
        self._recordings = [*self._recordings, recording] if self.acc_events else [recording]

    def __repr__(self) -> str:
        return repr(self.function_events) if self._recordings else _UNFINISHED

    def __str__(self) -> str:
        return str(self.function_events) if self._recordings else _UNFINISHED

    @property
    def function_events(self) -> EventList:
        """All events, in the order of their start; none before the block has ended."""
        if self._events is None:
            self._events = EventList(profile_memory=self.profile_memory, with_flops=self.with_flops)
            for recording in self._recordings:
                self._events += events_of(recording, self.record_shapes, self.with_flops)
            if self._recordings:
                self._events._trace = self._trace()
        return self._events

    def _trace(self) -> Trace:
        options = ("record_shapes", "profile_memory", "with_stack", "with_flops", "with_modules")
        said = {name: int(getattr(self, name)) for name in options}
        return Trace(self._recordings[-1], said | self.metadata)

    @property
    def self_cpu_time_total(self) -> float:
        """Microseconds of all events, none of them counted twice."""
        return self.function_events.self_cpu_time_total

    def key_averages(
        self,
        group_by_input_shape: bool = False,
        group_by_stack_n: int = 0,
        group_by_overload_name: bool = False,
    ) -> EventList:
        """The sums of events by name, shapes or lines of the program."""
        return self.function_events.key_averages(
            group_by_input_shape, group_by_stack_n, group_by_overload_name
        )

    def by_module(self) -> ModuleList:
        """Time and memory of modules, with their part of the backward pass."""
        if not self.with_modules:
            raise RuntimeError(
                "by_module: the profile did not record modules; use with_modules=True"
            )
        return by_module(self._recordings[-1]) if self._recordings else ModuleList()

    def total_average(self) -> FunctionEventAvg:
        """One sum of all events."""
        return self.function_events.total_average()

    def table(
        self,
        sort_by: str | None = None,
        row_limit: int = 100,
        max_src_column_width: int = 75,
        max_name_column_width: int = 55,
        max_shapes_column_width: int = 80,
        header: str | None = None,
        top_level_events_only: bool = False,
        time_unit: str | None = None,
    ) -> str:
        """A table with a row for each event."""
        return self.function_events.table(
            sort_by,
            row_limit,
            max_src_column_width,
            max_name_column_width,
            max_shapes_column_width,
            header,
            top_level_events_only,
            time_unit,
        )

    def export_chrome_trace(self, path: str) -> None:
        """Write what `chrome://tracing` and Perfetto show; packed if the name ends in ``.gz``."""
        if not self._recordings:
            raise RuntimeError("export_chrome_trace: nothing was recorded; run the profile first")
        self._trace().write(path)

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total") -> None:
        """Write stacks with their time, a line each, as tools for flame graphs read them."""
        assert self.with_stack, "export_stacks() requires with_stack=True"
        self.function_events.export_stacks(path, metric)


def _profiler_enabled() -> bool:
    """Whether a profile runs."""
    return len(_running) > 0


def _disable_profiler() -> None:
    """Stop the profiles that somebody forgot to stop."""
    for running in list(_running):
        running._stop()


def _refuse_devices(use_cuda: bool, use_device: str | None) -> None:
    """Say which devices cannot be profiled."""
    if use_cuda:
        warnings.warn(
            "The attribute `use_cuda` will be deprecated soon, please use ``use_device = 'cuda'`` "
            "instead.",
            FutureWarning,
            stacklevel=3,
        )
    device = "cuda" if use_cuda else use_device
    if device is not None and device != "cpu":
        word = device.upper()
        warnings.warn(f"{word} is not available, disabling {word} profiling", stacklevel=3)


class record_function(ContextDecorator):
    """Show a block, or the calls of a function, under a name of its own in profiles.

    Args:
        name: The name.
        args: Text that traces show beside it. Default: None.

    Example:
        >>> with torch.profiler.profile() as prof:
        ...     with torch.profiler.record_function("my block"):
        ...         _ = torch.ones(10).sum()
        >>> "my block" in [event.key for event in prof.key_averages()]
        True
    """

    def __init__(self, name: str, args: str | None = None) -> None:
        self.name = name
        self.args = args
        # One for each time that it was entered and not left: functions may call themselves.
        self._open: list[_C._ProfileRange] = []

    def __enter__(self) -> record_function:
        range_ = _C._ProfileRange(self.name, self.args or "")
        range_.open()
        self._open.append(range_)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._open:
            self._open.pop().close()


class emit_nvtx:
    """NVTX ranges for NVIDIA's profilers, which need CUDA."""

    def __init__(self, enabled: bool = True, record_shapes: bool = False) -> None:
        self.enabled = enabled
        self.record_shapes = record_shapes

    def __enter__(self) -> emit_nvtx:
        if self.enabled:
            _refuse_ranges("emit_nvtx", "NVTX, which comes with CUDA")
        return self

    def __exit__(self, *error: object) -> None:
        pass


class emit_itt(emit_nvtx):
    """ITT ranges for Intel's VTune."""

    def __enter__(self) -> emit_itt:
        if self.enabled:
            _refuse_ranges("emit_itt", "Intel's ITT library")
        return self


def _refuse_ranges(name: str, needed: str) -> NoReturn:
    raise AssertionError(
        f"{name}: Torch not compiled with CUDA enabled: this needs {needed}. Use "
        "flambeau.profiler.profile, whose traces chrome://tracing and Perfetto show."
    )
