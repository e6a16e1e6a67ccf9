"""A whole training step: forward, loss, zero_grad, backward and the optimiser's step."""

import dataclasses
from collections.abc import Callable
from typing import Any

from benchmarks.case import Namespace, add_case
from benchmarks.roofline import Work, parameters

COMPARED_STEPS = 3  # the number of steps whose losses must agree: the last comes after two updates

OPTIMIZERS = {  # and how many tensors of state each keeps for a parameter
    "SGD": ({"lr": 0.01}, 0),
    "small momentum": ({"lr": 1e-5, "momentum": 0.9, "weight_decay": 1e-4}, 1),
    "momentum": ({"lr": 0.01, "momentum": 0.9, "weight_decay": 5e-4}, 1),
    "Adam": ({"lr": 1e-3}, 2),
    "AdamW": ({"lr": 3e-4, "weight_decay": 0.1}, 2),
}


@dataclasses.dataclass(frozen=True)
class Program:
    """What is trained: a module, and the loss of its next batch."""

    module: Any
    loss: Callable[[], Any]


def training_step(t: Any, program: Program, optimizer: str) -> Namespace:
    """A function for one step, and the losses of the first few steps, which have been done."""
    kind = t.optim.SGD if "momentum" in optimizer else getattr(t.optim, optimizer)
    trained = kind(program.module.parameters(), **OPTIMIZERS[optimizer][0])

    def step() -> Any:
        loss = program.loss()
        trained.zero_grad()
        loss.backward()
        trained.step()
        return loss

    return {"step": step, "losses": [step().item() for _ in range(COMPARED_STEPS)]}


def add_step(
    name: str, bar: float, make: Callable[[Any], Program], optimizer: str, count: int, work: Work
) -> None:
    """Register the training of what `make(t)` returns, with `count` parameters."""

    def prepare(t: Any) -> Namespace:
        t.manual_seed(0)
        program = make(t)
        found = sum(p.numel() for p in program.module.parameters())
        assert found == count, f"{name}: {found} parameters, declared are {count}"
        return training_step(t, program, optimizer)

    total = work + parameters(count, OPTIMIZERS[optimizer][1])
    add_case("train", name, prepare, "step()", check="losses", bar=bar, work=total)
