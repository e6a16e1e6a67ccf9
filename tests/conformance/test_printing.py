"""``repr`` of tensors against PyTorch's, character for character, over generated tensors."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
import torch

import flambeau as fb

INTEGERS = ["bool", "uint8", "int8", "int16", "int32", "int64"]
FLOATS = ["float16", "bfloat16", "float32", "float64"]
COMPLEX = ["complex64", "complex128"]
EXTENTS = [0, 1, 1, 2, 3, 4, 5, 6, 7, 8, 11, 17, 30, 1200]
LARGEST = 50_000
CASES_PER_DTYPE = 150


@pytest.fixture(autouse=True)
def restored_options():
    yield
    for module in (fb, torch):
        module.set_printoptions(profile="default")
        module.set_default_dtype(module.float32)


def numbers(rng: random.Random, count: int) -> np.ndarray:
    """Values of the kinds that change the notation: whole, tiny, huge, spread, special."""
    draw = np.random.default_rng(rng.randrange(2**32))
    kinds = [
        lambda: draw.standard_normal(count),
        lambda: draw.integers(-5, 5, count).astype(float),
        lambda: draw.standard_normal(count) * 10 ** rng.uniform(-8, 8),
        lambda: draw.integers(-5, 5, count) * 10.0 ** rng.randint(0, 10),
        lambda: np.exp(draw.standard_normal(count) * rng.uniform(0, 20)),
        lambda: np.zeros(count) * rng.choice([1, -1]),
        lambda: np.full(count, rng.choice([1.0, 1e5, 1e9, 1e-4, 9.99996, 0.99995, 123456.0])),
    ]
    values = rng.choice(kinds)()
    if count and rng.random() < 0.3:
        for _ in range(rng.randint(1, 3)):
            values[rng.randrange(count)] = rng.choice([math.inf, -math.inf, math.nan, 0.0, -0.0])
    return values


def options(rng: random.Random) -> dict:
    if rng.random() < 0.5:
        return {"profile": "default"}
    return {
        "precision": rng.choice([None, 0, 1, 2, 6, 10]),
        "threshold": rng.choice([None, 0, 5, 20, 100, 1e9]),
        "edgeitems": rng.choice([None, 0, 1, 2, 5]),
        "linewidth": rng.choice([None, 20, 40, 60, 120, 200]),
        "profile": rng.choice([None, "default", "short", "full"]),
        "sci_mode": rng.choice([None, None, True, False]),
    }


def shape(rng: random.Random) -> list[int]:
    while True:
        sizes = [rng.choice(EXTENTS) for _ in range(rng.choice([0, 1, 1, 2, 2, 3, 4, 5]))]
        if math.prod(sizes) <= LARGEST:
            return sizes


@pytest.mark.parametrize("dtype", INTEGERS + FLOATS + COMPLEX)
def test_repr(dtype):
    rng = random.Random(dtype)
    for _ in range(CASES_PER_DTYPE):
        sizes = shape(rng)
        count = math.prod(sizes)
        values = numbers(rng, count)
        if dtype in COMPLEX:
            parts = np.stack([values, numbers(rng, count)], axis=-1)
            values = parts.view(np.complex128)
        elif dtype in INTEGERS:
            # Out-of-range conversions are undefined: keep the values where they fit.
            values = np.abs(np.nan_to_num(values, posinf=50, neginf=-50)) % 100
        values = values.reshape(sizes)
        settings = options(rng)
        default = rng.choice(["float32", "float32", "float64", "float16"])
        shown = []
        for module in (fb, torch):
            tensor = module.from_numpy(values).to(getattr(module, dtype))
            if len(sizes) > 1 and count % 2:
                tensor = tensor.transpose(0, 1)
            module.set_default_dtype(getattr(module, default))
            module.set_printoptions(**settings)
            shown.append(repr(tensor))
        assert shown[0] == shown[1], (sizes, settings)
