"""Timers of the device cuda.

- `launch`: the host's time of a call. A batch is short enough that the queue of launches never
  fills, and the GPU is waited for outside of what is timed.
- `device`: the GPU's time of a call, between two events. Where the host is slower than the GPU, the
  GPU first copies for as long as the host needs to launch the batch.
- `steps`: the wall time of a call, with one synchronisation at the end of a batch.
- `value`: what the statement returns.
"""

import gc
import statistics
import time
import timeit
from typing import Any

from benchmarks.case import Case, Namespace
from benchmarks.device import size

BATCH_SECONDS = 0.01  # of the timer `device`
MOST_CALLS = 100  # in a batch of the timer `device`
MOST_BATCHES = 15
MEASURE_SECONDS = 0.06  # one measurement is the median of as many batches as fit in
WARM_UP_CALLS = 3
COPIED_FLOATS = 2**25
COPY_SECONDS = 50e-6  # at least, of as many floats


def empty_cache(t: Any) -> None:
    """Return the memory of the last case to the GPU: the other framework needs it too."""
    gc.collect()
    t.cuda.synchronize()
    t.cuda.empty_cache()


def device_name(t: Any) -> str:
    """The version and the name of the GPU; an error if it does not compute any more."""
    t.ones(2, device="cuda").sum().item()
    t.cuda.synchronize()
    return f"{t.__version__} on {t.cuda.get_device_name()}"


class Timer:
    """The timer of one case, warmed up."""

    def __init__(self, t: Any, case: Case, names: Namespace) -> None:
        self._t = t
        self._statement, self._names = case.statement, names
        self._run = timeit.Timer(case.statement, globals=names).timeit
        self._batch = getattr(self, f"_{case.timer}")
        self._copies = 0
        self._source: Any = None
        self.calls = case.calls or 1
        if case.timer != "value":
            self._run(WARM_UP_CALLS)
        if case.timer == "device" and not case.calls:
            self._choose_calls()
        self._batch()

    def seconds(self) -> float:
        """Seconds of one call, the median of several batches."""
        found: list[float] = []
        end = time.perf_counter() + MEASURE_SECONDS
        while not found or (time.perf_counter() < end and len(found) < MOST_BATCHES):
            found.append(self._batch())
        return statistics.median(found)

    def _choose_calls(self) -> None:
        self.calls = WARM_UP_CALLS
        seconds = self._device()
        self.calls = max(1, min(MOST_CALLS, int(BATCH_SECONDS / seconds)))
        self._t.cuda.synchronize()
        host = self._run(WARM_UP_CALLS) / WARM_UP_CALLS
        if host > 0.3 * seconds:
            copied = size(COPIED_FLOATS, 16)
            self._source, self._target = (self._t.zeros(copied, device="cuda") for _ in range(2))
            wanted = 1.5 * host * self.calls / COPY_SECONDS
            self._copies = size(1 + min(int(wanted), 300), 1)

    def _launch(self) -> float:
        self._t.cuda.synchronize()
        seconds = self._run(self.calls)
        self._t.cuda.synchronize()
        return seconds / self.calls

    def _steps(self) -> float:
        self._t.cuda.synchronize()
        start = time.perf_counter()
        self._run(self.calls)
        self._t.cuda.synchronize()
        return (time.perf_counter() - start) / self.calls

    def _device(self) -> float:
        start, end = (self._t.cuda.Event(enable_timing=True) for _ in range(2))
        self._t.cuda.synchronize()
        for _ in range(self._copies):
            self._target.copy_(self._source)
        start.record()
        self._run(self.calls)
        end.record()
        end.synchronize()
        return float(start.elapsed_time(end)) / 1e3 / self.calls

    def _value(self) -> float:
        return float(eval(self._statement, self._names))
