"""Every float32 elementary function errs by at most one unit in the last place, at every level.

`python -m tests.scalar.units` sweeps all inputs; here is a dense sample of them with the worst that
such sweeps have found, before and since the functions were mended.
"""

import os
import subprocess
import sys

import numpy as np
import pytest

import flambeau as fb
from tests.scalar.units import FUNCTIONS, Array, function, patterns, units, worst

LEVELS = ("baseline", "avx2", "avx512")
EVERY = 4099  # a prime: all exponents, and mantissas without a pattern

# Where errors were largest over all inputs, of some level.
KNOWN = [
    1.98435178e-31,
    0.00735873776,
    0.030740669,
    0.0595352948,
    0.0618002564,
    0.0618623719,
    0.362179846,
    0.37151897,
    0.400320768,
    0.401306659,
    0.42937699,
    0.449825555,
    0.461386442,
    0.479647279,
    0.493170619,
    0.50010699,
    0.51554507,
    0.515557289,
    0.528072298,
    0.536594272,
    0.556399822,
    0.560793936,
    0.640490592,
    0.694193363,
    0.849902451,
    0.890689492,
    0.89074856,
    0.898493648,
    0.899666846,
    0.917756975,
    0.928293645,
    0.947899759,
    0.953166068,
    0.970195532,
    0.999759972,
    0.99999994,
    1.01209128,
    1.01489282,
    1.01490855,
    1.01529169,
    1.03138602,
    1.05057323,
    1.08950055,
    1.09664726,
    1.13226974,
    1.19154799,
    1.32837212,
    1.32840002,
    1.39382792,
    1.40325618,
    1.40353978,
    1.40362918,
    1.53138232,
    2.37993956,
    3.56295943,
    4.5216341,
    4.52635193,
    4.53322744,
    4.5334878,
    5.25757599,
    6.55574989,
    8.66607666,
    16.635532,
    16.9990821,
    17.0,
    17.5202255,
    18.3841705,
    18.4257851,
    26.6914253,
    27.40728,
    51.0383797,
    57.9052811,
    87.3646774,
    89.4902344,
    94.0839844,
    179.841858,
    201.847275,
    1250.60632,
    10522.5137,
    890684.75,
    995174.125,
    1000345.19,
    1047324.56,
    50693759000000.0,
    8.54873545e33,
]
SPECIAL = [0.0, 1e-45, 1.1754942e-38, 1.1754944e-38, 1.0, 3.4028235e38, float("inf"), float("nan")]


def neighbours(values: list[float]) -> np.ndarray:
    """The values and those around them, of both signs."""
    bits = np.array(values, dtype=np.float32).view(np.int32)
    around = (bits[:, None] + np.arange(-200, 200)).clip(0).astype(np.int32).view(np.float32)
    exact = np.array(values, dtype=np.float32)
    both = np.concatenate([around.ravel(), exact])
    return np.concatenate([both, -both])


def main() -> None:
    """Prints the worst of each function, for the process that has chosen a level."""
    for name in FUNCTIONS:
        chunks = [*patterns(EVERY), neighbours(KNOWN + SPECIAL)]
        error, x = max((worst(name, chunk) for chunk in chunks), key=lambda found: found[0])
        print(name, error, float(x).hex())


@pytest.mark.parametrize("level", LEVELS)
def test_one_unit_at_most(level: str) -> None:
    command = [sys.executable, "-c", "from tests.scalar.test_units import main; main()"]
    environment = os.environ | {"FLAMBEAU_ISA": level}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in done.stdout.splitlines()]
    assert [name for name, _, _ in lines] == list(FUNCTIONS)
    wrong = {name: f"{error} at {x}" for name, error, x in lines if not float(error) <= 1.0}
    assert not wrong


def test_measure() -> None:
    one = np.array([1.0, np.inf, np.nan, 0.0, -0.0, np.inf], dtype=np.float32)
    exact = np.array([1 + 2.0**-24, 1e39, 1.0, 1e-46, 0.0, 1.0])
    assert units(one, exact).tolist() == [
        0.5,
        0,
        np.inf,
        pytest.approx(0.0714, abs=1e-3),
        np.inf,
        np.inf,
    ]


# Of two arguments, by sampling: name, reference, bound in units.
PAIRS = {
    "atan2": (np.arctan2, 1.6),  # the rounding of the quotient shows
    "hypot": (np.hypot, 0.51),
    "pow": (np.power, 0.6),
}


@pytest.mark.parametrize("name", PAIRS)
def test_two_arguments(name: str) -> None:
    reference, bound = PAIRS[name]
    rng = np.random.default_rng(0)
    x = np.exp2(rng.uniform(-40, 40, 1 << 19)).astype(np.float32)
    y = rng.normal(scale=2.0, size=x.size).astype(np.float32)
    if name != "pow":
        x *= rng.choice([-1, 1], x.size).astype(np.float32)
        y *= np.exp2(rng.uniform(-10, 40, x.size)).astype(np.float32)
    with np.errstate(all="ignore"):
        exact = reference(x.astype(np.longdouble), y.astype(np.longdouble)).astype(np.float64)
    error = units(getattr(fb, name)(fb.from_numpy(x), fb.from_numpy(y)).numpy(), exact)
    assert error.max() <= bound, f"{name}{x[error.argmax()], y[error.argmax()]}: {error.max():.3g}"


SELU_SCALE, SELU_ALPHA = 1.0507009873554804934, 1.6732632423543772848


def negative_part(x: Array) -> Array:
    return np.expm1(np.where(x > 0, 0, x))


# Activations that are no elementary function: reference and bound in units, no more than PyTorch's
# worst.
ACTIVATIONS = {
    "elu": (lambda x: np.where(x > 0, x, negative_part(x)), 1.0),
    "selu": (lambda x: SELU_SCALE * np.where(x > 0, x, SELU_ALPHA * negative_part(x)), 1.55),
    "softplus": (lambda x: np.where(x > 20, x, np.log1p(np.exp(np.minimum(x, 30)))), 1.45),
    "logsigmoid": (lambda x: np.minimum(x, 0) - np.log1p(np.exp(-np.abs(x))), 1.45),
    "hardswish": (lambda x: np.where(x < 3, x * np.clip(x + 3, 0, 6) / 6, x), 1.9),
}


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations(name: str) -> None:
    reference, bound = ACTIVATIONS[name]
    for x in [*patterns(EVERY), neighbours(KNOWN + SPECIAL)]:
        with np.errstate(all="ignore"):
            exact = reference(x.astype(np.float64))
        error = units(function(fb, name)(fb.from_numpy(x)).numpy(), exact)
        assert error.max() <= bound, f"{x[error.argmax()]}: {error.max():.3g}"


# What a 16-bit float's function is: the float32 one, rounded once more.
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_sixteen_bits_are_float32_rounded(name: str, dtype: str) -> None:
    bits = fb.arange(-(2**15), 2**15).to(fb.int16)
    x = bits.view(getattr(fb, dtype))
    actual, wide = getattr(fb, name)(x), getattr(fb, name)(x.float())
    assert actual.dtype == x.dtype
    np.testing.assert_array_equal(actual.float().numpy(), wide.to(x.dtype).float().numpy())
