"""How far the vectorised functions are from the exact value, in units in the last place."""

from collections.abc import Callable

import numpy as np
import pytest

import flambeau

# In extended precision NumPy's own error does not show.
UNITS = {"float32": 1.0, "float64": 4.0}  # tan and erfc need 3.6 in double
FUNCTIONS: dict[str, tuple[Callable[..., np.ndarray], float, float]] = {
    "exp": (np.exp, -110, 95),
    "exp2": (np.exp2, -155, 130),
    "expm1": (np.expm1, -30, 90),
    "log": (np.log, 0, 100),
    "log2": (np.log2, 0, 100),
    "log10": (np.log10, 0, 100),
    "log1p": (np.log1p, -1, 100),
    "sqrt": (np.sqrt, 0, 100),
    "sin": (np.sin, -1e6, 1e6),
    "cos": (np.cos, -1e6, 1e6),
    "tan": (np.tan, -1e6, 1e6),
    "asin": (np.arcsin, -1, 1),
    "acos": (np.arccos, -1, 1),
    "atan": (np.arctan, -100, 100),
    "sinh": (np.sinh, -90, 90),
    "cosh": (np.cosh, -90, 90),
    "tanh": (np.tanh, -12, 12),
    "asinh": (np.arcsinh, -1e5, 1e5),
    "acosh": (np.arccosh, 1, 1e5),
    "atanh": (np.arctanh, -1, 1),
}


def inputs(dtype: str, low: float, high: float) -> np.ndarray:
    """The given range, the neighbourhood of 0 and 1, all exponents, and the special values."""
    rng = np.random.default_rng(0)
    limits = np.finfo(dtype)
    exponents = rng.uniform(np.log2(float(limits.tiny)) - 10, np.log2(float(limits.max)), 20_000)
    parts = (
        rng.uniform(low, high, 20_000),
        rng.normal(size=20_000),
        1 + rng.normal(size=5_000) / 1_000,
        np.exp2(exponents) * rng.choice([-1, 1], exponents.size),
        [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan],
    )
    return np.concatenate(parts).astype(dtype)


def units(actual: np.ndarray, exact: np.ndarray) -> np.ndarray:
    """The distance in units in the last place of the result's type."""
    limits = np.finfo(actual.dtype)
    with np.errstate(all="ignore"):
        same = (actual == exact.astype(actual.dtype)) | (np.isnan(actual) & np.isnan(exact))
        exponent = np.maximum(np.frexp(np.where(same, 1, exact))[1] - 1, limits.minexp)
        distance = np.abs(actual.astype(np.longdouble) - exact)
        return np.where(same, 0, distance / np.ldexp(np.longdouble(1), exponent - limits.nmant))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_units_in_the_last_place(name: str, dtype: str) -> None:
    reference, low, high = FUNCTIONS[name]
    x = inputs(dtype, low, high)
    actual = getattr(flambeau, name)(flambeau.from_numpy(x)).numpy()
    with np.errstate(all="ignore"):
        exact = reference(x.astype(np.longdouble))
    error = units(actual, exact)
    worst = int(np.argmax(np.where(np.isnan(error), np.inf, error)))
    assert error[worst] <= UNITS[dtype], (
        f"{name}({x[worst]!r}) is {actual[worst]!r}, off by {error[worst]:.3g} units"
    )


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_pow(dtype: str) -> None:
    rng = np.random.default_rng(0)
    base = np.exp2(rng.uniform(-60, 60, 20_000)).astype(dtype)
    exponent = rng.normal(scale=2.0, size=base.size).astype(dtype)
    actual = flambeau.pow(flambeau.from_numpy(base), flambeau.from_numpy(exponent)).numpy()
    with np.errstate(all="ignore"):
        exact = np.power(base.astype(np.longdouble), exponent.astype(np.longdouble))
    assert units(actual, exact).max() <= 1.5


@pytest.mark.parametrize("name", ["fmod", "remainder"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_remainders_are_exact(name: str, dtype: str) -> None:
    rng = np.random.default_rng(0)
    quotient = np.exp2(rng.uniform(-3, 70, 20_000))  # also beyond what one division resolves
    divisor = rng.normal(size=quotient.size).astype(dtype)
    dividend = (divisor * quotient).astype(dtype)
    operator = getattr(flambeau, name)
    actual = operator(flambeau.from_numpy(dividend), flambeau.from_numpy(divisor)).numpy()
    exact = getattr(np, name)(dividend.astype(np.float64), divisor.astype(np.float64))
    np.testing.assert_array_equal(actual, exact.astype(dtype))
