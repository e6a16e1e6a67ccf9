"""Categorical distributions relaxed to shares (Gumbel-softmax)."""

from __future__ import annotations

from typing import ClassVar

import flambeau as fb
from flambeau import Tensor
from flambeau.distributions import constraints
from flambeau.distributions._probabilities import OfCategorical, OfRelaxation
from flambeau.distributions.categorical import Categorical
from flambeau.distributions.distribution import Distribution, Shape
from flambeau.distributions.transformed_distribution import TransformedDistribution
from flambeau.distributions.transforms import ExpTransform
from flambeau.distributions.utils import clamp_probs

__all__ = ["ExpRelaxedCategorical", "RelaxedOneHotCategorical"]


class ExpRelaxedCategorical(OfCategorical, Distribution):
    """Logarithms of relaxed one-hot vectors."""

    support: constraints.Constraint = constraints.real_vector
    has_rsample = True

    def __init__(
        self,
        temperature: Tensor,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        self._categorical = Categorical(probs, logits, validate_args=validate_args)
        self.temperature = temperature
        shape = self._categorical.param_shape
        super().__init__(shape[:-1], shape[-1:], validate_args=validate_args)

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        u = clamp_probs(fb.rand(shape, dtype=self.logits.dtype, device=self.logits.device))
        gumbel = -(-u.log()).log()
        return ((self.logits + gumbel) / self.temperature).log_softmax(-1)

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        count = self._event_shape[0]
        constant = fb.lgamma(fb.full_like(self.temperature, float(count)))
        constant = constant + (count - 1) * self.temperature.log()
        return (self.logits - value * self.temperature).log_softmax(-1).sum(-1) + constant


class RelaxedOneHotCategorical(OfRelaxation, TransformedDistribution):
    """Differentiable shares that come near one-hot vectors as the temperature falls.

    Args:
        temperature: Temperature; positive.
        probs: Probabilities along the last dimension.
        logits: Their logarithms, up to a constant; one of both is given.
        validate_args: Whether to check parameters and values. Default: True.

    Example:
        >>> from flambeau.distributions import RelaxedOneHotCategorical
        >>> d = RelaxedOneHotCategorical(torch.tensor(0.5), torch.tensor([0.3, 0.7]))
        >>> d.rsample().sum()
        tensor(1.)

    See also:
        `nn.functional.gumbel_softmax`.
    """

    arg_constraints: ClassVar[dict[str, constraints.Constraint]] = {
        "probs": constraints.simplex,
        "logits": constraints.real_vector,
    }
    support: constraints.Constraint = constraints.simplex
    has_rsample = True
    base_dist: ExpRelaxedCategorical

    def __init__(
        self,
        temperature: Tensor,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        base = ExpRelaxedCategorical(temperature, probs, logits, validate_args=validate_args)
        super().__init__(base, ExpTransform(), validate_args=validate_args)
