"""The categorical distribution."""

from __future__ import annotations

from typing import ClassVar

import flambeau as fb
from flambeau import Size, Tensor, nan
from flambeau._operators.joining import broadcast_shapes
from flambeau.distributions import constraints
from flambeau.distributions._odds import ProbsOrLogits
from flambeau.distributions.distribution import Distribution, Shape
from flambeau.distributions.utils import least_number

__all__ = ["Categorical"]


class Categorical(ProbsOrLogits, Distribution):
    """Distribution of class indices.

    p(i) = probs[i]

    Args:
        probs: Probabilities along the last dimension; they are scaled to sum to 1.
        logits: Their logarithms, up to a constant; one of both is given.
        validate_args: Whether to check parameters and values. Default: True.

    Example:
        >>> from flambeau.distributions import Categorical
        >>> d = Categorical(torch.tensor([0.5, 0.25, 0.25]))
        >>> d.log_prob(torch.tensor(0))
        tensor(-0.6931)
        >>> d.entropy()
        tensor(1.0397)
        >>> d.sample((4,)).shape
        torch.Size([4])

    See also:
        `distributions.OneHotCategorical`, `torch.multinomial`.
    """

    arg_constraints: ClassVar[dict[str, constraints.Constraint]] = {
        "probs": constraints.simplex,
        "logits": constraints.real_vector,
    }
    has_enumerate_support = True
    _fb_is_binary = False

    def __init__(
        self,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        name, value = self._fb_given(probs, logits)
        if value.dim() < 1:
            raise ValueError(f"`{name}` parameter must be at least one-dimensional.")
        if name == "probs":
            self.probs = value / value.sum(-1, keepdim=True)
        else:
            self.logits = value.log_softmax(-1)
        shape = value.shape
        self._num_events = shape[-1]
        super().__init__(shape[:-1], validate_args=validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> constraints.Constraint:
        return constraints.integer_interval(0, self._num_events - 1)

    def _fb_undefined(self) -> Tensor:
        return fb.full(
            self._extended_shape(), nan, dtype=self._param.dtype, device=self._param.device
        )

    @property
    def mean(self) -> Tensor:
        return self._fb_undefined()

    @property
    def mode(self) -> Tensor:
        return self.probs.argmax(-1)

    @property
    def variance(self) -> Tensor:
        return self._fb_undefined()

    def sample(self, sample_shape: Shape = ()) -> Tensor:
        rows = self.probs.detach().reshape(-1, self._num_events)
        count = Size(sample_shape).numel()
        indices = fb.multinomial(rows, count, True)
        return indices.t().reshape(self._extended_shape(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        logits = self.logits
        index = value.long().unsqueeze(-1)
        if value.shape != self._batch_shape:
            shape = broadcast_shapes(value.shape, self._batch_shape)
            index = index.expand(*shape, 1)
            logits = logits.expand(*shape, self._num_events)
        return logits.gather(-1, index).squeeze(-1)

    def entropy(self) -> Tensor:
        # Probabilities of zero, whose logarithm is infinite, contribute nothing.
        logits = self.logits.clamp(min=least_number(self.logits.dtype))
        return -(logits * self.probs).sum(-1)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        values = fb.arange(self._num_events, device=self._param.device)
        return self._fb_enumerated(values, expand)
