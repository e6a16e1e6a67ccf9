"""Modules whose activations are computed again in the backward pass."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any

from flambeau.nn import Module
from flambeau.utils.checkpoint import checkpoint

__all__ = [
    "CheckpointImpl",
    "CheckpointWrapper",
    "apply_activation_checkpointing",
    "checkpoint_wrapper",
]

_PREFIX = "_checkpoint_wrapped_module"


class CheckpointImpl(enum.Enum):
    """How they are computed again."""

    REENTRANT = enum.auto()
    NO_REENTRANT = enum.auto()


class CheckpointWrapper(Module):
    """A module around another one; names in its state dict are those of the other."""

    def __init__(
        self,
        mod: Module,
        checkpoint_impl: CheckpointImpl = CheckpointImpl.NO_REENTRANT,
        checkpoint_fn: Callable[..., Any] | None = None,
        **checkpoint_fn_kwargs: Any,
    ) -> None:
        super().__init__()
        self._checkpoint_wrapped_module = mod
        self._run = checkpoint_fn or checkpoint
        if checkpoint_fn is None:
            is_reentrant = checkpoint_impl is CheckpointImpl.REENTRANT
            checkpoint_fn_kwargs = {"use_reentrant": is_reentrant, **checkpoint_fn_kwargs}
        self._options = checkpoint_fn_kwargs
        self.register_state_dict_post_hook(_without_prefix)
        self.register_load_state_dict_pre_hook(_with_prefix)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self._run(self._checkpoint_wrapped_module, *args, **self._options, **kwargs)

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(self._modules[_PREFIX], name)

    def named_parameters(self, *args: Any, **kwargs: Any) -> Any:
        for name, parameter in super().named_parameters(*args, **kwargs):
            yield name.replace(f"{_PREFIX}.", ""), parameter


def _without_prefix(module: Module, state: Any, prefix: str, metadata: Any) -> None:
    start = f"{prefix}{_PREFIX}."
    for name in [name for name in state if name.startswith(start)]:
        state[prefix + name[len(start) :]] = state.pop(name)


def _with_prefix(module: Module, state: Any, prefix: str, *others: Any) -> None:
    start = f"{prefix}{_PREFIX}."
    for name in [name for name in state if name.startswith(prefix)]:
        if not name.startswith(start):
            state[start + name[len(prefix) :]] = state.pop(name)


def checkpoint_wrapper(
    module: Module,
    checkpoint_impl: CheckpointImpl = CheckpointImpl.NO_REENTRANT,
    checkpoint_fn: Callable[..., Any] | None = None,
    **checkpoint_fn_kwargs: Any,
) -> Module:
    """A module with its activations computed again."""
    return CheckpointWrapper(module, checkpoint_impl, checkpoint_fn, **checkpoint_fn_kwargs)


def apply_activation_checkpointing(
    model: Module,
    checkpoint_wrapper_fn: Callable[..., Any] = checkpoint_wrapper,
    check_fn: Callable[[Module], bool] = lambda _: True,
    auto_wrap_policy: Any = None,
) -> None:
    """Wrap the modules in a model that ``check_fn`` picks."""
    if auto_wrap_policy is not None:
        raise NotImplementedError(
            "apply_activation_checkpointing: modules are picked by check_fn; leave out "
            "auto_wrap_policy"
        )
    for name, child in list(model.named_children()):
        apply_activation_checkpointing(child, checkpoint_wrapper_fn, check_fn)
        if check_fn(child):
            setattr(model, name, checkpoint_wrapper_fn(child))
