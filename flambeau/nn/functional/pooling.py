"""Pooling."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import flambeau as _torch
from flambeau import _C
from flambeau._C.nn.functional import (
    adaptive_avg_pool1d,
    adaptive_avg_pool2d,
    adaptive_avg_pool3d,
    adaptive_max_pool1d,
    adaptive_max_pool1d_with_indices,
    adaptive_max_pool2d,
    adaptive_max_pool2d_with_indices,
    adaptive_max_pool3d,
    adaptive_max_pool3d_with_indices,
    avg_pool1d,
    avg_pool2d,
    avg_pool3d,
    max_pool1d,
    max_pool1d_with_indices,
    max_pool2d,
    max_pool2d_with_indices,
    max_pool3d,
    max_pool3d_with_indices,
)
from flambeau._core.overriding import overridable

if TYPE_CHECKING:
    from flambeau import Tensor

__all__ = [
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "adaptive_max_pool1d",
    "adaptive_max_pool1d_with_indices",
    "adaptive_max_pool2d",
    "adaptive_max_pool2d_with_indices",
    "adaptive_max_pool3d",
    "adaptive_max_pool3d_with_indices",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "fractional_max_pool2d",
    "fractional_max_pool2d_with_indices",
    "fractional_max_pool3d",
    "fractional_max_pool3d_with_indices",
    "lp_pool1d",
    "lp_pool2d",
    "lp_pool3d",
    "max_pool1d",
    "max_pool1d_with_indices",
    "max_pool2d",
    "max_pool2d_with_indices",
    "max_pool3d",
    "max_pool3d_with_indices",
    "max_unpool1d",
    "max_unpool2d",
    "max_unpool3d",
]

_Ints = int | Sequence[int]
_Ratio = float | Sequence[float]


def _per_dimension(value: Any, rank: int) -> tuple[Any, ...]:
    """One value for all dimensions, or one for each."""
    return tuple(value) if isinstance(value, Sequence) else (value,) * rank


# --- the p-norm of windows


def _lp_pool(
    average: Any,
    input: Tensor,
    norm_type: float,
    kernel_size: _Ints,
    stride: _Ints | None,
    ceil_mode: bool,
    rank: int,
) -> Tensor:
    size = 1
    for length in _per_dimension(kernel_size, rank):
        size *= length
    mean: Tensor = average(input.pow(norm_type), kernel_size, stride, 0, ceil_mode)
    # The sign is taken off for the root: a sum of odd powers may be negative.
    return (_torch.sign(mean) * _torch.relu(_torch.abs(mean))).mul(size).pow(1.0 / norm_type)


@overridable
def lp_pool1d(
    input: Tensor,
    norm_type: float,
    kernel_size: int,
    stride: _Ints | None = None,
    ceil_mode: bool = False,
) -> Tensor:
    """p-norm of each window over the last dimension.

    y = (sum of x^p over the window) ** (1 / p)

    Args:
        input: (N, C, *) or (C, *).
        norm_type: p.
        kernel_size: Size of a window.
        stride: Step between two windows. Default: `kernel_size`.
        ceil_mode: Whether to round the output size up. Default: False.

    Example:
        >>> F.lp_pool1d(torch.ones(1, 1, 8), 2, 2).shape
        torch.Size([1, 1, 4])

    See also:
        `nn.LPPool1d`.
    """
    return _lp_pool(avg_pool1d, input, norm_type, kernel_size, stride, ceil_mode, 1)


@overridable
def lp_pool2d(
    input: Tensor,
    norm_type: float,
    kernel_size: _Ints,
    stride: _Ints | None = None,
    ceil_mode: bool = False,
) -> Tensor:
    """p-norm of each window over the last two dimensions.

    y = (sum of x^p over the window) ** (1 / p)

    Args:
        input: (N, C, *) or (C, *).
        norm_type: p.
        kernel_size: Size of a window.
        stride: Step between two windows. Default: `kernel_size`.
        ceil_mode: Whether to round the output size up. Default: False.

    Example:
        >>> F.lp_pool2d(torch.ones(1, 1, 8, 8), 2, 2).shape
        torch.Size([1, 1, 4, 4])

    See also:
        `nn.LPPool2d`.
    """
    return _lp_pool(avg_pool2d, input, norm_type, kernel_size, stride, ceil_mode, 2)


@overridable
def lp_pool3d(
    input: Tensor,
    norm_type: float,
    kernel_size: _Ints,
    stride: _Ints | None = None,
    ceil_mode: bool = False,
) -> Tensor:
    """p-norm of each window over the last three dimensions.

    y = (sum of x^p over the window) ** (1 / p)

    Args:
        input: (N, C, *) or (C, *).
        norm_type: p.
        kernel_size: Size of a window.
        stride: Step between two windows. Default: `kernel_size`.
        ceil_mode: Whether to round the output size up. Default: False.

    Example:
        >>> F.lp_pool3d(torch.ones(1, 1, 8, 8, 8), 2, 2).shape
        torch.Size([1, 1, 4, 4, 4])

    See also:
        `nn.LPPool3d`.
    """
    return _lp_pool(avg_pool3d, input, norm_type, kernel_size, stride, ceil_mode, 3)


# --- largest elements put back


def _unpooled_size(
    input: Tensor,
    kernel_size: _Ints,
    stride: _Ints | None,
    padding: _Ints,
    output_size: Sequence[int] | None,
    rank: int,
) -> list[int]:
    """The sizes that windows give, or those asked for if they are less than a stride away."""
    kernel = _per_dimension(kernel_size, rank)
    strides = _per_dimension(kernel_size if stride is None else stride, rank)
    pads = _per_dimension(padding, rank)
    if min(strides) <= 0:
        raise RuntimeError(f"max_unpool{rank}d: stride must be greater than zero, got {strides}")
    usual = [
        (size - 1) * strides[d] + kernel[d] - 2 * pads[d]
        for d, size in enumerate(input.shape[-rank:])
    ]
    if output_size is None:
        return usual
    if len(output_size) not in (rank, rank + 2):
        raise ValueError(
            f"max_unpool{rank}d: output_size must have {rank} or {rank + 2} elements, "
            f"got {tuple(output_size)}"
        )
    asked = list(output_size)[-rank:]
    for d, size in enumerate(asked):
        low, high = usual[d] - strides[d], usual[d] + strides[d]
        if not low < size < high:
            raise ValueError(
                f"max_unpool{rank}d: invalid output_size {tuple(output_size)}: dimension {d} must "
                f"be between {low} and {high}, both excluded"
            )
    return asked


@overridable
def max_unpool1d(
    input: Tensor,
    indices: Tensor,
    kernel_size: _Ints,
    stride: _Ints | None = None,
    padding: _Ints = 0,
    output_size: Sequence[int] | None = None,
) -> Tensor:
    """Put maxima back to where `max_pool1d` found them; all other elements are 0.

    Args:
        input: The maxima.
        indices: Their positions, from `max_pool1d(..., return_indices=True)`.
        kernel_size: Size of a window.
        stride: Step between two windows. Default: `kernel_size`.
        padding: Padding that the pooling added. Default: 0.
        output_size: Size of the result. Default: the smallest.

    Example:
        >>> x = torch.arange(2.0).reshape(1, 1, 2)
        >>> maxima, indices = F.max_pool1d(x, 2, return_indices=True)
        >>> F.max_unpool1d(maxima, indices, 2).flatten()
        tensor([0., 1.])

    See also:
        `nn.MaxUnpool1d`.
    """
    size = _unpooled_size(input, kernel_size, stride, padding, output_size, 1)
    return _C._max_unpool1d(input, indices, size)


@overridable
def max_unpool2d(
    input: Tensor,
    indices: Tensor,
    kernel_size: _Ints,
    stride: _Ints | None = None,
    padding: _Ints = 0,
    output_size: Sequence[int] | None = None,
) -> Tensor:
    """Put maxima back to where `max_pool2d` found them; all other elements are 0.

    Args:
        input: The maxima.
        indices: Their positions, from `max_pool2d(..., return_indices=True)`.
        kernel_size: Size of a window.
        stride: Step between two windows. Default: `kernel_size`.
        padding: Padding that the pooling added. Default: 0.
        output_size: Size of the result. Default: the smallest.

    Example:
        >>> x = torch.arange(4.0).reshape(1, 1, 2, 2)
        >>> maxima, indices = F.max_pool2d(x, 2, return_indices=True)
        >>> F.max_unpool2d(maxima, indices, 2).flatten()
        tensor([0., 0., 0., 3.])

    See also:
        `nn.MaxUnpool2d`.
    """
    size = _unpooled_size(input, kernel_size, stride, padding, output_size, 2)
    return _C._max_unpool2d(input, indices, size)


@overridable
def max_unpool3d(
    input: Tensor,
    indices: Tensor,
    kernel_size: _Ints,
    stride: _Ints | None = None,
    padding: _Ints = 0,
    output_size: Sequence[int] | None = None,
) -> Tensor:
    """Put maxima back to where `max_pool3d` found them; all other elements are 0.

    Args:
        input: The maxima.
        indices: Their positions, from `max_pool3d(..., return_indices=True)`.
        kernel_size: Size of a window.
        stride: Step between two windows. Default: `kernel_size`.
        padding: Padding that the pooling added. Default: 0.
        output_size: Size of the result. Default: the smallest.

    Example:
        >>> x = torch.arange(8.0).reshape(1, 1, 2, 2, 2)
        >>> maxima, indices = F.max_pool3d(x, 2, return_indices=True)
        >>> F.max_unpool3d(maxima, indices, 2).flatten()
        tensor([0., 0., 0., 0., 0., 0., 0., 7.])

    See also:
        `nn.MaxUnpool3d`.
    """
    size = _unpooled_size(input, kernel_size, stride, padding, output_size, 3)
    return _C._max_unpool3d(input, indices, size)


# --- windows at random places


def _fractional_max_pool(
    input: Tensor,
    kernel_size: _Ints,
    output_size: _Ints | None,
    output_ratio: _Ratio | None,
    samples: Tensor | None,
    rank: int,
) -> tuple[Tensor, Tensor]:
    name = f"fractional_max_pool{rank}d"
    if input.dim() not in (rank + 1, rank + 2):
        raise RuntimeError(
            f"{name}: expected a {rank + 1}D or {rank + 2}D tensor, got shape {tuple(input.shape)}"
        )
    if output_size is None:
        if output_ratio is None:
            raise ValueError(f"{name} requires specifying either an output_size or an output_ratio")
        ratios = _per_dimension(output_ratio, rank)
        output_size = [
            int(size * ratio) for size, ratio in zip(input.shape[-rank:], ratios, strict=True)
        ]
    if samples is None:
        batch = 1 if input.dim() == rank + 1 else input.shape[0]
        places = (batch, input.shape[-rank - 1], rank)
        samples = _torch.rand(places, dtype=input.dtype, device=input.device)
    pool = _C._fractional_max_pool2d if rank == 2 else _C._fractional_max_pool3d
    return pool(input, kernel_size, output_size, samples)


@overridable
def fractional_max_pool2d_with_indices(
    input: Tensor,
    kernel_size: _Ints,
    output_size: _Ints | None = None,
    output_ratio: _Ratio | None = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Largest elements of windows at random places of an image, and their positions.

    Args:
        input: (N, C, *) or (C, *).
        kernel_size: Size of a window, one int or a tuple of 2.
        output_size: Size of the output, one int or a tuple of 2.
        output_ratio: Size of the output by that of the input, instead of `output_size`.
        return_indices: Whether to return the positions of the maxima too. Default: False.

    Returns:
        A pair: the maxima, and their positions.

    Example:
        >>> maxima, indices = F.fractional_max_pool2d_with_indices(
        ...     torch.randn(1, 3, 8, 8), 3, output_size=5
        ... )
        >>> maxima.shape == indices.shape
        True
    """
    return _fractional_max_pool(input, kernel_size, output_size, output_ratio, _random_samples, 2)


@overridable
def fractional_max_pool2d(
    input: Tensor,
    kernel_size: _Ints,
    output_size: _Ints | None = None,
    output_ratio: _Ratio | None = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any:
    """Largest elements of windows at random places of an image.

    Args:
        input: (N, C, *) or (C, *).
        kernel_size: Size of a window, one int or a tuple of 2.
        output_size: Size of the output, one int or a tuple of 2.
        output_ratio: Size of the output by that of the input, instead of `output_size`.
        return_indices: Whether to return the positions of the maxima too. Default: False.

    Example:
        >>> F.fractional_max_pool2d(torch.randn(1, 3, 8, 8), 3, output_size=5).shape
        torch.Size([1, 3, 5, 5])

    See also:
        `nn.FractionalMaxPool2d`.
    """
    both = fractional_max_pool2d_with_indices(
        input, kernel_size, output_size, output_ratio, True, _random_samples
    )
    return both if return_indices else both[0]


@overridable
def fractional_max_pool3d_with_indices(
    input: Tensor,
    kernel_size: _Ints,
    output_size: _Ints | None = None,
    output_ratio: _Ratio | None = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Largest elements of windows at random places of a volume, and their positions.

    Args:
        input: (N, C, *) or (C, *).
        kernel_size: Size of a window, one int or a tuple of 3.
        output_size: Size of the output, one int or a tuple of 3.
        output_ratio: Size of the output by that of the input, instead of `output_size`.
        return_indices: Whether to return the positions of the maxima too. Default: False.

    Returns:
        A pair: the maxima, and their positions.

    Example:
        >>> maxima, indices = F.fractional_max_pool3d_with_indices(
        ...     torch.randn(1, 3, 8, 8, 8), 3, output_size=5
        ... )
        >>> maxima.shape == indices.shape
        True
    """
    return _fractional_max_pool(input, kernel_size, output_size, output_ratio, _random_samples, 3)


@overridable
def fractional_max_pool3d(
    input: Tensor,
    kernel_size: _Ints,
    output_size: _Ints | None = None,
    output_ratio: _Ratio | None = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any:
    """Largest elements of windows at random places of a volume.

    Args:
        input: (N, C, *) or (C, *).
        kernel_size: Size of a window, one int or a tuple of 3.
        output_size: Size of the output, one int or a tuple of 3.
        output_ratio: Size of the output by that of the input, instead of `output_size`.
        return_indices: Whether to return the positions of the maxima too. Default: False.

    Example:
        >>> F.fractional_max_pool3d(torch.randn(1, 3, 8, 8, 8), 3, output_size=5).shape
        torch.Size([1, 3, 5, 5, 5])

    See also:
        `nn.FractionalMaxPool3d`.
    """
    both = fractional_max_pool3d_with_indices(
        input, kernel_size, output_size, output_ratio, True, _random_samples
    )
    return both if return_indices else both[0]
