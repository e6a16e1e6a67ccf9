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


def general_cosine(
    M: int,
    *,
    a: Sequence[float],
    sym: bool = True,
    dtype: fb.dtype | None = None,
    layout: fb.layout = fb.strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return a sum of cosines with the weights ``a``, whose signs alternate.

    a[0] - a[1] cos(x) + a[2] cos(2 x) - ..., where x goes from 0 to 2 pi.

    Args:
        M: Number of points.
        a: Weights, the constant first.
        sym: Whether the window is symmetric; otherwise it is one period of a periodic one.
            Default: True.
        dtype: float32 or float64. Default: the default type.
        layout: torch.strided.
        device: Device of the result. Default: the CPU.
        requires_grad: Whether autograd records what is computed from it. Default: False.

    Example:
        >>> torch.signal.windows.general_cosine(5, a=[0.5, 0.5])
        tensor([0.0000, 0.5000, 1.0000, 0.5000, 0.0000])

    See also:
        `signal.windows.hann`.
    """
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

    return _window("general_cosine", shape, M, sym, dtype, layout, device, requires_grad)


def general_hamming(
    M: int,
    *,
    alpha: float = 0.54,
    sym: bool = True,
    dtype: fb.dtype | None = None,
    layout: fb.layout = fb.strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return ``alpha - (1 - alpha) cos``.

    Args:
        M: Number of points.
        alpha: Weight of the constant. Default: 0.54.
        sym: Whether the window is symmetric; otherwise it is one period of a periodic one.
            Default: True.
        dtype: float32 or float64. Default: the default type.
        layout: torch.strided.
        device: Device of the result. Default: the CPU.
        requires_grad: Whether autograd records what is computed from it. Default: False.

    Example:
        >>> torch.signal.windows.general_hamming(5, alpha=0.5)
        tensor([0.0000, 0.5000, 1.0000, 0.5000, 0.0000])

    See also:
        `signal.windows.hamming`.
    """
    return general_cosine(
        M,
        a=[alpha, 1.0 - alpha],
        sym=sym,
        dtype=dtype,
        layout=layout,
        device=device,
        requires_grad=requires_grad,
    )


def hamming(
    M: int,
    *,
    sym: bool = True,
    dtype: fb.dtype | None = None,
    layout: fb.layout = fb.strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return Hamming's window.

    0.54 - 0.46 cos(x).

    Args:
        M: Number of points.
        sym: Whether the window is symmetric; otherwise it is one period of a periodic one.
            Default: True.
        dtype: float32 or float64. Default: the default type.
        layout: torch.strided.
        device: Device of the result. Default: the CPU.
        requires_grad: Whether autograd records what is computed from it. Default: False.

    Example:
        >>> torch.signal.windows.hamming(5)
        tensor([0.0800, 0.5400, 1.0000, 0.5400, 0.0800])

    See also:
        `signal.windows.hann`.
    """
    return general_hamming(
        M, sym=sym, dtype=dtype, layout=layout, device=device, requires_grad=requires_grad
    )


def hann(
    M: int,
    *,
    sym: bool = True,
    dtype: fb.dtype | None = None,
    layout: fb.layout = fb.strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return Hann's window, a raised cosine.

    0.5 - 0.5 cos(x).

    Args:
        M: Number of points.
        sym: Whether the window is symmetric; otherwise it is one period of a periodic one.
            Default: True.
        dtype: float32 or float64. Default: the default type.
        layout: torch.strided.
        device: Device of the result. Default: the CPU.
        requires_grad: Whether autograd records what is computed from it. Default: False.

    Example:
        >>> torch.signal.windows.hann(5)
        tensor([0.0000, 0.5000, 1.0000, 0.5000, 0.0000])

    See also:
        `signal.windows.hamming`.
    """
    return general_hamming(
        M,
        alpha=0.5,
        sym=sym,
        dtype=dtype,
        layout=layout,
        device=device,
        requires_grad=requires_grad,
    )


def blackman(
    M: int,
    *,
    sym: bool = True,
    dtype: fb.dtype | None = None,
    layout: fb.layout = fb.strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return Blackman's window.

    0.42 - 0.5 cos(x) + 0.08 cos(2 x).

    Args:
        M: Number of points.
        sym: Whether the window is symmetric; otherwise it is one period of a periodic one.
            Default: True.
        dtype: float32 or float64. Default: the default type.
        layout: torch.strided.
        device: Device of the result. Default: the CPU.
        requires_grad: Whether autograd records what is computed from it. Default: False.

    Example:
        >>> torch.signal.windows.blackman(5)[1:4]
        tensor([0.3400, 1.0000, 0.3400])

    See also:
        `signal.windows.nuttall`.
    """
    return general_cosine(
        M,
        a=[0.42, 0.5, 0.08],
        sym=sym,
        dtype=dtype,
        layout=layout,
        device=device,
        requires_grad=requires_grad,
    )


def nuttall(
    M: int,
    *,
    sym: bool = True,
    dtype: fb.dtype | None = None,
    layout: fb.layout = fb.strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return Nuttall's window of least side lobes with four terms.

    Args:
        M: Number of points.
        sym: Whether the window is symmetric; otherwise it is one period of a periodic one.
            Default: True.
        dtype: float32 or float64. Default: the default type.
        layout: torch.strided.
        device: Device of the result. Default: the CPU.
        requires_grad: Whether autograd records what is computed from it. Default: False.

    Example:
        >>> torch.signal.windows.nuttall(5)
        tensor([3.6280e-04, 2.2698e-01, 1.0000e+00, 2.2698e-01, 3.6280e-04])

    See also:
        `signal.windows.blackman`.
    """
    return general_cosine(
        M,
        a=[0.3635819, 0.4891775, 0.1365995, 0.0106411],
        sym=sym,
        dtype=dtype,
        layout=layout,
        device=device,
        requires_grad=requires_grad,
    )


def bartlett(
    M: int,
    *,
    sym: bool = True,
    dtype: fb.dtype | None = None,
    layout: fb.layout = fb.strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return a triangle that is zero at both ends.

    Args:
        M: Number of points.
        sym: Whether the window is symmetric; otherwise it is one period of a periodic one.
            Default: True.
        dtype: float32 or float64. Default: the default type.
        layout: torch.strided.
        device: Device of the result. Default: the CPU.
        requires_grad: Whether autograd records what is computed from it. Default: False.

    Example:
        >>> torch.signal.windows.bartlett(5)
        tensor([0.0000, 0.5000, 1.0000, 0.5000, 0.0000])

    See also:
        `signal.windows.hann`.
    """

    def shape(points: Tensor, length: int) -> Tensor:
        return 1 - (2 * points / (length - 1) - 1).abs()

    return _window("bartlett", shape, M, sym, dtype, layout, device, requires_grad)


def cosine(
    M: int,
    *,
    sym: bool = True,
    dtype: fb.dtype | None = None,
    layout: fb.layout = fb.strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return half a wave of the sine, at the middles of the points.

    Args:
        M: Number of points.
        sym: Whether the window is symmetric; otherwise it is one period of a periodic one.
            Default: True.
        dtype: float32 or float64. Default: the default type.
        layout: torch.strided.
        device: Device of the result. Default: the CPU.
        requires_grad: Whether autograd records what is computed from it. Default: False.

    Example:
        >>> torch.signal.windows.cosine(3)
        tensor([0.5000, 1.0000, 0.5000])

    See also:
        `signal.windows.hann`.
    """

    def shape(points: Tensor, length: int) -> Tensor:
        return ((points + 0.5) * (math.pi / length)).sin()

    return _window("cosine", shape, M, sym, dtype, layout, device, requires_grad)


def exponential(
    M: int,
    *,
    center: float | None = None,
    tau: float = 1.0,
    sym: bool = True,
    dtype: fb.dtype | None = None,
    layout: fb.layout = fb.strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return ``exp(-|k - center| / tau)``.

    Args:
        M: Number of points.
        center: Where the window is 1, with sym=False only. Default: the middle.
        tau: Points in which the window falls to 1 / e. Default: 1.0.
        sym: Whether the window is symmetric; otherwise it is one period of a periodic one.
            Default: True.
        dtype: float32 or float64. Default: the default type.
        layout: torch.strided.
        device: Device of the result. Default: the CPU.
        requires_grad: Whether autograd records what is computed from it. Default: False.

    Example:
        >>> torch.signal.windows.exponential(3)
        tensor([0.3679, 1.0000, 0.3679])

    See also:
        `signal.windows.gaussian`.
    """
    if tau <= 0:
        raise ValueError(f"Tau must be positive, got: {tau} instead.")
    if sym and center is not None:
        raise ValueError("Center must be None for symmetric windows")

    def shape(points: Tensor, length: int) -> Tensor:
        middle = (length - 1) / 2 if center is None else center
        return (-(points - middle).abs() / tau).exp()

    return _window("exponential", shape, M, sym, dtype, layout, device, requires_grad)


def gaussian(
    M: int,
    *,
    std: float = 1.0,
    sym: bool = True,
    dtype: fb.dtype | None = None,
    layout: fb.layout = fb.strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return a bell of standard deviation ``std``.

    exp(-((k - (M - 1) / 2) / std)^2 / 2).

    Args:
        M: Number of points.
        std: Standard deviation, in points. Default: 1.0.
        sym: Whether the window is symmetric; otherwise it is one period of a periodic one.
            Default: True.
        dtype: float32 or float64. Default: the default type.
        layout: torch.strided.
        device: Device of the result. Default: the CPU.
        requires_grad: Whether autograd records what is computed from it. Default: False.

    Example:
        >>> torch.signal.windows.gaussian(3)
        tensor([0.6065, 1.0000, 0.6065])

    See also:
        `signal.windows.exponential`.
    """
    if std <= 0:
        raise ValueError(f"Standard deviation must be positive, got: {std} instead.")

    def shape(points: Tensor, length: int) -> Tensor:
        return (-0.5 * ((points - (length - 1) / 2) / std).square()).exp()

    return _window("gaussian", shape, M, sym, dtype, layout, device, requires_grad)


def kaiser(
    M: int,
    *,
    beta: float = 12.0,
    sym: bool = True,
    dtype: fb.dtype | None = None,
    layout: fb.layout = fb.strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return Kaiser's window, of the Bessel function of order 0.

    Args:
        M: Number of points.
        beta: Shape: 0 is a rectangle, larger values are narrower. Default: 12.0.
        sym: Whether the window is symmetric; otherwise it is one period of a periodic one.
            Default: True.
        dtype: float32 or float64. Default: the default type.
        layout: torch.strided.
        device: Device of the result. Default: the CPU.
        requires_grad: Whether autograd records what is computed from it. Default: False.

    Example:
        >>> torch.signal.windows.kaiser(3, beta=2.0)
        tensor([0.4387, 1.0000, 0.4387])

    See also:
        `signal.windows.gaussian`.
    """
    if beta < 0:
        raise ValueError(f"beta must be non-negative, got: {beta} instead.")

    def shape(points: Tensor, length: int) -> Tensor:
        place = 2 * points / (length - 1) - 1
        inside = (1 - place.square()).clamp(min=0).sqrt()
        return fb.i0(beta * inside) / fb.i0(fb.tensor(beta, dtype=fb.float64))

    return _window("kaiser", shape, M, sym, dtype, layout, device, requires_grad)
