"""Training steps of perceptrons, where the cost of an operator is most of the time."""

import itertools
from typing import Any

from benchmarks.roofline import Work, product
from benchmarks.training import Program, add_step


def network(t: Any, sizes: tuple[int, ...]) -> Any:
    layers: list[Any] = []
    for inputs, outputs in itertools.pairwise(sizes):
        layers += [t.nn.Linear(inputs, outputs), t.nn.ReLU()]
    return t.nn.Sequential(*layers[:-1])


def perceptron(t: Any, sizes: tuple[int, ...], batch: int) -> Program:
    module = network(t, sizes)
    x, y = t.randn(batch, sizes[0]), t.randint(0, sizes[-1], (batch,))
    return Program(module, lambda: t.nn.functional.cross_entropy(module(x), y))


def add(name: str, bar: float, sizes: tuple[int, ...], batch: int, optimizer: str) -> None:
    work, count = Work(), 0
    for inputs, outputs in itertools.pairwise(sizes):
        work += product(batch, inputs, outputs, is_first=not count)
        count += (inputs + 1) * outputs
    add_step(name, bar, lambda t: perceptron(t, sizes, batch), optimizer, count, work)


add("MLP 16-32-4, batch 8, Adam", 6.0, (16, 32, 4), 8, "Adam")
add("MLP 784-128-10, batch 64, SGD", 1.8, (784, 128, 10), 64, "SGD")
