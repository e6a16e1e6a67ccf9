"""One framework in a process of its own, told over its standard input what to time.

It first tells where the module came from. Requests are one JSON object a line:
`{"prepare": key}`, then any number of `{"measure": n}`; `{"threads": n}` changes the number of
threads, and `{"device": true}` asks whether the GPU still computes.
"""

import importlib
import json
import sys
import time
import timeit
from typing import Any

from benchmarks import device_time
from benchmarks.case import Case, all_cases

BATCH_SECONDS = 0.02  # one measurement repeats the statement for about this long
WARM_UP_CALLS = 2
# OpenMP's idle threads spin before they sleep: without a pause, those of the other framework would
# take a processor from this one.
PAUSE_SECONDS = 0.03


class Worker:
    """The prepared case and its timer."""

    def __init__(self, t: Any, cases: dict[str, Case]) -> None:
        self._t = t
        self._cases = cases
        self._timer: timeit.Timer | None = None
        self._device_timer: device_time.Timer | None = None

    def prepare(self, key: str) -> dict[str, Any]:
        """Make the case's variables; answer how many calls fill one batch, and what to compare."""
        self._timer = self._device_timer = (
            None  # free the last case's tensors before the next are made
        )
        case: Case = self._cases[key]
        if case.timer != "wall":
            device_time.empty_cache(self._t)
        names = case.prepare(self._t)
        values = eval(case.check, names) if case.check else []
        if case.timer != "wall":
            self._device_timer = device_time.Timer(self._t, case, names)
            return {"number": self._device_timer.calls, "values": values}
        self._timer = timeit.Timer(case.statement, globals=names)
        return {"number": self._calls_in_batch(self._timer), "values": values}

    def _calls_in_batch(self, timer: timeit.Timer) -> int:
        timer.timeit(WARM_UP_CALLS)
        number, seconds = 1, timer.timeit(1)
        while seconds < BATCH_SECONDS:
            number *= 2 if seconds * 10 > BATCH_SECONDS else 8
            seconds = timer.timeit(number)
        return max(1, int(number * BATCH_SECONDS / seconds))

    def measure(self, number: int) -> float:
        """Seconds of one call, as the mean of `number` calls."""
        if self._device_timer:
            return self._device_timer.seconds()
        assert self._timer is not None, "prepare first"
        time.sleep(PAUSE_SECONDS)
        if number > 1:  # a call that fills the batch alone warms its own caches
            self._timer.timeit(1)
        return self._timer.timeit(number) / number


def main() -> None:
    name, threads = sys.argv[1], int(sys.argv[2])
    t = importlib.import_module(name)
    t.set_num_threads(threads)
    serve(t, all_cases(sys.argv[3] if len(sys.argv) > 3 else ""))


def serve(t: Any, cases: dict[str, Case]) -> None:
    """Answer what is asked about cases, until nothing is asked any more."""
    worker = Worker(t, cases)
    print(json.dumps({"origin": t.__file__}), flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        try:
            if "prepare" in request:
                answer: dict[str, Any] = worker.prepare(request["prepare"])
            elif "threads" in request:
                t.set_num_threads(request["threads"])
                answer = {}
            elif "device" in request:
                answer = {"name": device_time.device_name(t)}
            else:
                answer = {"seconds": worker.measure(request["measure"])}
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
