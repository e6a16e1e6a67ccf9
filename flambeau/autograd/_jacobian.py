"""Derivatives for `gradcheck`: by finite differences, by backward and by forward mode.

Note [Complex tensors as reals]: a complex tensor of n elements counts as 2n real numbers, real and
imaginary part of an element side by side. In these numbers backward multiplies by the transposed
Jacobian: that is PyTorch's convention for complex gradients, and complex functions need no case of
their own.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import flambeau as fb
from flambeau import Tensor
from flambeau.autograd import forward_ad

# One tensor for every output or input that is looked at.
Tensors = tuple[Tensor, ...]


def requires_grad(value: Any) -> bool:
    """Whether it is a tensor that gradients are wanted for."""
    return isinstance(value, Tensor) and value.requires_grad


def is_inexact(value: Any) -> bool:
    """Whether it is a tensor of a floating or complex dtype."""
    return isinstance(value, Tensor) and (value.is_floating_point() or value.is_complex())


class Problem:
    """A function, a point, and which inputs (`wanted`) and outputs (`given`) are looked at."""

    def __init__(
        self,
        function: Callable[..., Any],
        inputs: Sequence[Any],
        is_looked_at: Callable[[Any], bool] = requires_grad,
    ) -> None:
        self.function = function
        self.inputs = tuple(inputs)
        self.wanted = [i for i, x in enumerate(self.inputs) if requires_grad(x)]
        self.leaves: Tensors = tuple(self.inputs[i] for i in self.wanted)
        results = as_tuple(function(*self.inputs))
        self.given = [i for i, y in enumerate(results) if is_looked_at(y)]
        self.outputs: Tensors = tuple(results[i] for i in self.given)

    def evaluate(self) -> Tensors:
        """The differentiable outputs at the inputs as they are now, as vectors of reals."""
        results = as_tuple(self.function(*self.inputs))
        return tuple(reals(results[i]).clone() for i in self.given)

    def tangents(self, which: int, direction: Tensor) -> Tensors:
        """Forward mode: how the outputs move when one leaf moves in a direction."""
        with forward_ad.dual_level():
            inputs = list(self.inputs)
            primal = self.leaves[which].detach().requires_grad_()
            inputs[self.wanted[which]] = forward_ad.make_dual(primal, direction)
            results = as_tuple(self.function(*inputs))
            pairs = [forward_ad.unpack_dual(results[i]) for i in self.given]
            return tuple(
                fb.zeros_like(pair.primal) if pair.tangent is None else pair.tangent
                for pair in pairs
            )


def as_tuple(value: Any) -> tuple[Any, ...]:
    """What a function returned, or was given, one thing or a sequence of them."""
    return (value,) if isinstance(value, Tensor) else tuple(value)


def reals(tensor: Tensor) -> Tensor:
    """The elements as a vector of real numbers: Note [Complex tensors as reals]."""
    tensor = tensor.detach()
    if tensor.is_complex():
        tensor = fb.view_as_real(tensor.resolve_conj())
    return tensor.reshape(-1)


def from_reals(vector: Tensor, like: Tensor) -> Tensor:
    """The tensor in the shape of `like` whose `reals` the vector is."""
    if like.is_complex():
        return fb.view_as_complex(vector.reshape(*like.shape, 2))
    return vector.reshape(like.shape)


def basis(like: Tensor) -> Iterator[Tensor]:
    """One tensor for every real number in `like`, 1 there and 0 elsewhere."""
    zeros = fb.zeros_like(reals(like))
    for i in range(zeros.numel()):
        vector = zeros.clone()
        vector[i] = 1
        yield from_reals(vector, like)


def vjp(output: Tensor, leaves: Tensors, grad: Tensor) -> tuple[Tensor | None, ...]:
    """What backward from one output gives to every leaf."""
    grads: tuple[Tensor | None, ...] = fb.autograd.grad(
        output, leaves, grad, retain_graph=True, allow_unused=True
    )
    return grads


def numerical(problem: Problem, leaf: Tensor, eps: float) -> Tensors:
    """For every output its matrix of (reals of the leaf, reals of the output), by differences."""
    elements = fb.view_as_real(leaf.data) if leaf.is_complex() else leaf.data
    rows = []
    for index in itertools.product(*map(range, elements.shape)):
        value = elements[index].item()
        elements[index] = value + eps
        above = problem.evaluate()
        elements[index] = value - eps
        below = problem.evaluate()
        elements[index] = value
        rows.append([(a - b) / (2 * eps) for a, b in zip(above, below, strict=True)])
    return _stacked(rows, problem.outputs)


def numerical_along(problem: Problem, leaf: Tensor, direction: Tensor, eps: float) -> Tensors:
    """How the outputs move when one leaf moves in a direction, by one difference."""
    memory = leaf.data
    value = memory.clone()
    memory.copy_(value + eps * direction)
    above = problem.evaluate()
    memory.copy_(value - eps * direction)
    below = problem.evaluate()
    memory.copy_(value)
    return tuple((a - b) / (2 * eps) for a, b in zip(above, below, strict=True))


def by_backward(output: Tensor, leaves: Tensors) -> Tensors:
    """For every leaf the matrix of (reals of the leaf, reals of the output), by backward."""
    columns = [
        tuple(_gradient_reals(g, x) for g, x in zip(vjp(output, leaves, grad), leaves, strict=True))
        for grad in basis(output)
    ]
    if not columns:
        return tuple(reals(x).new_zeros(reals(x).numel(), 0) for x in leaves)
    return tuple(fb.stack(rows, dim=1) for rows in zip(*columns, strict=True))


def by_forward(problem: Problem, which: int) -> Tensors:
    """For every output the matrix of (reals of one leaf, reals of the output), by forward mode."""
    leaf = problem.leaves[which]
    rows = [
        [reals(tangent) for tangent in problem.tangents(which, direction)]
        for direction in basis(leaf)
    ]
    return _stacked(rows, problem.outputs)


def _stacked(rows: list[list[Tensor]], outputs: Tensors) -> Tensors:
    """Rows that each hold a vector for every output, as one matrix for every output."""
    if not rows:
        return tuple(reals(y).new_zeros(0, reals(y).numel()) for y in outputs)
    return tuple(fb.stack(column) for column in zip(*rows, strict=True))


def _gradient_reals(grad: Tensor | None, leaf: Tensor) -> Tensor:
    return fb.zeros_like(reals(leaf)) if grad is None else reals(grad)
