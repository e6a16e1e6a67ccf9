"""Conversion of parameters to one vector, and back."""

from __future__ import annotations

from collections.abc import Iterable

import flambeau
from flambeau import Tensor

__all__ = ["parameters_to_vector", "vector_to_parameters"]


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """Concatenate parameters to one vector; gradients flow through it.

    Args:
        parameters: The parameters.

    Example:
        >>> nn.utils.parameters_to_vector([torch.ones(2, 2), torch.zeros(1)])
        tensor([1., 1., 1., 1., 0.])
    """
    return flambeau.cat([p.view(-1) for p in parameters])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Set parameters to successive parts of a vector.

    Args:
        vec: The vector.
        parameters: Parameters to set; they become views of the vector.

    Example:
        >>> layer = nn.Linear(2, 1)
        >>> nn.utils.vector_to_parameters(torch.tensor([1.0, 2.0, 3.0]), layer.parameters())
        >>> layer.bias.item()
        3.0
    """
    if not isinstance(vec, Tensor):
        raise TypeError(f"expected torch.Tensor, but got: {type(vec).__name__}")
    begin = 0
    for p in parameters:
        end = begin + p.numel()
        p.data = vec[begin:end].view_as(p).data
        begin = end
