"""Samples of comparisons, predicates, logic and selection."""

import numpy as np

from tests.ops.pointwise import SPECIAL, binary, unary
from tests.ops.registry import call, errors, forward_only, inf, nan, samples

for name, function in (
    ("eq", np.equal),
    ("ne", np.not_equal),
    ("lt", np.less),
    ("le", np.less_equal),
    ("gt", np.greater),
    ("ge", np.greater_equal),
):
    binary(name, function, number=2)

for name, function in (
    ("logical_and", np.logical_and),
    ("logical_or", np.logical_or),
    ("logical_xor", np.logical_xor),
):
    binary(name, function)
unary("logical_not", np.logical_not)


def _predicate(function, exact):
    return lambda x: function(x) if x.dtype.kind in "fc" else np.full(x.shape, exact)


for name, function, exact in (
    ("isnan", np.isnan, False),
    ("isinf", np.isinf, False),
    ("isfinite", np.isfinite, True),
    ("isposinf", np.isposinf, False),
    ("isneginf", np.isneginf, False),
):
    unary(name, _predicate(function, exact))


@samples("isreal", reference=np.isreal)
def isreal(make):
    yield make(3, 4)
    if make.is_complex:
        yield make.of(1 + 0j, 1j, 0j)


@errors("eq")
def eq_errors(make):
    yield (make(2, 3), make(2, 4)), RuntimeError, "eq: shapes (2, 3) and (2, 4) do not broadcast"


@errors("lt")
def lt_errors(make):
    complex_one = make(3, dtype="complex64")
    yield (complex_one, complex_one), RuntimeError, "lt: not implemented for dtype complex64"


def _close_pairs(make):
    yield make(3, 4), make(3, 4)
    yield make(3, 1), make(1, 4)
    same = make(5)
    yield same, same
    yield call(same, make.of(0, 1, 2, 3, 4), rtol=0.5, atol=0.25)
    if make.is_floating:
        edge = make.of(1.0, inf, -inf, nan, nan, inf)
        other = make.of(1.0, inf, inf, nan, 1.0, 1.0)
        yield forward_only(edge, other)
        yield forward_only(edge, other, equal_nan=True)


def _in_double(x):
    return x.astype(np.float64) if x.dtype.kind in "biu" else x


def _isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    return np.isclose(_in_double(a), _in_double(b), rtol, atol, equal_nan)


@samples("isclose", reference=_isclose)
def isclose(make):
    yield from _close_pairs(make)


@samples("allclose", reference=lambda *args, **kwargs: bool(np.all(_isclose(*args, **kwargs))))
def allclose(make):
    yield from _close_pairs(make)


@errors("isclose")
def isclose_errors(make):
    yield (make(3), make(3, dtype="float64")), RuntimeError, "isclose: both tensors must have"
    yield call(make(3), make(3), rtol=-1.0), RuntimeError, "isclose: rtol and atol"


@samples("equal", reference=lambda a, b: bool(np.array_equal(a, b)))
def equal(make):
    same = make(3, 4)
    yield same, same
    yield make(3, 4), make(3, 4)
    yield make(3, 4), make(4)
    yield make(0), make(0)


@samples("where", reference=np.where)
def where(make):
    yield make.mask(3, 4), make(3, 4), make(3, 4)
    yield make.mask(3, 1), make(4), make()
    yield make.mask(1031), make(1031), make(1031)
    yield make.mask(3, 4), make(3, 4), 2
    yield make.mask(3, 4), make(3, 4), make(3, 4, dtype="float64")
    if make.is_floating:
        yield make.mask(3, 4), 1.5, make(3, 4)
        yield forward_only(make.mask(len(SPECIAL)), make.of(*SPECIAL), make(len(SPECIAL)))


@errors("where")
def where_errors(make):
    yield (make(3), make(3), make(3)), RuntimeError, "where: condition must be a bool tensor"
