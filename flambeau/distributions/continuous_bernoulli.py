"""The continuous Bernoulli distribution."""

from __future__ import annotations

import math
from typing import ClassVar

import flambeau as fb
from flambeau import Tensor
from flambeau.distributions import constraints
from flambeau.distributions._odds import Number, ProbsOrLogits
from flambeau.distributions.distribution import Shape
from flambeau.distributions.exp_family import ExponentialFamily
from flambeau.distributions.utils import (
    broadcast_all,
    clamp_probs,
    lazy_property,
    log_bernoulli,
    logits_to_probs,
)

__all__ = ["ContinuousBernoulli"]


class ContinuousBernoulli(ProbsOrLogits, ExponentialFamily):
    """Distribution on [0, 1] that weighs its ends as a Bernoulli distribution does.

    p(x) ∝ probs^x (1 - probs)^(1 - x)

    Args:
        probs: Parameter in (0, 1).
        logits: Its log-odds; one of both is given.
        lims: Range of `probs` around 1/2 where series replace the formulas.
            Default: (0.499, 0.501).
        validate_args: Whether to check parameters and values. Default: True.

    Example:
        >>> from flambeau.distributions import ContinuousBernoulli
        >>> ContinuousBernoulli(torch.tensor(0.5)).mean
        tensor(0.5000)
    """

    arg_constraints: ClassVar[dict[str, constraints.Constraint]] = {
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }
    support: constraints.Constraint = constraints.unit_interval
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(
        self,
        probs: Tensor | Number | None = None,
        logits: Tensor | Number | None = None,
        lims: tuple[float, float] = (0.499, 0.501),
        validate_args: bool | None = None,
    ) -> None:
        name, value = self._fb_given(probs, logits)
        (value,) = broadcast_all(value)
        if name == "probs":
            region = constraints.unit_interval
            # Checked before clamping, after which all of them would pass.
            if validate_args and not region._fb_holds(value):
                raise ValueError(
                    f"The parameter probs has invalid values: expected {region!r}, got {value}"
                )
            self.probs = clamp_probs(value)
        else:
            self.logits = value
        self._lims = lims
        super().__init__(value.shape, validate_args=validate_args)

    @lazy_property
    def probs(self) -> Tensor:
        """The probabilities, kept away from 0 and 1, where the formulas are infinite."""
        return clamp_probs(logits_to_probs(self.logits, is_binary=True))

    def _fb_regular(self) -> Tensor:
        """Return where the formulas may be used."""
        return (self.probs <= self._lims[0]) | (self.probs > self._lims[1])

    def _cut_probs(self) -> Tensor:
        """The probabilities, moved out of the range of the series."""
        return fb.where(self._fb_regular(), self.probs, self._lims[0])

    def _cont_bern_log_norm(self) -> Tensor:
        """The logarithm of 2 atanh(1 - 2 p) / (1 - 2 p)."""
        p = self._cut_probs()
        regular = ((-p).log1p() - p.log()).abs().log() - (1 - 2 * p).abs().log()
        square = (self.probs - 0.5).square()
        series = math.log(2.0) + (4.0 / 3.0 + 104.0 / 45.0 * square) * square
        return fb.where(self._fb_regular(), regular, series)

    @property
    def mean(self) -> Tensor:
        p = self._cut_probs()
        regular = p / (2 * p - 1) + 1 / ((-p).log1p() - p.log())
        x = self.probs - 0.5
        series = 0.5 + (1.0 / 3.0 + 16.0 / 45.0 * x.square()) * x
        return fb.where(self._fb_regular(), regular, series)

    @property
    def stddev(self) -> Tensor:
        return self.variance.sqrt()

    @property
    def variance(self) -> Tensor:
        p = self._cut_probs()
        regular = p * (p - 1) / (1 - 2 * p).square() + 1 / ((-p).log1p() - p.log()).square()
        square = (self.probs - 0.5).square()
        series = 1.0 / 12.0 - (1.0 / 15.0 - 128.0 / 945.0 * square) * square
        return fb.where(self._fb_regular(), regular, series)

    def sample(self, sample_shape: Shape = ()) -> Tensor:
        with fb.no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        return self.icdf(fb.rand(shape, dtype=self.probs.dtype, device=self.probs.device))

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return log_bernoulli(self.logits, value) + self._cont_bern_log_norm()

    def cdf(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        p = self._cut_probs()
        regular = (p.pow(value) * (1 - p).pow(1 - value) + p - 1) / (2 * p - 1)
        probability = fb.where(self._fb_regular(), regular, value)
        return fb.where(value <= 0, 0.0, fb.where(value >= 1, 1.0, probability))

    def icdf(self, value: Tensor) -> Tensor:
        p = self._cut_probs()
        log_failure = (-p).log1p()
        regular = (-p + value * (2 * p - 1)).log1p() - log_failure
        return fb.where(self._fb_regular(), regular / (p.log() - log_failure), value)

    def entropy(self) -> Tensor:
        log_failure = (-self.probs).log1p()
        slope = log_failure - self.probs.log()
        return self.mean * slope - self._cont_bern_log_norm() - log_failure

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (self.logits,)

    def _log_normalizer(self, x: Tensor) -> Tensor:  # type: ignore[override]
        near = (x <= self._lims[0] - 0.5) | (x > self._lims[1] - 0.5)
        cut = fb.where(near, x, self._lims[0] - 0.5)
        regular = cut.expm1().abs().log() - cut.abs().log()
        series = 0.5 * x + x.square() / 24.0 - x.pow(4) / 2880.0
        return fb.where(near, regular, series)
