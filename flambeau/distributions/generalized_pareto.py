"""The generalized Pareto distribution."""

from __future__ import annotations

from typing import Any, ClassVar

import flambeau as fb
from flambeau import Tensor, inf, nan
from flambeau.distributions import constraints
from flambeau.distributions.distribution import Distribution, Shape
from flambeau.distributions.utils import broadcast_all

__all__ = ["GeneralizedPareto"]


class GeneralizedPareto(Distribution):
    """Excesses over a threshold.

    Args:
        loc: Threshold.
        scale: Scale; positive.
        concentration: Shape; 0 is the exponential distribution, below 0 there is an upper end.
        validate_args: Whether to check parameters and values. Default: True.

    Example:
        >>> from flambeau.distributions import GeneralizedPareto
        >>> GeneralizedPareto(0.0, 1.0, 0.5).mean
        tensor(2.)
    """

    loc: Tensor
    scale: Tensor
    concentration: Tensor
    arg_constraints: ClassVar[dict[str, constraints.Constraint]] = {
        "loc": constraints.real,
        "scale": constraints.positive,
        "concentration": constraints.real,
    }
    has_rsample = True

    def __init__(
        self,
        loc: Tensor | float,
        scale: Tensor | float,
        concentration: Tensor | float,
        validate_args: bool | None = None,
    ) -> None:
        self.loc, self.scale, self.concentration = broadcast_all(loc, scale, concentration)
        super().__init__(self.loc.shape, validate_args=validate_args)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        end = self.loc - self.scale / self.concentration
        return constraints.interval(self.loc, fb.where(self.concentration < 0, end, inf))

    def _fb_is_exponential(self) -> Tensor:
        return self.concentration.isclose(fb.zeros_like(self.concentration))

    def _fb_safe_concentration(self) -> Tensor:
        return fb.where(self._fb_is_exponential(), 1.0, self.concentration)

    def _z(self, x: Tensor) -> Tensor:
        return (x - self.loc) / self.scale

    def log_survival_function(self, value: Tensor) -> Tensor:
        """The logarithm of the survival function."""
        z = self._z(value)
        c = self._fb_safe_concentration()
        return fb.where(self._fb_is_exponential(), -z, -(c * z).log1p() / c)

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        z = self._z(value)
        c = self._fb_safe_concentration()
        # At the end of the support the logarithm is infinite, and for c = -1 it does not count.
        decay = fb.where(self._fb_is_exponential(), z, fb.special.xlog1py(1 + 1 / c, c * z))
        return -self.scale.log() - decay

    def cdf(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return -self.log_survival_function(value).expm1()

    def log_cdf(self, value: Tensor) -> Tensor:
        """The logarithm of ``cdf``."""
        return (-self.log_survival_function(value).exp()).log1p()

    def icdf(self, value: Tensor) -> Tensor:
        log_rest = (-value).log1p()
        c = self._fb_safe_concentration()
        excess = fb.where(self._fb_is_exponential(), -log_rest, (-c * log_rest).expm1() / c)
        return self.loc + self.scale * excess

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        return self.icdf(fb.rand(shape, dtype=self.loc.dtype, device=self.loc.device))

    @property
    def mean(self) -> Tensor:
        c = self.concentration
        return fb.where(c < 1, self.loc + self.scale / (1 - c), nan)

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        c = self.concentration
        spread = self.scale.square() / ((1 - c).square() * (1 - 2 * c))
        return fb.where(c < 0.5, spread, nan)

    def entropy(self) -> Tensor:
        return self.scale.log() + self.concentration + 1
