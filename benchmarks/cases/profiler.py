"""The overhead of profiles."""

from collections.abc import Callable
from typing import Any

from benchmarks.case import Namespace, add_case

# Enough that starting and stopping do not matter.
_CALLS = 2000


def profiled(**options: bool) -> Callable[[Any], Namespace]:
    """Small operators in a profile that is read to the end."""

    def prepare(t: Any) -> Namespace:
        a, b = t.ones(3, 4), t.ones(3, 4)

        def run() -> None:
            with t.profiler.profile(**options) as prof:
                for _ in range(_CALLS):
                    a + b
            prof.key_averages()

        return {"run": run}

    return prepare


for name, options in (
    ("names and times", {}),
    ("shapes", {"record_shapes": True}),
    ("memory", {"profile_memory": True}),
):
    add_case("profiler", f"{_CALLS} x a + b with {name}", profiled(**options), "run()")

add_case(
    "profiler",
    "a range while no profile runs",
    lambda t: {"record": t.profiler.record_function},
    "with record('range'): pass",
)
