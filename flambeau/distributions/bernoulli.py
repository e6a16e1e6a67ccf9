"""The Bernoulli distribution."""

from __future__ import annotations

from typing import ClassVar

import flambeau as fb
from flambeau import Tensor, nan
from flambeau._C.nn.functional import binary_cross_entropy_with_logits, softplus
from flambeau.distributions import constraints
from flambeau.distributions._odds import Number, ProbsOrLogits
from flambeau.distributions.distribution import Shape
from flambeau.distributions.exp_family import ExponentialFamily
from flambeau.distributions.utils import broadcast_all, log_bernoulli

__all__ = ["Bernoulli"]


class Bernoulli(ProbsOrLogits, ExponentialFamily):
    """Distribution of 1 with probability `probs` and 0 otherwise.

    Args:
        probs: Probability of 1.
        logits: Its log-odds; one of both is given.
        validate_args: Whether to check parameters and values. Default: True.

    Example:
        >>> from flambeau.distributions import Bernoulli
        >>> d = Bernoulli(torch.tensor([0.0, 1.0]))
        >>> d.sample()
        tensor([0., 1.])
        >>> Bernoulli(logits=torch.tensor(0.0)).probs
        tensor(0.5000)
    """

    arg_constraints: ClassVar[dict[str, constraints.Constraint]] = {
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }
    support: constraints.Constraint = constraints.boolean
    has_enumerate_support = True
    _mean_carrier_measure = 0

    def __init__(
        self,
        probs: Tensor | Number | None = None,
        logits: Tensor | Number | None = None,
        validate_args: bool | None = None,
    ) -> None:
        name, value = self._fb_given(probs, logits)
        (value,) = broadcast_all(value)
        setattr(self, name, value)
        super().__init__(value.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.probs

    @property
    def mode(self) -> Tensor:
        mode = (self.probs >= 0.5).to(self.probs)
        return mode.masked_fill(self.probs == 0.5, nan)

    @property
    def variance(self) -> Tensor:
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Shape = ()) -> Tensor:
        with fb.no_grad():
            probs = self.probs
            if sample_shape:
                probs = probs.expand(self._extended_shape(sample_shape))
            return fb.bernoulli(probs)

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return log_bernoulli(self.logits, value)

    def entropy(self) -> Tensor:
        return binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")

    def enumerate_support(self, expand: bool = True) -> Tensor:
        values = fb.arange(2, dtype=self._param.dtype, device=self._param.device)
        return self._fb_enumerated(values, expand)

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (fb.logit(self.probs),)

    def _log_normalizer(self, x: Tensor) -> Tensor:  # type: ignore[override]
        return softplus(x)
