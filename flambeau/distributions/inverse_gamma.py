"""The inverse gamma distribution."""

from __future__ import annotations

from typing import ClassVar

import flambeau as fb
from flambeau import Tensor, inf
from flambeau.distributions import constraints
from flambeau.distributions.gamma import Gamma
from flambeau.distributions.transformed_distribution import TransformedDistribution
from flambeau.distributions.transforms import PowerTransform

__all__ = ["InverseGamma"]


class InverseGamma(TransformedDistribution):
    """Reciprocal of a gamma number.

    Args:
        concentration: Shape; positive.
        rate: Inverse scale of the gamma number; positive.
        validate_args: Whether to check parameters and values. Default: True.

    Example:
        >>> from flambeau.distributions import InverseGamma
        >>> InverseGamma(3.0, 4.0).mean
        tensor(2.)
    """

    arg_constraints: ClassVar[dict[str, constraints.Constraint]] = {
        "concentration": constraints.positive,
        "rate": constraints.positive,
    }
    support: constraints.Constraint = constraints.positive
    has_rsample = True
    _fb_checked_by_part: ClassVar = frozenset(("concentration", "rate"))
    base_dist: Gamma

    def __init__(
        self,
        concentration: Tensor | float,
        rate: Tensor | float,
        validate_args: bool | None = None,
    ) -> None:
        base = Gamma(concentration, rate, validate_args=validate_args)
        power = PowerTransform(base.rate.new_full((), -1.0))
        super().__init__(base, power, validate_args=validate_args)

    @property
    def concentration(self) -> Tensor:
        """The concentration of the gamma variable."""
        return self.base_dist.concentration

    @property
    def rate(self) -> Tensor:
        """The rate of the gamma variable."""
        return self.base_dist.rate

    @property
    def mean(self) -> Tensor:
        return fb.where(self.concentration > 1, self.rate / (self.concentration - 1), inf)

    @property
    def mode(self) -> Tensor:
        return self.rate / (self.concentration + 1)

    @property
    def variance(self) -> Tensor:
        c = self.concentration
        return fb.where(c > 2, self.rate.square() / ((c - 1).square() * (c - 2)), inf)

    def entropy(self) -> Tensor:
        c = self.concentration
        return c + self.rate.log() + fb.lgamma(c) - (1 + c) * fb.digamma(c)
