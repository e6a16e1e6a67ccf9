"""Integrals and derivatives of samples."""

import numpy as np

from tests.ops.registry import call, errors, forward_only, samples


def trapezoidal(y, x=None, dx=1, dim=-1):
    return np.trapezoid(y, x, dx, dim)


# Areas of both signs cancel.
CANCELLING = {"float16": (3e-2, 3e-2), "bfloat16": (2e-1, 2e-1)}


@samples("trapezoid", reference=trapezoidal, tolerance=CANCELLING)
def trapezoid(make):
    yield make(5)
    yield call(make(3, 4), dx=0.5, dim=0)
    yield call(make(3, 4), make(4), dim=1)
    yield call(make(3, 4), make(3, 4), dim=0)
    if make.is_floating:  # of integers it keeps the type, where others become float
        yield make(2, 0)


def cumulative(y, x=None, dx=1, dim=-1):
    from scipy.integrate import cumulative_trapezoid

    return cumulative_trapezoid(y, x, dx, dim)


@samples("cumulative_trapezoid", reference=cumulative, tolerance=CANCELLING)
def cumulative_trapezoid(make):
    yield make(5)
    yield call(make(3, 4), dx=0.5, dim=0)
    yield call(make(3, 4), make(4), dim=1)


@errors("trapezoid", "cumulative_trapezoid")
def trapezoid_errors(make):
    yield (make(3), make(4)), RuntimeError, "one x value for each sample point"
    yield (make.mask(3),), RuntimeError, "bool"


def derivative(input, spacing=1, dim=None, edge_order=1):
    dims = tuple(range(input.ndim)) if dim is None else (dim,) if isinstance(dim, int) else dim
    steps = spacing if isinstance(spacing, (list, tuple)) else [spacing] * len(dims)
    made = np.gradient(input, *steps, axis=dims, edge_order=edge_order)
    return tuple(made) if len(dims) > 1 else (made,)


@samples("gradient", reference=derivative, tolerance=CANCELLING)
def gradient(make):
    yield make(5)
    yield call(make(3, 4), spacing=2.0)
    yield call(make(3, 4), dim=1, edge_order=2)
    yield call(make(3, 4), dim=(1, 0))
    yield call(make(2, 3), spacing=(2.0, 0.5))
    yield call(make(3, 4), spacing=[make.of(0, 1, 4), make.of(0, 1, 3, 4)], edge_order=2)
    if make.is_floating:
        inf, nan = float("inf"), float("nan")
        yield forward_only(make.of(1, inf, 3, 4, 5))
        yield forward_only(make.of(-inf, inf, 3, nan, 5), spacing=2.0)
        yield forward_only(make.of(1, inf, 3, 4, 5), spacing=[make.of(0, 1, 4, 5, 9)])


@errors("gradient")
def gradient_errors(make):
    yield (make(1),), RuntimeError, "gradient: "
    yield call(make(3), edge_order=3), RuntimeError, "gradient: edge_order"
    yield call(make(3, 3), dim=(1, -1)), RuntimeError, "gradient: a dimension appears multiple"
    yield call(make(3), spacing=(1.0, 2.0)), RuntimeError, "gradient: "
