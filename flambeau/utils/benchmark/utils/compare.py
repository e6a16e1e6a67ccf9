"""Tables that compare measurements."""

from __future__ import annotations

import enum
import math
from collections.abc import Sequence
from typing import NamedTuple

from flambeau.utils.benchmark.utils.common import (
    Measurement,
    ordered_unique,
    select_unit,
    unit_to_english,
)

__all__ = ["Colorize", "Compare"]

_INDENT = " " * 6
_END = "\033[0m"
# Ratios to the best time, and the colour of each.
_COLORS = (
    (1.05, "\033[92m\033[1m"),  # the best and its equals: bright green
    (1.25, "\033[32m"),
    (2.0, ""),
    (5.0, "\033[2m\033[91m"),
    (math.inf, "\033[31m\033[1m"),
)


class Colorize(enum.Enum):
    """Which measurements a colour compares."""

    NONE = "none"
    COLUMNWISE = "columnwise"
    ROWWISE = "rowwise"


class _Row(NamedTuple):
    threads: int
    env: str | None
    name: str


class Compare:
    """Measurements as tables: one for each label, rows by sub-label, columns by description."""

    def __init__(self, results: list[Measurement]) -> None:
        self._results: list[Measurement] = []
        self._trim_significant_figures = False
        self._colorize = Colorize.NONE
        self._highlight_warnings = False
        self.extend_results(results)

    def __str__(self) -> str:
        return "\n".join(self._render())

    def extend_results(self, results: list[Measurement]) -> None:
        """Add measurements; several of one task count as one."""
        for result in results:
            if not isinstance(result, Measurement):
                raise ValueError(
                    "Expected an instance of `Measurement`, " + f"got {type(result)} instead."
                )
        self._results.extend(results)

    def trim_significant_figures(self) -> None:
        """Show significant digits only."""
        self._trim_significant_figures = True

    def colorize(self, rowwise: bool = False) -> None:
        """Colour cells by comparison within a column, or within a row."""
        self._colorize = Colorize.ROWWISE if rowwise else Colorize.COLUMNWISE

    def highlight_warnings(self) -> None:
        """Mark measurements that varied too much."""
        self._highlight_warnings = True

    def print(self) -> None:
        """Print the tables."""
        print(str(self))

    def _render(self) -> list[str]:
        results = Measurement.merge(self._results)
        labels = ordered_unique(result.task_spec.label for result in results)
        return [
            self._table([result for result in results if result.task_spec.label == label])
            for label in labels
        ]

    def _table(self, results: list[Measurement]) -> str:
        unit, scale = select_unit(min(result.median for result in results))
        has_envs = any(result.task_spec.env is not None for result in results)
        heads = ordered_unique(result.task_spec.description for result in results)
        cells: dict[tuple[_Row, str | None], Measurement] = {}
        for result in results:
            env = (result.task_spec.env or "Unspecified env") if has_envs else None
            row = _Row(result.task_spec.num_threads, env, result.as_row_name)
            cells[row, result.task_spec.description] = result
        rows = sorted(ordered_unique(row for row, _ in cells), key=lambda row: row.threads)
        grid = [[cells.get((row, head)) for head in heads] for row in rows]
        texts = self._texts(grid, scale)
        widths = [
            max(len(head or ""), *(len(line[i]) for line in texts)) for i, head in enumerate(heads)
        ]
        names = [_INDENT + (f"({row.env})  " if row.env else "") + row.name for row in rows]
        edge = max(map(len, names))

        def line(name: str, columns: Sequence[str]) -> str:
            return "  |  ".join([name.ljust(edge), *columns])

        width = edge + sum(width + 5 for width in widths)
        title = f" {results[0].task_spec.label or results[0].task_spec.stmt} "
        output = [
            f"[{title.center(width, '-')}]",
            line("", [(h or "").center(w) for h, w in zip(heads, widths, strict=True)]),
        ]
        threads = None
        for i, row in enumerate(rows):
            if row.threads != threads:
                threads = row.threads
                output.append(f"{threads} threads: ".ljust(width + 2, "-"))
            aligned = [text.rjust(w) for text, w in zip(texts[i], widths, strict=True)]
            output.append(line(names[i], self._colored(grid, i, aligned)))
        output += ["", f"Times are in {unit_to_english(unit)}s ({unit})."]
        if self._highlight_warnings and any(r.has_warnings for r in results):
            output.append(
                "(! XX%) Measurement has high variance, where XX is the IQR / median * 100."
            )
        return "\n".join([*output, ""])

    def _texts(self, grid: list[list[Measurement | None]], scale: float) -> list[list[str]]:
        decimals = [self._decimals(column, scale) for column in zip(*grid, strict=True)]
        return [
            [
                self._text(result, scale, digits)
                for result, digits in zip(row, decimals, strict=True)
            ]
            for row in grid
        ]

    def _decimals(self, column: Sequence[Measurement | None], scale: float) -> int:
        """The number of digits after the point in a column."""
        known = [result for result in column if result is not None]
        if not self._trim_significant_figures:
            smallest = min((result.median / scale for result in known), default=1.0)
            return 1 if smallest < 1000 else 0
        return max(
            (
                result.significant_figures - 1 - math.floor(math.log10(result.median / scale))
                for result in known
            ),
            default=0,
        )

    def _text(self, result: Measurement | None, scale: float, decimals: int) -> str:
        if result is None:
            return ""
        text = f"{result.median / scale:.{max(decimals, 0)}f}"
        if self._highlight_warnings and result.has_warnings:
            text += f" (! {100 * result.iqr / result.median:.0f}%)"
        return text

    def _colored(
        self, grid: list[list[Measurement | None]], row: int, texts: list[str]
    ) -> list[str]:
        if self._colorize == Colorize.NONE:
            return texts
        colored = []
        for column, text in enumerate(texts):
            result = grid[row][column]
            others = grid[row] if self._colorize == Colorize.ROWWISE else [r[column] for r in grid]
            best = min((other.median for other in others if other is not None), default=0.0)
            if result is None or not best:
                colored.append(text)
                continue
            color = next(color for limit, color in _COLORS if result.median / best <= limit)
            colored.append(f"{color}{text}{_END}" if color else text)
        return colored
