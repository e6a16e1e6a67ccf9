"""Categorical distributions over one-hot vectors."""

from __future__ import annotations

import flambeau as fb
from flambeau import Tensor
from flambeau._C.nn.functional import one_hot
from flambeau.distributions import constraints
from flambeau.distributions._probabilities import OfCategorical
from flambeau.distributions.categorical import Categorical
from flambeau.distributions.distribution import Distribution, Shape

__all__ = ["OneHotCategorical", "OneHotCategoricalStraightThrough"]


class OneHotCategorical(OfCategorical, Distribution):
    """Distribution of one-hot vectors.

    Args:
        probs: Probabilities along the last dimension.
        logits: Their logarithms, up to a constant; one of both is given.
        validate_args: Whether to check parameters and values. Default: True.

    Example:
        >>> from flambeau.distributions import OneHotCategorical
        >>> OneHotCategorical(torch.tensor([0.0, 1.0])).sample()
        tensor([0., 1.])

    See also:
        `distributions.Categorical`.
    """

    support: constraints.Constraint = constraints.one_hot
    has_enumerate_support = True

    def __init__(
        self,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        self._categorical = Categorical(probs, logits, validate_args=validate_args)
        shape = self._categorical.param_shape
        super().__init__(shape[:-1], shape[-1:], validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.probs

    @property
    def mode(self) -> Tensor:
        return one_hot(self.probs.argmax(-1), self.probs.size(-1)).to(self.probs)

    @property
    def variance(self) -> Tensor:
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Shape = ()) -> Tensor:
        indices = self._categorical.sample(sample_shape)
        return one_hot(indices, self._event_shape[0]).to(self.probs)

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return self._categorical.log_prob(value.argmax(-1))

    def entropy(self) -> Tensor:
        return self._categorical.entropy()

    def enumerate_support(self, expand: bool = True) -> Tensor:
        like = self._param
        values = fb.eye(self._event_shape[0], dtype=like.dtype, device=like.device)
        return self._fb_enumerated(values, expand)


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """`OneHotCategorical` with `rsample`, whose gradient is that of the probabilities.

    Args:
        probs: Probabilities along the last dimension.
        logits: Their logarithms, up to a constant; one of both is given.
        validate_args: Whether to check parameters and values. Default: True.

    Example:
        >>> from flambeau.distributions import OneHotCategoricalStraightThrough
        >>> OneHotCategoricalStraightThrough(torch.tensor([0.0, 1.0])).rsample()
        tensor([0., 1.])
    """

    has_rsample = True

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        return self.sample(sample_shape) + (self.probs - self.probs.detach())
