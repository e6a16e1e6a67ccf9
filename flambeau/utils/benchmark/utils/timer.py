"""Timing of statements."""

from __future__ import annotations

import enum
import statistics
import textwrap
import time
import timeit
from collections.abc import Callable
from typing import Any, NoReturn

import flambeau as fb
from flambeau.utils.benchmark.utils.common import Measurement, TaskSpec, set_torch_threads

__all__ = ["Language", "Timer", "timer"]

# The largest share of the loop around a statement in its time.
_OVERHEAD = 1e-4


class Language(enum.Enum):
    """The language of statements."""

    PYTHON = 0
    CPP = 1


def timer() -> float:
    """Seconds of a monotonic clock."""
    return time.perf_counter()


class Timer:
    """Timer of a statement, which sees ``globals`` and the names that ``setup`` made.

    It runs with ``num_threads`` threads for operators, after a warm-up. ``label``, ``sub_label``,
    ``description`` and ``env`` name it in the table of `Compare`: its table, its row,
    its column, and a part of its row.
    """

    def __init__(
        self,
        stmt: str = "pass",
        setup: str = "pass",
        global_setup: str = "",
        timer: Callable[[], float] = timer,
        globals: dict[str, Any] | None = None,
        label: str | None = None,
        sub_label: str | None = None,
        description: str | None = None,
        env: str | None = None,
        num_threads: int = 1,
        language: Language | str = Language.PYTHON,
    ) -> None:
        if not isinstance(stmt, str):
            raise ValueError(
                f"Currently only a `str` stmt is supported, got {type(stmt).__name__}."
            )
        if language not in (Language.PYTHON, "py", "python"):
            raise NotImplementedError(
                "Timer: statements in C++ would have to be compiled; time a Python statement that "
                "calls them"
            )
        if global_setup:
            raise ValueError(
                f"global_setup is C++ only, got `{global_setup}`. Use `setup` instead."
            )
        self._globals = {"torch": fb, **(globals or {})}
        self._language = Language.PYTHON
        stmt = textwrap.dedent(stmt)
        stmt = (stmt[1:] if stmt.startswith("\n") else stmt).rstrip()
        setup = textwrap.dedent(setup)
        setup = (setup[1:] if setup.startswith("\n") else setup).rstrip()
        self._timer = timeit.Timer(stmt, setup, timer, globals=self._globals)
        self._task_spec = TaskSpec(
            stmt=stmt,
            setup=setup,
            label=label,
            sub_label=sub_label,
            description=description,
            env=env,
            num_threads=num_threads,
        )

    def _timeit(self, number: int) -> float:
        # A clock may stand still for a moment, and times are divisors.
        return max(self._timer.timeit(number), 1e-9)

    def _measured(self, number: int, times: list[float]) -> Measurement:
        return Measurement(number_per_run=number, raw_times=times, task_spec=self._task_spec)

    def timeit(self, number: int = 1000000) -> Measurement:
        """Time ``number`` runs together."""
        with set_torch_threads(self._task_spec.num_threads):
            self._timeit(max(number // 100, 2))  # the first runs are slower
            return self._measured(number, [self._timeit(number)])

    def autorange(self, callback: Callable[[int, float], NoReturn] | None = None) -> None:
        """Not offered, as in PyTorch."""
        raise NotImplementedError("See `Timer.blocked_autorange.`")

    def repeat(self, repeat: int = -1, number: int = -1) -> None:
        """Not offered, as in PyTorch."""
        raise NotImplementedError("See `Timer.blocked_autorange.`")

    def blocked_autorange(
        self,
        callback: Callable[[int, float], NoReturn] | None = None,
        min_run_time: float = 0.2,
    ) -> Measurement:
        """Time blocks of runs until they have taken ``min_run_time`` seconds together.

        Blocks are long enough that the loop around the statement does not matter. ``callback`` is
        called with the runs and the time of each block.
        """
        with set_torch_threads(self._task_spec.num_threads):
            number = self._block_size(min_run_time)
            times: list[float] = []
            while sum(times) < min_run_time:
                times.append(self._timeit(number))
                if callback is not None:
                    callback(number, times[-1])
            return self._measured(number, times)

    def adaptive_autorange(
        self,
        threshold: float = 0.1,
        *,
        min_run_time: float = 0.01,
        max_run_time: float = 10.0,
        callback: Callable[[int, float], NoReturn] | None = None,
    ) -> Measurement:
        """Time blocks of runs until their spread is below ``threshold`` of the median.

        That takes at least ``min_run_time`` and at most about ``max_run_time`` seconds.
        """
        with set_torch_threads(self._task_spec.num_threads):
            number = self._block_size(min_run_time)
            measured = self._measured(number, [])
            while sum(measured.raw_times) < max_run_time:
                measured.raw_times.append(self._timeit(number))
                if callback is not None:
                    callback(number, measured.raw_times[-1])
                is_enough = len(measured.raw_times) >= 4 and sum(measured.raw_times) >= min_run_time
                if is_enough and measured.meets_confidence(threshold):
                    break
            return measured

    def _block_size(self, min_run_time: float) -> int:
        """Return the number of runs for which a block's loop does not matter."""
        overhead = statistics.median([self._timeit(0) for _ in range(5)])
        number = 1
        while True:
            taken = self._timeit(number)
            if taken > min_run_time:
                return number
            if overhead <= _OVERHEAD * taken and taken >= min_run_time / 1000:
                return number
            number *= 10

    def collect_callgrind(self, *args: object, **kwargs: object) -> NoReturn:
        """Instruction counts, which need Valgrind."""
        raise NotImplementedError(
            "collect_callgrind: counts of instructions are not supported; use blocked_autorange "
            "for times, or run the program under `valgrind --tool=callgrind` yourself"
        )
