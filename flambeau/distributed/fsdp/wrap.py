"""Which modules of a model are spread as units of their own."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from flambeau.nn import Module

__all__ = [
    "CustomPolicy",
    "ModuleWrapPolicy",
    "always_wrap_policy",
    "enable_wrap",
    "lambda_auto_wrap_policy",
    "size_based_auto_wrap_policy",
    "transformer_auto_wrap_policy",
    "wrap",
]

_SMALLEST = int(1e8)  # parameters of a unit


def always_wrap_policy(*args: Any, **kwargs: Any) -> bool:
    """Every module."""
    return True


def lambda_auto_wrap_policy(
    module: Module, recurse: bool, nonwrapped_numel: int, lambda_fn: Callable[[Module], bool]
) -> bool:
    """Those that a function picks."""
    return recurse or lambda_fn(module)


def transformer_auto_wrap_policy(
    module: Module,
    recurse: bool,
    nonwrapped_numel: int,
    transformer_layer_cls: Iterable[type[Module]],
) -> bool:
    """Those of some classes."""
    return recurse or isinstance(module, tuple(transformer_layer_cls))


def size_based_auto_wrap_policy(
    module: Module,
    recurse: bool,
    nonwrapped_numel: int,
    min_num_params: int = _SMALLEST,
    force_leaf_modules: set[type[Module]] | None = None,
    exclude_wrap_modules: set[type[Module]] | None = None,
) -> bool:
    """Those of so many parameters that are not lists."""
    from flambeau import nn

    leaves = tuple(force_leaf_modules or {nn.MultiheadAttention})
    excluded = tuple(exclude_wrap_modules or {nn.ModuleList, nn.ModuleDict})
    is_large = nonwrapped_numel >= min_num_params
    if recurse:
        return is_large and not isinstance(module, leaves)
    return is_large and not isinstance(module, excluded)


class ModuleWrapPolicy:
    """Those of some classes."""

    def __init__(self, module_classes: Iterable[type[Module]]) -> None:
        self._module_classes = set(module_classes)

    def __call__(self, module: Module, recurse: bool, *args: Any, **kwargs: Any) -> bool:
        return recurse or isinstance(module, tuple(self._module_classes))

    def __repr__(self) -> str:
        return f"ModuleWrapPolicy({self._module_classes})"


class CustomPolicy:
    """Those that a function picks, with options of their own."""

    def __init__(self, lambda_fn: Callable[[Module], bool | dict[str, Any]]) -> None:
        self._lambda_fn = lambda_fn


@contextlib.contextmanager
def enable_wrap(*, wrapper_cls: Any, **wrapper_kwargs: Any) -> Iterator[None]:
    """A block in which ``wrap`` calls ``wrapper_cls``."""
    before, wrap.current = wrap.current, functools.partial(wrapper_cls, **wrapper_kwargs)
    try:
        yield
    finally:
        wrap.current = before


class _Wrap:
    """Wraps a module as the block around says; without one, leaves it as it is."""

    current: Callable[..., Any] | None = None

    def __call__(self, module: Module, **wrap_overrides: Any) -> Any:
        return module if self.current is None else self.current(module, **wrap_overrides)


wrap: _Wrap = _Wrap()
