"""The negative binomial distribution."""

from __future__ import annotations

from typing import ClassVar

import flambeau as fb
from flambeau import Tensor
from flambeau._C.nn.functional import logsigmoid
from flambeau.distributions import constraints
from flambeau.distributions._odds import ProbsOrLogits
from flambeau.distributions.distribution import Distribution, Shape
from flambeau.distributions.gamma import Gamma
from flambeau.distributions.utils import broadcast_all, lazy_property

__all__ = ["NegativeBinomial"]


class NegativeBinomial(ProbsOrLogits, Distribution):
    """Number of successes before a number of failures.

    Args:
        total_count: Number of failures.
        probs: Probability of success.
        logits: Its log-odds; one of both is given.
        validate_args: Whether to check parameters and values. Default: True.

    Example:
        >>> from flambeau.distributions import NegativeBinomial
        >>> NegativeBinomial(3, torch.tensor(0.5)).mean
        tensor(3.)
    """

    arg_constraints: ClassVar[dict[str, constraints.Constraint]] = {
        "total_count": constraints.greater_than_eq(0),
        "probs": constraints.half_open_interval(0.0, 1.0),
        "logits": constraints.real,
    }
    support: constraints.Constraint = constraints.nonnegative_integer

    def __init__(
        self,
        total_count: Tensor | float,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        name, value = self._fb_given(probs, logits)
        total_count, value = broadcast_all(total_count, value)
        self.total_count: Tensor = total_count.type_as(value)
        setattr(self, name, value)
        super().__init__(value.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.total_count * self.logits.exp()

    @property
    def mode(self) -> Tensor:
        return ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0)

    @property
    def variance(self) -> Tensor:
        return self.mean / (-self.logits).sigmoid()

    @lazy_property
    def _gamma(self) -> Gamma:
        """The gamma distribution of the rate in the Poisson-gamma mixture."""
        return Gamma(self.total_count, (-self.logits).exp(), validate_args=False)

    def sample(self, sample_shape: Shape = ()) -> Tensor:
        with fb.no_grad():
            return fb.poisson(self._gamma.sample(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        total = self.total_count + value
        log_choices = fb.lgamma(total) - fb.lgamma(1 + value) - fb.lgamma(self.total_count)
        log_choices = log_choices.masked_fill(total == 0, 0.0)
        return (
            self.total_count * logsigmoid(-self.logits)
            + value * logsigmoid(self.logits)
            + log_choices
        )
