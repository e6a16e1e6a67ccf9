"""Times, sizes and counts as tables show them."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = [
    "columns",
    "cut",
    "cut_inside",
    "flops_unit",
    "format_memory",
    "format_share",
    "format_time",
    "format_time_in",
]


def format_time(microseconds: float) -> str:
    """Three decimals in the largest unit that leaves a whole number before them: 1.250ms."""
    if abs(microseconds) >= 1e6:
        return f"{microseconds / 1e6:.3f}s"
    if abs(microseconds) >= 1e3:
        return f"{microseconds / 1e3:.3f}ms"
    return f"{microseconds:.3f}us"


def format_time_in(microseconds: float, unit: str) -> str:
    """The same in a unit of the caller's."""
    return f"{microseconds / {'us': 1.0, 'ms': 1e3, 's': 1e6}[unit]:.3f}{unit}"


def format_share(part: float, whole: float) -> str:
    """``part`` in per cent of ``whole``."""
    if whole == 0:
        return "NaN" if part else "0.00%"
    return f"{100 * part / whole:.2f}%"


def format_memory(size: int) -> str:
    """Bytes in the largest fitting unit: 1.09 KB."""
    for power, unit in ((3, "GB"), (2, "MB"), (1, "KB")):
        if abs(size) >= 1024**power:
            return f"{size / 1024**power:.2f} {unit}"
    return f"{size} B"


_FLOP_UNITS = ("FLOPs", "KFLOPs", "MFLOPs", "GFLOPs", "TFLOPs", "PFLOPs")


def flops_unit(largest: float) -> tuple[float, str]:
    """What to divide by so that ``largest`` reads well, and what that is called."""
    power = 0
    while power + 1 < len(_FLOP_UNITS) and largest >= 1000 ** (power + 1):
        power += 1
    return 1000.0**power, _FLOP_UNITS[power]


def cut(text: str, width: int) -> str:
    """At most ``width`` characters."""
    return text if len(text) <= width else text[: max(width - 3, 0)] + "..."


def cut_inside(text: str, width: int) -> str:
    """The same for names, whose ends tell them apart."""
    if len(text) <= width:
        return text
    tail = max(2 * (width - 3) // 3, 0)
    return f"{text[: max(width - 3 - tail, 0)]}...{text[len(text) - tail :]}"


def columns(
    heads: Sequence[str], rows: Sequence[Sequence[str]], left: frozenset[int] = frozenset({0})
) -> list[str]:
    """Lines of a table as wide as its cells: text in the columns ``left``, numbers in others."""
    widths = [max(len(line[i]) for line in (heads, *rows)) for i in range(len(heads))]

    def line(cells: Sequence[str]) -> str:
        parts = (
            cell.ljust(width) if i in left else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(cells, widths, strict=True))
        )
        return "  ".join(parts).rstrip()

    rule = "  ".join("-" * width for width in widths)
    return [rule, line(heads), rule, *map(line, rows), rule]
