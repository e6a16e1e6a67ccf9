"""Hooks on steps: those of one optimiser, and those of all."""

from __future__ import annotations

import functools
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, cast

from flambeau import _C
from flambeau.utils.hooks import RemovableHandle

if TYPE_CHECKING:
    from flambeau.optim.optimizer import Optimizer

__all__ = [
    "hooked",
    "register_optimizer_step_post_hook",
    "register_optimizer_step_pre_hook",
    "stepping_by",
]

_Step = TypeVar("_Step", bound=Callable[..., Any])

_global_optimizer_pre_hooks: OrderedDict[int, Callable[..., Any]] = OrderedDict()
_global_optimizer_post_hooks: OrderedDict[int, Callable[..., Any]] = OrderedDict()


def register_optimizer_step_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(optimizer, args, kwargs)`` before every step of every optimiser.

    It may return other arguments as a pair ``(args, kwargs)``.
    """
    return _register(_global_optimizer_pre_hooks, hook)


def register_optimizer_step_post_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(optimizer, args, kwargs)`` after every step of every optimiser."""
    return _register(_global_optimizer_post_hooks, hook)


def _register(hooks: OrderedDict[int, Callable[..., Any]], hook: Any) -> RemovableHandle:
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    return handle


def hooked(step: _Step) -> _Step:
    """``step`` with the hooks around it: a method that asks natively whether there are any."""
    made: Any = functools.update_wrapper(_C._optim.Step(step), step)
    made.hooked = True
    return cast(_Step, made)


def stepping_by(native: Callable[..., Any]) -> Callable[[_Step], _Step]:
    """Make a method ``step`` that is computed natively, with the hooks around it."""

    def decorate(declared: _Step) -> _Step:
        return cast(_Step, functools.update_wrapper(hooked(native), declared))

    return decorate


def _call_with_hooks(step: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
    optimizer: Optimizer = args[0]
    for hook in (
        *_global_optimizer_pre_hooks.values(),
        *optimizer._optimizer_step_pre_hooks.values(),
    ):
        changed = hook(optimizer, args, kwargs)
        if changed is None:
            continue
        if not (isinstance(changed, tuple) and len(changed) == 2):
            raise RuntimeError(
                f"{step} must return None or a tuple of (new_args, new_kwargs), but got {changed}."
            )
        args, kwargs = changed
    result = step(*args, **kwargs)
    for hook in (
        *optimizer._optimizer_step_post_hooks.values(),
        *_global_optimizer_post_hooks.values(),
    ):
        hook(optimizer, args, kwargs)
    return result


_C._optim.set_step_hooks(
    _call_with_hooks, _global_optimizer_pre_hooks, _global_optimizer_post_hooks
)
