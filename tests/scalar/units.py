"""How far float32 functions are from the exact value, in units in the last place.

``python -m tests.scalar.units tanh exp`` sweeps all 2^32 inputs of the functions named (of all
without a name) and prints the worst; ``--every N`` takes each N-th input only. The instruction set
is chosen with FLAMBEAU_ISA.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy import special

import flambeau as fb

Array = np.ndarray[Any, np.dtype[Any]]
CHUNK = 1 << 22

# Every elementary function of one argument with its reference in double, whose own error is some
# 2^-28 of a float's unit.
FUNCTIONS: dict[str, Callable[[Array], Array]] = {
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "log": np.log,
    "log2": np.log2,
    "log10": np.log10,
    "log1p": np.log1p,
    "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "erf": special.erf,
    "erfc": special.erfc,
    "sigmoid": special.expit,
}


def units(actual: Array, exact: Array) -> Array:
    """The distance in units in the last place of float32; infinite for another NaN or zero."""
    with np.errstate(all="ignore"):
        nearest = exact.astype(np.float32)
        right = np.isnan(actual) & np.isnan(exact) | np.isinf(nearest) & (actual == nearest)
        exponent = np.frexp(np.where(np.isfinite(exact), exact, 1.0))[1] - 1
        unit = np.ldexp(1.0, np.maximum(exponent, -126) - 23)
        distance = np.abs(actual.astype(np.float64) - exact) / unit
        other_zero = (actual == 0) & (exact == 0) & (np.signbit(actual) != np.signbit(exact))
    return np.where(right, 0.0, np.where(np.isnan(distance) | other_zero, np.inf, distance))


def worst(name: str, x: Array) -> tuple[float, np.float32]:
    """The largest error of a function at the given inputs, and where it is."""
    with np.errstate(all="ignore"):
        error = units(
            getattr(fb, name)(fb.from_numpy(x)).numpy(), FUNCTIONS[name](x.astype(np.float64))
        )
    where = int(error.argmax())
    return float(error[where]), x[where]


def patterns(every: int) -> Iterator[Array]:
    """Each `every`-th float32 by its bits, in chunks."""
    for start in range(0, 1 << 32, CHUNK * every):
        bits = np.arange(start, min(start + CHUNK * every, 1 << 32), every, dtype=np.uint64)
        yield bits.astype(np.uint32).view(np.float32)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("names", nargs="*", metavar="name", help=" ".join(FUNCTIONS))
    parser.add_argument("--every", type=int, default=1)
    options = parser.parse_args()
    for name in options.names or FUNCTIONS:
        error, x = max(
            (worst(name, chunk) for chunk in patterns(options.every)), key=lambda w: w[0]
        )
        print(f"{name:8} {error:.4f} at {float(x).hex()}", flush=True)


if __name__ == "__main__":
    main()
