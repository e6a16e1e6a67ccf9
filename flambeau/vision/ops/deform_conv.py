"""Deformable convolution (https://arxiv.org/abs/1811.11168)."""

from __future__ import annotations

import math
from collections.abc import Sequence

import flambeau as fb
from flambeau import Tensor, nn
from flambeau._C import _deform_conv2d
from flambeau.vision.ops._regions import pair_of

__all__ = ["DeformConv2d", "deform_conv2d"]

_Pair = int | Sequence[int]


def deform_conv2d(
    input: Tensor,
    offset: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: _Pair = (1, 1),
    padding: _Pair = (0, 0),
    dilation: _Pair = (1, 1),
    mask: Tensor | None = None,
) -> Tensor:
    """Convolve with a kernel whose elements are displaced by (y, x) for every output pixel.

    ``offset`` has 2 · groups · kernel height · kernel width planes of the output's size, ``mask``
    half as many, which scale the elements. The image is padded with zeros.
    """
    geometry = [list(pair_of(each)) for each in (stride, padding, dilation)]
    return _deform_conv2d(input, offset, mask, weight, bias, *geometry)


class DeformConv2d(nn.Module):
    """`deform_conv2d` with its own weights."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: _Pair,
        stride: _Pair = 1,
        padding: _Pair = 0,
        dilation: _Pair = 1,
        groups: int = 1,
        bias: bool = True,
    ) -> None:
        super().__init__()
        for name, channels in (("in_channels", in_channels), ("out_channels", out_channels)):
            if channels % groups != 0:
                raise ValueError(f"{name} must be divisible by groups")
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size: tuple[int, int] = pair_of(kernel_size)
        self.stride: tuple[int, int] = pair_of(stride)
        self.padding: tuple[int, int] = pair_of(padding)
        self.dilation: tuple[int, int] = pair_of(dilation)
        self.groups = groups
        self.weight: nn.Parameter = nn.Parameter(
            fb.empty(out_channels, in_channels // groups, *self.kernel_size)
        )
        self.bias: nn.Parameter | None
        self.register_parameter("bias", nn.Parameter(fb.empty(out_channels)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Initialise weight and bias like an ordinary convolution."""
        nn.init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            bound = 1 / math.sqrt(self.weight[0].numel())
            nn.init.uniform_(self.bias, -bound, bound)

    def forward(self, input: Tensor, offset: Tensor, mask: Tensor | None = None) -> Tensor:
        return deform_conv2d(
            input,
            offset,
            self.weight,
            self.bias,
            self.stride,
            self.padding,
            self.dilation,
            mask,
        )

    def __repr__(self) -> str:
        usual = {"padding": (0, 0), "dilation": (1, 1), "groups": 1}
        shown = [f"{name}={getattr(self, name)}" for name in ("kernel_size", "stride")]
        shown += [
            f"{name}={getattr(self, name)}"
            for name, value in usual.items()
            if getattr(self, name) != value
        ]
        if self.bias is None:
            shown.append("bias=False")
        sizes = f"{self.in_channels}, {self.out_channels}"
        return f"{type(self).__name__}({sizes}, {', '.join(shown)})"
