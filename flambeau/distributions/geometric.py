"""The geometric distribution."""

from __future__ import annotations

from typing import ClassVar

import flambeau as fb
from flambeau import Tensor
from flambeau._C.nn.functional import binary_cross_entropy_with_logits
from flambeau.distributions import constraints
from flambeau.distributions._odds import Number, ProbsOrLogits
from flambeau.distributions.distribution import Distribution, Shape
from flambeau.distributions.utils import broadcast_all

__all__ = ["Geometric"]


class Geometric(ProbsOrLogits, Distribution):
    """Number of failures before the first success.

    p(k) = (1 - probs)^k probs

    Args:
        probs: Probability of success.
        logits: Its log-odds; one of both is given.
        validate_args: Whether to check parameters and values. Default: True.

    Example:
        >>> from flambeau.distributions import Geometric
        >>> Geometric(torch.tensor(0.25)).mean
        tensor(3.)
    """

    arg_constraints: ClassVar[dict[str, constraints.Constraint]] = {
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }
    support: constraints.Constraint = constraints.nonnegative_integer

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
        if self._validate_args and name == "probs" and not constraints.positive._fb_holds(value):
            raise ValueError(
                f"Expected parameter probs ({type(value).__name__} of shape {tuple(value.shape)})"
                f" of distribution {self!r} to be positive but found invalid values:\n{value}"
            )

    @property
    def mean(self) -> Tensor:
        return 1.0 / self.probs - 1.0

    @property
    def mode(self) -> Tensor:
        return fb.zeros_like(self.probs)

    @property
    def variance(self) -> Tensor:
        return (1.0 / self.probs - 1.0) / self.probs

    def sample(self, sample_shape: Shape = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        with fb.no_grad():
            u = fb.rand(shape, dtype=self.probs.dtype, device=self.probs.device)
            u = u.clamp(min=fb.finfo(u.dtype).tiny)
            return (u.log() / (-self.probs).log1p()).floor()

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        # At probs = 1, zero failures contribute nothing, although their logarithm is infinite.
        certain = (self.probs == 1) & (value == 0)
        return value * (-self.probs.masked_fill(certain, 0)).log1p() + self.probs.log()

    def entropy(self) -> Tensor:
        each = binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")
        return each / self.probs
