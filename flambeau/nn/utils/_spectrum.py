"""Common parts of both forms of spectral normalisation."""

from __future__ import annotations

import flambeau
from flambeau import Tensor
from flambeau.nn.modules.module import Module

__all__ = ["as_matrix", "output_dim", "random_direction", "sigma", "unit"]


def unit(vector: Tensor, eps: float) -> Tensor:
    """Return the vector divided by its length, or by eps if that is larger."""
    return vector / vector.norm().clamp_min(eps)


def random_direction(like: Tensor, size: int, eps: float) -> Tensor:
    """Draw a unit vector, uniform over all directions."""
    return unit(like.new_empty(size).normal_(0, 1), eps)


def as_matrix(weight: Tensor, dim: int) -> Tensor:
    """The weight as a matrix whose rows are its slices along `dim`."""
    if dim != 0:
        weight = weight.permute(dim, *(d for d in range(weight.ndim) if d != dim))
    return weight.flatten(1) if weight.ndim > 1 else weight.reshape(-1, 1)


def sigma(matrix: Tensor, u: Tensor, v: Tensor) -> Tensor:
    """The largest singular value, from its singular vectors."""
    return flambeau.vdot(u, flambeau.mv(matrix, v))


def output_dim(module: Module) -> int:
    """The output dimension of a module's weight: the second for transposed convolutions."""
    return 1 if getattr(module, "transposed", False) else 0
