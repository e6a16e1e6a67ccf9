"""The trace event format that chrome://tracing and Perfetto read.

Every complete event has ``ph`` "X", a start ``ts`` and a length ``dur`` in microseconds, a process
``pid`` and a thread ``tid``; ``args`` are shown when it is clicked on. Arrows lead from operators
to their backward ("s" and "f"); changes of memory are instants ("i").
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import IO, Any

from flambeau._profiling.events import dtypes_of, shapes_of, shown_name
from flambeau._profiling.files import writing
from flambeau._profiling.records import Kind, Record, Recording

__all__ = ["Trace"]

_CATEGORIES: dict[int, str] = {
    Kind.OPERATOR: "cpu_op",
    Kind.NODE: "cpu_op",
    Kind.EVALUATION: "cpu_op",
    Kind.MODULE: "python_function",
    Kind.RANGE: "user_annotation",
}


class Trace:
    """A recording that can be written as a trace."""

    def __init__(self, recording: Recording, metadata: dict[str, Any]) -> None:
        self._recording = recording
        self._metadata = metadata

    def write(self, path: str) -> None:
        """Write to ``path``, packed if it ends in ``.gz``."""
        with writing(path) as file:
            self._write(file)

    def _write(self, file: IO[str]) -> None:
        import socket

        head = {
            "schemaVersion": 1,
            "displayTimeUnit": "ms",
            "baseTimeNanoseconds": 0,
            "deviceProperties": [],
            "host_name": socket.gethostname(),
            **self._metadata,
        }
        # An event a line: traces are long, and people look into them.
        file.write(json.dumps(head)[:-1] + ',\n"traceEvents": [\n')
        separator = ""
        for event in self._events():
            file.write(separator + json.dumps(event))
            separator = ",\n"
        file.write("\n]}\n")

    def _events(self) -> Iterator[dict[str, Any]]:
        process = os.getpid()
        yield from self._headings(process)
        forwards = self._recording.forwards()
        allocated = 0
        # In the order of time, so that memory adds up over all threads.
        in_order = sorted(enumerate(self._recording.records), key=lambda pair: pair[1].start)
        for place, record in in_order:
            where = {"pid": process, "tid": record.thread, "ts": record.start / 1000}
            if record.kind == Kind.MEMORY:
                allocated += record.bytes
                yield _memory(record, allocated) | where
                continue
            yield self._complete(record, place) | where
            forward = forwards.get(record.sequence)
            if record.kind == Kind.NODE and forward is not None:
                yield from self._arrow(self._recording.records[forward], record, process)

    def _headings(self, process: int) -> Iterator[dict[str, Any]]:
        def heading(what: str, thread: int, **args: Any) -> dict[str, Any]:
            return {"ph": "M", "name": what, "pid": process, "tid": thread, "ts": 0, "args": args}

        yield heading("process_name", 0, name="python")
        yield heading("process_labels", 0, labels="CPU")
        for thread in sorted({record.thread for record in self._recording.records}):
            yield heading("thread_name", thread, name=f"thread {thread}")

    def _complete(self, record: Record, place: int) -> dict[str, Any]:
        args: dict[str, Any] = {"External id": place + 1, "Ev Idx": place}
        if 0 < record.sequence < 2**63:
            args["Sequence number"] = record.sequence
        if record.arguments and record.kind == Kind.OPERATOR:
            args["Input Dims"] = shapes_of(record)
            args["Input type"] = dtypes_of(record)
            args["Concrete Inputs"] = [
                "" if a is None or isinstance(a, tuple) else str(a) for a in record.arguments
            ]
        elif record.arguments:
            args["args"] = record.arguments[0]
        if record.stack:
            args["Call stack"] = ";".join(record.stack)
        name = shown_name(record)
        if record.kind == Kind.MODULE:
            name = f"nn.Module: {record.name}_{record.subject}"
        return {
            "ph": "X",
            "cat": _CATEGORIES[record.kind],
            "name": name,
            "dur": (record.end - record.start) / 1000,
            "args": args,
        }

    @staticmethod
    def _arrow(forward: Record, backward: Record, process: int) -> Iterator[dict[str, Any]]:
        common = {"cat": "fwdbwd", "name": "fwdbwd", "id": backward.sequence, "pid": process}
        yield {"ph": "s", "tid": forward.thread, "ts": forward.start / 1000, **common}
        yield {"ph": "f", "tid": backward.thread, "ts": backward.start / 1000, "bp": "e", **common}


def _memory(record: Record, allocated: int) -> dict[str, Any]:
    return {
        "ph": "i",
        "cat": "cpu_instant_event",
        "name": "[memory]",
        "s": "t",
        "args": {
            "Bytes": record.bytes,
            "Addr": record.subject,
            "Total Allocated": allocated,
            "Device Type": 0,
            "Device Id": -1,
        },
    }
