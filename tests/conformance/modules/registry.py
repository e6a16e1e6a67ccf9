"""How programs are registered, and the small networks they share."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

PROGRAMS: dict[str, Callable[[Any], Any]] = {}


def program(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A function of the framework, whose result must be the same with both."""
    name = f"{function.__module__.rpartition('.')[2]}.{function.__name__}"
    assert name not in PROGRAMS, name
    PROGRAMS[name] = function
    return function


def attempt(action: Callable[[], Any]) -> Any:
    """What comes of an action: its result, or the class and text of its error."""
    try:
        return action()
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def warned(action: Callable[[], Any]) -> list[str]:
    """The classes and texts of the warnings that an action gives."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        action()
    return [f"{each.category.__name__}: {each.message}" for each in caught]


def layer(t: Any, inputs: int = 3, outputs: int = 2) -> Any:
    """A linear layer without bias and with a buffer: weights that count up from zero."""

    class Layer(t.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            count = inputs * outputs
            weight = t.arange(count, dtype=t.float64).reshape(outputs, inputs) / count
            self.weight = t.nn.Parameter(weight)
            self.register_buffer("scale", t.full((1,), 2.0, dtype=t.float64))

        def forward(self, x: Any) -> Any:
            return x @ self.weight.t() * self.scale

        def extra_repr(self) -> str:
            return f"{inputs}, {outputs}"

    return Layer()


def network(t: Any) -> Any:
    """Two layers behind each other, within a module of their own."""

    class Network(t.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first = layer(t, 3, 4)
            self.second = t.nn.Sequential(layer(t, 4, 4), layer(t, 4, 2))
            self.offset = t.nn.Parameter(t.ones(2, dtype=t.float64))

        def forward(self, x: Any) -> Any:
            return self.second(self.first(x)) + self.offset

    return Network()


def batch(t: Any, requires_grad: bool = False) -> Any:
    values = t.arange(6, dtype=t.float64).reshape(2, 3) / 6
    return values.requires_grad_(requires_grad)
