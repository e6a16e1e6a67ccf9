"""Student's t distribution."""

from __future__ import annotations

import math
from typing import ClassVar

import flambeau as fb
from flambeau import Tensor, inf, nan
from flambeau.distributions import constraints
from flambeau.distributions.chi2 import Chi2
from flambeau.distributions.distribution import Distribution, Shape
from flambeau.distributions.utils import _standard_normal, broadcast_all

__all__ = ["StudentT"]


class StudentT(Distribution):
    """Student's t-distribution.

    Args:
        df: Degrees of freedom.
        loc: Centre. Default: 0.
        scale: Scale. Default: 1.
        validate_args: Whether to check parameters and values. Default: True.

    Example:
        >>> from flambeau.distributions import StudentT
        >>> StudentT(3.0).variance
        tensor(3.)
    """

    df: Tensor
    loc: Tensor
    scale: Tensor
    arg_constraints: ClassVar[dict[str, constraints.Constraint]] = {
        "df": constraints.positive,
        "loc": constraints.real,
        "scale": constraints.positive,
    }
    support: constraints.Constraint = constraints.real
    has_rsample = True

    def __init__(
        self,
        df: Tensor | float,
        loc: Tensor | float = 0.0,
        scale: Tensor | float = 1.0,
        validate_args: bool | None = None,
    ) -> None:
        self.df, self.loc, self.scale = broadcast_all(df, loc, scale)
        self._chi2 = Chi2(self.df, validate_args=False)
        super().__init__(self.df.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.loc.masked_fill(self.df <= 1, nan)

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        spread = self.scale.square() * (self.df / (self.df - 2))
        return spread.masked_fill(self.df <= 2, inf).masked_fill(self.df <= 1, nan)

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        normal = _standard_normal(self._extended_shape(sample_shape), self.df.dtype, self.df.device)
        chi2 = self._chi2.rsample(sample_shape)
        return self.loc + self.scale * (normal * (chi2 / self.df).rsqrt())

    def _fb_log_normalizer(self) -> Tensor:
        return (
            0.5 * self.df.log()
            + 0.5 * math.log(math.pi)
            + fb.lgamma(0.5 * self.df)
            - fb.lgamma(0.5 * (self.df + 1))
        )

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        distance = (value - self.loc) / self.scale
        tail = 0.5 * (self.df + 1) * (distance.square() / self.df).log1p()
        return -tail - self.scale.log() - self._fb_log_normalizer()

    def entropy(self) -> Tensor:
        half = 0.5 * (self.df + 1)
        slope = fb.digamma(half) - fb.digamma(0.5 * self.df)
        return self.scale.log() + half * slope + self._fb_log_normalizer()
