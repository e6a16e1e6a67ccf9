"""What both forms of spectral normalisation are made of."""

from __future__ import annotations

import flambeau
from flambeau import Tensor
from flambeau.nn.modules.module import Module

__all__ = ["as_matrix", "output_dim", "random_direction", "sigma", "unit"]


def unit(vector: Tensor, eps: float) -> Tensor:
    """The vector divided by its length, or by eps where that is shorter."""
    return vector / vector.norm().clamp_min(eps)


def random_direction(like: Tensor, size: int, eps: float) -> Tensor:
    """A unit vector, drawn evenly from all directions."""
    return unit(like.new_empty(size).normal_(0, 1), eps)


def as_matrix(weight: Tensor, dim: int) -> Tensor:
    """The weight as a matrix whose rows are its slices along `dim`."""
    if dim != 0:
        weight = weight.permute(dim, *(d for d in range(weight.ndim) if d != dim))
    return weight.flatten(1) if weight.ndim > 1 else weight.reshape(-1, 1)


def sigma(matrix: Tensor, u: Tensor, v: Tensor) -> Tensor:
    """The largest singular value, from the singular vectors that belong to it."""
    return flambeau.vdot(u, flambeau.mv(matrix, v))


def output_dim(module: Module) -> int:
    """The dimension of the outputs in a module's weight: transposed convolutions have it second."""
    return 1 if getattr(module, "transposed", False) else 0
