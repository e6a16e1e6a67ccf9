"""A distribution whose batch dimensions are reinterpreted as parts of one event."""

from __future__ import annotations

from typing import Any, ClassVar, Generic, TypeVar

from flambeau import Size, Tensor
from flambeau.distributions import constraints
from flambeau.distributions.distribution import Distribution, Shape
from flambeau.distributions.utils import _sum_rightmost

__all__ = ["Independent"]

D = TypeVar("D", bound=Distribution)


class Independent(Distribution, Generic[D]):
    """Distribution whose last batch dimensions count as parts of one event.

    Log-probabilities are summed over them.

    Args:
        base_distribution: The distribution.
        reinterpreted_batch_ndims: Number of batch dimensions to take.
        validate_args: Whether to check parameters and values. Default: True.

    Example:
        >>> from flambeau.distributions import Independent, Normal
        >>> d = Independent(Normal(torch.zeros(3), 1.0), 1)
        >>> d.batch_shape, d.event_shape
        (torch.Size([]), torch.Size([3]))
        >>> d.log_prob(torch.zeros(3))
        tensor(-2.7568)
    """

    arg_constraints: ClassVar[dict[str, constraints.Constraint]] = {}
    base_dist: D

    def __init__(
        self,
        base_distribution: D,
        reinterpreted_batch_ndims: int,
        validate_args: bool | None = None,
    ) -> None:
        count = len(base_distribution.batch_shape)
        if reinterpreted_batch_ndims > count:
            raise ValueError(
                "Expected reinterpreted_batch_ndims <= len(base_distribution.batch_shape), "
                f"actual {reinterpreted_batch_ndims} vs {count}"
            )
        shape = base_distribution.batch_shape + base_distribution.event_shape
        batch = count - reinterpreted_batch_ndims
        self.base_dist = base_distribution
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
        super().__init__(shape[:batch], shape[batch:], validate_args=validate_args)

    def expand(self, batch_shape: Shape, _instance: Any = None) -> Independent[D]:
        new = self._get_checked_instance(Independent, _instance)
        batch_shape = Size(batch_shape)
        parts = Size(self._event_shape)[: self.reinterpreted_batch_ndims]
        new.base_dist = self.base_dist.expand(batch_shape + parts)
        return super().expand(batch_shape, _instance=new)

    @property
    def has_rsample(self) -> bool:
        return bool(self.base_dist.has_rsample)

    @property
    def has_enumerate_support(self) -> bool:
        return self.reinterpreted_batch_ndims == 0 and bool(self.base_dist.has_enumerate_support)

    @constraints.dependent_property
    def support(self) -> constraints.Constraint:
        support: constraints.Constraint = self.base_dist.support
        if self.reinterpreted_batch_ndims:
            return constraints.independent(support, self.reinterpreted_batch_ndims)
        return support

    @property
    def mean(self) -> Tensor:
        return self.base_dist.mean

    @property
    def mode(self) -> Tensor:
        return self.base_dist.mode

    @property
    def variance(self) -> Tensor:
        return self.base_dist.variance

    def sample(self, sample_shape: Shape = ()) -> Tensor:
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        return self.base_dist.rsample(sample_shape)

    def log_prob(self, value: Tensor) -> Tensor:
        return _sum_rightmost(self.base_dist.log_prob(value), self.reinterpreted_batch_ndims)

    def entropy(self) -> Tensor:
        return _sum_rightmost(self.base_dist.entropy(), self.reinterpreted_batch_ndims)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        if self.reinterpreted_batch_ndims > 0:
            raise NotImplementedError("Enumeration over cartesian product is not implemented")
        return self.base_dist.enumerate_support(expand=expand)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_dist!r}, {self.reinterpreted_batch_ndims})"
