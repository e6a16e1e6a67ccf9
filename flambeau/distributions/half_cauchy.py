"""The half-Cauchy distribution."""

from __future__ import annotations

import flambeau as fb
from flambeau import Tensor, inf
from flambeau.distributions._folded import Folded
from flambeau.distributions.cauchy import Cauchy

__all__ = ["HalfCauchy"]


class HalfCauchy(Folded):
    """Absolute value of a Cauchy number of median 0.

    Args:
        scale: Median; positive.
        validate_args: Whether to check parameters and values. Default: True.

    Example:
        >>> from flambeau.distributions import HalfCauchy
        >>> HalfCauchy(1.0).cdf(torch.tensor(1.0))
        tensor(0.5000)
    """

    base_dist: Cauchy

    def __init__(self, scale: Tensor | float, validate_args: bool | None = None) -> None:
        super().__init__(Cauchy(0, scale, validate_args=False), validate_args)

    @property
    def mean(self) -> Tensor:
        return fb.full_like(self.scale, inf)

    @property
    def variance(self) -> Tensor:
        return fb.full_like(self.scale, inf)
