"""How far float32 functions are from the exact value, in units in the last place.

``python -m tests.scalar.units tanh exp`` sweeps all 2^32 inputs of the functions named (of all
elementary ones without a name) and prints the worst; ``--every N`` takes each N-th input only. The
instruction set is chosen with FLAMBEAU_ISA. With ``--of torch`` the functions are PyTorch's. A
compiler makes it a matter of seconds for each (`sweep`).
"""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy import special

import flambeau as fb

Array = np.ndarray[Any, np.dtype[Any]]
CHUNK = 1 << 18  # what a core's cache holds, in double

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


# Activations, whose references are in exact.cpp alone.
ACTIVATIONS = (
    "silu",
    "gelu",
    "gelu_tanh",
    "mish",
    "softplus",
    "logsigmoid",
    "hardswish",
    "elu",
    "selu",
    "celu",
)


def function(module: Any, name: str) -> Callable[[Any], Any]:
    """A function of a module with PyTorch's names, by the name it has here."""
    if name == "gelu_tanh":
        return lambda x: module.nn.functional.gelu(x, approximate="tanh")
    return getattr(module.nn.functional if name in ACTIVATIONS else module, name)  # type: ignore[no-any-return]


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


def worst(name: str, x: Array, so_far: float = 0.0) -> tuple[float, np.float32]:
    """The largest error of a function at the given inputs, and where it is.

    Inputs whose error is certainly below `so_far` are passed over: a unit is at least 2^-24 of a
    value.
    """
    actual = getattr(fb, name)(fb.from_numpy(x)).numpy()
    with np.errstate(all="ignore"):
        exact = FUNCTIONS[name](x.astype(np.float64))
        small = np.abs(actual - exact) < np.abs(exact) * (so_far * 2.0**-24)
    left = np.flatnonzero(~small)
    if not left.size:
        return 0.0, x[0]
    error = units(actual[left], exact[left])
    where = int(error.argmax())
    return float(error[where]), x[left[where]]


def patterns(every: int) -> Iterator[Array]:
    """Each `every`-th float32 by its bits, in chunks."""
    for start in range(0, 1 << 32, CHUNK * every):
        bits = np.arange(start, min(start + CHUNK * every, 1 << 32), every, dtype=np.uint64)
        yield bits.astype(np.uint32).view(np.float32)


def main() -> None:
    from tests.scalar import sweep

    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument(
        "names", nargs="*", metavar="name", help=" ".join([*FUNCTIONS, *ACTIVATIONS])
    )
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--of", default="flambeau", metavar="module")
    options = parser.parse_args()
    module = importlib.import_module(options.of)
    module.set_num_threads(1)
    compare = sweep.load()
    for name in options.names or FUNCTIONS:
        called = function(module, name)
        found = (0.0, np.float32(0))
        for chunk in patterns(options.every):
            found = compare(name, chunk, called(module.from_numpy(chunk)).numpy(), found)
        print(f"{name:10} {found[0]:.4f} at {float(found[1]).hex()}", flush=True)


if __name__ == "__main__":
    main()
