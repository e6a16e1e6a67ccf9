"""Windows of ``M`` points, symmetric ones or, with ``sym=False``, one period of a periodic one."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import flambeau as fb
from flambeau import Tensor

__all__ = [
    "bartlett",
    "blackman",
    "cosine",
    "exponential",
    "gaussian",
    "general_cosine",
    "general_hamming",
    "hamming",
    "hann",
    "kaiser",
    "nuttall",
]


def _window(
    name: str,
    shape: Callable[[Tensor, int], Tensor],
    M: int,
    sym: bool = True,
    dtype: fb.dtype | None = None,
    layout: fb.layout = fb.strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """``shape`` of the points and of the length of the symmetric window that they belong to."""
    kind = fb.get_default_dtype() if dtype is None else dtype
    if M < 0:
        raise ValueError(f"{name} requires non-negative window length, got M={M}")
    if layout is not fb.strided:
        raise ValueError(f"{name} is implemented for strided tensors only, got: {layout}")
    if kind not in (fb.float32, fb.float64):
        raise ValueError(f"{name} expects float32 or float64 dtypes, got: {kind}")
    points = fb.arange(M, dtype=fb.float64, device=device)
    values = shape(points, M if sym else M + 1) if M > 1 else fb.ones_like(points)
    return values.to(kind).requires_grad_(requires_grad)


def general_cosine(M: int, *, a: Sequence[float], **options: Any) -> Tensor:
    """Return a sum of cosines with the weights ``a``, whose signs alternate."""
    if not isinstance(a, (list, tuple)):
        raise TypeError("Coefficients must be a list/tuple")
    if not a:
        raise ValueError("Coefficients cannot be empty")

    def shape(points: Tensor, length: int) -> Tensor:
        angle = points * (2 * math.pi / (length - 1))
        result = fb.zeros_like(points)
        for order, weight in enumerate(a):
            result += (-1) ** order * weight * (order * angle).cos()
        return result

    return _window("general_cosine", shape, M, **options)


def general_hamming(M: int, *, alpha: float = 0.54, **options: Any) -> Tensor:
    """Return ``alpha - (1 - alpha) cos``."""
    return general_cosine(M, a=[alpha, 1.0 - alpha], **options)


def hamming(M: int, **options: Any) -> Tensor:
    """Return Hamming's window."""
    return general_hamming(M, **options)


def hann(M: int, **options: Any) -> Tensor:
    """Return Hann's window, a raised cosine."""
    return general_hamming(M, alpha=0.5, **options)


def blackman(M: int, **options: Any) -> Tensor:
    """Return Blackman's window."""
    return general_cosine(M, a=[0.42, 0.5, 0.08], **options)


def nuttall(M: int, **options: Any) -> Tensor:
    """Return Nuttall's window of least side lobes with four terms."""
    return general_cosine(M, a=[0.3635819, 0.4891775, 0.1365995, 0.0106411], **options)


def bartlett(M: int, **options: Any) -> Tensor:
    """Return a triangle that is zero at both ends."""

    def shape(points: Tensor, length: int) -> Tensor:
        return 1 - (2 * points / (length - 1) - 1).abs()

    return _window("bartlett", shape, M, **options)


def cosine(M: int, **options: Any) -> Tensor:
    """Return half a wave of the sine, at the middles of the points."""

    def shape(points: Tensor, length: int) -> Tensor:
        return ((points + 0.5) * (math.pi / length)).sin()

    return _window("cosine", shape, M, **options)


def exponential(
    M: int, *, center: float | None = None, tau: float = 1.0, sym: bool = True, **options: Any
) -> Tensor:
    """Return ``exp(-|k - center| / tau)``."""
    if tau <= 0:
        raise ValueError(f"Tau must be positive, got: {tau} instead.")
    if sym and center is not None:
        raise ValueError("Center must be None for symmetric windows")

    def shape(points: Tensor, length: int) -> Tensor:
        middle = (length - 1) / 2 if center is None else center
        return (-(points - middle).abs() / tau).exp()

    return _window("exponential", shape, M, sym, **options)


def gaussian(M: int, *, std: float = 1.0, **options: Any) -> Tensor:
    """Return a bell of standard deviation ``std``."""
    if std <= 0:
        raise ValueError(f"Standard deviation must be positive, got: {std} instead.")

    def shape(points: Tensor, length: int) -> Tensor:
        return (-0.5 * ((points - (length - 1) / 2) / std).square()).exp()

    return _window("gaussian", shape, M, **options)


def kaiser(M: int, *, beta: float = 12.0, **options: Any) -> Tensor:
    """Return Kaiser's window, of the Bessel function of order 0."""
    if beta < 0:
        raise ValueError(f"beta must be non-negative, got: {beta} instead.")

    def shape(points: Tensor, length: int) -> Tensor:
        place = 2 * points / (length - 1) - 1
        inside = (1 - place.square()).clamp(min=0).sqrt()
        return fb.i0(beta * inside) / fb.i0(fb.tensor(beta, dtype=fb.float64))

    return _window("kaiser", shape, M, **options)
