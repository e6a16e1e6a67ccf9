"""The gamma distribution."""

from __future__ import annotations

from typing import ClassVar

import flambeau as fb
from flambeau import Tensor
from flambeau.distributions import constraints
from flambeau.distributions.distribution import Shape
from flambeau.distributions.exp_family import ExponentialFamily
from flambeau.distributions.utils import broadcast_all

__all__ = ["Gamma"]


class Gamma(ExponentialFamily):
    """Gamma distribution.

    p(x) ∝ x^(concentration - 1) exp(-rate x)

    Args:
        concentration: Shape; positive.
        rate: Inverse scale; positive.
        validate_args: Whether to check parameters and values. Default: True.

    Example:
        >>> from flambeau.distributions import Gamma
        >>> Gamma(2.0, 4.0).mean
        tensor(0.5000)
    """

    concentration: Tensor
    rate: Tensor
    arg_constraints: ClassVar[dict[str, constraints.Constraint]] = {
        "concentration": constraints.positive,
        "rate": constraints.positive,
    }
    support: constraints.Constraint = constraints.nonnegative
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(
        self,
        concentration: Tensor | float,
        rate: Tensor | float,
        validate_args: bool | None = None,
    ) -> None:
        self.concentration, self.rate = broadcast_all(concentration, rate)
        super().__init__(self.concentration.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.concentration / self.rate

    @property
    def mode(self) -> Tensor:
        return ((self.concentration - 1) / self.rate).clamp(min=0)

    @property
    def variance(self) -> Tensor:
        return self.concentration / self.rate.square()

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        value = fb._standard_gamma(self.concentration.expand(shape)) / self.rate
        value.detach().clamp_(min=fb.finfo(value.dtype).tiny)  # samples stay above zero
        return value

    def log_prob(self, value: Tensor) -> Tensor:
        value = fb.as_tensor(value, dtype=self.rate.dtype, device=self.rate.device)
        if self._validate_args:
            self._validate_sample(value)
        return (
            fb.xlogy(self.concentration, self.rate)
            + fb.xlogy(self.concentration - 1, value)
            - self.rate * value
            - fb.lgamma(self.concentration)
        )

    def cdf(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return fb.igamma(self.concentration, self.rate * value)

    def entropy(self) -> Tensor:
        return (
            self.concentration
            - self.rate.log()
            + fb.lgamma(self.concentration)
            + (1 - self.concentration) * fb.digamma(self.concentration)
        )

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (self.concentration - 1, -self.rate)

    def _log_normalizer(self, x: Tensor, y: Tensor) -> Tensor:  # type: ignore[override]
        return fb.lgamma(x + 1) - (x + 1) * fb.log(-y)
