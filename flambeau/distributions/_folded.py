"""Distributions of absolute values of variables that are symmetric around zero."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import flambeau as fb
from flambeau import Tensor, inf
from flambeau.distributions import constraints
from flambeau.distributions.distribution import Distribution
from flambeau.distributions.transformed_distribution import TransformedDistribution
from flambeau.distributions.transforms import AbsTransform


class Folded(TransformedDistribution):
    """|x| for x of a distribution of scale ``scale`` around zero: the density doubles."""

    arg_constraints: ClassVar[dict[str, constraints.Constraint]] = {"scale": constraints.positive}
    support: constraints.Constraint = constraints.nonnegative
    has_rsample = True

    def __init__(self, base: Distribution, validate_args: bool | None) -> None:
        super().__init__(base, AbsTransform(), validate_args=validate_args)

    @property
    def scale(self) -> Tensor:
        """The scale of the signed variable."""
        base: Any = self.base_dist
        return base.scale  # type: ignore[no-any-return]

    @property
    def mode(self) -> Tensor:
        return fb.zeros_like(self.scale)

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        elif not isinstance(value, Tensor):
            value = fb.as_tensor(value)
        return fb.where(value >= 0, self.base_dist.log_prob(value) + math.log(2), -inf)

    def cdf(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        below: Tensor = self.base_dist.cdf(value)
        return 2 * below - 1

    def icdf(self, value: Tensor) -> Tensor:
        quantile: Tensor = self.base_dist.icdf((value + 1) / 2)
        return quantile

    def entropy(self) -> Tensor:
        entropy: Tensor = self.base_dist.entropy()
        return entropy - math.log(2)
