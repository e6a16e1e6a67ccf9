"""The half-normal distribution."""

from __future__ import annotations

import math

from flambeau import Tensor
from flambeau.distributions._folded import Folded
from flambeau.distributions.normal import Normal

__all__ = ["HalfNormal"]


class HalfNormal(Folded):
    """Absolute value of a normal number of mean 0.

    Args:
        scale: Standard deviation of the normal number; positive.
        validate_args: Whether to check parameters and values. Default: True.

    Example:
        >>> from flambeau.distributions import HalfNormal
        >>> HalfNormal(1.0).mean
        tensor(0.7979)
    """

    base_dist: Normal

    def __init__(self, scale: Tensor | float, validate_args: bool | None = None) -> None:
        super().__init__(Normal(0, scale, validate_args=False), validate_args)

    @property
    def mean(self) -> Tensor:
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def variance(self) -> Tensor:
        return self.scale.square() * (1 - 2 / math.pi)
