"""Convolutions along one, two and three dimensions, and their transposes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import flambeau
from flambeau import Tensor
from flambeau.nn import functional, init
from flambeau.nn.modules.lazy import LazyModuleMixin
from flambeau.nn.modules.module import Module
from flambeau.nn.modules.utils import _ntuple, _reverse_repeat_tuple
from flambeau.nn.parameter import Parameter, UninitializedParameter

__all__ = [
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "ConvTranspose1d",
    "ConvTranspose2d",
    "ConvTranspose3d",
    "LazyConv1d",
    "LazyConv2d",
    "LazyConv3d",
    "LazyConvTranspose1d",
    "LazyConvTranspose2d",
    "LazyConvTranspose3d",
]

_Numbers = int | tuple[int, ...]
_PADDING_MODES = ("zeros", "reflect", "replicate", "circular")


class _ConvNd(Module):
    """What convolutions and their transposes have in common: sizes, parameters, how they print."""

    # How many spatial dimensions, and the function, of a public class.
    _fb_dimensions: ClassVar[int]
    _fb_convolve: ClassVar[Callable[..., Tensor]]

    weight: Tensor
    bias: Tensor | None
    padding: str | tuple[int, ...]

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: tuple[int, ...],
        stride: tuple[int, ...],
        padding: str | tuple[int, ...],
        dilation: tuple[int, ...],
        transposed: bool,
        output_padding: tuple[int, ...],
        groups: int,
        bias: bool,
        padding_mode: str,
        device: Any = None,
        dtype: flambeau.dtype | None = None,
    ) -> None:
        super().__init__()
        _check(in_channels, out_channels, groups, stride, padding, padding_mode)
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = kernel_size
        self.stride = stride
        self.padding = padding
        self.dilation = dilation
        self.transposed = transposed
        self.output_padding = output_padding
        self.groups = groups
        self.padding_mode = padding_mode
        self._reversed_padding_repeated_twice = self._fb_edges()
        sizes = (*self._fb_weight_channels(), *kernel_size)
        self.weight = Parameter(flambeau.empty(sizes, device=device, dtype=dtype))
        self.register_parameter(
            "bias",
            Parameter(flambeau.empty(out_channels, device=device, dtype=dtype)) if bias else None,
        )
        self.reset_parameters()

    def _fb_weight_channels(self) -> tuple[int, int]:
        """The first two sizes of the weight."""
        if self.transposed:
            return self.in_channels, self.out_channels // self.groups
        return self.out_channels, self.in_channels // self.groups

    def _fb_edges(self) -> list[int]:
        """The padding before and after each dimension, from the last one on."""
        if not isinstance(self.padding, str):
            return list(_reverse_repeat_tuple(self.padding, 2))
        edges: list[int] = []
        for apart, size in zip(reversed(self.dilation), reversed(self.kernel_size), strict=True):
            total = apart * (size - 1) if self.padding == "same" else 0
            edges += [total // 2, total - total // 2]
        return edges

    def reset_parameters(self) -> None:
        """Draw weight and bias evenly from +-1 / sqrt(elements of a kernel)."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in, _ = init._calculate_fan_in_and_fan_out(self.weight)
            if fan_in != 0:
                bound = 1 / math.sqrt(fan_in)
                init.uniform_(self.bias, -bound, bound)

    def extra_repr(self) -> str:
        """The sizes, and what is not as by default."""
        parts = [
            f"{self.in_channels}",
            f"{self.out_channels}",
            f"kernel_size={self.kernel_size}",
            f"stride={self.stride}",
        ]
        n = len(self.kernel_size)
        if self.padding != (0,) * n:
            parts.append(f"padding={self.padding}")
        if self.dilation != (1,) * n:
            parts.append(f"dilation={self.dilation}")
        if self.output_padding != (0,) * n:
            parts.append(f"output_padding={self.output_padding}")
        if self.groups != 1:
            parts.append(f"groups={self.groups}")
        if self.bias is None:
            parts.append("bias=False")
        if self.padding_mode != "zeros":
            parts.append(f"padding_mode={self.padding_mode}")
        return ", ".join(parts)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self.__dict__.setdefault("padding_mode", "zeros")


def _check(
    in_channels: int,
    out_channels: int,
    groups: int,
    stride: tuple[int, ...],
    padding: str | tuple[int, ...],
    padding_mode: str,
) -> None:
    """Refuse what cannot be a convolution."""
    if groups <= 0:
        raise ValueError(f"groups must be at least 1, got {groups}")
    if in_channels % groups != 0:
        raise ValueError(f"in_channels = {in_channels} must be divisible by groups = {groups}")
    if out_channels % groups != 0:
        raise ValueError(f"out_channels = {out_channels} must be divisible by groups = {groups}")
    if isinstance(padding, str):
        if padding not in ("same", "valid"):
            raise ValueError(f"padding must be 'same' or 'valid', or numbers, got {padding!r}")
        if padding == "same" and any(step != 1 for step in stride):
            raise ValueError(f"padding='same' needs stride 1, got {stride}")
    if padding_mode not in _PADDING_MODES:
        raise ValueError(f"padding_mode must be one of {_PADDING_MODES}, got {padding_mode!r}")


class _Conv(_ConvNd):
    """The arguments of Conv1d, Conv2d and Conv3d."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: _Numbers,
        stride: _Numbers = 1,
        padding: str | _Numbers = 0,
        dilation: _Numbers = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: flambeau.dtype | None = None,
    ) -> None:
        each = _ntuple(self._fb_dimensions)
        super().__init__(
            in_channels,
            out_channels,
            each(kernel_size),
            each(stride),
            padding if isinstance(padding, str) else each(padding),
            each(dilation),
            False,
            each(0),
            groups,
            bias,
            padding_mode,
            device,
            dtype,
        )

    def forward(self, input: Tensor) -> Tensor:
        return self._conv_forward(input, self.weight, self.bias)

    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        padding = self.padding
        if self.padding_mode != "zeros":
            edges = self._reversed_padding_repeated_twice
            input = functional.pad(input, edges, mode=self.padding_mode)
            padding = (0,) * self._fb_dimensions
        return self._fb_convolve(
            input, weight, bias, self.stride, padding, self.dilation, self.groups
        )


class Conv1d(_Conv):
    """Convolve a signal of several channels with learned kernels.

    out[n, k] = bias[k] + sum over channels c of (weight[k, c] ⋆ input[n, c])

    where ⋆ slides the kernel over the signal and sums the products (cross-correlation: the kernel
    is not flipped).

    Args:
        in_channels: Number of channels of the input.
        out_channels: Number of channels of the output, which is the number of kernels.
        kernel_size: Size of a kernel, one int or a tuple of 1.
        stride: Step between two windows. Default: 1.
        padding: Elements added at both ends of each dimension; `"valid"` adds none, `"same"` as
            many as keep the size (with stride 1). Default: 0.
        dilation: Distance between two elements of a kernel. Default: 1.
        groups: Number of groups that input and output channels are split into; each output group
            sees one input group only. `groups=in_channels` is a depthwise convolution. Default: 1.
        bias: Whether to add a learned number to each output channel. Default: True.
        padding_mode: What is added: `"zeros"` (the default), `"reflect"`, `"replicate"` or
            `"circular"`.
        device: Where the parameters live. Default: the current default device.
        dtype: Their element type. Default: the default floating-point type.

    Attributes:
        weight: Kernels, of shape (out_channels, in_channels / groups, *kernel_size).
        bias: Vector of shape (out_channels,), or None.

    Both start uniform on (-k, k) with k = 1 / sqrt(elements of a kernel).

    Shape:
        - Input: (N, C_in, L) or (C_in, L).
        - Output: (N, C_out, L_out) or (C_out, L_out),
          where along the length

          out = floor((in + 2 padding - dilation (kernel_size - 1) - 1) / stride) + 1

    Example:
        >>> layer = nn.Conv1d(4, 8, 5, stride=2)
        >>> layer(torch.randn(10, 4, 100)).shape
        torch.Size([10, 8, 48])

    See also:
        `nn.ConvTranspose1d`, `nn.LazyConv1d`, `nn.functional.conv1d`.
    """

    _fb_dimensions = 1
    _fb_convolve = staticmethod(functional.conv1d)


class Conv2d(_Conv):
    """Convolve an image of several channels with learned kernels.

    out[n, k] = bias[k] + sum over channels c of (weight[k, c] ⋆ input[n, c])

    where ⋆ slides the kernel over the image and sums the products (cross-correlation: the kernel
    is not flipped).

    Args:
        in_channels: Number of channels of the input.
        out_channels: Number of channels of the output, which is the number of kernels.
        kernel_size: Size of a kernel, one int or a tuple of 2.
        stride: Step between two windows. Default: 1.
        padding: Elements added at both ends of each dimension; `"valid"` adds none, `"same"` as
            many as keep the size (with stride 1). Default: 0.
        dilation: Distance between two elements of a kernel. Default: 1.
        groups: Number of groups that input and output channels are split into; each output group
            sees one input group only. `groups=in_channels` is a depthwise convolution. Default: 1.
        bias: Whether to add a learned number to each output channel. Default: True.
        padding_mode: What is added: `"zeros"` (the default), `"reflect"`, `"replicate"` or
            `"circular"`.
        device: Where the parameters live. Default: the current default device.
        dtype: Their element type. Default: the default floating-point type.

    Attributes:
        weight: Kernels, of shape (out_channels, in_channels / groups, *kernel_size).
        bias: Vector of shape (out_channels,), or None.

    Both start uniform on (-k, k) with k = 1 / sqrt(elements of a kernel).

    Shape:
        - Input: (N, C_in, H, W) or (C_in, H, W).
        - Output: (N, C_out, H_out, W_out) or (C_out, H_out, W_out),
          where along each of height and width

          out = floor((in + 2 padding - dilation (kernel_size - 1) - 1) / stride) + 1

    Example:
        >>> layer = nn.Conv2d(3, 16, kernel_size=3, padding=1)
        >>> layer(torch.randn(8, 3, 32, 32)).shape
        torch.Size([8, 16, 32, 32])
        >>> wide = nn.Conv2d(3, 16, (3, 5), stride=(2, 1), padding=(1, 2), dilation=(1, 1))
        >>> wide(torch.randn(8, 3, 32, 32)).shape
        torch.Size([8, 16, 16, 32])

    See also:
        `nn.ConvTranspose2d`, `nn.LazyConv2d`, `nn.functional.conv2d`.
    """

    _fb_dimensions = 2
    _fb_convolve = staticmethod(functional.conv2d)


class Conv3d(_Conv):
    """Convolve a volume of several channels with learned kernels.

    out[n, k] = bias[k] + sum over channels c of (weight[k, c] ⋆ input[n, c])

    where ⋆ slides the kernel over the volume and sums the products (cross-correlation: the kernel
    is not flipped).

    Args:
        in_channels: Number of channels of the input.
        out_channels: Number of channels of the output, which is the number of kernels.
        kernel_size: Size of a kernel, one int or a tuple of 3.
        stride: Step between two windows. Default: 1.
        padding: Elements added at both ends of each dimension; `"valid"` adds none, `"same"` as
            many as keep the size (with stride 1). Default: 0.
        dilation: Distance between two elements of a kernel. Default: 1.
        groups: Number of groups that input and output channels are split into; each output group
            sees one input group only. `groups=in_channels` is a depthwise convolution. Default: 1.
        bias: Whether to add a learned number to each output channel. Default: True.
        padding_mode: What is added: `"zeros"` (the default), `"reflect"`, `"replicate"` or
            `"circular"`.
        device: Where the parameters live. Default: the current default device.
        dtype: Their element type. Default: the default floating-point type.

    Attributes:
        weight: Kernels, of shape (out_channels, in_channels / groups, *kernel_size).
        bias: Vector of shape (out_channels,), or None.

    Both start uniform on (-k, k) with k = 1 / sqrt(elements of a kernel).

    Shape:
        - Input: (N, C_in, D, H, W) or (C_in, D, H, W).
        - Output: (N, C_out, D_out, H_out, W_out) or (C_out, D_out, H_out, W_out),
          where along each of depth, height and width

          out = floor((in + 2 padding - dilation (kernel_size - 1) - 1) / stride) + 1

    Example:
        >>> layer = nn.Conv3d(4, 8, 3, stride=2, padding=1)
        >>> layer(torch.randn(2, 4, 8, 16, 16)).shape
        torch.Size([2, 8, 4, 8, 8])

    See also:
        `nn.ConvTranspose3d`, `nn.LazyConv3d`, `nn.functional.conv3d`.
    """

    _fb_dimensions = 3
    _fb_convolve = staticmethod(functional.conv3d)


class _ConvTransposeNd(_ConvNd):
    """The arguments of ConvTranspose1d, ConvTranspose2d and ConvTranspose3d."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: _Numbers,
        stride: _Numbers = 1,
        padding: _Numbers = 0,
        output_padding: _Numbers = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: _Numbers = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: flambeau.dtype | None = None,
    ) -> None:
        if padding_mode != "zeros":
            raise ValueError(
                f"{type(self).__name__} knows the padding mode 'zeros' only, got {padding_mode!r}"
            )
        each = _ntuple(self._fb_dimensions)
        super().__init__(
            in_channels,
            out_channels,
            each(kernel_size),
            each(stride),
            each(padding),
            each(dilation),
            True,
            each(output_padding),
            groups,
            bias,
            padding_mode,
            device,
            dtype,
        )

    def forward(self, input: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        """The sum of the kernels scaled by each element; `output_size` chooses among the sizes."""
        output_padding = self.output_padding
        if output_size is not None:
            output_padding = self._output_padding(input, output_size)
        return self._fb_convolve(
            input,
            self.weight,
            self.bias,
            self.stride,
            self.padding,
            output_padding,
            self.groups,
            self.dilation,
        )

    def _output_padding(self, input: Tensor, output_size: Sequence[int]) -> tuple[int, ...]:
        """What is to be added at the ends for a result of this size."""
        n = self._fb_dimensions
        leading = input.dim() - n
        edges = self._reversed_padding_repeated_twice[::-2]
        if len(output_size) == input.dim():
            output_size = output_size[leading:]
        if len(output_size) != n:
            raise ValueError(
                f"{type(self).__name__}: output_size must have {n} or {n + leading} elements for "
                f"an input of {input.dim()} dimensions, got {tuple(output_size)}"
            )
        smallest = [
            (size - 1) * step - 2 * edge + apart * (kernel - 1) + 1
            for size, step, edge, apart, kernel in zip(
                input.shape[leading:],
                self.stride,
                edges,
                self.dilation,
                self.kernel_size,
                strict=True,
            )
        ]
        largest = [size + step - 1 for size, step in zip(smallest, self.stride, strict=True)]
        for size, low, high in zip(output_size, smallest, largest, strict=True):
            if not low <= size <= high:
                raise ValueError(
                    f"{type(self).__name__}: output_size {tuple(output_size)} must lie between "
                    f"{tuple(smallest)} and {tuple(largest)} for an input of {tuple(input.shape)}"
                )
        return tuple(size - low for size, low in zip(output_size, smallest, strict=True))


class ConvTranspose1d(_ConvTransposeNd):
    """Transposed convolution of a signal: the gradient of `nn.Conv1d` as a layer.

    Each element of the input adds its multiple of a kernel to the output, `stride` elements apart,
    so that the output is larger than the input.

    Args:
        in_channels: Number of channels of the input.
        out_channels: Number of channels of the output.
        kernel_size: Size of a kernel, one int or a tuple of 1.
        stride: Step between two kernels in the output. Default: 1.
        padding: Elements cut from both ends of each dimension of the output. Default: 0.
        output_padding: Elements added to one end of each dimension of the output. Default: 0.
        groups: Number of groups that input and output channels are split into. Default: 1.
        bias: Whether to add a learned number to each output channel. Default: True.
        dilation: Distance between two elements of a kernel. Default: 1.
        padding_mode: Only `"zeros"`.
        device: Where the parameters live. Default: the current default device.
        dtype: Their element type. Default: the default floating-point type.

    Attributes:
        weight: Kernels, of shape (in_channels, out_channels / groups, *kernel_size).
        bias: Vector of shape (out_channels,), or None.

    Shape:
        - Input: (N, C_in, L) or (C_in, L).
        - Output: (N, C_out, L_out) or (C_out, L_out),
          where along the length

          out = (in - 1) stride - 2 padding + dilation (kernel_size - 1) + output_padding + 1

    Several output sizes belong to one input size when stride > 1. A call may choose one of them:
    `layer(x, output_size=...)`.

    Example:
        >>> up = nn.ConvTranspose1d(4, 2, kernel_size=2, stride=2)
        >>> up(torch.randn(1, 4, 5)).shape
        torch.Size([1, 2, 10])

    See also:
        `nn.Conv1d`, `nn.Upsample`, `nn.functional.conv_transpose1d`.
    """

    _fb_dimensions = 1
    _fb_convolve = staticmethod(functional.conv_transpose1d)


class ConvTranspose2d(_ConvTransposeNd):
    """Transposed convolution of an image: the gradient of `nn.Conv2d` as a layer.

    Each element of the input adds its multiple of a kernel to the output, `stride` elements apart,
    so that the output is larger than the input.

    Args:
        in_channels: Number of channels of the input.
        out_channels: Number of channels of the output.
        kernel_size: Size of a kernel, one int or a tuple of 2.
        stride: Step between two kernels in the output. Default: 1.
        padding: Elements cut from both ends of each dimension of the output. Default: 0.
        output_padding: Elements added to one end of each dimension of the output. Default: 0.
        groups: Number of groups that input and output channels are split into. Default: 1.
        bias: Whether to add a learned number to each output channel. Default: True.
        dilation: Distance between two elements of a kernel. Default: 1.
        padding_mode: Only `"zeros"`.
        device: Where the parameters live. Default: the current default device.
        dtype: Their element type. Default: the default floating-point type.

    Attributes:
        weight: Kernels, of shape (in_channels, out_channels / groups, *kernel_size).
        bias: Vector of shape (out_channels,), or None.

    Shape:
        - Input: (N, C_in, H, W) or (C_in, H, W).
        - Output: (N, C_out, H_out, W_out) or (C_out, H_out, W_out),
          where along each of height and width

          out = (in - 1) stride - 2 padding + dilation (kernel_size - 1) + output_padding + 1

    Several output sizes belong to one input size when stride > 1. A call may choose one of them:
    `layer(x, output_size=...)`.

    Example:
        >>> up = nn.ConvTranspose2d(4, 2, kernel_size=2, stride=2)
        >>> up(torch.randn(1, 4, 5, 5)).shape
        torch.Size([1, 2, 10, 10])

    See also:
        `nn.Conv2d`, `nn.Upsample`, `nn.functional.conv_transpose2d`.
    """

    _fb_dimensions = 2
    _fb_convolve = staticmethod(functional.conv_transpose2d)


class ConvTranspose3d(_ConvTransposeNd):
    """Transposed convolution of a volume: the gradient of `nn.Conv3d` as a layer.

    Each element of the input adds its multiple of a kernel to the output, `stride` elements apart,
    so that the output is larger than the input.

    Args:
        in_channels: Number of channels of the input.
        out_channels: Number of channels of the output.
        kernel_size: Size of a kernel, one int or a tuple of 3.
        stride: Step between two kernels in the output. Default: 1.
        padding: Elements cut from both ends of each dimension of the output. Default: 0.
        output_padding: Elements added to one end of each dimension of the output. Default: 0.
        groups: Number of groups that input and output channels are split into. Default: 1.
        bias: Whether to add a learned number to each output channel. Default: True.
        dilation: Distance between two elements of a kernel. Default: 1.
        padding_mode: Only `"zeros"`.
        device: Where the parameters live. Default: the current default device.
        dtype: Their element type. Default: the default floating-point type.

    Attributes:
        weight: Kernels, of shape (in_channels, out_channels / groups, *kernel_size).
        bias: Vector of shape (out_channels,), or None.

    Shape:
        - Input: (N, C_in, D, H, W) or (C_in, D, H, W).
        - Output: (N, C_out, D_out, H_out, W_out) or (C_out, D_out, H_out, W_out),
          where along each of depth, height and width

          out = (in - 1) stride - 2 padding + dilation (kernel_size - 1) + output_padding + 1

    Several output sizes belong to one input size when stride > 1. A call may choose one of them:
    `layer(x, output_size=...)`.

    Example:
        >>> up = nn.ConvTranspose3d(4, 2, kernel_size=2, stride=2)
        >>> up(torch.randn(1, 4, 5, 5, 5)).shape
        torch.Size([1, 2, 10, 10, 10])

    See also:
        `nn.Conv3d`, `nn.Upsample`, `nn.functional.conv_transpose3d`.
    """

    _fb_dimensions = 3
    _fb_convolve = staticmethod(functional.conv_transpose3d)


class _LazyConvNd(LazyModuleMixin):
    """A convolution that takes `in_channels` from its first input."""

    weight: Tensor
    bias: Tensor | None

    def _fb_wait_for_input(self: Any, out_channels: int, bias: bool, **factory: Any) -> None:
        """Leave the parameters without sizes."""
        self.out_channels = out_channels
        self.weight = UninitializedParameter(**factory)
        if bias:
            self.bias = UninitializedParameter(**factory)

    def reset_parameters(self: Any) -> None:
        """Draw the parameters once their sizes are known."""
        if not self.has_uninitialized_params() and self.in_channels != 0:
            super().reset_parameters()  # type: ignore[misc]

    def initialize_parameters(self: Any, input: Tensor, *args: Any, **kwargs: Any) -> None:
        """Give the parameters the sizes that the input asks for."""
        if not self.has_uninitialized_params():
            return
        self.in_channels: Any = self._fb_channels_of(input)
        if self.in_channels % self.groups != 0:
            raise ValueError(
                f"in_channels = {self.in_channels} must be divisible by groups = {self.groups}"
            )
        with flambeau.no_grad():
            self.weight.materialize((*self._fb_weight_channels(), *self.kernel_size))
            if self.bias is not None:
                self.bias.materialize((self.out_channels,))
            self.reset_parameters()

    def _fb_channels_of(self: Any, input: Tensor) -> int:
        n = self._fb_dimensions
        if input.dim() not in (n + 1, n + 2):
            raise RuntimeError(
                f"{type(self).__name__}: expected input of {n + 1} dimensions, or {n + 2} with a "
                f"batch, got {tuple(input.shape)}"
            )
        return int(input.shape[-n - 1])


class _LazyConv(_LazyConvNd):
    """The arguments of the lazy convolutions."""

    def __init__(
        self,
        out_channels: int,
        kernel_size: _Numbers,
        stride: _Numbers = 1,
        padding: str | _Numbers = 0,
        dilation: _Numbers = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: flambeau.dtype | None = None,
    ) -> None:
        # Made without elements, then waiting for the size.
        super().__init__(
            0,
            0,
            kernel_size,
            stride,
            padding,
            dilation,
            groups,
            False,
            padding_mode,
            device,
            dtype,
        )
        self._fb_wait_for_input(out_channels, bias, device=device, dtype=dtype)


class _LazyConvTranspose(_LazyConvNd):
    """The arguments of the lazy transposed convolutions."""

    def __init__(
        self,
        out_channels: int,
        kernel_size: _Numbers,
        stride: _Numbers = 1,
        padding: _Numbers = 0,
        output_padding: _Numbers = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: _Numbers = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: flambeau.dtype | None = None,
    ) -> None:
        super().__init__(
            0,
            0,
            kernel_size,
            stride,
            padding,
            output_padding,
            groups,
            False,
            dilation,
            padding_mode,
            device,
            dtype,
        )
        self._fb_wait_for_input(out_channels, bias, device=device, dtype=dtype)


class LazyConv1d(_LazyConv, Conv1d):
    """`nn.Conv1d` that takes `in_channels` from its first input.

    After the first call it is an ordinary `nn.Conv1d`.

    Args:
        out_channels: Number of channels of the output.
        kernel_size: Size of a kernel, one int or a tuple of 1.
        stride and the following: As of `nn.Conv1d`.
        device: Where the parameters live. Default: the current default device.
        dtype: Their element type. Default: the default floating-point type.

    Example:
        >>> layer = nn.LazyConv1d(8, kernel_size=3)
        >>> _ = layer(torch.randn(1, 2, 8))
        >>> layer.in_channels
        2
    """

    cls_to_become: type[Any] = Conv1d


class LazyConv2d(_LazyConv, Conv2d):
    """`nn.Conv2d` that takes `in_channels` from its first input.

    After the first call it is an ordinary `nn.Conv2d`.

    Args:
        out_channels: Number of channels of the output.
        kernel_size: Size of a kernel, one int or a tuple of 2.
        stride and the following: As of `nn.Conv2d`.
        device: Where the parameters live. Default: the current default device.
        dtype: Their element type. Default: the default floating-point type.

    Example:
        >>> layer = nn.LazyConv2d(8, kernel_size=3)
        >>> _ = layer(torch.randn(1, 2, 8, 8))
        >>> layer.in_channels
        2
    """

    cls_to_become: type[Any] = Conv2d


class LazyConv3d(_LazyConv, Conv3d):
    """`nn.Conv3d` that takes `in_channels` from its first input.

    After the first call it is an ordinary `nn.Conv3d`.

    Args:
        out_channels: Number of channels of the output.
        kernel_size: Size of a kernel, one int or a tuple of 3.
        stride and the following: As of `nn.Conv3d`.
        device: Where the parameters live. Default: the current default device.
        dtype: Their element type. Default: the default floating-point type.

    Example:
        >>> layer = nn.LazyConv3d(8, kernel_size=3)
        >>> _ = layer(torch.randn(1, 2, 8, 8, 8))
        >>> layer.in_channels
        2
    """

    cls_to_become: type[Any] = Conv3d


class LazyConvTranspose1d(_LazyConvTranspose, ConvTranspose1d):
    """`nn.ConvTranspose1d` that takes `in_channels` from its first input.

    After the first call it is an ordinary `nn.ConvTranspose1d`.

    Args:
        out_channels: Number of channels of the output.
        kernel_size: Size of a kernel, one int or a tuple of 1.
        stride and the following: As of `nn.ConvTranspose1d`.
        device: Where the parameters live. Default: the current default device.
        dtype: Their element type. Default: the default floating-point type.

    Example:
        >>> layer = nn.LazyConvTranspose1d(8, kernel_size=3)
        >>> _ = layer(torch.randn(1, 2, 8))
        >>> layer.in_channels
        2
    """

    cls_to_become: type[Any] = ConvTranspose1d


class LazyConvTranspose2d(_LazyConvTranspose, ConvTranspose2d):
    """`nn.ConvTranspose2d` that takes `in_channels` from its first input.

    After the first call it is an ordinary `nn.ConvTranspose2d`.

    Args:
        out_channels: Number of channels of the output.
        kernel_size: Size of a kernel, one int or a tuple of 2.
        stride and the following: As of `nn.ConvTranspose2d`.
        device: Where the parameters live. Default: the current default device.
        dtype: Their element type. Default: the default floating-point type.

    Example:
        >>> layer = nn.LazyConvTranspose2d(8, kernel_size=3)
        >>> _ = layer(torch.randn(1, 2, 8, 8))
        >>> layer.in_channels
        2
    """

    cls_to_become: type[Any] = ConvTranspose2d


class LazyConvTranspose3d(_LazyConvTranspose, ConvTranspose3d):
    """`nn.ConvTranspose3d` that takes `in_channels` from its first input.

    After the first call it is an ordinary `nn.ConvTranspose3d`.

    Args:
        out_channels: Number of channels of the output.
        kernel_size: Size of a kernel, one int or a tuple of 3.
        stride and the following: As of `nn.ConvTranspose3d`.
        device: Where the parameters live. Default: the current default device.
        dtype: Their element type. Default: the default floating-point type.

    Example:
        >>> layer = nn.LazyConvTranspose3d(8, kernel_size=3)
        >>> _ = layer(torch.randn(1, 2, 8, 8, 8))
        >>> layer.in_channels
        2
    """

    cls_to_become: type[Any] = ConvTranspose3d
