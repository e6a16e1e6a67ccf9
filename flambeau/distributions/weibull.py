"""The Weibull distribution."""

from __future__ import annotations

from typing import ClassVar

import flambeau as fb
from flambeau import Tensor
from flambeau.distributions import constraints
from flambeau.distributions.exponential import Exponential
from flambeau.distributions.transformed_distribution import TransformedDistribution
from flambeau.distributions.transforms import AffineTransform, PowerTransform
from flambeau.distributions.utils import broadcast_all, euler_constant

__all__ = ["Weibull"]


class Weibull(TransformedDistribution):
    """Time to a failure.

    cdf(x) = 1 - exp(-(x / scale)^concentration)

    Args:
        scale: Scale; positive.
        concentration: Shape; positive.
        validate_args: Whether to check parameters and values. Default: True.

    Example:
        >>> from flambeau.distributions import Weibull
        >>> Weibull(1.0, 1.0).mean
        tensor(1.)
    """

    scale: Tensor
    concentration: Tensor
    arg_constraints: ClassVar[dict[str, constraints.Constraint]] = {
        "scale": constraints.positive,
        "concentration": constraints.positive,
    }
    support: constraints.Constraint = constraints.positive

    def __init__(
        self,
        scale: Tensor | float,
        concentration: Tensor | float,
        validate_args: bool | None = None,
    ) -> None:
        self.scale, self.concentration = broadcast_all(scale, concentration)
        base = Exponential(fb.ones_like(self.scale), validate_args=validate_args)
        transforms = [
            PowerTransform(exponent=self.concentration.reciprocal()),
            AffineTransform(loc=0, scale=self.scale),
        ]
        super().__init__(base, transforms, validate_args=validate_args)

    @property
    def concentration_reciprocal(self) -> Tensor:
        """1 / concentration."""
        return self.concentration.reciprocal()

    def _fb_log_moment(self, order: int) -> Tensor:
        """The logarithm of the mean of e^(order / concentration)."""
        return fb.lgamma(1 + order * self.concentration_reciprocal)

    @property
    def mean(self) -> Tensor:
        return self.scale * self._fb_log_moment(1).exp()

    @property
    def mode(self) -> Tensor:
        power = self.concentration_reciprocal
        return self.scale * ((self.concentration - 1) / self.concentration) ** power

    @property
    def variance(self) -> Tensor:
        spread = self._fb_log_moment(2).exp() - (2 * self._fb_log_moment(1)).exp()
        return self.scale.square() * spread

    def entropy(self) -> Tensor:
        return (
            euler_constant * (1 - self.concentration_reciprocal)
            + (self.scale * self.concentration_reciprocal).log()
            + 1
        )
