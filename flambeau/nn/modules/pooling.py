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
    """Take the largest element of each window of a signal.

    Args:
        kernel_size: Size of a window, one int.
        stride: Step between two windows. Default: `kernel_size`.
        padding: Elements of -inf added at both ends of each dimension. Default: 0.
        dilation: Distance between two elements of a window. Default: 1.
        return_indices: Whether to return the positions of the maxima too, for
            `nn.MaxUnpool1d`. Default: False.
        ceil_mode: Whether to round the output size up, with windows that reach beyond the end.
            Default: False.

    Shape:
        - Input: (N, C, L) or (C, L).
        - Output: (N, C, L_out) or (C, L_out),
          where along the length

          out = floor((in + 2 padding - dilation (kernel_size - 1) - 1) / stride) + 1

    Example:
        >>> nn.MaxPool1d(2)(torch.randn(1, 3, 8)).shape
        torch.Size([1, 3, 4])
        >>> nn.MaxPool1d(3, stride=2)(torch.tensor([[1.0, 5.0, 2.0, 4.0, 3.0]]))
        tensor([[5., 4.]])

    See also:
        `nn.AvgPool1d`, `nn.AdaptiveMaxPool1d`, `nn.functional.max_pool1d`.
    """

    def forward(self, input: Tensor) -> Any:
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
    """Take the largest element of each window of an image.

    Args:
        kernel_size: Size of a window, one int or a tuple of 2.
        stride: Step between two windows. Default: `kernel_size`.
        padding: Elements of -inf added at both ends of each dimension. Default: 0.
        dilation: Distance between two elements of a window. Default: 1.
        return_indices: Whether to return the positions of the maxima too, for
            `nn.MaxUnpool2d`. Default: False.
        ceil_mode: Whether to round the output size up, with windows that reach beyond the end.
            Default: False.

    Shape:
        - Input: (N, C, H, W) or (C, H, W).
        - Output: (N, C, H_out, W_out) or (C, H_out, W_out),
          where along each of height and width

          out = floor((in + 2 padding - dilation (kernel_size - 1) - 1) / stride) + 1

    Example:
        >>> nn.MaxPool2d(2)(torch.randn(1, 3, 8, 8)).shape
        torch.Size([1, 3, 4, 4])
        >>> nn.MaxPool2d(2)(torch.arange(16.0).reshape(1, 4, 4))
        tensor([[[ 5.,  7.],
                 [13., 15.]]])

    See also:
        `nn.AvgPool2d`, `nn.AdaptiveMaxPool2d`, `nn.functional.max_pool2d`.
    """

    def forward(self, input: Tensor) -> Any:
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
    """Take the largest element of each window of a volume.

    Args:
        kernel_size: Size of a window, one int or a tuple of 3.
        stride: Step between two windows. Default: `kernel_size`.
        padding: Elements of -inf added at both ends of each dimension. Default: 0.
        dilation: Distance between two elements of a window. Default: 1.
        return_indices: Whether to return the positions of the maxima too, for
            `nn.MaxUnpool3d`. Default: False.
        ceil_mode: Whether to round the output size up, with windows that reach beyond the end.
            Default: False.

    Shape:
        - Input: (N, C, D, H, W) or (C, D, H, W).
        - Output: (N, C, D_out, H_out, W_out) or (C, D_out, H_out, W_out),
          where along each of depth, height and width

          out = floor((in + 2 padding - dilation (kernel_size - 1) - 1) / stride) + 1

    Example:
        >>> nn.MaxPool3d(2)(torch.randn(1, 3, 8, 8, 8)).shape
        torch.Size([1, 3, 4, 4, 4])

    See also:
        `nn.AvgPool3d`, `nn.AdaptiveMaxPool3d`, `nn.functional.max_pool3d`.
    """

    def forward(self, input: Tensor) -> Any:
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
    """Put maxima back to where `nn.MaxPool1d` found them; all other elements are 0.

    Args:
        kernel_size: Size of a window, one int.
        stride: Step between two windows. Default: `kernel_size`.
        padding: Padding that the pooling added. Default: 0.

    Shape:
        - Input and indices: (N, C, L) or (C, L).
        - Output: (N, C, L_out) or (C, L_out), where

          out = (in - 1) stride - 2 padding + kernel_size

          unless the call says otherwise: `layer(x, indices, output_size=...)`.

    Example:
        >>> pool = nn.MaxPool1d(2, return_indices=True)
        >>> maxima, indices = pool(torch.arange(8.0).reshape(1, 1, 8))
        >>> nn.MaxUnpool1d(2)(maxima, indices).shape
        torch.Size([1, 1, 8])

    See also:
        `nn.MaxPool1d`, `nn.functional.max_unpool1d`.
    """

    _fb_rank = 1

    def forward(
        self, input: Tensor, indices: Tensor, output_size: Sequence[int] | None = None
    ) -> Tensor:
        return F.max_unpool1d(
            input, indices, self.kernel_size, self.stride, self.padding, output_size
        )


class MaxUnpool2d(_MaxUnpoolNd):
    """Put maxima back to where `nn.MaxPool2d` found them; all other elements are 0.

    Args:
        kernel_size: Size of a window, one int or a tuple of 2.
        stride: Step between two windows. Default: `kernel_size`.
        padding: Padding that the pooling added. Default: 0.

    Shape:
        - Input and indices: (N, C, H, W) or (C, H, W).
        - Output: (N, C, H_out, W_out) or (C, H_out, W_out), where

          out = (in - 1) stride - 2 padding + kernel_size

          unless the call says otherwise: `layer(x, indices, output_size=...)`.

    Example:
        >>> pool = nn.MaxPool2d(2, return_indices=True)
        >>> maxima, indices = pool(torch.arange(64.0).reshape(1, 1, 8, 8))
        >>> nn.MaxUnpool2d(2)(maxima, indices).shape
        torch.Size([1, 1, 8, 8])

    See also:
        `nn.MaxPool2d`, `nn.functional.max_unpool2d`.
    """

    _fb_rank = 2

    def forward(
        self, input: Tensor, indices: Tensor, output_size: Sequence[int] | None = None
    ) -> Tensor:
        return F.max_unpool2d(
            input, indices, self.kernel_size, self.stride, self.padding, output_size
        )


class MaxUnpool3d(_MaxUnpoolNd):
    """Put maxima back to where `nn.MaxPool3d` found them; all other elements are 0.

    Args:
        kernel_size: Size of a window, one int or a tuple of 3.
        stride: Step between two windows. Default: `kernel_size`.
        padding: Padding that the pooling added. Default: 0.

    Shape:
        - Input and indices: (N, C, D, H, W) or (C, D, H, W).
        - Output: (N, C, D_out, H_out, W_out) or (C, D_out, H_out, W_out), where

          out = (in - 1) stride - 2 padding + kernel_size

          unless the call says otherwise: `layer(x, indices, output_size=...)`.

    Example:
        >>> pool = nn.MaxPool3d(2, return_indices=True)
        >>> maxima, indices = pool(torch.arange(8.0).reshape(1, 1, 2, 2, 2))
        >>> nn.MaxUnpool3d(2)(maxima, indices).shape
        torch.Size([1, 1, 2, 2, 2])

    See also:
        `nn.MaxPool3d`, `nn.functional.max_unpool3d`.
    """

    _fb_rank = 3

    def forward(
        self, input: Tensor, indices: Tensor, output_size: Sequence[int] | None = None
    ) -> Tensor:
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
    """Take the average of each window of a signal.

    Args:
        kernel_size: Size of a window, one int.
        stride: Step between two windows. Default: `kernel_size`.
        padding: Zeros added at both ends of each dimension. Default: 0.
        ceil_mode: Whether to round the output size up, with windows that reach beyond the end.
            Default: False.
        count_include_pad: Whether added zeros count for the average. Default: True.

    Shape:
        - Input: (N, C, L) or (C, L).
        - Output: (N, C, L_out) or (C, L_out),
          where along the length

          out = floor((in + 2 padding - kernel_size) / stride) + 1

    Example:
        >>> nn.AvgPool1d(2)(torch.randn(1, 3, 8)).shape
        torch.Size([1, 3, 4])
        >>> nn.AvgPool1d(2)(torch.tensor([[1.0, 3.0, 2.0, 4.0]]))
        tensor([[2., 3.]])

    See also:
        `nn.MaxPool1d`, `nn.AdaptiveAvgPool1d`, `nn.functional.avg_pool1d`.
    """

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
    """Take the average of each window of an image.

    Args:
        kernel_size: Size of a window, one int or a tuple of 2.
        stride: Step between two windows. Default: `kernel_size`.
        padding: Zeros added at both ends of each dimension. Default: 0.
        ceil_mode: Whether to round the output size up, with windows that reach beyond the end.
            Default: False.
        count_include_pad: Whether added zeros count for the average. Default: True.
        divisor_override: Divides the sum of a window instead of the number of its elements.
            Default: None.

    Shape:
        - Input: (N, C, H, W) or (C, H, W).
        - Output: (N, C, H_out, W_out) or (C, H_out, W_out),
          where along each of height and width

          out = floor((in + 2 padding - kernel_size) / stride) + 1

    Example:
        >>> nn.AvgPool2d(2)(torch.randn(1, 3, 8, 8)).shape
        torch.Size([1, 3, 4, 4])
        >>> nn.AvgPool2d(2)(torch.arange(16.0).reshape(1, 4, 4))
        tensor([[[ 2.5000,  4.5000],
                 [10.5000, 12.5000]]])

    See also:
        `nn.MaxPool2d`, `nn.AdaptiveAvgPool2d`, `nn.functional.avg_pool2d`.
    """

    def forward(self, input: Tensor) -> Tensor:
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
    """Take the average of each window of a volume.

    Args:
        kernel_size: Size of a window, one int or a tuple of 3.
        stride: Step between two windows. Default: `kernel_size`.
        padding: Zeros added at both ends of each dimension. Default: 0.
        ceil_mode: Whether to round the output size up, with windows that reach beyond the end.
            Default: False.
        count_include_pad: Whether added zeros count for the average. Default: True.
        divisor_override: Divides the sum of a window instead of the number of its elements.
            Default: None.

    Shape:
        - Input: (N, C, D, H, W) or (C, D, H, W).
        - Output: (N, C, D_out, H_out, W_out) or (C, D_out, H_out, W_out),
          where along each of depth, height and width

          out = floor((in + 2 padding - kernel_size) / stride) + 1

    Example:
        >>> nn.AvgPool3d(2)(torch.randn(1, 3, 8, 8, 8)).shape
        torch.Size([1, 3, 4, 4, 4])

    See also:
        `nn.MaxPool3d`, `nn.AdaptiveAvgPool3d`, `nn.functional.avg_pool3d`.
    """

    def forward(self, input: Tensor) -> Tensor:
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
    """Take the p-norm of each window of a signal.

    y = (sum of x^p over the window) ** (1 / p)

    Args:
        norm_type: p; 1 is the sum of a window, infinity its maximum.
        kernel_size: Size of a window, one int.
        stride: Step between two windows. Default: `kernel_size`.
        ceil_mode: Whether to round the output size up. Default: False.

    Shape:
        - Input: (N, C, L) or (C, L).
        - Output: (N, C, L_out) or (C, L_out),
          where along the length

          out = floor((in - kernel_size) / stride) + 1

    Example:
        >>> nn.LPPool1d(2, 3, stride=2)(torch.randn(1, 3, 8)).shape
        torch.Size([1, 3, 3])

    See also:
        `nn.functional.lp_pool1d`.
    """

    kernel_size: int

    def forward(self, input: Tensor) -> Tensor:
        return F.lp_pool1d(
            input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode
        )


class LPPool2d(_LPPoolNd):
    """Take the p-norm of each window of an image.

    y = (sum of x^p over the window) ** (1 / p)

    Args:
        norm_type: p; 1 is the sum of a window, infinity its maximum.
        kernel_size: Size of a window, one int or a tuple of 2.
        stride: Step between two windows. Default: `kernel_size`.
        ceil_mode: Whether to round the output size up. Default: False.

    Shape:
        - Input: (N, C, H, W) or (C, H, W).
        - Output: (N, C, H_out, W_out) or (C, H_out, W_out),
          where along each of height and width

          out = floor((in - kernel_size) / stride) + 1

    Example:
        >>> nn.LPPool2d(2, 3, stride=2)(torch.randn(1, 3, 8, 8)).shape
        torch.Size([1, 3, 3, 3])

    See also:
        `nn.functional.lp_pool2d`.
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.lp_pool2d(
            input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode
        )


class LPPool3d(_LPPoolNd):
    """Take the p-norm of each window of a volume.

    y = (sum of x^p over the window) ** (1 / p)

    Args:
        norm_type: p; 1 is the sum of a window, infinity its maximum.
        kernel_size: Size of a window, one int or a tuple of 3.
        stride: Step between two windows. Default: `kernel_size`.
        ceil_mode: Whether to round the output size up. Default: False.

    Shape:
        - Input: (N, C, D, H, W) or (C, D, H, W).
        - Output: (N, C, D_out, H_out, W_out) or (C, D_out, H_out, W_out),
          where along each of depth, height and width

          out = floor((in - kernel_size) / stride) + 1

    Example:
        >>> nn.LPPool3d(2, 3, stride=2)(torch.randn(1, 3, 8, 8, 8)).shape
        torch.Size([1, 3, 3, 3, 3])

    See also:
        `nn.functional.lp_pool3d`.
    """

    def forward(self, input: Tensor) -> Tensor:
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
    """Take the average of windows of a signal that give an output of a chosen size.

    Window i along a dimension reaches from floor(i in / out) to ceil((i + 1) in / out).

    Args:
        output_size: Size of the output, one int.

    Shape:
        - Input: (N, C, L) or (C, L).
        - Output: (N, C, L_out) or (C, L_out).

    Example:
        >>> nn.AdaptiveAvgPool1d(5)(torch.randn(1, 4, 8)).shape
        torch.Size([1, 4, 5])

    See also:
        `nn.AvgPool1d`, `nn.functional.adaptive_avg_pool1d`.
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.adaptive_avg_pool1d(input, self.output_size)


class AdaptiveAvgPool2d(_AdaptiveAvgPoolNd):
    """Take the average of windows of an image that give an output of a chosen size.

    Window i along a dimension reaches from floor(i in / out) to ceil((i + 1) in / out).

    Args:
        output_size: Size of the output, one int or a tuple of 2; None keeps a size.

    Shape:
        - Input: (N, C, H, W) or (C, H, W).
        - Output: (N, C, H_out, W_out) or (C, H_out, W_out).

    Example:
        >>> nn.AdaptiveAvgPool2d(1)(torch.randn(1, 4, 8, 8)).shape
        torch.Size([1, 4, 1, 1])
        >>> nn.AdaptiveAvgPool2d((None, 3))(torch.randn(1, 4, 8, 8)).shape
        torch.Size([1, 4, 8, 3])

    See also:
        `nn.AvgPool2d`, `nn.functional.adaptive_avg_pool2d`.
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.adaptive_avg_pool2d(input, self.output_size)


class AdaptiveAvgPool3d(_AdaptiveAvgPoolNd):
    """Take the average of windows of a volume that give an output of a chosen size.

    Window i along a dimension reaches from floor(i in / out) to ceil((i + 1) in / out).

    Args:
        output_size: Size of the output, one int or a tuple of 3; None keeps a size.

    Shape:
        - Input: (N, C, D, H, W) or (C, D, H, W).
        - Output: (N, C, D_out, H_out, W_out) or (C, D_out, H_out, W_out).

    Example:
        >>> nn.AdaptiveAvgPool3d(1)(torch.randn(1, 4, 8, 8, 8)).shape
        torch.Size([1, 4, 1, 1, 1])
        >>> nn.AdaptiveAvgPool3d((None, 3, 5))(torch.randn(1, 4, 8, 8, 8)).shape
        torch.Size([1, 4, 8, 3, 5])

    See also:
        `nn.AvgPool3d`, `nn.functional.adaptive_avg_pool3d`.
    """

    def forward(self, input: Tensor) -> Tensor:
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
    """Take the largest element of windows of a signal that give an output of a chosen size.

    Window i along a dimension reaches from floor(i in / out) to ceil((i + 1) in / out).

    Args:
        output_size: Size of the output, one int.
        return_indices: Whether to return the positions of the maxima too. Default: False.

    Shape:
        - Input: (N, C, L) or (C, L).
        - Output: (N, C, L_out) or (C, L_out).

    Example:
        >>> nn.AdaptiveMaxPool1d(5)(torch.randn(1, 4, 8)).shape
        torch.Size([1, 4, 5])

    See also:
        `nn.MaxPool1d`, `nn.functional.adaptive_max_pool1d`.
    """

    def forward(self, input: Tensor) -> Any:
        return F.adaptive_max_pool1d(input, self.output_size, self.return_indices)


class AdaptiveMaxPool2d(_AdaptiveMaxPoolNd):
    """Take the largest element of windows of an image that give an output of a chosen size.

    Window i along a dimension reaches from floor(i in / out) to ceil((i + 1) in / out).

    Args:
        output_size: Size of the output, one int or a tuple of 2; None keeps a size.
        return_indices: Whether to return the positions of the maxima too. Default: False.

    Shape:
        - Input: (N, C, H, W) or (C, H, W).
        - Output: (N, C, H_out, W_out) or (C, H_out, W_out).

    Example:
        >>> nn.AdaptiveMaxPool2d(1)(torch.randn(1, 4, 8, 8)).shape
        torch.Size([1, 4, 1, 1])
        >>> nn.AdaptiveMaxPool2d((None, 3))(torch.randn(1, 4, 8, 8)).shape
        torch.Size([1, 4, 8, 3])

    See also:
        `nn.MaxPool2d`, `nn.functional.adaptive_max_pool2d`.
    """

    def forward(self, input: Tensor) -> Any:
        return F.adaptive_max_pool2d(input, self.output_size, self.return_indices)


class AdaptiveMaxPool3d(_AdaptiveMaxPoolNd):
    """Take the largest element of windows of a volume that give an output of a chosen size.

    Window i along a dimension reaches from floor(i in / out) to ceil((i + 1) in / out).

    Args:
        output_size: Size of the output, one int or a tuple of 3; None keeps a size.
        return_indices: Whether to return the positions of the maxima too. Default: False.

    Shape:
        - Input: (N, C, D, H, W) or (C, D, H, W).
        - Output: (N, C, D_out, H_out, W_out) or (C, D_out, H_out, W_out).

    Example:
        >>> nn.AdaptiveMaxPool3d(1)(torch.randn(1, 4, 8, 8, 8)).shape
        torch.Size([1, 4, 1, 1, 1])
        >>> nn.AdaptiveMaxPool3d((None, 3, 5))(torch.randn(1, 4, 8, 8, 8)).shape
        torch.Size([1, 4, 8, 3, 5])

    See also:
        `nn.MaxPool3d`, `nn.functional.adaptive_max_pool3d`.
    """

    def forward(self, input: Tensor) -> Any:
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
    """Take the largest element of windows at random places, to shrink an image by any ratio.

    Args:
        kernel_size: Size of a window, one int or a tuple of 2.
        output_size: Size of the output, one int or a tuple of 2.
        output_ratio: Size of the output by that of the input, between 0 and 1. Exactly one of
            `output_size` and `output_ratio` is given.
        return_indices: Whether to return the positions of the maxima too. Default: False.

    Shape:
        - Input: (N, C, H, W) or (C, H, W).
        - Output: (N, C, H_out, W_out) or (C, H_out, W_out).

    Example:
        >>> nn.FractionalMaxPool2d(3, output_size=5)(torch.randn(1, 3, 8, 8)).shape
        torch.Size([1, 3, 5, 5])
        >>> nn.FractionalMaxPool2d(3, output_ratio=0.5)(torch.randn(1, 3, 8, 8)).shape
        torch.Size([1, 3, 4, 4])

    See also:
        `nn.functional.fractional_max_pool2d`.
    """

    _fb_rank = 2

    def forward(self, input: Tensor) -> Any:
        return F.fractional_max_pool2d(
            input,
            self.kernel_size,
            self.output_size,
            self.output_ratio,
            self.return_indices,
            self._random_samples,
        )


class FractionalMaxPool3d(_FractionalMaxPoolNd):
    """Take the largest element of windows at random places, to shrink a volume by any ratio.

    Args:
        kernel_size: Size of a window, one int or a tuple of 3.
        output_size: Size of the output, one int or a tuple of 3.
        output_ratio: Size of the output by that of the input, between 0 and 1. Exactly one of
            `output_size` and `output_ratio` is given.
        return_indices: Whether to return the positions of the maxima too. Default: False.

    Shape:
        - Input: (N, C, D, H, W) or (C, D, H, W).
        - Output: (N, C, D_out, H_out, W_out) or (C, D_out, H_out, W_out).

    Example:
        >>> nn.FractionalMaxPool3d(3, output_size=5)(torch.randn(1, 3, 8, 8, 8)).shape
        torch.Size([1, 3, 5, 5, 5])
        >>> nn.FractionalMaxPool3d(3, output_ratio=0.5)(torch.randn(1, 3, 8, 8, 8)).shape
        torch.Size([1, 3, 4, 4, 4])

    See also:
        `nn.functional.fractional_max_pool3d`.
    """

    _fb_rank = 3

    def forward(self, input: Tensor) -> Any:
        return F.fractional_max_pool3d(
            input,
            self.kernel_size,
            self.output_size,
            self.output_ratio,
            self.return_indices,
            self._random_samples,
        )
