"""A distribution of the transformed samples of another distribution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import flambeau as fb
from flambeau import Size, Tensor
from flambeau.distributions import constraints
from flambeau.distributions.distribution import Distribution, Shape, own_class
from flambeau.distributions.independent import Independent
from flambeau.distributions.transforms import ComposeTransform, Transform
from flambeau.distributions.utils import _sum_rightmost

__all__ = ["TransformedDistribution"]


class TransformedDistribution(Distribution):
    """Distribution of transformed samples.

    Args:
        base_distribution: Distribution of the samples.
        transforms: Transform, or list of transforms in their order.
        validate_args: Whether to check parameters and values. Default: True.

    Example:
        >>> from flambeau.distributions import ExpTransform, Normal, TransformedDistribution
        >>> d = TransformedDistribution(Normal(0.0, 1.0), [ExpTransform()])
        >>> d.cdf(torch.tensor(1.0))
        tensor(0.5000)
    """

    arg_constraints: ClassVar[dict[str, constraints.Constraint]] = {}
    base_dist: Any

    def __init__(
        self,
        base_distribution: Distribution,
        transforms: Transform | Sequence[Transform],
        validate_args: bool | None = None,
    ) -> None:
        self.transforms: list[Transform] = _checked(transforms)
        transform = ComposeTransform(self.transforms)
        base_shape = base_distribution.batch_shape + base_distribution.event_shape
        if len(base_shape) < transform.domain.event_dim:
            raise ValueError(
                "base_distribution needs to have shape with size at least"
                f" {transform.domain.event_dim}, but got {base_shape}."
            )
        shape = Size(transform.forward_shape(base_shape))
        needed = Size(transform.inverse_shape(shape))
        if needed != base_shape:  # parameters of a transform may have a larger batch
            batch = needed[: len(needed) - len(base_distribution.event_shape)]
            base_distribution = base_distribution.expand(batch)
        missing = transform.domain.event_dim - len(base_distribution.event_shape)
        if missing > 0:
            base_distribution = Independent(base_distribution, missing)
        self.base_dist = base_distribution
        growth = transform.codomain.event_dim - transform.domain.event_dim
        event_dim = max(transform.codomain.event_dim, len(base_distribution.event_shape) + growth)
        cut = len(shape) - event_dim
        super().__init__(shape[:cut], shape[cut:], validate_args=validate_args)

    def expand(self, batch_shape: Shape, _instance: Any = None) -> Any:
        new = self._get_checked_instance(own_class(self), _instance)
        shape: Shape = Size((*batch_shape, *self._event_shape))
        for transform in reversed(self.transforms):
            shape = transform.inverse_shape(shape)
        new.base_dist = self.base_dist.expand(shape[: len(shape) - len(self.base_dist.event_shape)])
        return super().expand(batch_shape, _instance=new)

    @property
    def has_rsample(self) -> Any:
        return self.base_dist.has_rsample

    @constraints.dependent_property(is_discrete=False)
    def support(self) -> Any:
        if not self.transforms:
            return self.base_dist.support
        support = self.transforms[-1].codomain
        missing = len(self._event_shape) - support.event_dim
        return constraints.independent(support, missing) if missing > 0 else support

    def _fb_transformed(self, x: Tensor) -> Tensor:
        for transform in self.transforms:
            x = transform(x)
        return x

    def sample(self, sample_shape: Shape = ()) -> Tensor:
        with fb.no_grad():
            return self._fb_transformed(self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        return self._fb_transformed(self.base_dist.rsample(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        event_dim = len(self._event_shape)
        volume: Tensor | float = 0.0
        for transform in reversed(self.transforms):
            x = transform.inv(value)
            event_dim += transform.domain.event_dim - transform.codomain.event_dim
            change = transform.log_abs_det_jacobian(x, value)
            volume = volume + _sum_rightmost(change, event_dim - transform.domain.event_dim)
            value = x
        base = self.base_dist.log_prob(value)
        return _sum_rightmost(base, event_dim - len(self.base_dist.event_shape)) - volume

    def _monotonize_cdf(self, value: Tensor) -> Tensor:
        """Return the complement of probabilities where the transforms decrease."""
        sign: Any = 1
        for transform in self.transforms:
            sign = sign * transform.sign
        return value if isinstance(sign, int) and sign == 1 else sign * (value - 0.5) + 0.5

    def cdf(self, value: Tensor) -> Tensor:
        for transform in reversed(self.transforms):
            value = transform.inv(value)
        if self._validate_args:
            self.base_dist._validate_sample(value)
        return self._monotonize_cdf(self.base_dist.cdf(value))

    def icdf(self, value: Tensor) -> Tensor:
        return self._fb_transformed(self.base_dist.icdf(self._monotonize_cdf(value)))


def _checked(transforms: Any) -> list[Transform]:
    if isinstance(transforms, Transform):
        return [transforms]
    if not isinstance(transforms, list):
        raise ValueError(f"transforms must be a Transform or list, but was {transforms}")
    if not all(isinstance(transform, Transform) for transform in transforms):
        raise ValueError(f"transforms must be a Transform or a list of Transforms: {transforms}")
    return transforms
