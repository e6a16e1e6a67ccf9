"""The F distribution of Fisher and Snedecor."""

from __future__ import annotations

from typing import ClassVar

import flambeau as fb
from flambeau import Tensor, nan
from flambeau.distributions import constraints
from flambeau.distributions.distribution import Distribution, Shape
from flambeau.distributions.gamma import Gamma
from flambeau.distributions.utils import broadcast_all

__all__ = ["FisherSnedecor"]


class FisherSnedecor(Distribution):
    """F-distribution: ratio of two chi-squared numbers per degree of freedom.

    Args:
        df1: Degrees of freedom above.
        df2: Degrees of freedom below.
        validate_args: Whether to check parameters and values. Default: True.

    Example:
        >>> from flambeau.distributions import FisherSnedecor
        >>> FisherSnedecor(2.0, 4.0).mean
        tensor(2.)
    """

    df1: Tensor
    df2: Tensor
    arg_constraints: ClassVar[dict[str, constraints.Constraint]] = {
        "df1": constraints.positive,
        "df2": constraints.positive,
    }
    support: constraints.Constraint = constraints.positive
    has_rsample = True

    def __init__(
        self, df1: Tensor | float, df2: Tensor | float, validate_args: bool | None = None
    ) -> None:
        self.df1, self.df2 = broadcast_all(df1, df2)
        self._gamma1 = Gamma(self.df1 * 0.5, self.df1, validate_args=False)
        self._gamma2 = Gamma(self.df2 * 0.5, self.df2, validate_args=False)
        super().__init__(self.df1.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return (self.df2 / (self.df2 - 2)).masked_fill(self.df2 <= 2, nan)

    @property
    def mode(self) -> Tensor:
        mode = (self.df1 - 2) / self.df1 * self.df2 / (self.df2 + 2)
        return mode.masked_fill(self.df1 <= 2, nan)

    @property
    def variance(self) -> Tensor:
        df1, df2 = self.df1, self.df2
        spread = 2 * df2.square() * (df1 + df2 - 2)
        spread = spread / (df1 * (df2 - 2).square() * (df2 - 4))
        return spread.masked_fill(df2 <= 4, nan)

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        above = self._gamma1.rsample(sample_shape)
        below = self._gamma2.rsample(sample_shape)
        ratio = above / below
        ratio.detach().clamp_(min=fb.finfo(ratio.dtype).tiny)
        return ratio

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        half1, half2 = self.df1 * 0.5, self.df2 * 0.5
        ratio = self.df1 / self.df2
        return (
            fb.lgamma(half1 + half2)
            - fb.lgamma(half1)
            - fb.lgamma(half2)
            + half1 * ratio.log()
            + (half1 - 1) * value.log()
            - (half1 + half2) * (ratio * value).log1p()
        )
