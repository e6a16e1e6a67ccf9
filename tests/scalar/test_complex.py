"""Complex functions at infinities, NaN and signed zeros, where C's Annex G says what they are."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import flambeau as fb

inf, nan = np.inf, np.nan
PARTS = [0.0, -0.0, 0.5, 1.0, -1.0, 2.5, 800.0, -800.0, 1e30, -1e30, inf, -inf, nan]
Z = np.array([complex(re, im) for re, im in itertools.product(PARTS, PARTS)])

FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "exp": np.exp,
    "exp2": np.exp2,
    "log": np.log,
    "sqrt": np.sqrt,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
}


def same(actual: np.ndarray, expected: np.ndarray, unsigned: np.ndarray) -> np.ndarray:
    """Whether parts agree, zeros with their sign unless that is unspecified."""
    close = np.isclose(actual, expected, rtol=1e-12, atol=0, equal_nan=True)
    sign = (expected != 0) | (np.signbit(actual) == np.signbit(expected))
    return close & (sign | unsigned)


def settle(name: str, actual: np.ndarray, expected: np.ndarray) -> None:
    """Put right what differs between versions of NumPy, which has it from the C library or not."""
    if name == "asin":  # -inf + i NaN: the sign of the infinity is unspecified
        where = np.isinf(Z.real) & np.isnan(Z.imag)
        np.copysign(expected.imag, actual.imag, out=expected.imag, where=where)
    elif name == "asinh":  # NaN - i inf: likewise
        where = np.isnan(Z.real) & np.isinf(Z.imag)
        np.copysign(expected.real, actual.real, out=expected.real, where=where)
    elif name == "acosh":  # 0 + i NaN: NaN ± i pi/2 since C17 (defect report 471), both NaN before
        where = (Z.real == 0) & np.isnan(Z.imag)
        np.copysign(np.pi / 2, actual.imag, out=expected.imag, where=where)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_special_values(name: str) -> None:
    with np.errstate(all="ignore"):
        expected = FUNCTIONS[name](Z)
    actual = getattr(fb, name)(fb.from_numpy(Z.copy())).numpy()
    settle(name, actual, expected)
    # Beside a NaN the sign of a zero says nothing.
    re = same(actual.real, expected.real, np.isnan(expected.imag))
    im = same(actual.imag, expected.imag, np.isnan(expected.real))
    wrong = [(Z[i], actual[i], expected[i]) for i in np.flatnonzero(~(re & im))]
    assert not wrong
