"""Layers that several networks share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import flambeau as fb
from flambeau import Tensor, nn
from flambeau.nn.functional import interpolate as interpolate

__all__ = [
    "MLP",
    "Conv2dNormActivation",
    "Conv3dNormActivation",
    "FrozenBatchNorm2d",
    "Permute",
    "SqueezeExcitation",
]

_Layer = Callable[..., nn.Module]
_Sizes = int | Sequence[int]


class FrozenBatchNorm2d(nn.Module):
    """Batch normalisation with fixed statistics and affine parameters."""

    def __init__(self, num_features: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.eps = eps
        self.weight: Tensor
        self.bias: Tensor
        self.running_mean: Tensor
        self.running_var: Tensor
        self.register_buffer("weight", fb.ones(num_features))
        self.register_buffer("bias", fb.zeros(num_features))
        self.register_buffer("running_mean", fb.zeros(num_features))
        self.register_buffer("running_var", fb.ones(num_features))

    def _load_from_state_dict(
        self, state_dict: dict[str, Any], prefix: str, *args: Any, **kwargs: Any
    ) -> None:
        # Weights of an ordinary batch normalisation have a batch counter.
        state_dict.pop(f"{prefix}num_batches_tracked", None)
        super()._load_from_state_dict(state_dict, prefix, *args, **kwargs)

    def forward(self, x: Tensor) -> Tensor:
        scale = self.weight * (self.running_var + self.eps).rsqrt()
        shift = self.bias - self.running_mean * scale
        return x * scale.view(1, -1, 1, 1) + shift.view(1, -1, 1, 1)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.weight.shape[0]}, eps={self.eps})"


class _ConvNormActivation(nn.Sequential):
    """A convolution, with optional normalisation and activation."""

    _fb_conv: type[nn.Module]
    _fb_rank: int

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: _Sizes = 3,
        stride: _Sizes = 1,
        padding: _Sizes | str | None = None,
        groups: int = 1,
        norm_layer: _Layer | None = None,
        activation_layer: _Layer | None = nn.ReLU,
        dilation: _Sizes = 1,
        inplace: bool | None = True,
        bias: bool | None = None,
    ) -> None:
        if padding is None:
            padding = self._fb_same(kernel_size, dilation)
        layers = [
            self._fb_conv(
                in_channels,
                out_channels,
                kernel_size,
                stride,
                padding,
                dilation=dilation,
                groups=groups,
                bias=norm_layer is None if bias is None else bias,
            )
        ]
        if norm_layer is not None:
            layers.append(norm_layer(out_channels))
        if activation_layer is not None:
            options = {} if inplace is None else {"inplace": inplace}
            layers.append(activation_layer(**options))
        super().__init__(*layers)
        self.out_channels = out_channels

    @classmethod
    def _fb_same(cls, kernel_size: _Sizes, dilation: _Sizes) -> _Sizes:
        """The padding that keeps the size of an image at a stride of 1."""
        if isinstance(kernel_size, int) and isinstance(dilation, int):
            return (kernel_size - 1) // 2 * dilation
        sizes, steps = (
            [each] * cls._fb_rank if isinstance(each, int) else each
            for each in (kernel_size, dilation)
        )
        return tuple((size - 1) // 2 * step for size, step in zip(sizes, steps, strict=True))


class Conv2dNormActivation(_ConvNormActivation):
    """2D convolution, by default with batch normalisation and ReLU."""

    _fb_conv = nn.Conv2d
    _fb_rank = 2

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: _Sizes = 3,
        stride: _Sizes = 1,
        padding: _Sizes | str | None = None,
        groups: int = 1,
        norm_layer: _Layer | None = nn.BatchNorm2d,
        activation_layer: _Layer | None = nn.ReLU,
        dilation: _Sizes = 1,
        inplace: bool | None = True,
        bias: bool | None = None,
    ) -> None:
        super().__init__(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            groups,
            norm_layer,
            activation_layer,
            dilation,
            inplace,
            bias,
        )


class Conv3dNormActivation(_ConvNormActivation):
    """3D convolution, by default with batch normalisation and ReLU."""

    _fb_conv = nn.Conv3d
    _fb_rank = 3

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: _Sizes = 3,
        stride: _Sizes = 1,
        padding: _Sizes | str | None = None,
        groups: int = 1,
        norm_layer: _Layer | None = nn.BatchNorm3d,
        activation_layer: _Layer | None = nn.ReLU,
        dilation: _Sizes = 1,
        inplace: bool | None = True,
        bias: bool | None = None,
    ) -> None:
        super().__init__(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            groups,
            norm_layer,
            activation_layer,
            dilation,
            inplace,
            bias,
        )


class SqueezeExcitation(nn.Module):
    """Squeeze-and-excitation: channels weighted by global features (arXiv:1709.01507)."""

    def __init__(
        self,
        input_channels: int,
        squeeze_channels: int,
        activation: _Layer = nn.ReLU,
        scale_activation: _Layer = nn.Sigmoid,
    ) -> None:
        super().__init__()
        self.avgpool: nn.AdaptiveAvgPool2d = nn.AdaptiveAvgPool2d(1)
        self.fc1: nn.Conv2d = nn.Conv2d(input_channels, squeeze_channels, 1)
        self.fc2: nn.Conv2d = nn.Conv2d(squeeze_channels, input_channels, 1)
        self.activation: nn.Module = activation()
        self.scale_activation: nn.Module = scale_activation()

    def forward(self, input: Tensor) -> Tensor:
        scale = self.activation(self.fc1(self.avgpool(input)))
        return self.scale_activation(self.fc2(scale)) * input  # type: ignore[no-any-return]


class MLP(nn.Sequential):
    """Multilayer perceptron with optional normalisation, activation and dropout."""

    def __init__(
        self,
        in_channels: int,
        hidden_channels: Sequence[int],
        norm_layer: _Layer | None = None,
        activation_layer: _Layer | None = nn.ReLU,
        inplace: bool | None = None,
        bias: bool = True,
        dropout: float = 0.0,
    ) -> None:
        options = {} if inplace is None else {"inplace": inplace}
        layers: list[nn.Module] = []
        for width in hidden_channels[:-1]:
            layers.append(nn.Linear(in_channels, width, bias=bias))
            if norm_layer is not None:
                layers.append(norm_layer(width))
            if activation_layer is not None:
                layers.append(activation_layer(**options))
            layers.append(nn.Dropout(dropout, **options))
            in_channels = width
        layers.append(nn.Linear(in_channels, hidden_channels[-1], bias=bias))
        layers.append(nn.Dropout(dropout, **options))
        super().__init__(*layers)


class Permute(nn.Module):
    """Permute the dimensions of a tensor."""

    def __init__(self, dims: Sequence[int]) -> None:
        super().__init__()
        self.dims: list[int] = list(dims)

    def forward(self, x: Tensor) -> Tensor:
        return x.permute(self.dims)
