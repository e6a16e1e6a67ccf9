"""Configurations of layers and functions: what the tests of every layer run over.

A configuration is text, so that it can be evaluated with one framework or with another:

    layer("Conv2d(3, 8, 3, stride=2)", inputs=["2 3 9 11"])
    function("conv2d", "F.conv2d(x, w, stride=2)", x="2 4 9 9", w="6 4 3 3")
    refused("F.conv2d(x, w)", x="2 3 9 9", w="6 2 3 3")

An input is described by its type and shape: `2 3 4` is float32 from the normal distribution,
`float64 2 3` another type, `int64[0:10] 2 5` integers below 10, `bool 3 4`, `uniform 3 4` numbers
between 0 and 1, `positive 3 4` numbers above 0.1, `sorted 6` the same in rising order.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Layer:
    """`nn.<text>` called with inputs."""

    text: str
    inputs: tuple[str, ...]
    modes: tuple[str, ...] = ("train", "eval")
    call: str = ""  # instead of `m(*inputs)`: an expression of m and the names a, b, c
    zero_batch: int | None = 0  # the dimension that may be empty; None: no such thing
    double: bool = True  # the same in float64
    gradients: bool = True
    tolerance: float = 1.0  # a factor, with its reason beside it

    def __str__(self) -> str:
        return f"{self.text} on {', '.join(self.inputs)}" + (
            f" as {self.call}" if self.call else ""
        )


@dataclass(frozen=True)
class Function:
    """An expression of F, nn, torch and the inputs."""

    name: str
    text: str
    inputs: dict[str, str] = field(hash=False)
    gradients: bool = True
    tolerance: float = 1.0

    def __str__(self) -> str:
        return f"{self.text} of {', '.join(f'{k}={v!r}' for k, v in self.inputs.items())}"


LAYERS: list[Layer] = []
FUNCTIONS: list[Function] = []
REFUSED: list[Function] = []


def layer(
    text: str,
    inputs: list[str],
    *,
    modes: str = "train eval",
    call: str = "",
    zero_batch: int | bool | None = 0,
    double: bool = True,
    gradients: bool = True,
    tolerance: float = 1.0,
) -> None:
    batch = None if zero_batch is False or zero_batch is None else int(zero_batch)
    LAYERS.append(
        Layer(text, tuple(inputs), tuple(modes.split()), call, batch, double, gradients, tolerance)
    )


def function(
    name: str, text: str, *, gradients: bool = True, tolerance: float = 1.0, **inputs: str
) -> None:
    FUNCTIONS.append(Function(name, text, inputs, gradients, tolerance))


def refused(text: str, **inputs: str) -> None:
    """Both frameworks must raise the same exception class."""
    REFUSED.append(Function(text, text, inputs, gradients=False))


# --- inputs

_KIND = re.compile(r"^([a-z]+[0-9]*)(?:\[(-?\d+):(\d+)\])?$")


def make_input(description: str, rng: np.random.Generator, empty: int | None = None) -> np.ndarray:
    """The array that a description stands for; `empty` is a dimension made 0."""
    words = description.split()
    kind, low, high = "float32", None, None
    if words and (found := _KIND.match(words[0])):
        kind, low, high = found.groups()
        words = words[1:]
    shape = [int(word) for word in words]
    if empty is not None and empty < len(shape):
        shape[empty] = 0
    return _values(kind, low, high, tuple(shape), rng)


def _values(
    kind: str, low: str | None, high: str | None, shape: tuple[int, ...], rng: np.random.Generator
) -> Any:
    if kind == "bool":
        return rng.random(shape) < 0.5
    if kind == "uniform":
        return rng.random(shape).astype(np.float32)
    if kind == "positive":
        return (rng.random(shape) + 0.1).astype(np.float32)
    if kind == "sorted":
        return np.sort(rng.random(shape) + 0.1).astype(np.float32)
    if kind.startswith(("int", "uint")):
        return rng.integers(int(low or 0), int(high or 10), shape).astype(kind)
    return rng.normal(size=shape).astype(kind)
