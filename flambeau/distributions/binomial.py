"""The binomial distribution."""

from __future__ import annotations

from typing import Any, ClassVar

import flambeau as fb
from flambeau import Tensor
from flambeau._C.nn.functional import softplus
from flambeau.distributions import constraints
from flambeau.distributions._odds import ProbsOrLogits
from flambeau.distributions.distribution import Distribution, Shape
from flambeau.distributions.utils import broadcast_all

__all__ = ["Binomial"]


class Binomial(ProbsOrLogits, Distribution):
    """Number of successes in independent trials.

    p(k) = C(total_count, k) probs^k (1 - probs)^(total_count - k)

    Args:
        total_count: Number of trials. Default: 1.
        probs: Probability of success.
        logits: Its log-odds; one of both is given.
        validate_args: Whether to check parameters and values. Default: True.

    Example:
        >>> from flambeau.distributions import Binomial
        >>> Binomial(10, torch.tensor(0.5)).mean
        tensor(5.)
    """

    arg_constraints: ClassVar[dict[str, constraints.Constraint]] = {
        "total_count": constraints.nonnegative_integer,
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }
    has_enumerate_support = True

    def __init__(
        self,
        total_count: Tensor | int = 1,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        name, value = self._fb_given(probs, logits)
        total_count, value = broadcast_all(total_count, value)
        self.total_count: Tensor = total_count.type_as(value)
        setattr(self, name, value)
        super().__init__(value.shape, validate_args=validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:
        return constraints.integer_interval(0, self.total_count)

    @property
    def mean(self) -> Tensor:
        return self.total_count * self.probs

    @property
    def mode(self) -> Tensor:
        return ((self.total_count + 1) * self.probs).floor().clamp(max=self.total_count)

    @property
    def variance(self) -> Tensor:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Shape = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        with fb.no_grad():
            return fb.binomial(self.total_count.expand(shape), self.probs.expand(shape))

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        log_choices = (
            fb.lgamma(self.total_count + 1)
            - fb.lgamma(value + 1)
            - fb.lgamma(self.total_count - value + 1)
        )
        return value * self.logits - self.total_count * softplus(self.logits) + log_choices

    def _fb_common_count(self, purpose: str) -> int:
        count = int(self.total_count.max())
        if not int(self.total_count.min()) == count:
            raise NotImplementedError(f"Inhomogeneous total count not supported by `{purpose}`.")
        return count

    def entropy(self) -> Tensor:
        self._fb_common_count("entropy")
        log_prob = self.log_prob(self.enumerate_support(False))
        return -(log_prob.exp() * log_prob).sum(0)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        count = self._fb_common_count("enumerate_support")
        values = fb.arange(1 + count, dtype=self._param.dtype, device=self._param.device)
        return self._fb_enumerated(values, expand)
