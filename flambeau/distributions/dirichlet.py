"""The Dirichlet distribution."""

from __future__ import annotations

from typing import ClassVar

import flambeau as fb
from flambeau import Tensor
from flambeau._C import _sample_dirichlet
from flambeau.distributions import constraints
from flambeau.distributions.distribution import Shape
from flambeau.distributions.exp_family import ExponentialFamily

__all__ = ["Dirichlet"]


class Dirichlet(ExponentialFamily):
    """Distribution of shares that sum to 1.

    p(x) ∝ product over i of x_i^(concentration_i - 1)

    Args:
        concentration: Concentrations along the last dimension; positive.
        validate_args: Whether to check parameters and values. Default: True.

    Example:
        >>> from flambeau.distributions import Dirichlet
        >>> Dirichlet(torch.tensor([1.0, 3.0])).mean
        tensor([0.2500, 0.7500])
    """

    arg_constraints: ClassVar[dict[str, constraints.Constraint]] = {
        "concentration": constraints.independent(constraints.positive, 1)
    }
    support: constraints.Constraint = constraints.simplex
    has_rsample = True

    def __init__(self, concentration: Tensor, validate_args: bool | None = None) -> None:
        if concentration.dim() < 1:
            raise ValueError("`concentration` parameter must be at least one-dimensional.")
        self.concentration = concentration
        shape = concentration.shape
        super().__init__(shape[:-1], shape[-1:], validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.concentration / self.concentration.sum(-1, keepdim=True)

    @property
    def mode(self) -> Tensor:
        excess = (self.concentration - 1).clamp(min=0)
        mode = excess / excess.sum(-1, keepdim=True)
        # If all concentrations are below one, every corner is a mode: the first is returned.
        corner = fb.zeros_like(mode)
        corner[..., 0] = 1
        return fb.where((self.concentration < 1).all(-1, keepdim=True), corner, mode)

    @property
    def variance(self) -> Tensor:
        total = self.concentration.sum(-1, keepdim=True)
        share = self.concentration / total
        return share * (1 - share) / (total + 1)

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        return _sample_dirichlet(self.concentration.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return (
            fb.xlogy(self.concentration - 1, value).sum(-1)
            + fb.lgamma(self.concentration.sum(-1))
            - fb.lgamma(self.concentration).sum(-1)
        )

    def entropy(self) -> Tensor:
        total = self.concentration.sum(-1)
        count = self.concentration.size(-1)
        return (
            fb.lgamma(self.concentration).sum(-1)
            - fb.lgamma(total)
            - (count - total) * fb.digamma(total)
            - ((self.concentration - 1) * fb.digamma(self.concentration)).sum(-1)
        )

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (self.concentration,)

    def _log_normalizer(self, x: Tensor) -> Tensor:  # type: ignore[override]
        return fb.lgamma(x).sum(-1) - fb.lgamma(x.sum(-1))
