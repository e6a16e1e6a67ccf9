"""Measurements and their statistics."""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import math
import statistics
import textwrap
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

import flambeau as fb

__all__ = [
    "Measurement",
    "TaskSpec",
    "ordered_unique",
    "select_unit",
    "set_torch_threads",
    "trim_sigfig",
    "unit_to_english",
]

_T = TypeVar("_T")

_MAX_SIGNIFICANT_FIGURES = 4
# No clock of a program is more precise than this.
_LEAST_CONFIDENCE_INTERVAL = 25e-9
# Interquartile ranges, relative to the median, that deserve a warning.
_SPREAD_WARNED_OF = 0.1
_SPREAD_ALARMED_AT = 0.25
_UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1}
_WORDS = {"ns": "nanosecond", "us": "microsecond", "ms": "millisecond", "s": "second"}


@dataclasses.dataclass(init=True, repr=False, eq=True, frozen=True)
class TaskSpec:
    """The statement that a timer runs, and its names in tables."""

    stmt: str
    setup: str
    global_setup: str = ""
    label: str | None = None
    sub_label: str | None = None
    description: str | None = None
    env: str | None = None
    num_threads: int = 1

    @property
    def title(self) -> str:
        """One line that says what was measured."""
        if self.label is not None:
            return self.label + (f": {self.sub_label}" if self.sub_label else "")
        if "\n" not in self.stmt:
            return self.stmt + (f": {self.sub_label}" if self.sub_label else "")
        head = f"stmt:{f' ({self.sub_label})' if self.sub_label else ''}"
        return f"{head}\n{textwrap.indent(self.stmt, '  ')}"

    def setup_str(self) -> str:
        """The setup as text."""
        if self.setup == "pass" or not self.setup:
            return ""
        if "\n" in self.setup:
            return f"setup:\n{textwrap.indent(self.setup, '  ')}"
        return f"setup: {self.setup}"

    def summarize(self) -> str:
        """What was measured, in a few lines."""
        parts = [self.title, self.description or "", self.setup_str()]
        text = "\n".join(part for part in parts if part)
        return text + "\n" if "\n" in self.title else text


@dataclasses.dataclass(init=True, repr=False)
class Measurement:
    """Times of a statement, in seconds: each of ``raw_times`` is of ``number_per_run`` runs."""

    number_per_run: int
    raw_times: list[float]
    task_spec: TaskSpec
    metadata: dict[Any, Any] | None = None

    def __post_init__(self) -> None:
        self._sorted_times: tuple[float, ...] = ()

    def __getattr__(self, name: str) -> Any:
        """The statement's names are attributes of the task."""
        if name.startswith("__") or name == "task_spec":
            raise AttributeError(name)
        return getattr(self.task_spec, name)

    @property
    def times(self) -> list[float]:
        """The seconds of one run."""
        return [time / self.number_per_run for time in self.raw_times]

    def _sorted(self) -> tuple[float, ...]:
        if len(self._sorted_times) != len(self.raw_times):
            self._sorted_times = tuple(sorted(self.times))
        return self._sorted_times

    def _quantile(self, share: float) -> float:
        """Interpolate between the two neighbouring times."""
        times = self._sorted()
        if not times:
            raise ValueError("Measurement: there are no times yet")
        place = share * (len(times) - 1)
        below = math.floor(place)
        above = min(below + 1, len(times) - 1)
        return times[below] + (times[above] - times[below]) * (place - below)

    @property
    def median(self) -> float:
        """The median."""
        return self._quantile(0.5)

    @property
    def mean(self) -> float:
        """The mean."""
        return statistics.fmean(self.times)

    @property
    def iqr(self) -> float:
        """The interquartile range."""
        return self._quantile(0.75) - self._quantile(0.25)

    @property
    def significant_figures(self) -> int:
        """The number of significant digits of the median.

        The median is known to within 1.645 standard errors of the middle half, the 90 % confidence
        interval of normal samples, or to the resolution of the clock.
        """
        times = self._sorted()
        middle = times[len(times) // 4 : math.ceil(3 * len(times) / 4)] or times
        error = statistics.pstdev(middle) / math.sqrt(len(middle))
        interval = max(1.645 * error, _LEAST_CONFIDENCE_INTERVAL)
        figures = math.floor(math.log10(self.median / interval)) if self.median > 0 else 1
        return min(max(figures, 1), _MAX_SIGNIFICANT_FIGURES)

    @property
    def has_warnings(self) -> bool:
        """Whether the times vary too much to be trusted."""
        return not self.meets_confidence()

    def meets_confidence(self, threshold: float = _SPREAD_WARNED_OF) -> bool:
        """Whether the interquartile range is within this share of the median."""
        return self.iqr <= threshold * self.median

    @property
    def title(self) -> str:
        """One line that says what was measured."""
        return self.task_spec.title

    @property
    def as_row_name(self) -> str:
        """The name of its row in a comparison."""
        return self.task_spec.sub_label or self.task_spec.stmt or "[Unknown]"

    def __repr__(self) -> str:
        unit, scale = select_unit(self.median)
        lines = [f"{super().__repr__()}", self.task_spec.summarize()]
        runs = f"{self.number_per_run} runs"
        threads = f"{self.num_threads} thread{'s' if self.num_threads > 1 else ''}"
        if len(self.raw_times) == 1:
            lines.append(f"  {self.median / scale:.2f} {unit}")
            lines.append(f"  1 measurement, {runs} , {threads}")
            return "\n".join(lines)
        lines.append(f"  Median: {self.median / scale:.2f} {unit}")
        if len(self.raw_times) >= 4:
            low, high = self._quantile(0.25) / scale, self._quantile(0.75) / scale
            lines.append(f"  IQR:    {self.iqr / scale:.2f} {unit} ({low:.2f} to {high:.2f})")
        lines.append(f"  {len(self.raw_times)} measurements, {runs} per measurement, {threads}")
        if self.has_warnings:
            spread = self.iqr / self.median
            is_bad = spread > _SPREAD_ALARMED_AT
            cause = (
                "suggests significant environmental influence"
                if is_bad
                else "could indicate system fluctuation"
            )
            lines.append(
                f"  WARNING: Interquartile range is {100 * spread:.1f}% of the median "
                f"measurement.\n           This {cause}."
            )
        return "\n".join(lines)

    @staticmethod
    def merge(measurements: Iterable[Measurement]) -> list[Measurement]:
        """Merge all measurements of each task."""
        groups: dict[TaskSpec, list[Measurement]] = collections.defaultdict(list)
        for measurement in measurements:
            groups[measurement.task_spec].append(measurement)
        merged = []
        for spec, group in groups.items():
            runs = {measurement.number_per_run for measurement in group}
            times = (
                [time for measurement in group for time in measurement.raw_times]
                if len(runs) == 1
                else [time for measurement in group for time in measurement.times]
            )
            merged.append(Measurement(runs.pop() if len(runs) == 1 else 1, times, spec))
        return merged


def select_unit(t: float) -> tuple[str, float]:
    """The best unit for a time in seconds, and how many seconds it has."""
    power = min(max(math.floor(math.log10(t) / 3), -3), 0) if t > 0 else -3
    unit = {-3: "ns", -2: "us", -1: "ms", 0: "s"}[power]
    return unit, _UNITS[unit]


def unit_to_english(u: str) -> str:
    """The word for a unit."""
    return _WORDS[u]


def trim_sigfig(x: float, n: int) -> float:
    """``x`` rounded to ``n`` significant figures."""
    if x == 0:
        return x
    return round(x, n - 1 - math.floor(math.log10(abs(x))))


def ordered_unique(elements: Iterable[_T]) -> list[_T]:
    """Each element once, in the order of their first appearance."""
    return list(dict.fromkeys(elements))


@contextlib.contextmanager
def set_torch_threads(n: int) -> Iterator[None]:
    """Let operators use ``n`` threads for a block."""
    before = fb.get_num_threads()
    try:
        fb.set_num_threads(n)
        yield
    finally:
        fb.set_num_threads(before)
