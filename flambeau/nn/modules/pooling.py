"""Pooling layers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from flambeau.nn import functional as F
from flambeau.nn.modules.module import Module
from flambeau.nn.modules.utils import _ntuple, _single

if TYPE_CHECKING:
    from flambeau import Tensor

__all__ = [
    "AdaptiveAvgPool1d",
    "AdaptiveAvgPool2d",
    "AdaptiveAvgPool3d",
    "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d",
    "AdaptiveMaxPool3d",
    "AvgPool1d",
    "AvgPool2d",
    "AvgPool3d",
    "FractionalMaxPool2d",
    "FractionalMaxPool3d",
    "LPPool1d",
    "LPPool2d",
    "LPPool3d",
    "MaxPool1d",
    "MaxPool2d",
    "MaxPool3d",
    "MaxUnpool1d",
    "MaxUnpool2d",
    "MaxUnpool3d",
]

_Ints = int | tuple[int, ...]
_Sizes = int | None | tuple[int | None, ...]


# --- the largest


class _MaxPoolNd(Module):
    def __init__(
        self,
        kernel_size: _Ints,
        stride: _Ints | None = None,
        padding: _Ints = 0,
        dilation: _Ints = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride: _Ints = kernel_size if stride is None else stride
        self.padding = padding
        self.dilation = dilation
        self.return_indices = return_indices
        self.ceil_mode = ceil_mode

    def extra_repr(self) -> str:
        """The windows."""
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, "
            f"dilation={self.dilation}, ceil_mode={self.ceil_mode}"
        )


class MaxPool1d(_MaxPoolNd):
    """The largest element of each window of a signal."""

    def forward(self, input: Tensor) -> Any:
        """Pool (N, C, L) or (C, L)."""
        return F.max_pool1d(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.dilation,
            self.ceil_mode,
            self.return_indices,
        )


class MaxPool2d(_MaxPoolNd):
    """The largest element of each window of an image."""

    def forward(self, input: Tensor) -> Any:
        """Pool (N, C, H, W) or (C, H, W)."""
        return F.max_pool2d(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.dilation,
            self.ceil_mode,
            self.return_indices,
        )


class MaxPool3d(_MaxPoolNd):
    """The largest element of each window of a volume."""

    def forward(self, input: Tensor) -> Any:
        """Pool (N, C, D, H, W) or (C, D, H, W)."""
        return F.max_pool3d(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.dilation,
            self.ceil_mode,
            self.return_indices,
        )


# --- largest elements put back


class _MaxUnpoolNd(Module):
    kernel_size: tuple[int, ...]
    stride: tuple[int, ...]
    padding: tuple[int, ...]
    _fb_rank: int

    def __init__(self, kernel_size: _Ints, stride: _Ints | None = None, padding: _Ints = 0) -> None:
        super().__init__()
        per_dimension = _ntuple(self._fb_rank)
        self.kernel_size = per_dimension(kernel_size)
        self.stride = per_dimension(kernel_size if stride is None else stride)
        self.padding = per_dimension(padding)

    def extra_repr(self) -> str:
        """The windows."""
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class MaxUnpool1d(_MaxUnpoolNd):
    """Puts what MaxPool1d found back in its place, among zeros."""

    _fb_rank = 1

    def forward(
        self, input: Tensor, indices: Tensor, output_size: Sequence[int] | None = None
    ) -> Tensor:
        """``indices`` are those that MaxPool1d returned."""
        return F.max_unpool1d(
            input, indices, self.kernel_size, self.stride, self.padding, output_size
        )


class MaxUnpool2d(_MaxUnpoolNd):
    """Puts what MaxPool2d found back in its place, among zeros."""

    _fb_rank = 2

    def forward(
        self, input: Tensor, indices: Tensor, output_size: Sequence[int] | None = None
    ) -> Tensor:
        """``indices`` are those that MaxPool2d returned."""
        return F.max_unpool2d(
            input, indices, self.kernel_size, self.stride, self.padding, output_size
        )


class MaxUnpool3d(_MaxUnpoolNd):
    """Puts what MaxPool3d found back in its place, among zeros."""

    _fb_rank = 3

    def forward(
        self, input: Tensor, indices: Tensor, output_size: Sequence[int] | None = None
    ) -> Tensor:
        """``indices`` are those that MaxPool3d returned."""
        return F.max_unpool3d(
            input, indices, self.kernel_size, self.stride, self.padding, output_size
        )


# --- the average


class _AvgPoolNd(Module):
    kernel_size: _Ints
    stride: _Ints
    padding: _Ints

    def extra_repr(self) -> str:
        """The windows."""
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class AvgPool1d(_AvgPoolNd):
    """The average of each window of a signal."""

    def __init__(
        self,
        kernel_size: int | tuple[int],
        stride: int | tuple[int] | None = None,
        padding: int | tuple[int] = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        super().__init__()
        self.kernel_size: tuple[int, ...] = _single(kernel_size)
        self.stride: tuple[int, ...] = _single(kernel_size if stride is None else stride)
        self.padding: tuple[int, ...] = _single(padding)
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad

    def forward(self, input: Tensor) -> Tensor:
        """Pool (N, C, L) or (C, L)."""
        return F.avg_pool1d(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
        )


class _OverridableAvgPoolNd(_AvgPoolNd):
    def __init__(
        self,
        kernel_size: _Ints,
        stride: _Ints | None = None,
        padding: _Ints = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride: _Ints = kernel_size if stride is None else stride
        self.padding = padding
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad
        self.divisor_override = divisor_override


class AvgPool2d(_OverridableAvgPoolNd):
    """The average of each window of an image."""

    def forward(self, input: Tensor) -> Tensor:
        """Pool (N, C, H, W) or (C, H, W)."""
        return F.avg_pool2d(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
            self.divisor_override,
        )


class AvgPool3d(_OverridableAvgPoolNd):
    """The average of each window of a volume."""

    def forward(self, input: Tensor) -> Tensor:
        """Pool (N, C, D, H, W) or (C, D, H, W)."""
        return F.avg_pool3d(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
            self.divisor_override,
        )


# --- the p-norm


class _LPPoolNd(Module):
    def __init__(
        self,
        norm_type: float,
        kernel_size: _Ints,
        stride: _Ints | None = None,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.norm_type = norm_type
        self.kernel_size = kernel_size
        self.stride = stride
        self.ceil_mode = ceil_mode

    def extra_repr(self) -> str:
        """The norm and the windows."""
        return (
            f"norm_type={self.norm_type}, kernel_size={self.kernel_size}, stride={self.stride}, "
            f"ceil_mode={self.ceil_mode}"
        )


class LPPool1d(_LPPoolNd):
    """The p-norm of each window of a signal."""

    kernel_size: int

    def forward(self, input: Tensor) -> Tensor:
        """Pool (N, C, L) or (C, L)."""
        return F.lp_pool1d(
            input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode
        )


class LPPool2d(_LPPoolNd):
    """The p-norm of each window of an image."""

    def forward(self, input: Tensor) -> Tensor:
        """Pool (N, C, H, W) or (C, H, W)."""
        return F.lp_pool2d(
            input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode
        )


class LPPool3d(_LPPoolNd):
    """The p-norm of each window of a volume."""

    def forward(self, input: Tensor) -> Tensor:
        """Pool (N, C, D, H, W) or (C, D, H, W)."""
        return F.lp_pool3d(
            input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode
        )


# --- windows that divide the input evenly


class _AdaptiveAvgPoolNd(Module):
    def __init__(self, output_size: _Sizes) -> None:
        super().__init__()
        self.output_size = output_size

    def extra_repr(self) -> str:
        """The size of the result."""
        return f"output_size={self.output_size}"


class AdaptiveAvgPool1d(_AdaptiveAvgPoolNd):
    """Averages of a signal, as many as asked for."""

    def forward(self, input: Tensor) -> Tensor:
        """Pool (N, C, L) or (C, L)."""
        return F.adaptive_avg_pool1d(input, self.output_size)


class AdaptiveAvgPool2d(_AdaptiveAvgPoolNd):
    """Averages of an image, as many as asked for."""

    def forward(self, input: Tensor) -> Tensor:
        """Pool (N, C, H, W) or (C, H, W)."""
        return F.adaptive_avg_pool2d(input, self.output_size)


class AdaptiveAvgPool3d(_AdaptiveAvgPoolNd):
    """Averages of a volume, as many as asked for."""

    def forward(self, input: Tensor) -> Tensor:
        """Pool (N, C, D, H, W) or (C, D, H, W)."""
        return F.adaptive_avg_pool3d(input, self.output_size)


class _AdaptiveMaxPoolNd(Module):
    def __init__(self, output_size: _Sizes, return_indices: bool = False) -> None:
        super().__init__()
        self.output_size = output_size
        self.return_indices = return_indices

    def extra_repr(self) -> str:
        """The size of the result."""
        return f"output_size={self.output_size}"


class AdaptiveMaxPool1d(_AdaptiveMaxPoolNd):
    """The largest elements of a signal, as many as asked for."""

    def forward(self, input: Tensor) -> Any:
        """Pool (N, C, L) or (C, L)."""
        return F.adaptive_max_pool1d(input, self.output_size, self.return_indices)


class AdaptiveMaxPool2d(_AdaptiveMaxPoolNd):
    """The largest elements of an image, as many as asked for."""

    def forward(self, input: Tensor) -> Any:
        """Pool (N, C, H, W) or (C, H, W)."""
        return F.adaptive_max_pool2d(input, self.output_size, self.return_indices)


class AdaptiveMaxPool3d(_AdaptiveMaxPoolNd):
    """The largest elements of a volume, as many as asked for."""

    def forward(self, input: Tensor) -> Any:
        """Pool (N, C, D, H, W) or (C, D, H, W)."""
        return F.adaptive_max_pool3d(input, self.output_size, self.return_indices)


# --- windows at random places


class _FractionalMaxPoolNd(Module):
    _random_samples: Tensor | None
    _fb_rank: int

    def __init__(
        self,
        kernel_size: _Ints,
        output_size: _Ints | None = None,
        output_ratio: float | tuple[float, ...] | None = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> None:
        super().__init__()
        name = type(self).__name__
        if output_size is None and output_ratio is None:
            raise ValueError(
                f"{name} requires specifying either an output size, or a pooling ratio"
            )
        if output_size is not None and output_ratio is not None:
            raise ValueError("only one of output_size and output_ratio may be specified")
        per_dimension = _ntuple(self._fb_rank)
        self.kernel_size: tuple[Any, ...] = per_dimension(kernel_size)
        self.return_indices = return_indices
        self.register_buffer("_random_samples", _random_samples)
        self.output_size: tuple[Any, ...] | None = (
            None if output_size is None else per_dimension(output_size)
        )
        self.output_ratio: tuple[Any, ...] | None = (
            None if output_ratio is None else per_dimension(output_ratio)
        )
        for ratio in self.output_ratio or ():
            if not 0 < ratio < 1:
                raise ValueError(f"output_ratio must be between 0 and 1 (got {output_ratio})")


class FractionalMaxPool2d(_FractionalMaxPoolNd):
    """The largest elements of windows that lie at random places of an image."""

    _fb_rank = 2

    def forward(self, input: Tensor) -> Any:
        """Pool (N, C, H, W) or (C, H, W)."""
        return F.fractional_max_pool2d(
            input,
            self.kernel_size,
            self.output_size,
            self.output_ratio,
            self.return_indices,
            self._random_samples,
        )


class FractionalMaxPool3d(_FractionalMaxPoolNd):
    """The largest elements of windows that lie at random places of a volume."""

    _fb_rank = 3

    def forward(self, input: Tensor) -> Any:
        """Pool (N, C, D, H, W) or (C, D, H, W)."""
        return F.fractional_max_pool3d(
            input,
            self.kernel_size,
            self.output_size,
            self.output_ratio,
            self.return_indices,
            self._random_samples,
        )
