"""Transforms from unconstrained real numbers to the support of a constraint.

``biject_to(constraint)`` is bijective, with a known Jacobian, for densities;
``transform_to(constraint)`` only covers the support, elementwise where that suits an optimiser.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flambeau.distributions import constraints, transforms
from flambeau.distributions.transforms import Transform

__all__ = ["ConstraintRegistry", "biject_to", "transform_to"]

_Factory = Callable[[Any], Transform]


class ConstraintRegistry:
    """Registry of transforms by type of constraint: ``biject_to`` and ``transform_to``.

    A call returns a transform of unconstrained numbers into the support of a constraint, so that an
    optimiser can move them freely. Those of ``biject_to`` are bijective; those of ``transform_to``
    need not be, and are easier to optimise with.

    Example:
        >>> from flambeau.distributions import constraints, transform_to
        >>> transform_to(constraints.positive)(torch.tensor([0.0, 1.0]))
        tensor([1.0000, 2.7183])

    See also:
        `distributions.Transform`, `distributions.constraints`.
    """

    def __init__(self) -> None:
        self._registry: dict[type, _Factory] = {}

    def register(self, constraint: Any, factory: _Factory | None = None) -> Any:
        """Register ``factory(constraint)`` for a type of constraint; usable as a decorator."""
        if factory is None:
            return lambda factory: self.register(constraint, factory)
        if isinstance(constraint, constraints.Constraint):
            constraint = type(constraint)
        if not (isinstance(constraint, type) and issubclass(constraint, constraints.Constraint)):
            raise TypeError(
                "Expected constraint to be either a Constraint subclass or instance, but got"
                f" {constraint}"
            )
        self._registry[constraint] = factory
        return factory

    def __call__(self, constraint: constraints.Constraint) -> Transform:
        """Return a transform into the support of a constraint.

        Args:
            constraint: The constraint.

        Raises:
            NotImplementedError: No transform is registered for its type.
        """
        try:
            factory = self._registry[type(constraint)]
        except KeyError:
            raise NotImplementedError(
                f"Cannot transform {type(constraint).__name__} constraints"
            ) from None
        return factory(constraint)


biject_to: ConstraintRegistry = ConstraintRegistry()
transform_to: ConstraintRegistry = ConstraintRegistry()


def _both(*regions: Any) -> Callable[[_Factory], _Factory]:
    def register(factory: _Factory) -> _Factory:
        for region in regions:
            biject_to.register(region, factory)
            transform_to.register(region, factory)
        return factory

    return register


@_both(constraints.real)
def _everywhere(region: Any) -> Transform:
    return transforms.identity_transform


@_both(constraints.greater_than, constraints.greater_than_eq)
def _above(region: Any) -> Transform:
    shift = transforms.AffineTransform(region.lower_bound, 1)
    return transforms.ComposeTransform([transforms.ExpTransform(), shift])


@_both(constraints.less_than)
def _below(region: Any) -> Transform:
    flip = transforms.AffineTransform(region.upper_bound, -1)
    return transforms.ComposeTransform([transforms.ExpTransform(), flip])


@_both(constraints.interval, constraints.half_open_interval)
def _between(region: Any) -> Transform:
    low, high = region.lower_bound, region.upper_bound
    if isinstance(low, (int, float)) and isinstance(high, (int, float)) and (low, high) == (0, 1):
        return transforms.SigmoidTransform()
    stretch = transforms.AffineTransform(low, high - low)
    return transforms.ComposeTransform([transforms.SigmoidTransform(), stretch])


@_both(constraints.corr_cholesky)
def _correlations(region: Any) -> Transform:
    return transforms.CorrCholeskyTransform()


@biject_to.register(constraints.simplex)  # type: ignore[untyped-decorator]
def _stick(region: Any) -> Transform:
    return transforms.StickBreakingTransform()


@transform_to.register(constraints.simplex)  # type: ignore[untyped-decorator]
def _probabilities(region: Any) -> Transform:
    return transforms.SoftmaxTransform()


@transform_to.register(constraints.lower_cholesky)  # type: ignore[untyped-decorator]
def _triangle(region: Any) -> Transform:
    return transforms.LowerCholeskyTransform()


@transform_to.register(constraints.positive_definite)  # type: ignore[untyped-decorator]
@transform_to.register(constraints.positive_semidefinite)  # type: ignore[untyped-decorator]
def _definite(region: Any) -> Transform:
    return transforms.PositiveDefiniteTransform()


def _composite(registry: ConstraintRegistry) -> None:
    """Register composite constraints, whose parts are looked up in the same registry."""

    def independent(region: Any) -> Transform:
        base = registry(region.base_constraint)
        return transforms.IndependentTransform(base, region.reinterpreted_batch_ndims)

    def cat(region: Any) -> Transform:
        parts = [registry(part) for part in region.cseq]
        return transforms.CatTransform(parts, region.dim, region.lengths)

    def stack(region: Any) -> Transform:
        return transforms.StackTransform([registry(part) for part in region.cseq], region.dim)

    registry.register(constraints.independent, independent)
    registry.register(constraints.cat, cat)
    registry.register(constraints.stack, stack)


_composite(biject_to)
_composite(transform_to)
