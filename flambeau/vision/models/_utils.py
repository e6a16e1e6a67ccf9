"""Helpers that programs import from here."""

from __future__ import annotations

import functools
import inspect
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from flambeau import Tensor, nn
from flambeau.vision.models._legacy import modern, named

__all__ = ["IntermediateLayerGetter", "handle_legacy_interface", "kwonly_to_pos_or_kw"]

_Function = Callable[..., Any]


class IntermediateLayerGetter(nn.ModuleDict):
    """A model up to the last of some layers, which returns the outputs of these layers.

    ``return_layers`` maps the names of layers to the names of outputs.
    """

    def __init__(self, model: nn.Module, return_layers: dict[str, str]) -> None:
        children = dict(model.named_children())
        if missing := sorted(set(return_layers) - set(children)):
            raise ValueError(f"return_layers are not present in model: {', '.join(missing)}")
        returned = {str(name): str(new) for name, new in return_layers.items()}
        wanted = set(return_layers)
        layers: OrderedDict[str, nn.Module] = OrderedDict()
        for name, child in children.items():
            layers[name] = child
            wanted.discard(name)
            if not wanted:
                break
        super().__init__(layers)
        self.return_layers = returned

    def forward(self, x: Tensor) -> OrderedDict[str, Tensor]:
        results: OrderedDict[str, Tensor] = OrderedDict()
        for name, layer in self.items():
            x = layer(x)
            if name in self.return_layers:
                results[self.return_layers[name]] = x
        return results


def _make_divisible(v: float, divisor: int, min_value: int | None = None) -> int:
    """Return the nearest multiple of ``divisor``, at most a tenth below ``v``."""
    lowest = divisor if min_value is None else min_value
    rounded = max(lowest, int(v + divisor / 2) // divisor * divisor)
    return rounded + divisor if rounded < 0.9 * v else rounded


def kwonly_to_pos_or_kw(fn: _Function) -> _Function:
    """Let a function accept keyword arguments by position too, with a warning."""
    parameters = inspect.signature(fn).parameters.values()
    ordinary = sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters)
    keywords = [p.name for p in parameters if p.kind == p.KEYWORD_ONLY]

    @functools.wraps(fn)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return fn(*args[:ordinary], **named(fn.__name__, keywords, args[ordinary:], kwargs))

    return wrapper


def handle_legacy_interface(**weights: tuple[str, Any]) -> Callable[[_Function], _Function]:
    """Let a function accept ``pretrained=True`` for weights.

    For each parameter: its old name, and the weights that True stands for, or a function of the
    arguments that returns them.
    """

    def decorate(builder: _Function) -> _Function:
        @kwonly_to_pos_or_kw
        @functools.wraps(builder)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            for name, (old, meant) in weights.items():
                wanted = meant(kwargs) if old in kwargs and callable(meant) else meant
                modern(builder.__name__, kwargs, name, old, wanted)
            return builder(*args, **kwargs)

        return wrapper

    return decorate


def _ovewrite_named_param(kwargs: dict[str, Any], param: str, new_value: Any) -> None:
    """Set an argument; ValueError if it was given another value."""
    if param in kwargs:
        _ovewrite_value_param(param, kwargs[param], new_value)
    kwargs[param] = new_value


def _ovewrite_value_param(param: str, actual: Any, expected: Any) -> Any:
    """Return the required value of an argument; ValueError if it was given another one."""
    if actual is not None and actual != expected:
        raise ValueError(
            f"The parameter '{param}' expected value {expected} but got {actual} instead: load the "
            "weights first, then replace the layer"
        )
    return expected
