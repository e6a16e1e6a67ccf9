"""How exact the special functions are where PyTorch's own errors would hide ours."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import special

import flambeau as fb

UNITS = 60.0  # of the last place: y0 and SciPy's differ by 40 near a zero, the others by less
# name: (SciPy's function, the least argument, the largest)
FUNCTIONS: dict[str, tuple[Callable[[Any], Any], float, float]] = {
    "airy_ai": (lambda x: special.airy(x)[0], -6, 12),
    "bessel_j0": (special.j0, 0, 50),
    "bessel_j1": (special.j1, 0, 50),
    "bessel_y0": (special.y0, 0.5, 50),
    "bessel_y1": (special.y1, 0.5, 50),
    "modified_bessel_k0": (special.k0, 0.01, 30),
    "modified_bessel_k1": (special.k1, 0.01, 30),
    "scaled_modified_bessel_k0": (special.k0e, 0.01, 500),
    "scaled_modified_bessel_k1": (special.k1e, 0.01, 500),
    "i0e": (special.i0e, -50, 50),
    "i1e": (special.i1e, -50, 50),
    "digamma": (special.digamma, 0.01, 50),
    "spherical_bessel_j0": (lambda x: special.spherical_jn(0, x), 0, 30),
    "ndtri": (special.ndtri, 1e-12, 1),
    "erfcx": (special.erfcx, -5, 50),
    "log_ndtr": (special.log_ndtr, -50, 5),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_error(name):
    function, low, high = FUNCTIONS[name]
    x = np.random.default_rng(0).uniform(low, high, 20_000)
    exact = function(x)
    error = np.abs(getattr(fb.special, name)(fb.from_numpy(x)).numpy() - exact)
    # Relative; near the zeros of those that change their sign, where SciPy errs too, absolute.
    size = np.maximum(np.abs(exact), 0.1) if exact.min() < 0 < exact.max() else np.abs(exact)
    units = error / size / np.finfo(np.float64).eps
    assert units.max() < UNITS, f"{name}({x[units.argmax()]!r}) is off by {units.max():.3g} units"


def test_limits():
    inf, nan = float("inf"), float("nan")
    assert fb.special.airy_ai(fb.tensor([inf, -inf])).tolist() == [0.0, 0.0]
    for name in ("modified_bessel_k0", "scaled_modified_bessel_k1"):
        values = getattr(fb.special, name)(fb.tensor([0.0, inf, -1.0, nan])).tolist()
        assert values[:2] == [inf, 0.0]
        assert all(np.isnan(values[2:]))


@pytest.mark.parametrize("kind", ["t", "u", "v", "w"])
def test_chebyshev_overflows_to_infinity(kind):
    polynomial = getattr(fb.special, f"chebyshev_polynomial_{kind}")
    assert polynomial(fb.tensor([2.0, -2.0, float("inf")]), 1001).tolist() == [
        float("inf"),
        float("-inf"),
        float("inf"),
    ]


def test_polynomials_of_nan():
    for name in ("chebyshev_polynomial_u", "hermite_polynomial_h", "legendre_polynomial_p"):
        value = getattr(fb.special, name)(fb.tensor([float("nan")]), fb.tensor([0.0, 3.0]))
        assert value[0] == 1
        assert value[1].isnan()
