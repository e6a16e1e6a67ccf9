"""The Kumaraswamy distribution."""

from __future__ import annotations

from typing import ClassVar

import flambeau as fb
from flambeau import Tensor, nan
from flambeau.distributions import constraints
from flambeau.distributions.transformed_distribution import TransformedDistribution
from flambeau.distributions.transforms import AffineTransform, PowerTransform
from flambeau.distributions.uniform import Uniform
from flambeau.distributions.utils import broadcast_all, euler_constant

__all__ = ["Kumaraswamy"]


class Kumaraswamy(TransformedDistribution):
    """Distribution on (0, 1) with a simple distribution function.

    cdf(x) = 1 - (1 - x^concentration1)^concentration0

    Args:
        concentration1: First concentration; positive.
        concentration0: Second concentration; positive.
        validate_args: Whether to check parameters and values. Default: True.

    Example:
        >>> from flambeau.distributions import Kumaraswamy
        >>> Kumaraswamy(1.0, 1.0).cdf(torch.tensor(0.25))
        tensor(0.2500)
    """

    concentration1: Tensor
    concentration0: Tensor
    arg_constraints: ClassVar[dict[str, constraints.Constraint]] = {
        "concentration1": constraints.positive,
        "concentration0": constraints.positive,
    }
    support: constraints.Constraint = constraints.unit_interval
    has_rsample = True

    def __init__(
        self,
        concentration1: Tensor | float,
        concentration0: Tensor | float,
        validate_args: bool | None = None,
    ) -> None:
        self.concentration1, self.concentration0 = broadcast_all(concentration1, concentration0)
        zero = fb.zeros_like(self.concentration0)
        transforms = [
            PowerTransform(exponent=self.concentration0.reciprocal()),
            AffineTransform(loc=1.0, scale=-1.0),
            PowerTransform(exponent=self.concentration1.reciprocal()),
        ]
        base = Uniform(zero, zero + 1, validate_args=validate_args)
        super().__init__(base, transforms, validate_args=validate_args)

    def _fb_moment(self, order: int) -> Tensor:
        """The mean of x^order: c0 B(1 + order / c1, c0)."""
        first = 1 + order / self.concentration1
        log_beta = (
            fb.lgamma(first)
            + fb.lgamma(self.concentration0)
            - fb.lgamma(first + self.concentration0)
        )
        return self.concentration0 * log_beta.exp()

    @property
    def mean(self) -> Tensor:
        return self._fb_moment(1)

    @property
    def mode(self) -> Tensor:
        c1, c0 = self.concentration1, self.concentration0
        mode = ((c1 - 1) / (c1 * c0 - 1)) ** c1.reciprocal()
        return mode.masked_fill((c0 < 1) | (c1 < 1), nan)

    @property
    def variance(self) -> Tensor:
        return self._fb_moment(2) - self._fb_moment(1).square()

    def entropy(self) -> Tensor:
        c1, c0 = self.concentration1, self.concentration0
        harmonic = fb.digamma(c0 + 1) + euler_constant
        return (1 - c0.reciprocal()) + (1 - c1.reciprocal()) * harmonic - c1.log() - c0.log()
