"""Distances and similarities."""

from __future__ import annotations

from flambeau import Tensor
from flambeau.nn import functional as F
from flambeau.nn.modules.module import Module

__all__ = ["CosineSimilarity", "PairwiseDistance"]


class PairwiseDistance(Module):
    """Distance between corresponding vectors of two inputs.

    y = ||x1 - x2 + eps||_p over the last dimension

    Args:
        p: Order of the norm. Default: 2.
        eps: Added to each difference, so that the gradient is finite. Default: 1e-6.
        keepdim: Whether the last dimension stays, with size 1. Default: False.

    Shape:
        - Inputs: (N, D) or (D,), broadcast against each other.
        - Output: (N,) or (), with a last 1 if `keepdim`.

    Example:
        >>> nn.PairwiseDistance()(torch.tensor([[0.0, 0.0]]), torch.tensor([[3.0, 4.0]]))
        tensor([5.0000])

    See also:
        `nn.CosineSimilarity`, `torch.cdist`, `nn.functional.pairwise_distance`.
    """

    norm: float
    eps: float
    keepdim: bool

    def __init__(self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> None:
        super().__init__()
        self.norm = p
        self.eps = eps
        self.keepdim = keepdim

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        return F.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)


class CosineSimilarity(Module):
    """Cosine of the angle between corresponding vectors of two inputs.

    y = x1 · x2 / (max(||x1||, eps) max(||x2||, eps))

    Args:
        dim: Dimension along which the vectors lie. Default: 1.
        eps: Smallest norm to divide by. Default: 1e-8.

    Shape:
        - Inputs: (*, D, *), broadcast against each other.
        - Output: (*, *), without dimension `dim`.

    Example:
        >>> nn.CosineSimilarity()(torch.tensor([[1.0, 0.0]]), torch.tensor([[1.0, 1.0]]))
        tensor([0.7071])

    See also:
        `nn.PairwiseDistance`, `nn.functional.cosine_similarity`.
    """

    dim: int
    eps: float

    def __init__(self, dim: int = 1, eps: float = 1e-8) -> None:
        super().__init__()
        self.dim = dim
        self.eps = eps

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        return F.cosine_similarity(x1, x2, self.dim, self.eps)
