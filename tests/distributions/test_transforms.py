"""Transforms: inverses, determinants against autograd's Jacobian, shapes, caches, equality."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import flambeau as t
from flambeau import distributions as d
from flambeau.distributions import constraints as c
from tests.distributions.cases import TRANSFORMS, build


def point(source: str, shape: str) -> t.Tensor:
    t.manual_seed(0)
    if shape == "positive":
        return t.rand(3, dtype=t.float64) + 0.5
    value = t.randn(eval(shape), dtype=t.float64)
    return value.abs() if "Power" in source else value


def double(transform: Any) -> Any:
    """With parameters of double precision."""
    for name, value in vars(transform).items():
        if isinstance(value, t.Tensor):
            setattr(transform, name, value.double())
    return transform


INVERTIBLE = [s for s in TRANSFORMS if "Abs" not in s and "Softmax" not in s]
BIJECTIVE = [s for s in INVERTIBLE if "LowerCholesky" not in s and "PositiveDefinite" not in s]


@pytest.mark.parametrize("source", INVERTIBLE)
def test_inverse(source: str) -> None:
    transform = double(build(t, source))
    x = point(source, TRANSFORMS[source])
    y = transform(x)
    assert transform.codomain.check(y).all()
    back = transform.inv(y)
    if ("Cholesky" in source and "Corr" not in source) or "Definite" in source:
        x = x.tril()  # what is above the diagonal does not count
    np.testing.assert_allclose(back.numpy(), x.numpy(), 1e-6, 1e-7)
    assert transform.inv.inv == transform or transform.inv.inv is transform
    assert tuple(transform.forward_shape(x.shape)) == y.shape
    assert tuple(transform.inverse_shape(y.shape)) == x.shape


@pytest.mark.parametrize("source", BIJECTIVE)
def test_determinant(source: str) -> None:
    transform = double(build(t, source))
    x = point(source, TRANSFORMS[source])
    y = transform(x)
    ours = transform.log_abs_det_jacobian(x, y)
    backwards = transform.inv.log_abs_det_jacobian(y, x)
    np.testing.assert_allclose(backwards.numpy(), -ours.numpy(), 1e-9)
    events = transform.domain.event_dim
    assert ours.shape == x.shape[: x.dim() - events]
    # The Jacobian of the whole tensor is made of one block for each event.
    jacobian = t.autograd.functional.jacobian(transform, x)
    matrix = jacobian.reshape(y.numel(), x.numel()).numpy()
    if matrix.shape[0] != matrix.shape[1]:  # shares that add up to one, rows of length one
        matrix = _independent_rows(transform, y, matrix)
    np.testing.assert_allclose(ours.sum().item(), np.linalg.slogdet(matrix)[1], 1e-6, 1e-8)


def _independent_rows(transform: Any, y: t.Tensor, matrix: np.ndarray) -> np.ndarray:
    """The rows of the elements of `y` that the others follow from."""
    if isinstance(transform, d.CorrCholeskyTransform):
        keep = t.ones_like(y).tril(-1) > 0
    else:
        keep = t.ones_like(y) > 0
        keep[..., -1] = False
    return matrix[keep.flatten().numpy()]


def test_cache() -> None:
    transform = d.TanhTransform(cache_size=1)
    x = t.tensor([20.0])
    y = transform(x)
    assert transform(x) is y
    assert transform.inv(y) is x  # atanh(1) would be infinite
    assert not t.isfinite(d.TanhTransform().inv(y)).item()
    assert transform.with_cache(0)._cache_size == 0
    assert transform.with_cache(1) is transform
    composed = d.ComposeTransform([d.ExpTransform(), d.TanhTransform()], cache_size=1)
    assert composed.inv(composed(x)) is x
    with pytest.raises(ValueError, match="cache_size must be 0 or 1, got 2"):
        d.ExpTransform(cache_size=2)


@pytest.mark.parametrize("source", list(TRANSFORMS))
def test_with_cache_keeps_the_transform(source: str) -> None:
    transform = build(t, source)
    x = point(source, TRANSFORMS[source]).float()
    cached = transform.with_cache()
    np.testing.assert_array_equal(cached(x).numpy(), transform(x).numpy())
    assert repr(cached) == repr(transform)


def test_a_module_may_be_a_transform() -> None:
    class Learned(d.Transform, t.nn.Module):
        domain = codomain = c.real
        bijective = True
        __hash__ = t.nn.Module.__hash__  # transforms have none

        def __init__(self) -> None:
            super().__init__(cache_size=1)
            self.linear = t.nn.Linear(1, 1)

        def _call(self, x: t.Tensor) -> t.Tensor:
            return self.linear(x)

    learned = Learned()
    assert len(list(learned.parameters())) == 2
    assert learned(t.ones(3, 1)).requires_grad


def test_equality() -> None:
    assert d.ExpTransform() == d.ExpTransform()
    assert d.ExpTransform() != d.ExpTransform().inv
    assert d.ExpTransform().inv == d.ExpTransform().inv
    assert d.AffineTransform(1.0, t.tensor(2.0)) == d.AffineTransform(t.tensor(1.0), 2.0)
    assert d.AffineTransform(1.0, 2.0) != d.AffineTransform(1.0, 3.0)
    assert d.PowerTransform(t.tensor(2.0)) != d.PowerTransform(t.tensor(3.0))
    assert d.ComposeTransform([d.ExpTransform()]) == d.ComposeTransform([d.ExpTransform()])
    assert d.ComposeTransform([d.ExpTransform()]) != d.ComposeTransform([])


def test_copies_and_pickles() -> None:
    transform = d.ComposeTransform([d.ExpTransform().inv, d.AffineTransform(1.0, 2.0)])
    for other in (copy.deepcopy(transform), pickle.loads(pickle.dumps(transform))):
        assert other == transform


def test_joined_transforms_check_their_input() -> None:
    with pytest.raises(AssertionError, match=r"expected size 2 of dim 0, got \(3,\)"):
        d.CatTransform([d.ExpTransform()], lengths=[2])(t.ones(3))
    with pytest.raises(TypeError, match="expected transforms"):
        d.StackTransform([3])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="expected 1 lengths, got 2"):
        d.CatTransform([d.ExpTransform()], lengths=[2, 3])


REGIONS = [
    c.real,
    c.positive,
    c.nonnegative,
    c.greater_than(2.0),
    c.less_than(-1.0),
    c.interval(-1.0, 3.0),
    c.half_open_interval(-1.0, 3.0),
    c.unit_interval,
    c.simplex,
    c.corr_cholesky,
    c.real_vector,
    c.independent(c.positive, 1),
    c.cat([c.positive, c.unit_interval], dim=-1, lengths=[2, 1]),
    c.stack([c.positive, c.unit_interval, c.real], dim=-1),
]


@pytest.mark.parametrize("region", REGIONS, ids=repr)
@pytest.mark.parametrize("registry", [d.biject_to, d.transform_to])
def test_registries_lead_into_the_region(registry: Any, region: c.Constraint) -> None:
    transform = registry(region)
    t.manual_seed(0)
    y = transform(t.randn(50, 3))
    assert region.check(y).all()
    if registry is d.biject_to:
        assert transform.bijective


def test_matrices_are_reached_by_transform_to() -> None:
    t.manual_seed(0)
    for region in (c.lower_cholesky, c.positive_definite, c.positive_semidefinite):
        assert region.check(d.transform_to(region)(t.randn(5, 3, 3))).all()
    with pytest.raises(NotImplementedError, match="Cannot transform _LowerCholesky constraints"):
        d.biject_to(c.lower_cholesky)


def test_own_constraints_can_be_registered() -> None:
    class Even(c.Constraint):
        pass

    registry = d.constraint_registry.ConstraintRegistry()
    registry.register(Even, lambda region: d.ExpTransform())
    assert registry(Even()) == d.ExpTransform()

    @registry.register(c.positive)  # type: ignore[untyped-decorator]
    def square(region: c.Constraint) -> d.Transform:
        return d.PowerTransform(t.tensor(2.0))

    assert registry(c.greater_than(0.0)) == d.PowerTransform(t.tensor(2.0))
    with pytest.raises(TypeError, match="Constraint subclass or instance, but got 3"):
        registry.register(3, lambda region: d.ExpTransform())
