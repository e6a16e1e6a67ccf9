"""Polynomials of degrees that a recurrence would not reach in good time."""

import math

import pytest

import flambeau as torch
from flambeau import special

_KINDS = ["chebyshev_polynomial_" + kind for kind in "tuvw"]
_KINDS += ["shifted_" + name for name in _KINDS]
_NAMES = [*_KINDS, "hermite_polynomial_h", "hermite_polynomial_he"]
_NAMES += ["laguerre_polynomial_l", "legendre_polynomial_p"]
_POINTS = [0.0, 0.5, -0.5, 1.0, -1.0, 1 + 2**-52, -1 - 1e-9, 1e-300, 1e300, -1e300]
_POINTS += [math.inf, -math.inf, math.nan]


@pytest.mark.parametrize("degree", [1e9, 9e18, 1e30, math.inf, -math.inf, math.nan])
@pytest.mark.parametrize("name", _NAMES)
def test_ends_at_any_degree(name, degree):
    for dtype in (torch.float32, torch.float64):
        points = torch.tensor(_POINTS, dtype=dtype)
        assert getattr(special, name)(points, torch.full_like(points, degree)).shape == points.shape


def legendre(x, n):
    before, value = 1.0, x
    for k in range(1, n):
        before, value = value, ((2 * k + 1) * x * value - k * before) / (k + 1)
    return value


def laguerre(x, n):
    before, value = 1.0, 1.0 - x
    for k in range(1, n):
        before, value = value, ((2 * k + 1 - x) * value - k * before) / (k + 1)
    return value


def chebyshev(x, n):
    before, value = 1.0, x
    for _ in range(1, n):
        before, value = value, 2 * x * value - before
    return value


@pytest.mark.parametrize(
    ("name", "recurrence", "points"),
    [
        ("legendre_polynomial_p", legendre, [0.0, 0.3, -0.7, 0.999, 1 + 1e-8, -1 - 1e-6]),
        ("laguerre_polynomial_l", laguerre, [1e-2, 0.3, 30.0, -1e-2, -0.7]),
        ("chebyshev_polynomial_t", chebyshev, [1 + 1e-8, -1 - 1e-6]),
    ],
)
def test_agrees_with_the_recurrence(name, recurrence, points):
    n = 100_000
    expected = torch.tensor([recurrence(x, n) for x in points], dtype=torch.float64)
    result = getattr(special, name)(torch.tensor(points, dtype=torch.float64), float(n))
    # The expansions are good to 8 digits, the recurrences too after so many steps.
    torch.testing.assert_close(result, expected, rtol=1e-7, atol=0)


def test_multigammaln_of_too_many_rows():
    with pytest.raises(RuntimeError, match="p must be at most"):
        special.multigammaln(torch.ones(1), 2**31)
