"""Parameters as one long vector, and back."""

from __future__ import annotations

from collections.abc import Iterable

import flambeau
from flambeau import Tensor

__all__ = ["parameters_to_vector", "vector_to_parameters"]


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """All elements of all parameters, one behind the other; gradients flow through it."""
    return flambeau.cat([p.view(-1) for p in parameters])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Let the parameters be windows on successive parts of the vector."""
    if not isinstance(vec, Tensor):
        raise TypeError(f"expected torch.Tensor, but got: {type(vec).__name__}")
    begin = 0
    for p in parameters:
        end = begin + p.numel()
        p.data = vec[begin:end].view_as(p).data
        begin = end
