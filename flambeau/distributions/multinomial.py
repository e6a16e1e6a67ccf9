"""The multinomial distribution."""

from __future__ import annotations

from typing import Any

import flambeau as fb
from flambeau import Tensor, inf
from flambeau.distributions import constraints
from flambeau.distributions._probabilities import OfCategorical
from flambeau.distributions.binomial import Binomial
from flambeau.distributions.categorical import Categorical
from flambeau.distributions.distribution import Distribution, Shape

__all__ = ["Multinomial"]


class Multinomial(OfCategorical, Distribution):
    """Counts of the categories in several draws.

    Args:
        total_count: Number of draws. Default: 1.
        probs: Probabilities along the last dimension.
        logits: Their logarithms, up to a constant; one of both is given.
        validate_args: Whether to check parameters and values. Default: True.

    Example:
        >>> from flambeau.distributions import Multinomial
        >>> Multinomial(10, torch.tensor([0.5, 0.5])).mean
        tensor([5., 5.])
    """

    total_count: int

    def __init__(
        self,
        total_count: int = 1,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        if not isinstance(total_count, int):
            raise NotImplementedError(
                f"inhomogeneous total_count is not supported: expected an int, got {total_count!r}"
            )
        self.total_count = total_count
        self._categorical = Categorical(probs, logits, validate_args=validate_args)
        shape = self._categorical.param_shape
        super().__init__(shape[:-1], shape[-1:], validate_args=validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=1)
    def support(self) -> Any:
        return constraints.multinomial(self.total_count)

    @property
    def mean(self) -> Tensor:
        return self.probs * self.total_count

    @property
    def variance(self) -> Tensor:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Shape = ()) -> Tensor:
        draws = self._categorical.sample((self.total_count, *sample_shape)).movedim(0, -1)
        counts = self.probs.new_zeros(self._extended_shape(sample_shape))
        return counts.scatter_add_(-1, draws, fb.ones_like(draws, dtype=counts.dtype))

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        # A category that is never drawn contributes nothing, however unlikely it is.
        logits = fb.where((value == 0) & (self.logits == -inf), 0, self.logits)
        log_choices = fb.lgamma(value.sum(-1) + 1) - fb.lgamma(value + 1).sum(-1)
        return log_choices + (logits * value).sum(-1)

    def entropy(self) -> Tensor:
        count = self.total_count
        each = count * self._categorical.entropy() - fb.lgamma(self.probs.new_tensor(count + 1.0))
        binomial = Binomial(count, probs=self.probs, validate_args=False)
        counts = binomial.enumerate_support(expand=False)[1:]
        weights = binomial.log_prob(counts).exp() * fb.lgamma(counts + 1)
        return each + weights.sum((0, -1))
