"""Window functions for spectra: Hann, Hamming, Blackman, Bartlett and Kaiser."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import flambeau as fb
from flambeau import Tensor


def _window(
    name: str,
    length: int,
    periodic: bool,
    shape: Callable[[Tensor, int], Tensor],
    *,
    dtype: fb.dtype | None = None,
    layout: fb.layout | None = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """Evaluate ``shape(positions, last)`` at 0 ... last.

    A periodic window is the symmetric one of one more point, without its last point.
    """
    dtype = dtype or fb.get_default_dtype()
    if not isinstance(length, int):
        raise TypeError(
            f"{name}(): argument 'window_length' (position 1) must be int, "
            f"not {type(length).__name__}"
        )
    if not (dtype.is_floating_point or dtype.is_complex):
        raise RuntimeError(f"{name}: expected a floating-point dtype, got {dtype}")
    if length < 0:
        raise RuntimeError(f"{name}: expected a non-negative window_length, got {length}")
    where: Any = {"layout": layout, "device": device, "pin_memory": pin_memory}
    if length < 2:
        result = fb.ones(length, dtype=dtype, **where)
    else:
        last = length if periodic else length - 1
        # In float64, so that the result is right to the last digit of the narrower types.
        positions = fb.arange(length, dtype=fb.float64, **where)
        result = shape(positions, last).to(dtype)
    return result.requires_grad_() if requires_grad else result


def _cosines(*coefficients: float) -> Callable[[Tensor, int], Tensor]:
    """``a0 - a1 cos(2 pi n / last) + a2 cos(4 pi n / last)``."""

    def shape(positions: Tensor, last: int) -> Tensor:
        result = fb.full_like(positions, coefficients[0])
        for k, coefficient in enumerate(coefficients[1:], start=1):
            sign = -1 if k % 2 else 1
            result = result + sign * coefficient * fb.cos(positions * (2 * math.pi * k / last))
        return result

    return shape


def hann_window(window_length: int, periodic: bool = True, **options: Any) -> Tensor:
    """``sin(pi n / last) ** 2``. Options: dtype, layout, device, requires_grad."""
    return _window("hann_window", window_length, periodic, _cosines(0.5, 0.5), **options)


def hamming_window(
    window_length: int,
    periodic: bool = True,
    alpha: float = 0.54,
    beta: float = 0.46,
    **options: Any,
) -> Tensor:
    """``alpha - beta cos(2 pi n / last)``. Options: dtype, layout, device, requires_grad."""
    return _window("hamming_window", window_length, periodic, _cosines(alpha, beta), **options)


def blackman_window(window_length: int, periodic: bool = True, **options: Any) -> Tensor:
    """``0.42 - 0.5 cos(2 pi n / last) + 0.08 cos(4 pi n / last)``."""
    shape = _cosines(0.42, 0.5, 0.08)
    return _window("blackman_window", window_length, periodic, shape, **options)


def bartlett_window(window_length: int, periodic: bool = True, **options: Any) -> Tensor:
    """A triangle from 0 over 1 to 0. Options: dtype, layout, device, requires_grad."""

    def shape(positions: Tensor, last: int) -> Tensor:
        return 1 - (positions * (2 / last) - 1).abs()

    return _window("bartlett_window", window_length, periodic, shape, **options)


def kaiser_window(
    window_length: int, periodic: bool = True, beta: float = 12.0, **options: Any
) -> Tensor:
    """``I0(beta sqrt(1 - (2n / last - 1)**2)) / I0(beta)``, I0 being a modified Bessel function."""

    def shape(positions: Tensor, last: int) -> Tensor:
        distance = positions * (2 / last) - 1
        norm = fb.i0(fb.tensor(beta, dtype=fb.float64, device=positions.device))
        return fb.i0(beta * (1 - distance * distance).clamp(min=0).sqrt()) / norm

    return _window("kaiser_window", window_length, periodic, shape, **options)
