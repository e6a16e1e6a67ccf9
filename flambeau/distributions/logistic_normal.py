"""The logistic normal distribution."""

from __future__ import annotations

from typing import Any, ClassVar

from flambeau import Tensor
from flambeau.distributions import constraints
from flambeau.distributions.normal import Normal
from flambeau.distributions.transformed_distribution import TransformedDistribution
from flambeau.distributions.transforms import StickBreakingTransform

__all__ = ["LogisticNormal"]


class LogisticNormal(TransformedDistribution):
    """Shares made of normal numbers by stick breaking.

    Args:
        loc: Means of the normal numbers.
        scale: Their standard deviations.
        validate_args: Whether to check parameters and values. Default: True.

    Example:
        >>> from flambeau.distributions import LogisticNormal
        >>> LogisticNormal(torch.zeros(2), torch.ones(2)).sample().shape
        torch.Size([3])
    """

    arg_constraints: ClassVar[dict[str, constraints.Constraint]] = {
        "loc": constraints.real,
        "scale": constraints.positive,
    }
    support: constraints.Constraint = constraints.simplex
    has_rsample = True
    _fb_checked_by_part: ClassVar = frozenset(("loc", "scale"))
    base_dist: Any  # Independent, of Normal

    def __init__(
        self, loc: Tensor | float, scale: Tensor | float, validate_args: bool | None = None
    ) -> None:
        base = Normal(loc, scale, validate_args=validate_args)
        if not base.batch_shape:
            base = base.expand([1])
        super().__init__(base, StickBreakingTransform(), validate_args=validate_args)

    @property
    def loc(self) -> Tensor:
        """The means of the normal numbers."""
        return self.base_dist.base_dist.loc  # type: ignore[no-any-return]

    @property
    def scale(self) -> Tensor:
        """Their standard deviations."""
        return self.base_dist.base_dist.scale  # type: ignore[no-any-return]
