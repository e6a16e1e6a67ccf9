"""A profiler that follows the steps of a training loop on a schedule."""

from __future__ import annotations

import json
import os
import socket
import time
import warnings
from collections.abc import Callable, Iterable
from enum import Enum, IntEnum
from types import TracebackType
from typing import Any

from flambeau._limits.accepted import accepted
from flambeau._profiling.memory import write_timeline
from flambeau._profiling.modules import ModuleList
from flambeau.autograd import profiler as autograd_profiler
from flambeau.autograd.profiler_util import EventList

__all__ = [
    "DeviceType",
    "ProfilerAction",
    "ProfilerActivity",
    "kineto_available",
    "profile",
    "schedule",
    "supported_activities",
    "tensorboard_trace_handler",
]


class ProfilerActivity(Enum):
    """What can be profiled; here it is the CPU."""

    CPU = 0
    XPU = 1
    MTIA = 2
    CUDA = 3
    HPU = 4
    PrivateUse1 = 5


class DeviceType(IntEnum):
    """Kinds of devices that events may belong to."""

    CPU = 0
    CUDA = 1
    XPU = 12
    MPS = 13
    Meta = 14
    HPU = 15


class ProfilerAction(Enum):
    """What the profiler does during a step."""

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


_RECORDING = (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)


def supported_activities() -> set[ProfilerActivity]:
    """What `profile` can record."""
    return {ProfilerActivity.CPU}


def kineto_available() -> bool:
    """Return whether traces are supported."""
    return True


def schedule(
    *,
    wait: int,
    warmup: int,
    active: int,
    repeat: int = 0,
    skip_first: int = 0,
    skip_first_wait: int = 0,
) -> Callable[[int], ProfilerAction]:
    """Schedule for `profile`: cycles of waiting, warming up and recording.

    Args:
        wait: Steps to wait in a cycle.
        warmup: Steps to warm up.
        active: Steps to record.
        repeat: Number of cycles; 0 repeats forever. Default: 0.
        skip_first: Steps before the first cycle. Default: 0.
        skip_first_wait: If nonzero, the first cycle does not wait. Default: 0.

    Example:
        >>> plan = torch.profiler.schedule(wait=1, warmup=1, active=2)
        >>> [plan(step).name for step in range(4)]
        ['NONE', 'WARMUP', 'RECORD', 'RECORD_AND_SAVE']
    """
    if min(wait, warmup, active - 1, repeat, skip_first) < 0:
        raise AssertionError(
            f"Invalid profiler schedule arguments. Got {wait=} (need >= 0), {warmup=} (need >= 0), "
            f"{active=} (need > 0), {repeat=} (need >= 0), {skip_first=} (need >= 0)."
        )
    if warmup == 0:
        warnings.warn(
            "Profiler won't be using warmup, this can skew profiler results", stacklevel=2
        )
    cycle = wait + warmup + active

    def action(step: int) -> ProfilerAction:
        assert step >= 0, f"Step must be non-negative. Got {step}."
        step -= skip_first
        if step < 0:
            return ProfilerAction.NONE
        if skip_first_wait:
            step += wait
        done, place = divmod(step, cycle)
        if (repeat and done >= repeat) or place < wait:
            return ProfilerAction.NONE
        if place < wait + warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD if place < cycle - 1 else ProfilerAction.RECORD_AND_SAVE

    return action


def _default_schedule_fn(step: int) -> ProfilerAction:
    return ProfilerAction.RECORD


def tensorboard_trace_handler(
    dir_name: str,
    worker_name: str | None = None,
    use_gzip: bool = False,
    use_python_export: bool = False,
) -> Callable[[profile], None]:
    """Make an ``on_trace_ready`` that writes every trace to a file of its own in ``dir_name``."""

    def write(profiler: profile) -> None:
        try:
            os.makedirs(dir_name, exist_ok=True)
        except OSError as error:
            raise RuntimeError(f"Can't create directory: {dir_name}") from error
        worker = worker_name or f"{socket.gethostname()}_{os.getpid()}"
        # Nanoseconds, so that traces that follow each other closely have different names.
        name = f"{worker}.{time.time_ns()}.pt.trace.json{'.gz' if use_gzip else ''}"
        profiler.export_chrome_trace(os.path.join(dir_name, name))

    return write


class profile:
    """Record operators, memory and modules of all threads.

    Use it as a `with` block, or call `start` and `stop`. With a `schedule`, call `step` after each
    step of the training loop.

    Args:
        activities: What to record. Default: everything available, the CPU.
        schedule: Function from step to `ProfilerAction`, see `profiler.schedule`. Default: record
            everything.
        on_trace_ready: Function of the profiler, called when a cycle was recorded. Default: None.
        record_shapes: Whether to keep shapes of arguments. Default: False.
        profile_memory: Whether to keep memory taken and released. Default: False.
        with_stack: Whether to keep lines of the program. Default: False.
        with_flops: Whether to count floating-point operations. Default: False.
        with_modules: Whether to keep calls of modules. Default: False.
        others: PyTorch's, accepted.

    Example:
        >>> with torch.profiler.profile(record_shapes=True) as prof:
        ...     _ = torch.ones(10, 10) @ torch.ones(10, 10)
        >>> "mm" in prof.key_averages().table(row_limit=5)
        True

    See also:
        `profiler.schedule`, `profiler.record_function`.
    """

    def __init__(
        self,
        *,
        activities: Iterable[ProfilerActivity] | None = None,
        schedule: Callable[[int], ProfilerAction] | None = None,
        on_trace_ready: Callable[..., Any] | None = None,
        record_shapes: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_flops: bool = False,
        with_modules: bool = False,
        experimental_config: Any = None,
        execution_trace_observer: Any = None,
        acc_events: bool = False,
        use_cuda: bool | None = None,
        custom_trace_id_callback: Callable[[], str] | None = None,
    ) -> None:
        if experimental_config is not None:
            accepted("torch.profiler.profile(experimental_config)")
        if execution_trace_observer is not None:
            accepted("torch.profiler.profile(execution_trace_observer)")
        if custom_trace_id_callback is not None:
            accepted("torch.profiler.profile(custom_trace_id_callback)")
        chosen = set(activities) if activities is not None else supported_activities()
        if use_cuda is not None:
            warnings.warn(
                "`use_cuda` is deprecated, use `activities` argument instead",
                FutureWarning,
                stacklevel=2,
            )
            chosen = chosen | {ProfilerActivity.CUDA} if use_cuda else chosen
        assert chosen, "No valid profiler activities found"
        self.activities = chosen
        self.schedule: Callable[[int], ProfilerAction] = schedule or _default_schedule_fn
        self.record_steps: bool = schedule is not None
        self.on_trace_ready = on_trace_ready
        self.record_shapes = record_shapes
        self.profile_memory = profile_memory
        self.with_stack = with_stack
        self.with_flops = with_flops
        self.with_modules = with_modules
        self.acc_events = acc_events
        self.step_num: int = 0
        self.current_action: ProfilerAction = self.schedule(0)
        self.profiler: autograd_profiler.profile | None = None
        self.step_rec_fn: autograd_profiler.record_function | None = None
        self._metadata: dict[str, Any] = {}

    def __enter__(self) -> profile:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()

    # Steps.

    def start(self) -> None:
        """Begin with step 0 of the schedule, or right away if there is none."""
        self._change(ProfilerAction.NONE, self.current_action)
        self._enter_step()

    def step(self) -> None:
        """Mark the beginning of the program's next step."""
        self._leave_step()
        before = self.current_action
        self.step_num += 1
        self.current_action = self.schedule(self.step_num)
        self._change(before, self.current_action)
        self._enter_step()

    def stop(self) -> None:
        """End the recording, and hand it to ``on_trace_ready`` if there is one."""
        assert self.profiler is not None or self.record_steps, (
            "Profiler must be initialized before stopping trace"
        )
        self._leave_step()
        if self.profiler is not None and self.profiler._session is not None:
            self.profiler._stop()
            if self.current_action in _RECORDING:
                self._trace_ready()

    def _enter_step(self) -> None:
        if self.record_steps:
            self.step_rec_fn = autograd_profiler.record_function(f"ProfilerStep#{self.step_num}")
            self.step_rec_fn.__enter__()

    def _leave_step(self) -> None:
        if self.step_rec_fn is not None:
            self.step_rec_fn.__exit__(None, None, None)
            self.step_rec_fn = None

    def _change(self, before: ProfilerAction, after: ProfilerAction) -> None:
        """What to do between two steps."""
        if before in _RECORDING and (
            after not in _RECORDING or before == ProfilerAction.RECORD_AND_SAVE
        ):
            if before == ProfilerAction.RECORD:
                warnings.warn(f"Incorrect schedule: RECORD followed by {after.name}", stacklevel=4)
            assert self.profiler is not None
            self.profiler._stop()
            self._trace_ready()
            before = ProfilerAction.NONE
        if before == ProfilerAction.WARMUP and after == ProfilerAction.NONE:
            warnings.warn("Incorrect schedule: WARMUP followed by NONE", stacklevel=4)
        if after in _RECORDING and before not in _RECORDING:
            self._begin()

    def _begin(self) -> None:
        if self.profiler is None or not self.acc_events:
            self.profiler = autograd_profiler.profile(
                use_device=self._device(),
                record_shapes=self.record_shapes,
                with_flops=self.with_flops,
                profile_memory=self.profile_memory,
                with_stack=self.with_stack,
                with_modules=self.with_modules,
                acc_events=self.acc_events,
            )
        self.profiler.metadata = self._metadata
        self.profiler._start()

    def _device(self) -> str | None:
        others = self.activities - {ProfilerActivity.CPU}
        return min(activity.name.lower() for activity in others) if others else None

    def _trace_ready(self) -> None:
        if self.on_trace_ready:
            self.on_trace_ready(self)

    # Results.

    def _finished(self, purpose: str) -> autograd_profiler.profile:
        assert self.profiler is not None, f"Profiler must be initialized before {purpose}"
        return self.profiler

    def events(self) -> EventList:
        """All events of the last recording, in the order of their start."""
        return self._finished("accessing events").function_events

    def key_averages(
        self,
        group_by_input_shape: bool = False,
        group_by_stack_n: int = 0,
        group_by_overload_name: bool = False,
    ) -> EventList:
        """The sums of events by name, shapes of inputs or lines of the program."""
        return self._finished("getting key averages").key_averages(
            group_by_input_shape, group_by_stack_n, group_by_overload_name
        )

    def by_module(self) -> ModuleList:
        """Return time and memory of modules, with their share of the backward pass."""
        return self._finished("getting times of modules").by_module()

    def export_chrome_trace(self, path: str) -> None:
        """Write a trace for `chrome://tracing` and Perfetto; compressed if named ``.gz``."""
        self._finished("exporting chrome trace").export_chrome_trace(path)

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total") -> None:
        """Write stacks with their time, a line each, as tools for flame graphs read them."""
        self._finished("exporting stacks").export_stacks(path, metric)

    def export_memory_timeline(self, path: str, device: str | None = None) -> None:
        """Write how much memory tensors took over time, as JSON."""
        recordings = self._finished("exporting memory timeline")._recordings
        assert self.profile_memory, "export_memory_timeline() requires profile_memory=True"
        assert recordings, "export_memory_timeline() requires a finished profile"
        write_timeline(recordings[-1], path)

    def add_metadata(self, key: str, value: str) -> None:
        """Add a text to the traces."""
        self._metadata[key] = value

    def add_metadata_json(self, key: str, value: str) -> None:
        """Add a JSON value to the traces."""
        self._metadata[key] = json.loads(value)

    def preset_metadata_json(self, key: str, value: str) -> None:
        """Add a JSON value before the profiler starts."""
        self.add_metadata_json(key, value)
