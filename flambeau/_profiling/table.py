"""The table of a profile: a row for each operator, as wide as it must be and no wider."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from flambeau._profiling.text import (
    columns,
    cut,
    cut_inside,
    flops_unit,
    format_memory,
    format_share,
    format_time,
    format_time_in,
)

__all__ = ["Layout", "table"]

# What a terminal shows without wrapping; names give way to it, down to a width that can be read.
_WIDTH = 120
_SHORTEST_NAME = 24


class Layout(NamedTuple):
    """How wide columns of text may become, and the unit of times."""

    source: int
    name: int
    shapes: int
    time_unit: str | None = None


class _Column(NamedTuple):
    head: str
    cell: Callable[[Any], str]
    is_text: bool = False


def table(
    events: Sequence[Any],
    layout: Layout,
    *,
    sort_by: str | None,
    row_limit: int,
    header: str | None,
    top_level_events_only: bool,
    with_memory: bool,
    with_flops: bool,
) -> str:
    """See `EventList.table`."""
    if not events:
        return ""
    whole = sum(event.self_cpu_time_total for event in events)
    rows = [e for e in events if not top_level_events_only or e.cpu_parent is None]
    if sort_by is not None:
        key = _attribute(sort_by)
        rows = sorted(rows, key=lambda event: getattr(event, key), reverse=True)
    if row_limit >= 0:
        rows = rows[:row_limit]
    unit = layout.time_unit
    time = format_time if unit is None else lambda value: format_time_in(value, unit)
    chosen = _columns(rows, layout, time, whole, with_memory, with_flops)
    cells = [[column.cell(event) for column in chosen] for event in rows]
    _fit_names(cells, chosen)
    lines = columns(
        [column.head for column in chosen],
        cells,
        frozenset(i for i, column in enumerate(chosen) if column.is_text),
    )
    if top_level_events_only:
        lines.insert(0, "This report only displays top-level operators")
    if header is not None:
        lines[:0] = ["=" * len(lines[-1]), header, "=" * len(lines[-1])]
    return "\n".join([*lines, f"Self CPU time total: {format_time(whole)}", ""])


def _columns(
    rows: Sequence[Any],
    layout: Layout,
    time: Callable[[float], str],
    whole: float,
    with_memory: bool,
    with_flops: bool,
) -> list[_Column]:
    chosen = [
        _Column("Name", lambda e: cut_inside(e.key, layout.name), is_text=True),
        _Column("Self %", lambda e: format_share(e.self_cpu_time_total, whole)),
        _Column("Self CPU", lambda e: time(e.self_cpu_time_total)),
        _Column("Total %", lambda e: format_share(e.cpu_time_total, whole)),
        _Column("CPU total", lambda e: time(e.cpu_time_total)),
        _Column("CPU avg", lambda e: time(e.cpu_time)),
    ]
    if with_memory:
        chosen += [
            _Column("CPU mem", lambda e: format_memory(e.cpu_memory_usage)),
            _Column("Self mem", lambda e: format_memory(e.self_cpu_memory_usage)),
        ]
    chosen.append(_Column("Calls", lambda e: str(e.count)))
    if with_flops:
        scale, unit = flops_unit(max((e.flops or 0 for e in rows), default=0))
        chosen.append(_Column(unit, lambda e: f"{e.flops / scale:.3f}" if e.flops else "--"))
    if any(event.input_shapes for event in rows):
        chosen.append(
            _Column("Input Shapes", lambda e: cut(str(e.input_shapes), layout.shapes), is_text=True)
        )
    if any(event.stack for event in rows):
        chosen.append(
            _Column(
                "Source Location",
                lambda e: cut(" < ".join(map(_short, e.stack)), layout.source),
                is_text=True,
            )
        )
    return chosen


def _short(frame: str) -> str:
    """The last two parts of a frame's path."""
    return "/".join(frame.split("/")[-2:])


def _fit_names(cells: list[list[str]], chosen: list[_Column]) -> None:
    """Shorten names where that keeps the table, but for text behind it, within a terminal."""
    if not cells:
        return
    widths = [max(len(c.head), *(len(row[i]) for row in cells)) for i, c in enumerate(chosen)]
    numbers = sum(width + 2 for width, c in zip(widths, chosen, strict=True) if not c.is_text)
    for row in cells:
        row[0] = cut_inside(row[0], max(_WIDTH - numbers, _SHORTEST_NAME))


def _attribute(sort_by: str) -> str:
    """The old names of what is measured on devices."""
    return sort_by.replace("cuda", "device").replace("xpu", "device")
