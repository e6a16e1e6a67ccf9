"""Arguments in the form that a function's signature gives them."""

from __future__ import annotations

import functools
import inspect
from collections import Counter
from collections.abc import Callable
from operator import attrgetter
from typing import Any, NamedTuple

import flambeau as fb
from flambeau import nn

__all__ = ["ArgsKwargsPair", "normalize_function", "normalize_module"]


class ArgsKwargsPair(NamedTuple):
    """Positional and keyword arguments of a call."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]


def _normalize(
    signature: inspect.Signature,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    only_kwargs: bool,
) -> ArgsKwargsPair | None:
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError:
        return None
    bound.apply_defaults()
    positional: list[Any] = []
    named: dict[str, Any] = {}
    for name, parameter in signature.parameters.items():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            return None
        given_by_position = len(positional) < len(args) and not only_kwargs
        if given_by_position and parameter.kind is not parameter.KEYWORD_ONLY:
            positional.append(bound.arguments[name])
        else:
            named[name] = bound.arguments[name]
    return ArgsKwargsPair(tuple(positional), named)


@functools.cache
def _overloaded() -> frozenset[Callable[..., Any]]:
    """Operators whose signature stands for several: a call has arguments of one of them only."""
    names = Counter(
        f"{each['namespace']}.{each['name']}".lstrip(".")
        for each in fb._C.op_info()
        if "function" in each["forms"]
    )
    return frozenset(attrgetter(name)(fb) for name, count in names.items() if count > 1)


def normalize_function(
    target: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any] | None = None,
    arg_types: Any = None,
    kwarg_types: Any = None,
    normalize_to_only_use_kwargs: bool = False,
) -> ArgsKwargsPair | None:
    """All arguments of a call, defaults included; None for functions with overloads."""
    if target in _overloaded():
        return None
    try:
        signature = inspect.signature(target)
    except (TypeError, ValueError):
        return None
    return _normalize(signature, args, kwargs or {}, normalize_to_only_use_kwargs)


def normalize_module(
    root: nn.Module,
    target: str,
    args: tuple[Any, ...],
    kwargs: dict[str, Any] | None = None,
    normalize_to_only_use_kwargs: bool = False,
) -> ArgsKwargsPair | None:
    """All arguments of the call of a submodule, defaults included."""
    module = root.get_submodule(target)
    signature = inspect.signature(module.forward)
    return _normalize(signature, args, kwargs or {}, normalize_to_only_use_kwargs)
