"""How much memory tensors take over time."""

from __future__ import annotations

import json
import os

from flambeau._profiling.files import writing
from flambeau._profiling.records import Kind, Recording

__all__ = ["write_timeline"]


def write_timeline(recording: Recording, path: str) -> None:
    """Write times in microseconds and the bytes that were in use from then on, as two lists.

    A name that ends in ``raw.json.gz`` gets a list of single changes instead: time, what happened,
    bytes and address.
    """
    path = os.fspath(path)
    changes = sorted(
        (record.start // 1000, record.bytes, record.subject)
        for record in recording.records
        if record.kind == Kind.MEMORY
    )
    if path.endswith("raw.json.gz"):
        words = ("create", "destroy")
        data: object = [[t, words[size < 0], abs(size), at] for t, size, at in changes]
    elif path.endswith((".json", ".json.gz")):
        times, sizes, total = [], [], 0
        for when, size, _ in changes:
            total += size
            times.append(when)
            sizes.append(total)
        data = [times, sizes]
    else:
        raise ValueError(
            f"export_memory_timeline: expected a name that ends in .json, .json.gz or raw.json.gz, "
            f"got {path!r}"
        )
    with writing(path) as file:
        json.dump(data, file)
