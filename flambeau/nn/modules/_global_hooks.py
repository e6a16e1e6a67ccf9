"""Hooks common to all modules, for debugging and profiling."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from flambeau import _C
from flambeau.utils.hooks import RemovableHandle, register_in

Hooks = dict[int, Callable[..., Any]]

_global_buffer_registration_hooks: Hooks = OrderedDict()
_global_module_registration_hooks: Hooks = OrderedDict()
_global_parameter_registration_hooks: Hooks = OrderedDict()
_global_backward_pre_hooks: Hooks = OrderedDict()
_global_backward_hooks: Hooks = OrderedDict()
_global_is_full_backward_hook: bool | None = None
_global_forward_pre_hooks: Hooks = OrderedDict()
_global_forward_hooks: Hooks = OrderedDict()
_global_forward_hooks_always_called: dict[int, bool] = OrderedDict()
_global_forward_hooks_with_kwargs: dict[int, bool] = OrderedDict()

_C._set_global_module_hooks(
    _global_backward_hooks,
    _global_backward_pre_hooks,
    _global_forward_hooks,
    _global_forward_pre_hooks,
)


def seen_by(hooks: Hooks, module: Any, name: str, member: Any) -> Any:
    """The member that is registered after each hook has seen it and may have replaced it."""
    for hook in hooks.values():
        replacement = hook(module, name, member)
        if replacement is not None:
            member = replacement
    return member


def register_module_buffer_registration_hook(hook: Callable[..., None]) -> RemovableHandle:
    """Call ``hook(module, name, buffer)`` at every `register_buffer`; it may return another."""
    return register_in(_global_buffer_registration_hooks, hook)


def register_module_module_registration_hook(hook: Callable[..., None]) -> RemovableHandle:
    """Call ``hook(module, name, child)`` whenever a child is added; it may return another."""
    return register_in(_global_module_registration_hooks, hook)


def register_module_parameter_registration_hook(hook: Callable[..., None]) -> RemovableHandle:
    """Call ``hook(module, name, param)`` at every `register_parameter`; it may return another."""
    return register_in(_global_parameter_registration_hooks, hook)


def register_module_forward_pre_hook(hook: Callable[..., None]) -> RemovableHandle:
    """Call ``hook(module, args)`` before the forward of every module.

    It runs before the hooks of the module itself, and may return other arguments.
    """
    return register_in(_global_forward_pre_hooks, hook)


def register_module_forward_hook(
    hook: Callable[..., None], *, with_kwargs: bool = False, always_call: bool = False
) -> RemovableHandle:
    """Call ``hook(module, args, output)`` after the forward of every module.

    It runs before the hooks of the module itself, and may return another output. With
    ``always_call`` it also runs when the forward has failed.
    """
    marks = [
        (_global_forward_hooks_with_kwargs, with_kwargs),
        (_global_forward_hooks_always_called, always_call),
    ]
    return register_in(_global_forward_hooks, hook, marks=marks)


def register_module_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Do as `register_module_full_backward_hook`, with gradients of the last operator alone.

    Deprecated: the gradients it is given are those of the inputs only where the forward is a single
    operator.
    """
    _set_global_kind(full=False)
    return register_in(_global_backward_hooks, hook)


def register_module_full_backward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, grad_output)`` before the backward of every module."""
    return register_in(_global_backward_pre_hooks, hook)


def register_module_full_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, grad_input, grad_output)`` after the backward of every module."""
    _set_global_kind(full=True)
    return register_in(_global_backward_hooks, hook)


def _set_global_kind(full: bool) -> None:
    global _global_is_full_backward_hook
    if _global_is_full_backward_hook is (not full):
        raise RuntimeError(
            "Cannot use both regular backward hooks and full backward hooks as a global Module "
            "hook. Please use only one of them."
        )
    _global_is_full_backward_hook = full
