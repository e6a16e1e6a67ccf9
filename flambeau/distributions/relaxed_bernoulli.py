"""Bernoulli distributions relaxed to numbers between 0 and 1."""

from __future__ import annotations

from typing import ClassVar

import flambeau as fb
from flambeau import Tensor
from flambeau._C.nn.functional import softplus
from flambeau.distributions import constraints
from flambeau.distributions._odds import Number, ProbsOrLogits
from flambeau.distributions._probabilities import OfRelaxation
from flambeau.distributions.distribution import Distribution, Shape
from flambeau.distributions.transformed_distribution import TransformedDistribution
from flambeau.distributions.transforms import SigmoidTransform
from flambeau.distributions.utils import broadcast_all, clamp_probs, probs_to_logits

__all__ = ["LogitRelaxedBernoulli", "RelaxedBernoulli"]


class LogitRelaxedBernoulli(ProbsOrLogits, Distribution):
    """Log-odds of relaxed Bernoulli numbers: logistic noise around ``logits``, over temperature."""

    arg_constraints: ClassVar[dict[str, constraints.Constraint]] = {
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }
    support: constraints.Constraint = constraints.real

    def __init__(
        self,
        temperature: Tensor,
        probs: Tensor | Number | None = None,
        logits: Tensor | Number | None = None,
        validate_args: bool | None = None,
    ) -> None:
        self.temperature = temperature
        name, value = self._fb_given(probs, logits)
        (value,) = broadcast_all(value)
        setattr(self, name, value)
        super().__init__(value.shape, validate_args=validate_args)

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        u = clamp_probs(fb.rand(shape, dtype=self._param.dtype, device=self._param.device))
        noise = u.log() - (-u).log1p()
        # Computed from clamped probabilities, even if logits were given.
        return (noise + probs_to_logits(self.probs, is_binary=True)) / self.temperature

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        distance = self.logits - value * self.temperature
        return self.temperature.log() + distance - 2 * softplus(distance)


class RelaxedBernoulli(OfRelaxation, TransformedDistribution):
    """Differentiable numbers in (0, 1) that come near 0 or 1 as the temperature falls.

    Args:
        temperature: Temperature; positive.
        probs: Probability of 1.
        logits: Its log-odds; one of both is given.
        validate_args: Whether to check parameters and values. Default: True.

    Example:
        >>> from flambeau.distributions import RelaxedBernoulli
        >>> RelaxedBernoulli(torch.tensor(0.5), torch.tensor([0.3, 0.7])).rsample().shape
        torch.Size([2])
    """

    arg_constraints: ClassVar[dict[str, constraints.Constraint]] = {
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }
    support: constraints.Constraint = constraints.unit_interval
    has_rsample = True
    base_dist: LogitRelaxedBernoulli

    def __init__(
        self,
        temperature: Tensor,
        probs: Tensor | Number | None = None,
        logits: Tensor | Number | None = None,
        validate_args: bool | None = None,
    ) -> None:
        base = LogitRelaxedBernoulli(temperature, probs, logits, validate_args=validate_args)
        super().__init__(base, SigmoidTransform(), validate_args=validate_args)
