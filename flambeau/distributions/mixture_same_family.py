"""Mixtures of distributions of one family."""

from __future__ import annotations

from typing import Any, ClassVar

import flambeau as fb
from flambeau import Size, Tensor
from flambeau.distributions import constraints
from flambeau.distributions.categorical import Categorical
from flambeau.distributions.distribution import Distribution, Shape

__all__ = ["MixtureSameFamily"]


class MixtureSameFamily(Distribution):
    """Mixture of components along the last batch dimension.

    p(x) = sum over i of weight_i p_i(x)

    Args:
        mixture_distribution: `Categorical` of the weights.
        component_distribution: The components.
        validate_args: Whether to check parameters and values. Default: True.

    Example:
        >>> from flambeau.distributions import Categorical, MixtureSameFamily, Normal
        >>> weights = Categorical(torch.tensor([0.5, 0.5]))
        >>> MixtureSameFamily(weights, Normal(torch.tensor([-1.0, 3.0]), 1.0)).mean
        tensor(1.)
    """

    arg_constraints: ClassVar[dict[str, constraints.Constraint]] = {}
    has_rsample = False

    def __init__(
        self,
        mixture_distribution: Categorical,
        component_distribution: Distribution,
        validate_args: bool | None = None,
    ) -> None:
        _check(mixture_distribution, component_distribution)
        self._mixture_distribution = mixture_distribution
        self._component_distribution = component_distribution
        self._num_component = component_distribution.batch_shape[-1]
        self._event_ndims = len(component_distribution.event_shape)
        super().__init__(
            component_distribution.batch_shape[:-1],
            component_distribution.event_shape,
            validate_args=validate_args,
        )

    def expand(self, batch_shape: Shape, _instance: Any = None) -> MixtureSameFamily:
        new = self._get_checked_instance(MixtureSameFamily, _instance)
        components = self._component_distribution
        new._component_distribution = components.expand((*batch_shape, self._num_component))
        return super().expand(batch_shape, _instance=new)

    @constraints.dependent_property
    def support(self) -> Any:
        return constraints.MixtureSameFamilyConstraint(self._component_distribution.support)

    @property
    def mixture_distribution(self) -> Categorical:
        """The distribution of the component's index."""
        return self._mixture_distribution

    @property
    def component_distribution(self) -> Distribution:
        """The components, along the last batch dimension."""
        return self._component_distribution

    def _fb_weights(self) -> Tensor:
        """The probability of each component, with the dimensions of an event appended."""
        probs = self._mixture_distribution.probs
        return probs.reshape(*probs.shape, *(1 for _ in range(self._event_ndims)))

    def _pad(self, x: Tensor) -> Tensor:
        """Insert a dimension for the components."""
        return x.unsqueeze(-1 - self._event_ndims)

    @property
    def mean(self) -> Tensor:
        return (self._fb_weights() * self._component_distribution.mean).sum(-1 - self._event_ndims)

    @property
    def variance(self) -> Tensor:
        dim = -1 - self._event_ndims
        within = (self._fb_weights() * self._component_distribution.variance).sum(dim)
        distance = self._component_distribution.mean - self._pad(self.mean)
        return within + (self._fb_weights() * distance.square()).sum(dim)

    def cdf(self, x: Tensor) -> Tensor:
        below = self._component_distribution.cdf(self._pad(x))
        return (below * self._mixture_distribution.probs).sum(-1)

    def log_prob(self, x: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(x)
        each = self._component_distribution.log_prob(self._pad(x))
        return (each + self._mixture_distribution.logits.log_softmax(-1)).logsumexp(-1)

    def sample(self, sample_shape: Shape = ()) -> Tensor:
        with fb.no_grad():
            choice = self._mixture_distribution.sample(sample_shape)
            samples = self._component_distribution.sample(sample_shape)
            dim = len(Size(sample_shape)) + len(self._batch_shape)
            index = choice.reshape(*choice.shape, *(1 for _ in range(self._event_ndims + 1)))
            index = index.expand(*choice.shape, 1, *self._event_shape)
            return samples.gather(dim, index).squeeze(dim)

    def __repr__(self) -> str:
        return (
            f"MixtureSameFamily(\n  {self._mixture_distribution!r},\n"
            f"  {self._component_distribution!r})"
        )


def _check(mixture: Any, components: Any) -> None:
    if not isinstance(mixture, Categorical):
        raise ValueError(
            " The Mixture distribution needs to be an instance of torch.distributions.Categorical,"
            f" got {type(mixture).__name__}"
        )
    if not isinstance(components, Distribution):
        raise ValueError(
            "The Component distribution need to be an instance of torch.distributions.Distribution,"
            f" got {type(components).__name__}"
        )
    outer, given = mixture.batch_shape, components.batch_shape[:-1]
    for size, other in zip(reversed(outer), reversed(given), strict=False):
        if size != 1 and other != 1 and size != other:
            raise ValueError(
                f"`mixture_distribution.batch_shape` ({outer}) is not compatible with "
                f"`component_distribution.batch_shape`({given})"
            )
    count, expected = mixture.logits.shape[-1], components.batch_shape[-1]
    if count != expected:
        raise ValueError(
            f"`mixture_distribution component` ({count}) does not equal "
            f"`component_distribution.batch_shape[-1]` ({expected})"
        )
