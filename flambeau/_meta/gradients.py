"""Gradients on the device ``meta``: which tensors they reach, and nothing more.

A gradient has the shape and the type of the tensor it is of, so no derivative has to be computed.
What remains of an operator is a node of the usual graph, between its results and those of its
inputs that require gradients; the engine runs over such nodes as over all others, and knows that
sums of what has no elements need not be computed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import flambeau as fb
from flambeau import Tensor
from flambeau.autograd import Function

__all__ = ["OnMeta", "change", "record"]

# Makes a tensor without elements from a shape, strides and a type.
Make = Callable[[Any, Any, fb.dtype], Tensor]


class OnMeta(Function):
    """What an operator on meta has left in the graph."""

    @staticmethod
    def forward(
        ctx: Any, make: Make, results: Sequence[Tensor], changed: Sequence[Tensor], *inputs: Tensor
    ) -> Any:
        ctx.set_materialize_grads(False)
        ctx.mark_dirty(*changed)
        ctx.make = make
        # A changed tensor would be held by its own node.
        ctx.inputs = [each for each in inputs if all(each is not other for other in changed)]
        ctx.models = [(tuple(each.shape), each.stride(), each.dtype) for each in inputs]
        return (*changed, *results)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor | None) -> Any:
        made = [ctx.make(*model) for model in ctx.models]
        if fb.is_grad_enabled():
            sources = [each for each in (*grads, *ctx.inputs) if each is not None]
            made = record(ctx.make, made, [each for each in sources if each.requires_grad])
        return None, None, None, *made


def record(make: Make, results: list[Tensor], inputs: Sequence[Tensor]) -> list[Tensor]:
    """New tensors, as results of an operator that had these inputs."""
    return list(OnMeta.apply(make, results, (), *inputs)) if inputs else results


def change(make: Make, changed: Tensor, inputs: Sequence[Tensor]) -> None:
    """Note that an operator has changed a tensor in place, by inputs that require gradients."""
    OnMeta.apply(make, (), (changed,), *inputs)
