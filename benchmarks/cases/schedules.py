"""Schedules, averages of weights, and the optimisers for matrices and whole vectors."""

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.case import Namespace, add_case

SMALL = ((16, 32), (32,), (32, 4), (4,)) * 15
LARGE = ((1024, 1024), (1024,)) * 4


def parameters(t: Any, shapes: tuple[tuple[int, ...], ...]) -> list[Any]:
    rng = np.random.default_rng(0)
    params = [t.nn.Parameter(t.from_numpy(rng.standard_normal(s, np.float32))) for s in shapes]
    for p in params:
        p.grad = t.from_numpy(rng.standard_normal(tuple(p.shape), np.float32))
    return params


def stepping(name: str, shapes: tuple[tuple[int, ...], ...]) -> Callable[[Any], Namespace]:
    """Steps with gradients that stay the same."""
    return lambda t: {"step": getattr(t.optim, name)(parameters(t, shapes), lr=1e-4).step}


def averaging(shapes: tuple[tuple[int, ...], ...]) -> Callable[[Any], Namespace]:
    def prepare(t: Any) -> Namespace:
        model = t.nn.ParameterList(parameters(t, shapes))
        swa = t.optim.swa_utils
        average = swa.AveragedModel(model, multi_avg_fn=swa.get_ema_multi_avg_fn(0.999))
        average.update_parameters(model)
        return {"average": average, "model": model}

    return prepare


def fitting(size: int) -> Callable[[Any], Namespace]:
    """L-BFGS far from the minimum, so that every step makes all its iterations."""

    def prepare(t: Any) -> Namespace:
        x = t.nn.Parameter(t.ones(size))
        scale = t.linspace(1, 50, size)
        optimizer = t.optim.LBFGS(
            [x], lr=1e-3, history_size=20, tolerance_change=0, tolerance_grad=0
        )

        def closure() -> Any:
            optimizer.zero_grad()
            loss = (scale * x * x).sum()
            loss.backward()
            return loss

        return {"optimizer": optimizer, "closure": closure}

    return prepare


def scheduling(name: str, *args: Any) -> Callable[[Any], Namespace]:
    def prepare(t: Any) -> Namespace:
        optimizer = t.optim.SGD([t.nn.Parameter(t.zeros(1))], lr=0.1)
        optimizer.step()
        scheduler = getattr(t.optim.lr_scheduler, name)(optimizer, *args)
        optimizer.step()
        return {"scheduler": scheduler}

    return prepare


for size, shapes in (("60 small tensors", SMALL), ("4 million parameters", LARGE)):
    add_case("schedules", f"Adafactor, {size}", stepping("Adafactor", shapes), "step()")
    statement = "average.update_parameters(model)"
    add_case("schedules", f"exponential average, {size}", averaging(shapes), statement)
add_case("schedules", "Muon, 30 small matrices", stepping("Muon", SMALL[::2]), "step()")
for length in (20, 100_000):
    name = f"L-BFGS, 20 iterations, {length} parameters"
    add_case("schedules", name, fitting(length), "optimizer.step(closure)")
for name, args in (("StepLR", (30,)), ("CosineAnnealingLR", (10**7,))):
    add_case("schedules", f"{name}.step", scheduling(name, *args), "scheduler.step()")
