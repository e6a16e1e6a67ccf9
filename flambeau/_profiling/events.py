"""From records to the events that programs see."""

from __future__ import annotations

import gc

from flambeau._profiling.flops import flops_of_call
from flambeau._profiling.records import Kind, Record, Recording
from flambeau.autograd.profiler_util import FunctionEvent

__all__ = ["dtypes_of", "events_of", "shapes_of", "shown_name"]

# Numbers of PyTorch's RecordScope.
_SCOPES: dict[int, int] = {Kind.NODE: 1, Kind.EVALUATION: 1, Kind.RANGE: 7}
# Nodes that do not come from an operator.
_ENGINE_NODES = frozenset({"AccumulateGrad", "CopySlices"})
_NO_SEQUENCE = 2**64 - 1  # of leaves, which run before all else
# The words of C++ for dtypes, which traces use.
_TYPE_NAMES = {
    "torch.bool": "bool",
    "torch.uint8": "unsigned char",
    "torch.int8": "signed char",
    "torch.int16": "short int",
    "torch.int32": "int",
    "torch.int64": "long int",
    "torch.float16": "c10::Half",
    "torch.bfloat16": "c10::BFloat16",
    "torch.float32": "float",
    "torch.float64": "double",
    "torch.complex64": "c10::complex<float>",
    "torch.complex128": "c10::complex<double>",
}


def events_of(recording: Recording, record_shapes: bool, with_flops: bool) -> list[FunctionEvent]:
    """The events of a recording: calls with the calls within them; modules are left out."""
    # Many objects that all stay: looking for garbage among them takes longer than making them.
    is_collecting = gc.isenabled()
    gc.disable()
    try:
        made = _made(recording, record_shapes, with_flops)
        _merge_repeated(made)
        _link_backward(recording, made)
        return sorted(made.values(), key=lambda event: event.time_range.start)
    finally:
        if is_collecting:
            gc.enable()


def _made(recording: Recording, record_shapes: bool, with_flops: bool) -> dict[int, FunctionEvent]:
    """Events by the places of their records."""
    threads: dict[int, int] = {}
    made: dict[int, FunctionEvent] = {}
    shown = [r.kind not in (Kind.MODULE, Kind.MEMORY) for r in recording.records]
    memory = _memory(recording)
    forwards = recording.forwards() if with_flops else {}
    for place, record in enumerate(recording.records):
        around = enclosing(recording, place, shown)
        if not shown[place] and (record.kind == Kind.MODULE or around is not None):
            continue
        event = _event(record, place, recording.began, threads, record_shapes)
        event.cpu_memory_usage = memory[place]
        if around is not None:
            made[around].append_cpu_child(event)
        if with_flops:
            _note_flops(event, flops_of_call(recording, place, forwards))
        made[place] = event
    return made


def enclosing(recording: Recording, place: int, shown: list[bool]) -> int | None:
    """The innermost record around one that is ``shown``."""
    parent = recording.records[place].parent
    while parent >= 0 and not shown[parent]:
        parent = recording.records[parent].parent
    return parent if parent >= 0 else None


def shown_name(record: Record) -> str:
    """The name of an event as PyTorch's tables have it."""
    name = f"torch::autograd::{record.name}" if record.name in _ENGINE_NODES else record.name
    return (
        f"autograd::engine::evaluate_function: {name}" if record.kind == Kind.EVALUATION else name
    )


def shapes_of(record: Record) -> list[list[int]]:
    """One list of sizes for each argument, empty for all that are no tensors."""
    return [list(a[0]) if isinstance(a, tuple) else [] for a in record.arguments or ()]


def dtypes_of(record: Record) -> list[str]:
    """The element types of arguments, empty for all that are no tensors."""
    return [
        _TYPE_NAMES.get(str(a[1]), "") if isinstance(a, tuple) else ""
        for a in record.arguments or ()
    ]


def _event(
    record: Record, place: int, began: int, threads: dict[int, int], record_shapes: bool
) -> FunctionEvent:
    kind = record.kind
    has_sequence = 0 < record.sequence < _NO_SEQUENCE
    has_shapes = record_shapes and kind == Kind.OPERATOR
    return FunctionEvent(
        place + 1,
        shown_name(record),
        threads.setdefault(record.thread, len(threads) + 1),
        (record.start - began) / 1000,
        (record.end - began) / 1000,
        input_shapes=shapes_of(record) if has_shapes else None,
        input_dtypes=dtypes_of(record) if has_shapes else None,
        concrete_inputs=[None if isinstance(a, tuple) else a for a in record.arguments or ()]
        if has_shapes
        else None,
        # The innermost frame of a range is the one that opens it.
        stack=record.stack[1:] if record.stack and kind == Kind.RANGE else record.stack,
        scope=_SCOPES.get(kind, 0),
        sequence_nr=record.sequence if has_sequence else -1,
        is_user_annotation=kind == Kind.RANGE,
    )


def _memory(recording: Recording) -> list[int]:
    """The bytes that each record took, with all within it, less those given back."""
    sums = [record.bytes for record in recording.records]
    for place in range(len(sums) - 1, -1, -1):  # what is within a record comes after it
        parent = recording.records[place].parent
        if parent >= 0:
            sums[parent] += sums[place]
    return sums


def _merge_repeated(made: dict[int, FunctionEvent]) -> None:
    """An operator that does nothing but call another of its name is that operator."""
    for place, event in list(made.items()):
        parent = event.cpu_parent
        if parent is None or parent.name != event.name or len(parent.cpu_children) != 1:
            continue
        parent.cpu_children = event.cpu_children
        for child in event.cpu_children:
            child.cpu_parent = parent
        parent.flops = parent.flops or event.flops
        parent.sequence_nr = max(parent.sequence_nr, event.sequence_nr)
        del made[place]


def _note_flops(event: FunctionEvent, flops: int) -> None:
    """PyTorch's tables have those of a convolution in the row of what programs call."""
    parent = event.cpu_parent
    if event.name == "aten::convolution" and parent is not None and "conv" in parent.name:
        event = parent
    event.flops = flops or None


def _link_backward(recording: Recording, made: dict[int, FunctionEvent]) -> None:
    """What runs backwards gets the thread and the stack of the operator that it belongs to."""
    forwards = recording.forwards()
    for place, event in made.items():
        record = recording.records[place]
        if record.kind not in (Kind.NODE, Kind.EVALUATION):
            continue
        forward = made.get(forwards.get(record.sequence, -1))
        if forward is not None:
            event.fwd_thread = forward.thread
            event.stack = event.stack or forward.stack
