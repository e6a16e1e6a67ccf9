"""Run the groups of the device cuda and print them, with rates, other bars and a summary.

Unlike those of the CPU, all groups share two processes: the start of a GPU takes seconds. A process
that dies, does not answer or whose GPU fails is started again, and the next row runs.
"""

import contextlib
import math
import statistics
import time
from collections.abc import Callable
from typing import Any

from benchmarks import device_programs
from benchmarks.case import GROUPS, Case, Group
from benchmarks.device import BARE_LAUNCH, COPY, LAUNCH_BARS
from benchmarks.roofline import Rates
from benchmarks.rows import Row, Screen, Side, as_json, geometric_mean, row_text, run_case
from benchmarks.rows import seconds_text as text_of

CASE_SECONDS = 20.0  # which the answers of a side about one case may take
START_SECONDS = 60.0
PREFIX = "cuda_"  # of the files with the cases

Json = dict[str, Any]


class Report:
    """What was found: the JSON of each group, and lines about what is below its bar."""

    def __init__(self) -> None:
        self.screen = Screen()
        self.groups: dict[str, Json] = {}
        self.gpus: dict[str, str] = {}  # of each side
        self.below: list[str] = []
        self.group = ""  # which runs

    def line(self, text: str, good: bool) -> None:
        """Print one line, which is repeated in the summary if it is not good."""
        self.screen.line(text, None if good else False)
        if not good:
            self.below.append(f"  {self.group:15}{text}")

    def summary(self) -> None:
        for name, found in self.groups.items():
            if "mean" in found:
                text = f"{name:20} geometric mean {found['mean']:.2f} (bar {found['bar']:g})"
                self.screen.line(text, found["mean"] >= found["bar"])
        self.screen.line(f"{len(self.below)} below their bar or failed", not self.below)
        for text in self.below:
            self.screen.line(text)


def run(
    cases: dict[str, list[Case]],
    modules: tuple[str, str],
    threads: int,
    rounds: int,
    seconds: float,
) -> Report:
    """Run these groups; rows that have not begun after so many seconds are left out."""
    report = Report()
    end = time.monotonic() + seconds
    with contextlib.ExitStack() as stack:
        sides: list[Side] = []
        for name, selected in cases.items():
            group, report.group = GROUPS[name], name
            header = f"{group.title}  ({name})"
            if name in PROGRAMS:
                report.screen.line(header)
                report.groups[name] = PROGRAMS[name](report, modules, end)
            else:
                if not sides:
                    sides += _start(stack, report, modules, threads)
                report.screen.line(f"{header:46} {modules[0][:9]:>9} {modules[1][:9]:>9}   ratio")
                report.groups[name] = _run_group(report, group, selected, sides, rounds, end)
            report.screen.line()
    report.summary()
    return report


def _start(
    stack: contextlib.ExitStack, report: Report, modules: tuple[str, str], threads: int
) -> list[Side]:
    sides = [
        stack.enter_context(Side(module, threads, PREFIX, START_SECONDS)) for module in modules
    ]
    for side in sides:
        _introduce(report, side)
    report.screen.line()
    return sides


def _introduce(report: Report, side: Side) -> None:
    try:
        report.gpus[side.name] = side.gpu()
        report.screen.line(f"{side.name}: {report.gpus[side.name]}, {side.origin}")
    except RuntimeError as error:
        report.line(f"{side.name}: {error}", False)
        _recover(side)


def _run_group(
    report: Report, group: Group, cases: list[Case], sides: list[Side], rounds: int, end: float
) -> Json:
    rows: list[Row] = []
    shown: list[Json] = []
    for case in cases:
        report.screen.progress(f"  {case.name} …")
        rows.append(_run_case(case, sides, rounds, end))
        shown.append(_show(report, rows[-1], rows))
    found: Json = {"rows": shown, "bar": group.mean_bar}
    measured = [row.ratio for row in rows if not row.error and row.name not in (BARE_LAUNCH, COPY)]
    if measured:
        found["mean"] = mean = geometric_mean(measured)
        failed = sum(1 for row in rows if row.error)
        text = f"  geometric mean {mean:.2f} (bar {group.mean_bar:g})"
        text += f", {failed} rows failed" if failed else ""
        report.screen.line(text, mean >= group.mean_bar)
    return found


def _run_case(case: Case, sides: list[Side], rounds: int, end: float) -> Row:
    if time.monotonic() > end:
        return Row(case, [], [], "no time left")
    for side in sides:
        side.allowance = CASE_SECONDS
    try:
        row = run_case(case, sides[0], sides[1], rounds)
    except Exception as error:  # an answer that was none
        row = Row(case, [], [], f"{type(error).__name__}: {error}")
    if row.error:
        for side in sides:
            _recover(side)
    return row


def _recover(side: Side) -> None:
    """Start a process again if it died or its GPU does not compute any more."""
    try:
        side.allowance = CASE_SECONDS
        side.gpu()
    except Exception:
        side.stop()
        side.allowance = START_SECONDS
        with contextlib.suppress(RuntimeError):  # the next row tells
            side.start()


def _show(report: Report, row: Row, rows: list[Row]) -> Json:
    """Print a row with its rates and its place beside the row that it is measured by."""
    if row.error:
        report.line(f"  {row.name:44} {' '.join(row.error.split())[:160]}", False)
        return as_json(row, None)
    found = as_json(row, None)
    text, good = row_text(row), row.is_good
    times = [statistics.median(row.ours), statistics.median(row.theirs)]
    work = row.case.work
    if work:
        amount, unit = (work.flops, "TFLOP/s") if work.flops else (work.bytes, "TB/s")
        rates = [amount / seconds / 1e12 for seconds in times]
        found |= {"ours_rate": rates[0], "theirs_rate": rates[1], "unit": unit}
        text += f"  {rates[0]:5.4g} {rates[1]:5.4g} {unit}"
    copy = _measured(rows, COPY)
    if row.case.share_bar and copy and copy.case.work:
        fastest = min(statistics.median(copy.ours), statistics.median(copy.theirs))
        shares = row.shares(Rates(math.inf, copy.case.work.bytes / fastest))
        found |= {"ours_share": shares[0], "theirs_share": shares[1]}
        text += f"  of a copy {shares[0]:4.0%} {shares[1]:4.0%}"
        if shares[0] < row.case.share_bar:
            good = False
            text += f"  below {row.case.share_bar:.0%}"
    report.line(text, good)
    bare, bar = _measured(rows, BARE_LAUNCH), LAUNCH_BARS.get(row.name)
    if bare and bar:
        quotients = [seconds / statistics.median(bare.ours) for seconds in times]
        found |= {"ours_launches": quotients[0], "theirs_launches": quotients[1]}
        name = f"{row.name} / bare launch"
        text = f"  {name:44} {quotients[0]:9.2f} {quotients[1]:9.2f}"
        good = quotients[0] <= bar
        report.line(text + ("" if good else f"          above {bar:g}"), good)
    return found


def _measured(rows: list[Row], name: str) -> Row | None:
    return next((row for row in rows if row.name == name and not row.error), None)


def _first_results(report: Report, modules: tuple[str, str], end: float) -> Json:
    """Seconds until the first result of a fresh process, which only Flambeau is asked for."""
    rows: list[Json] = []
    for program, bars in device_programs.START_BARS.items():
        report.screen.progress(f"  {program} …")
        try:
            found = _in_time(lambda program=program: device_programs.first_results(program), end)
        except RuntimeError as error:
            report.line(f"  {program:44} {error}", False)
            rows.append({"name": program, "error": str(error)})
            continue
        for cache, seconds, bar in zip(("cold", "warm"), found, bars, strict=True):
            good = bar is None or seconds <= bar
            name = f"{program}, {cache} cache"
            text = f"  {name:44} {text_of(seconds):>9}"
            report.line(text + ("" if good else f"  above {bar:g} s"), good)
            rows.append({"name": name, "ours_seconds": seconds, "bar_seconds": bar})
    return {"rows": rows}


def _reserved(report: Report, modules: tuple[str, str], end: float) -> Json:
    """Reserved / allocated memory at the peak of a program with many lengths."""
    bar = device_programs.MEMORY_BAR
    rows: list[Json] = []
    for module in modules:
        report.screen.progress(f"  {module} …")
        name = f"sequences of many lengths, {module}"
        try:
            value, seconds = _in_time(lambda m=module: device_programs.run(m, "lengths"), end)
        except RuntimeError as error:
            report.line(f"  {name:44} {error}", False)
            rows.append({"name": name, "error": str(error)})
            continue
        good = value <= bar or module != modules[0]
        text = f"  {name:44} {value:9.3f}  in {text_of(seconds)}"
        report.line(text + ("" if good else f"  above {bar:g}"), good)
        rows.append({"name": name, "quotient": value, "seconds": seconds, "bar": bar})
    return {"rows": rows}


def _in_time(function: Callable[[], Any], end: float) -> Any:
    if time.monotonic() > end:
        raise RuntimeError("no time left")
    return function()


PROGRAMS = {"cuda-start": _first_results, "cuda-memory": _reserved}  # groups without cases
