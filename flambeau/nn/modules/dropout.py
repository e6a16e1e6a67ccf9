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
    """Set each element to 0 with probability `p`, and scale the others by 1 / (1 - p).

    The expected value of each element stays what it was.

    In evaluation (`module.eval()`) the input passes unchanged.

    Args:
        p: Probability to drop. Default: 0.5.
        inplace: Whether to overwrite the input. Default: False.

    Shape:
        - Input: any shape.
        - Output: the shape of the input.

    Raises:
        ValueError: `p` is not between 0 and 1.

    Example:
        >>> _ = torch.manual_seed(0)
        >>> layer = nn.Dropout(p=0.5)
        >>> layer(torch.ones(6))
        tensor([0., 0., 2., 0., 0., 0.])
        >>> layer.eval()(torch.ones(6))
        tensor([1., 1., 1., 1., 1., 1.])

    See also:
        `nn.functional.dropout`.
    """

    def forward(self, input: Tensor) -> Tensor:
        return functional.dropout(input, self.p, self.training, self.inplace)


class Dropout1d(_DropoutNd):
    """Set whole channels to 0 with probability `p`, and scale the others by 1 / (1 - p).

    Neighbouring elements of a channel are strongly correlated; dropping them together regularises
    where `nn.Dropout` would not.

    In evaluation (`module.eval()`) the input passes unchanged.

    Args:
        p: Probability to drop. Default: 0.5.
        inplace: Whether to overwrite the input. Default: False.

    Shape:
        - Input: (N, C, L) or (C, L).
        - Output: the shape of the input.

    Raises:
        ValueError: `p` is not between 0 and 1.

    Example:
        >>> _ = torch.manual_seed(0)
        >>> layer = nn.Dropout1d(p=0.5)
        >>> layer(torch.ones(1, 4, 2)).sum(-1)
        tensor([[0., 0., 4., 0.]])

    See also:
        `nn.functional.dropout1d`.
    """

    def forward(self, input: Tensor) -> Tensor:
        return functional.dropout1d(input, self.p, self.training, self.inplace)


class Dropout2d(_DropoutNd):
    """Set whole channels to 0 with probability `p`, and scale the others by 1 / (1 - p).

    Neighbouring elements of a channel are strongly correlated; dropping them together regularises
    where `nn.Dropout` would not.

    In evaluation (`module.eval()`) the input passes unchanged.

    Args:
        p: Probability to drop. Default: 0.5.
        inplace: Whether to overwrite the input. Default: False.

    Shape:
        - Input: (N, C, H, W).
        - Output: the shape of the input.

    Raises:
        ValueError: `p` is not between 0 and 1.

    Example:
        >>> _ = torch.manual_seed(0)
        >>> layer = nn.Dropout2d(p=0.5)
        >>> layer(torch.ones(1, 4, 2, 2)).sum(dim=(-2, -1))
        tensor([[0., 0., 8., 0.]])

    See also:
        `nn.functional.dropout2d`.
    """

    def forward(self, input: Tensor) -> Tensor:
        return functional.dropout2d(input, self.p, self.training, self.inplace)


class Dropout3d(_DropoutNd):
    """Set whole channels to 0 with probability `p`, and scale the others by 1 / (1 - p).

    Neighbouring elements of a channel are strongly correlated; dropping them together regularises
    where `nn.Dropout` would not.

    In evaluation (`module.eval()`) the input passes unchanged.

    Args:
        p: Probability to drop. Default: 0.5.
        inplace: Whether to overwrite the input. Default: False.

    Shape:
        - Input: (N, C, D, H, W) or (C, D, H, W).
        - Output: the shape of the input.

    Raises:
        ValueError: `p` is not between 0 and 1.

    Example:
        >>> _ = torch.manual_seed(0)
        >>> layer = nn.Dropout3d(p=0.5)
        >>> layer(torch.ones(1, 4, 2, 2, 2)).sum(dim=(-3, -2, -1))
        tensor([[ 0.,  0., 16.,  0.]])

    See also:
        `nn.functional.dropout3d`.
    """

    def forward(self, input: Tensor) -> Tensor:
        return functional.dropout3d(input, self.p, self.training, self.inplace)


class AlphaDropout(_DropoutNd):
    """Dropout that keeps mean 0 and variance 1, for networks of `nn.SELU`.

    Dropped elements become SELU's negative limit instead of 0; the result is then shifted and
    scaled.

    In evaluation (`module.eval()`) the input passes unchanged.

    Args:
        p: Probability to drop. Default: 0.5.
        inplace: Whether to overwrite the input. Default: False.

    Shape:
        - Input: any shape.
        - Output: the shape of the input.

    Raises:
        ValueError: `p` is not between 0 and 1.

    Example:
        >>> _ = torch.manual_seed(0)
        >>> x = nn.AlphaDropout(p=0.2)(torch.randn(10000))
        >>> bool(x.mean().abs() < 0.05), bool((x.std() - 1).abs() < 0.05)
        (True, True)

    See also:
        `nn.functional.alpha_dropout`.
    """

    def forward(self, input: Tensor) -> Tensor:
        return functional.alpha_dropout(input, self.p, self.training, self.inplace)


class FeatureAlphaDropout(_DropoutNd):
    """`nn.AlphaDropout` of whole channels.

    In evaluation (`module.eval()`) the input passes unchanged.

    Args:
        p: Probability to drop. Default: 0.5.
        inplace: Whether to overwrite the input. Default: False.

    Shape:
        - Input: (N, C, *).
        - Output: the shape of the input.

    Raises:
        ValueError: `p` is not between 0 and 1.

    Example:
        >>> _ = torch.manual_seed(0)
        >>> nn.FeatureAlphaDropout(p=0.5)(torch.ones(1, 4, 2))
        tensor([[[-0.7792, -0.7792],
                 [-0.7792, -0.7792],
                 [ 1.6656,  1.6656],
                 [-0.7792, -0.7792]]])

    See also:
        `nn.functional.feature_alpha_dropout`.
    """

    def forward(self, input: Tensor) -> Tensor:
        return functional.feature_alpha_dropout(input, self.p, self.training, self.inplace)
