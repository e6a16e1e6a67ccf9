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
        """The products of the kernels with every window of the input."""
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
    """Products of kernels with windows of (batch, channels, length), summed over the channels."""

    _fb_dimensions = 1
    _fb_convolve = staticmethod(functional.conv1d)


class Conv2d(_Conv):
    """Products of kernels with windows of (batch, channels, height, width)."""

    _fb_dimensions = 2
    _fb_convolve = staticmethod(functional.conv2d)


class Conv3d(_Conv):
    """Products of kernels with windows of (batch, channels, depth, height, width)."""

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
    """The transpose of Conv1d: each element adds a scaled kernel to a longer result."""

    _fb_dimensions = 1
    _fb_convolve = staticmethod(functional.conv_transpose1d)


class ConvTranspose2d(_ConvTransposeNd):
    """The transpose of Conv2d: each pixel adds a scaled kernel to a larger image."""

    _fb_dimensions = 2
    _fb_convolve = staticmethod(functional.conv_transpose2d)


class ConvTranspose3d(_ConvTransposeNd):
    """The transpose of Conv3d: each element adds a scaled kernel to a larger volume."""

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
    """A Conv1d that takes `in_channels` from its first input, and then becomes one."""

    cls_to_become: type[Any] = Conv1d


class LazyConv2d(_LazyConv, Conv2d):
    """A Conv2d that takes `in_channels` from its first input, and then becomes one."""

    cls_to_become: type[Any] = Conv2d


class LazyConv3d(_LazyConv, Conv3d):
    """A Conv3d that takes `in_channels` from its first input, and then becomes one."""

    cls_to_become: type[Any] = Conv3d


class LazyConvTranspose1d(_LazyConvTranspose, ConvTranspose1d):
    """A ConvTranspose1d that takes `in_channels` from its first input, and then becomes one."""

    cls_to_become: type[Any] = ConvTranspose1d


class LazyConvTranspose2d(_LazyConvTranspose, ConvTranspose2d):
    """A ConvTranspose2d that takes `in_channels` from its first input, and then becomes one."""

    cls_to_become: type[Any] = ConvTranspose2d


class LazyConvTranspose3d(_LazyConvTranspose, ConvTranspose3d):
    """A ConvTranspose3d that takes `in_channels` from its first input, and then becomes one."""

    cls_to_become: type[Any] = ConvTranspose3d
