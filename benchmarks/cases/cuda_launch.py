"""The host's time of small operators on a GPU, beside a bare launch."""

from typing import Any

from benchmarks.bare_launch import launch_seconds
from benchmarks.case import Namespace, add_case
from benchmarks.device import BARE_LAUNCH, digest, sample, size

CALLS = 500  # launches in a batch: the queue of a stream holds 1024
LENGTH = 16


def bare(t: Any) -> Namespace:
    t.ones(1, device="cuda")
    return {"launch_seconds": launch_seconds, "calls": size(CALLS, 5)}


def small(t: Any) -> Namespace:
    a, b = sample(t, LENGTH), sample(t, LENGTH)
    return {"a": a, "b": b, "checked": digest(t, a + b)}


def recorded(t: Any) -> Namespace:
    names = small(t)
    names["a"].requires_grad_()
    names["b"].requires_grad_()
    return names


def backward(t: Any) -> Namespace:
    names = recorded(t)
    a, b = names["a"], names["b"]

    def step() -> None:
        (a * b).sum().backward()
        a.grad = b.grad = None

    (a * b).sum().backward()
    return {"step": step, "checked": digest(t, (a.grad, b.grad))}


add_case("cuda-launch", BARE_LAUNCH, bare, "launch_seconds(calls)", timer="value", bar=0.0)
for name, prepare in (("a + b", small), ("a + b, recorded", recorded)):
    add_case(
        "cuda-launch", name, prepare, "a + b", check="checked", timer="launch", calls=size(CALLS, 5)
    )
add_case(
    "cuda-launch",
    "(a * b).sum() and backward",
    backward,
    "step()",
    check="checked",
    bar=2.5,
    timer="launch",
    calls=size(80, 2),
)
