"""A row of the benchmarks: measured on both sides in turn, printed, and as JSON."""

import dataclasses
import math
import os
import statistics
import sys
from typing import Any

from benchmarks.case import Case
from benchmarks.process import Process
from benchmarks.roofline import Rates, Work

SAME_RESULT = 1e-3  # relative; allowed between two frameworks after a few steps of training


@dataclasses.dataclass(frozen=True)
class Row:
    """The result of one case: seconds a call on either side."""

    case: Case
    ours: list[float]
    theirs: list[float]
    error: str | None = None

    @property
    def name(self) -> str:
        return self.case.name

    @property
    def ratio(self) -> float:
        """torch time / Flambeau time: above 1 Flambeau is faster."""
        return statistics.median(self.theirs) / statistics.median(self.ours)

    @property
    def spread(self) -> float:
        """Half the range of the middle half, relative to the median; the wider side counts."""
        return max(_relative_spread(self.ours), _relative_spread(self.theirs))

    @property
    def is_good(self) -> bool:
        return self.ratio >= self.case.least_ratio

    def shares(self, rates: Rates) -> tuple[float, float]:
        """The time of a perfect machine / the time taken, of either side."""
        best = rates.seconds(self.case.work or Work())
        return best / statistics.median(self.ours), best / statistics.median(self.theirs)


def _relative_spread(times: list[float]) -> float:
    if len(times) < 3:
        return 0.0
    low, middle, high = statistics.quantiles(times, n=4)
    return (high - low) / 2 / middle


def _python_of(tree: str) -> str:
    return os.path.join(tree, ".venv/bin/python")


def is_tree(module: str) -> bool:
    """Whether it is the folder of a built tree, not the name of a module."""
    return os.path.exists(_python_of(module))


class Side(Process):
    """A worker process of one framework.

    It has the cases of the files whose names start with `prefix`, and `allowance` seconds to start.
    """

    def __init__(
        self, module: str, threads: int, prefix: str = "", allowance: float = math.inf
    ) -> None:
        # Another tree has the same module, built from other sources in an environment of its own.
        python = _python_of(module) if is_tree(module) else sys.executable
        name = "flambeau" if is_tree(module) else module
        arguments = ("worker", name, str(threads), prefix)
        super().__init__(module, *arguments, threads=threads, python=python, allowance=allowance)

    def start(self) -> None:
        super().start()
        self.origin = str(self.answer()["origin"])  # the file that was really imported

    def gpu(self) -> str:
        """The version and the name of the GPU; an error if it does not compute."""
        return str(self.ask(device=True)["name"])

    def prepare(self, case: Case) -> tuple[int, list[float]]:
        answer = self.ask(prepare=case.key)
        return answer["number"], answer["values"]

    def set_threads(self, threads: int) -> None:
        self.ask(threads=threads)

    def measure(self, number: int) -> float:
        return float(self.ask(measure=number)["seconds"])


def run_case(case: Case, ours: Side, theirs: Side, rounds: int) -> Row:
    """Measure one case on both sides, in alternating order."""
    sides = (ours, theirs)
    times: dict[Side, list[float]] = {side: [] for side in sides}
    try:
        prepared = {side: side.prepare(case) for side in sides}
        _compare(prepared[ours][1], prepared[theirs][1])
        for turn in range(rounds):
            for side in sides if turn % 2 else reversed(sides):
                times[side].append(side.measure(prepared[side][0]))
    except RuntimeError as error:
        return Row(case, [], [], str(error))
    return Row(case, times[ours], times[theirs])


def _compare(ours: list[float], theirs: list[float]) -> None:
    for a, b in zip(ours, theirs, strict=True):
        if not math.isclose(a, b, rel_tol=SAME_RESULT):
            raise RuntimeError(f"results differ: {a:.6g} and {b:.6g}")


class Screen:
    """The table as it grows, with a line of progress where there is a terminal."""

    def __init__(self) -> None:
        self._live = sys.stdout.isatty()

    def progress(self, text: str) -> None:
        if self._live:
            print(f"\r\033[K{text}", end="", flush=True)

    def line(self, text: str = "", good: bool | None = None) -> None:
        if self._live and good is not None:
            text = f"\033[{32 if good else 31}m{text}\033[0m"
        print(f"\r\033[K{text}" if self._live else text, flush=True)

    def row(self, row: Row, rates: Rates | None) -> None:
        if row.error:
            self.line(f"  {row.name:44} {row.error[:70]}", False)
            return
        self.line(row_text(row, rates), None if row.is_good else False)


def row_text(row: Row, rates: Rates | None = None) -> str:
    ours, theirs = statistics.median(row.ours), statistics.median(row.theirs)
    text = f"  {row.name:44} {seconds_text(ours):>9} {seconds_text(theirs):>9} {row.ratio:7.2f}"
    text += f"  ±{row.spread:4.0%}"
    if rates and row.case.work:
        text += "  roofline {:5.1%} {:5.1%}".format(*row.shares(rates))
    return text + ("" if row.is_good else f"  below {row.case.least_ratio:g}")


def seconds_text(seconds: float) -> str:
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def geometric_mean(values: list[float]) -> float:
    return math.exp(statistics.fmean(map(math.log, values)))


def as_json(row: Row, rates: Rates | None) -> dict[str, Any]:
    if row.error:
        return {"name": row.name, "error": row.error}
    shares: dict[str, Any] = {}
    if rates and row.case.work:
        ours, theirs = row.shares(rates)
        shares = {"ours_share": ours, "theirs_share": theirs}
    return shares | {
        "name": row.name,
        "ours_seconds": statistics.median(row.ours),
        "theirs_seconds": statistics.median(row.theirs),
        "ratio": row.ratio,
        "spread": row.spread,
        "bar": row.case.least_ratio,
    }
