"""Events of a profile, and lists of them that can be summed up and shown."""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from flambeau._profiling.files import writing
from flambeau._profiling.text import format_memory, format_share, format_time

__all__ = [
    "EventList",
    "FormattedTimesMixin",
    "FunctionEvent",
    "FunctionEventAvg",
    "Interval",
    "Kernel",
]

_format_time = format_time
_format_memory = format_memory
_format_time_share = format_share


class Interval:
    """From ``start`` to ``end``, in microseconds since the profile began."""

    def __init__(self, start: float, end: float) -> None:
        self.start = start
        self.end = end

    def elapsed_us(self) -> float:
        """How long it is."""
        return self.end - self.start


class Kernel:
    """A kernel that a device ran for an operator."""

    def __init__(self, name: str, device: int, duration: float) -> None:
        self.name = name
        self.device = device
        self.duration = duration


class FormattedTimesMixin:
    """Times per call, and times as text."""

    count: int
    cpu_time_total: float
    device_time_total: float
    self_cpu_time_total: float
    self_device_time_total: float

    def __getattr__(self, name: str) -> Any:
        """What is measured on devices has had another name."""
        new = name.replace("cuda", "device")
        if new == name or name.startswith("__"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        warnings.warn(f"`{name}` is deprecated. Use `{new}` instead.", FutureWarning, stacklevel=2)
        return getattr(self, new)

    @property
    def cpu_time(self) -> float:
        """Microseconds of one call."""
        return self.cpu_time_total / self.count if self.count else 0.0

    @property
    def device_time(self) -> float:
        """Microseconds of one call on a device."""
        return self.device_time_total / self.count if self.count else 0.0

    @property
    def cpu_time_str(self) -> str:
        return format_time(self.cpu_time)

    @property
    def device_time_str(self) -> str:
        return format_time(self.device_time)

    @property
    def cpu_time_total_str(self) -> str:
        return format_time(self.cpu_time_total)

    @property
    def device_time_total_str(self) -> str:
        return format_time(self.device_time_total)

    @property
    def self_cpu_time_total_str(self) -> str:
        return format_time(self.self_cpu_time_total)

    @property
    def self_device_time_total_str(self) -> str:
        return format_time(self.self_device_time_total)


class FunctionEvent(FormattedTimesMixin):
    """One call of an operator, one node of a backward pass, or one named range."""

    # What is the same for all events of the CPU. Profiles have many: each keeps but what differs.
    node_id = -1
    overload_name = ""
    count = 1
    device_memory_usage = 0
    self_device_memory_usage = 0
    device_time_total: float = 0.0
    self_device_time_total: float = 0.0
    device_type = "CPU"
    device_index = 0
    is_remote = False
    is_legacy = False
    kernels: Sequence[Kernel] = ()
    cpu_parent: FunctionEvent | None = None

    def __init__(
        self,
        id: int,
        name: str,
        thread: int,
        start_us: float,
        end_us: float,
        *,
        fwd_thread: int | None = None,
        input_shapes: list[list[int]] | None = None,
        concrete_inputs: list[Any] | None = None,
        input_dtypes: list[str] | None = None,
        stack: list[str] | None = None,
        scope: int = 0,
        use_device: str | None = None,
        cpu_memory_usage: int = 0,
        is_async: bool = False,
        sequence_nr: int = -1,
        flops: int | None = None,
        trace_name: str | None = None,
        is_user_annotation: bool = False,
    ) -> None:
        self.id = id
        self.name = name
        self.trace_name: str = trace_name or name
        self.time_range: Interval = Interval(start_us, end_us)
        self.thread = thread
        self.fwd_thread = fwd_thread
        self.cpu_children: list[FunctionEvent] = []
        self.input_shapes: list[list[int]] = input_shapes or []
        self.concrete_inputs: list[Any] = concrete_inputs or []
        self.input_dtypes: list[str] = input_dtypes or []
        self.stack: list[str] = stack or []
        self.scope = scope
        self.use_device = use_device
        self.cpu_memory_usage = cpu_memory_usage
        self.is_async = is_async
        self.sequence_nr = sequence_nr
        self.flops = flops
        self.is_user_annotation = is_user_annotation

    def append_cpu_child(self, child: FunctionEvent) -> None:
        """Make ``child`` a call that was made within this one."""
        self.cpu_children.append(child)
        child.cpu_parent = self

    @property
    def key(self) -> str:
        """What `EventList.key_averages` sums up by: steps of a profiler are all alike."""
        return "ProfilerStep*" if self.name.startswith("ProfilerStep#") else self.name

    @property
    def cpu_time_total(self) -> float:  # type: ignore[override]
        """Microseconds, with all that it called."""
        return 0.0 if self.is_async else self.time_range.elapsed_us()

    @property
    def self_cpu_time_total(self) -> float:  # type: ignore[override]
        """Microseconds, without the calls that were made within it."""
        if self.is_async:
            return 0.0
        # A range that was closed after the one around it counts up to the end of that one.
        end = self.time_range.end
        inner = sum(
            max(min(child.time_range.end, end) - child.time_range.start, 0.0)
            for child in self.cpu_children
        )
        return self.cpu_time_total - inner

    @property
    def self_cpu_memory_usage(self) -> int:
        """Bytes that it took and kept by itself, less those that it gave back."""
        return self.cpu_memory_usage - sum(child.cpu_memory_usage for child in self.cpu_children)

    def __repr__(self) -> str:
        return (
            f"<FunctionEvent id={self.id} name={self.name} cpu_time={self.cpu_time_str} "
            f"start_us={self.time_range.start} end_us={self.time_range.end} "
            f"cpu_children={[child.id for child in self.cpu_children]} thread={self.thread} "
            f"input_shapes={self.input_shapes} cpu_memory_usage={self.cpu_memory_usage} "
            f"is_async={self.is_async} seq_nr={self.sequence_nr}>"
        )


class FunctionEventAvg(FormattedTimesMixin):
    """The sum of all events of one kind."""

    def __init__(self) -> None:
        self.key: str = ""
        self.count: int = 0
        self.node_id = -1
        self.overload_name = ""
        self.is_async: bool = False
        self.is_remote = False
        self.is_legacy = False
        self.is_user_annotation: bool = False
        self.use_device: str | None = None
        self.device_type = "CPU"
        self.cpu_time_total: float = 0.0
        self.device_time_total: float = 0.0
        self.self_cpu_time_total: float = 0.0
        self.self_device_time_total: float = 0.0
        self.input_shapes: list[list[int]] | str = ""
        self.stack: list[str] = []
        self.scope: int = 0
        self.cpu_memory_usage: int = 0
        self.device_memory_usage: int = 0
        self.self_cpu_memory_usage: int = 0
        self.self_device_memory_usage: int = 0
        self.cpu_children: list[FunctionEvent] = []
        self.cpu_parent: FunctionEvent | None = None
        self.flops: int = 0

    def add(self, other: FunctionEvent | FunctionEventAvg) -> FunctionEventAvg:
        """Take another event, or sum of events, into this sum."""
        if not self.count and not self.key:
            self._take_after(other)
        self.cpu_time_total += other.cpu_time_total
        self.self_cpu_time_total += other.self_cpu_time_total
        self.device_time_total += other.device_time_total
        self.self_device_time_total += other.self_device_time_total
        self.cpu_memory_usage += other.cpu_memory_usage
        self.self_cpu_memory_usage += other.self_cpu_memory_usage
        self.count += other.count
        self.flops += other.flops or 0
        return self

    __iadd__ = add

    def _take_after(self, other: FunctionEvent | FunctionEventAvg) -> None:
        """What events of one kind have in common."""
        self.key = other.key
        self.is_async = other.is_async
        self.is_user_annotation = other.is_user_annotation
        self.use_device = other.use_device
        self.cpu_parent = other.cpu_parent
        self.cpu_children = other.cpu_children
        self.input_shapes = other.input_shapes
        self.stack = other.stack
        self.scope = other.scope

    def __repr__(self) -> str:
        return (
            f"<FunctionEventAvg key={self.key} self_cpu_time={self.self_cpu_time_total_str} "
            f"cpu_time={self.cpu_time_str} calls={self.count} input_shapes={self.input_shapes} "
            f"cpu_memory_usage={self.cpu_memory_usage}>"
        )


class EventList(list[Any]):
    """Events, or sums of events, with tables, sums and exports of them."""

    def __init__(
        self,
        events: Iterable[Any] = (),
        *,
        use_device: str | None = None,
        use_cuda: bool = False,
        profile_memory: bool = False,
        with_flops: bool = False,
    ) -> None:
        super().__init__(events)
        self._use_device = use_device or ("cuda" if use_cuda else None)
        self._profile_memory = profile_memory
        self._with_flops = with_flops
        self._is_summed = False
        self._trace: Any = None  # what export_chrome_trace writes

    def __str__(self) -> str:
        return self.table()

    @property
    def self_cpu_time_total(self) -> float:
        """Microseconds of all events, none of them counted twice."""
        return sum((event.self_cpu_time_total for event in self), 0.0)

    def key_averages(
        self,
        group_by_input_shapes: bool = False,
        group_by_stack_n: int = 0,
        group_by_overload_name: bool = False,
    ) -> EventList:
        """The sums of events by name, or by name, shapes of inputs and ``n`` lines of the stack."""
        sums: dict[tuple[Any, ...], FunctionEventAvg] = defaultdict(FunctionEventAvg)
        for event in self:
            shapes = str(event.input_shapes) if group_by_input_shapes else ""
            stack = tuple(event.stack[:group_by_stack_n])
            sums[event.key, event.is_user_annotation, shapes, stack].add(event)
        for total in sums.values():
            if not group_by_input_shapes:
                total.input_shapes = ""
            total.stack = total.stack[:group_by_stack_n]
        made = EventList(
            sums.values(),
            use_device=self._use_device,
            profile_memory=self._profile_memory,
            with_flops=self._with_flops,
        )
        made._is_summed = True
        return made

    def total_average(self) -> FunctionEventAvg:
        """One sum of all events."""
        total = FunctionEventAvg()
        for event in self:
            total.add(event)
            total.key = ""
        total.key = "Total"
        return total

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
        """A table with a row for each event: see `flambeau.profiler`."""
        from flambeau._profiling.table import Layout, table

        layout = Layout(
            max_src_column_width, max_name_column_width, max_shapes_column_width, time_unit
        )
        return table(
            self,
            layout,
            sort_by=sort_by,
            row_limit=row_limit,
            header=header,
            top_level_events_only=top_level_events_only,
            with_memory=self._profile_memory,
            with_flops=self._with_flops,
        )

    def export_chrome_trace(self, path: str) -> None:
        """Write what `chrome://tracing` and Perfetto show; packed if the name ends in ``.gz``."""
        if self._trace is None:
            raise RuntimeError(
                "export_chrome_trace: sums of events have no times; export the events of the "
                "profile itself"
            )
        self._trace.write(path)

    def supported_export_stacks_metrics(self) -> list[str]:
        """What `export_stacks` can weigh stacks by."""
        return ["self_cpu_time_total", "self_cuda_time_total", "self_xpu_time_total"]

    def export_stacks(self, path: str, metric: str) -> None:
        """Write stacks with their time, a line each, as tools for flame graphs read them."""
        if metric not in self.supported_export_stacks_metrics():
            raise ValueError(
                f"metric should be one of: {self.supported_export_stacks_metrics()}, got {metric!r}"
            )
        forbidden = str.maketrans(" ;\t\n", "____")
        sums: dict[str, int] = defaultdict(int)
        for event in self:
            if event.stack:
                frames = (frame.translate(forbidden) for frame in reversed(event.stack))
                sums[";".join(frames)] += int(getattr(event, metric, 0.0))
        with writing(path) as file:
            file.writelines(f"{stack} {time}\n" for stack, time in sums.items() if time > 0)
