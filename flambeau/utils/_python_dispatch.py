"""Dispatch modes below autograd, which Flambeau does not have: operators are called directly."""

from __future__ import annotations

from typing import Any, NoReturn

__all__ = ["TorchDispatchMode", "is_traceable_wrapper_subclass"]


class TorchDispatchMode:
    """A mode that sees operators after autograd has: can be defined, but not entered."""

    def __enter__(self) -> NoReturn:
        raise NotImplementedError(
            "TorchDispatchMode: there is no dispatcher between autograd and the kernels; "
            "torch.overrides.TorchFunctionMode sees every call of a function, method or operator"
        )

    def __exit__(self, *exception: object) -> None:
        pass


def is_traceable_wrapper_subclass(t: Any) -> bool:
    """Whether ``t`` is a wrapper subclass, which has ``__tensor_flatten__``."""
    from flambeau import Tensor

    is_subclass = isinstance(t, Tensor) and type(t) is not Tensor
    return is_subclass and hasattr(t, "__tensor_flatten__") and hasattr(t, "__tensor_unflatten__")


def _get_current_dispatch_mode() -> None:
    """Return None: there is never one."""
