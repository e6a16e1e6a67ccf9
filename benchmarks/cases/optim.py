"""Steps of optimisers: many small parameters, where only overhead counts, and many elements."""

from collections.abc import Callable
from typing import Any

from benchmarks.case import Namespace, add_case

SMALL = [(8, 8), (8,), (16, 4)] * 20
LARGE = [(1000, 1000)] * 10

# The name of a row, and how its optimiser is made.
COMMON = {
    "SGD": "t.optim.SGD(params, lr=1e-4)",
    "SGD, momentum": "t.optim.SGD(params, lr=1e-4, momentum=0.9)",
    "SGD, Nesterov, weight decay": (
        "t.optim.SGD(params, lr=1e-4, momentum=0.9, nesterov=True, weight_decay=0.01)"
    ),
    "Adam": "t.optim.Adam(params)",
    "Adam, amsgrad": "t.optim.Adam(params, amsgrad=True)",
    "AdamW": "t.optim.AdamW(params)",
    "RMSprop": "t.optim.RMSprop(params, lr=1e-4)",
    "Adagrad": "t.optim.Adagrad(params)",
    "Adadelta": "t.optim.Adadelta(params)",
    "Adamax": "t.optim.Adamax(params)",
    "NAdam": "t.optim.NAdam(params)",
    "RAdam": "t.optim.RAdam(params)",
}


def training(shapes: list[tuple[int, ...]], make: str) -> Callable[[Any], Namespace]:
    """Parameters with gradients, and an optimiser that has its state already."""

    def prepare(t: Any) -> Namespace:
        t.manual_seed(0)
        params = [t.randn(shape).requires_grad_() for shape in shapes]
        for param in params:
            param.grad = t.randn(param.shape)
        optimizer = eval(make, {"t": t, "params": params})
        optimizer.step()
        return {"t": t, "params": params, "optimizer": optimizer}

    return prepare


CHECK = "[params[0].detach().double().sum().item()]"

for name, make in COMMON.items():
    add_case("optim-small", name, training(SMALL, make), "optimizer.step()", check=CHECK)
for name, make in COMMON.items():
    # One addition to memory: torch does the same, at the speed of memory.
    bar = 0.95 if name == "SGD" else None
    prepare = training(LARGE, make)
    add_case("optim-large", name, prepare, "optimizer.step()", check=CHECK, bar=bar)
add_case(
    "optim-small",
    "zero_grad to zeros",
    training(SMALL, COMMON["SGD"]),
    "optimizer.zero_grad(set_to_none=False)",
)
