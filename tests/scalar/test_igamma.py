"""The incomplete gamma functions, above all for large arguments that are nearly equal."""

import math

import numpy as np
import pytest
from scipy import special

import flambeau as fb


def pair(a: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    first, second = fb.from_numpy(a), fb.from_numpy(x)
    lower, upper = fb.special.gammainc(first, second), fb.special.gammaincc(first, second)
    return lower.numpy(), upper.numpy()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_equal_arguments_approach_one_half(dtype: str) -> None:
    a = np.array([1e8, 1e10, 1e15, 1e30], dtype=dtype)
    lower, upper = pair(a, a)
    exact = 0.5 + 1 / (3 * np.sqrt(2 * math.pi * a.astype(np.float64)))  # and O(a^-3/2)
    rtol = 1e-6 if dtype == "float32" else 1e-13
    np.testing.assert_allclose(lower, exact, rtol)
    np.testing.assert_allclose(upper, 1 - exact, rtol)


def test_against_scipy() -> None:
    rng = np.random.default_rng(0)
    a = 10 ** rng.uniform(-3, 15, 20_000)
    spread = np.where(a < 200, 3 * rng.normal(size=a.size), rng.uniform(-4, 4, a.size))
    x = np.abs(a + spread * np.sqrt(a))
    wide = 10 ** rng.uniform(-3, 2.2, (2, 20_000))
    for first, second in ((a, x), (wide[0], wide[1])):
        for actual, function in zip(
            pair(first, second), (special.gammainc, special.gammaincc), strict=True
        ):
            exact = function(first, second)
            shown = exact > 1e-290
            np.testing.assert_allclose(actual[shown], exact[shown], 1e-11)


def test_tails_follow_the_normal_distribution() -> None:
    # SciPy gives up here: a standardised gamma is normal up to a third cumulant of 2 / sqrt(a).
    a = np.array([1e9, 1e11, 1e13, 1e15])
    for deviations in (-8.0, -6.0, 6.0, 8.0):
        lower, upper = pair(a, a + deviations * np.sqrt(a))
        x = a + deviations * np.sqrt(a)
        standard = (x - a) / np.sqrt(a)
        skew = np.exp((standard**3 / 3) / np.sqrt(a))
        tail = lower if deviations < 0 else upper
        exact = special.ndtr(-np.abs(standard)) * skew
        np.testing.assert_allclose(tail, exact, rtol=0, atol=1e-3 * exact.max())
        np.testing.assert_allclose(lower + upper, 1, 1e-15)


def test_limits() -> None:
    inf = math.inf
    lower, upper = pair(np.array([2.0, 2.0, inf, 1e300]), np.array([0.0, inf, 5.0, 1e300]))
    np.testing.assert_array_equal(lower, [0, 1, 0, 0.5])
    np.testing.assert_array_equal(upper, [1, 0, 1, 0.5])


def test_derivatives_of_digamma_far_out() -> None:
    # zeta(n + 1, x) is x^-n / n there, whose first term has underflowed.
    x = np.array([1e110, 1e134])
    actual = fb.special.polygamma(2, fb.from_numpy(x)).numpy()
    np.testing.assert_allclose(actual, -(x**-2), 1e-12)
