"""Operators of autograd that modules need for themselves."""

from __future__ import annotations

from typing import Any

from flambeau import Tensor
from flambeau.autograd import Function

__all__ = ["BackwardHookFunction"]


class BackwardHookFunction(Function):
    """The identity: one node through which every gradient of a module's inputs or outputs goes."""

    @staticmethod
    def forward(ctx: Any, *args: Tensor) -> tuple[Tensor, ...]:
        ctx.mark_non_differentiable(*[arg for arg in args if not arg.requires_grad])
        return args

    @staticmethod
    def backward(ctx: Any, *args: Tensor) -> tuple[Tensor, ...]:
        return args
