"""Fourier transforms: batches and single rows, real and complex, of smooth and of prime length."""

import functools
import math
from typing import Any

from benchmarks.case import Namespace, add_case

STATEMENTS = {
    "fft": "t.fft.fft(x)",
    "fft of real": "t.fft.fft(real)",
    "ifft": "t.fft.ifft(x)",
    "rfft": "t.fft.rfft(real)",
    "irfft": "t.fft.irfft(half)",
    "fft of columns": "t.fft.fft(x, dim=0)",
    "fft2": "t.fft.fft2(x)",
    "fft2 of real": "t.fft.fft2(real)",
    "rfft2": "t.fft.rfft2(real)",
}
CASES = (
    *((name, (256, 1024)) for name in ("fft", "ifft", "rfft", "irfft", "fft of columns")),
    *((name, (512, 512)) for name in ("fft2", "fft2 of real", "rfft2")),
    ("rfft2", (4, 3, 224, 224)),
    *(("fft", shape) for shape in ((16384, 16), (4096, 64), (256, 1000), (256, 1009))),
    ("rfft", (256, 999)),
    *(("fft", shape) for shape in ((1024,), (65_536,), (2**20,), (1_000_003,))),
    ("rfft", (2**20,)),
)


def signals(t: Any, shape: tuple[int, ...], dtype: str) -> Namespace:
    """Complex numbers, their real parts, and half of a spectrum."""
    phase = t.arange(math.prod(shape), dtype=t.float64).reshape(shape).square()
    x = t.polar(t.sin(phase * 0.37), phase * 0.11).to(getattr(t, dtype))
    real = x.real.clone()
    return {"t": t, "x": x, "real": real, "half": t.fft.rfft(real)}


def add_transform(name: str, shape: tuple[int, ...], dtype: str) -> None:
    statement = STATEMENTS[name]
    add_case(
        "fft",
        f"{name} {' x '.join(map(str, shape))}{', float64' * (dtype == 'complex128')}",
        functools.partial(signals, shape=shape, dtype=dtype),
        statement,
        # Rows this short are little more than a copy of memory.
        bar=0.8 if shape == (16384, 16) else None,
        check=f"[{statement}.abs().double().square().sum().item()]",
    )


for name, shape in CASES:
    add_transform(name, shape, "complex64")
add_transform("fft of real", (256, 1024), "complex64")
add_transform("fft", (256, 1024), "complex128")
