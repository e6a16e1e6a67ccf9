"""What the cases of the device cuda share: sizes, inputs, results to compare, and other bars."""

import os
from collections.abc import Callable, Sequence
from typing import Any

SMALL = "FLAMBEAU_BENCH_SMALL"  # set for a trial without a GPU

# A row of the group cuda-launch, and how many times the bare launch it may take.
LAUNCH_BARS = {"a + b": 1.25, "a + b, recorded": 1.35}
BARE_LAUNCH = "bare launch in C"
COPY = "copy"  # the row whose bandwidth is the measure of others


def size(full: int, small: int) -> int:
    """A size, or the one of a trial without a GPU."""
    return small if os.environ.get(SMALL) else full


def hashed(t: Any, count: int) -> Any:
    """Distinct whole numbers in no order, the same on both sides; `count` is at most 10007."""
    return (t.arange(count) * 7919) % 10007


def sample(t: Any, *shape: int) -> Any:
    """Small inputs on the GPU: distinct numbers in [0, 1)."""
    count = 1
    for length in shape:
        count *= length
    return (hashed(t, count) / 10007).reshape(shape).to("cuda")


def digest(t: Any, result: Any) -> list[float]:
    """A number for each tensor of a result, which depends on values and positions."""
    tensors = [result] if hasattr(result, "detach") else list(result)
    found: list[float] = []
    for each in tensors:
        x = each.detach().cpu().double().flatten().abs()
        found.append((x * t.linspace(1, 2, x.numel(), dtype=t.float64)).sum().item())
    return found


def rotating(function: Callable[..., Any], sets: Sequence[Sequence[Any]]) -> Callable[[], Any]:
    """A call of `function` on the next of some sets of inputs, which do not stay in a cache."""
    position = 0

    def run() -> Any:
        nonlocal position
        position = (position + 1) % len(sets)
        return function(*sets[position])

    return run
