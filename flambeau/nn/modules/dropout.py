"""Dropout: in training, elements or channels are set to 0 by chance."""

from __future__ import annotations

from flambeau import Tensor
from flambeau.nn import functional
from flambeau.nn.modules.module import Module

__all__ = [
    "AlphaDropout",
    "Dropout",
    "Dropout1d",
    "Dropout2d",
    "Dropout3d",
    "FeatureAlphaDropout",
]


class _DropoutNd(Module):
    """Something dropped with probability `p`; nothing in evaluation."""

    p: float
    inplace: bool

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        if p < 0 or p > 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p = p
        self.inplace = inplace

    def extra_repr(self) -> str:
        """The probability, and whether the input is changed."""
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(_DropoutNd):
    """Sets elements to 0 with probability `p` and scales the others by 1 / (1 - p)."""

    def forward(self, input: Tensor) -> Tensor:
        """The input with elements dropped."""
        return functional.dropout(input, self.p, self.training, self.inplace)


class Dropout1d(_DropoutNd):
    """Sets channels of (N, C, L) or (C, L) to 0 with probability `p`."""

    def forward(self, input: Tensor) -> Tensor:
        """The input with channels dropped."""
        return functional.dropout1d(input, self.p, self.training, self.inplace)


class Dropout2d(_DropoutNd):
    """Sets channels of (N, C, H, W) to 0 with probability `p`."""

    def forward(self, input: Tensor) -> Tensor:
        """The input with channels dropped."""
        return functional.dropout2d(input, self.p, self.training, self.inplace)


class Dropout3d(_DropoutNd):
    """Sets channels of (N, C, D, H, W) or (C, D, H, W) to 0 with probability `p`."""

    def forward(self, input: Tensor) -> Tensor:
        """The input with channels dropped."""
        return functional.dropout3d(input, self.p, self.training, self.inplace)


class AlphaDropout(_DropoutNd):
    """Dropout for SELU networks: mean 0 and variance 1 stay what they are."""

    def forward(self, input: Tensor) -> Tensor:
        """The input with elements dropped."""
        return functional.alpha_dropout(input, self.p, self.training, self.inplace)


class FeatureAlphaDropout(_DropoutNd):
    """AlphaDropout of whole channels."""

    def forward(self, input: Tensor) -> Tensor:
        """The input with channels dropped."""
        return functional.feature_alpha_dropout(input, self.p, self.training, self.inplace)
