"""ConvNeXt (https://arxiv.org/abs/2201.03545)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import flambeau as fb
from flambeau import Tensor, nn
from flambeau.nn.functional import layer_norm
from flambeau.vision.models._api import family
from flambeau.vision.models._init import constant, start
from flambeau.vision.models._weights import weights_of
from flambeau.vision.ops.misc import Conv2dNormActivation, Permute
from flambeau.vision.ops.stochastic_depth import StochasticDepth

__all__ = [
    "ConvNeXt",
    "ConvNeXt_Base_Weights",
    "ConvNeXt_Large_Weights",
    "ConvNeXt_Small_Weights",
    "ConvNeXt_Tiny_Weights",
    "convnext_base",
    "convnext_large",
    "convnext_small",
    "convnext_tiny",
]

ConvNeXt_Tiny_Weights: Any = weights_of("convnext_tiny")
ConvNeXt_Small_Weights: Any = weights_of("convnext_small")
ConvNeXt_Base_Weights: Any = weights_of("convnext_base")
ConvNeXt_Large_Weights: Any = weights_of("convnext_large")
_Norm = Callable[..., nn.Module]


class LayerNorm2d(nn.LayerNorm):
    """Layer normalisation over the channels of every pixel."""

    def forward(self, x: Tensor) -> Tensor:
        pixels = x.permute(0, 2, 3, 1)
        normal = layer_norm(pixels, self.normalized_shape, self.weight, self.bias, self.eps)
        return normal.permute(0, 3, 1, 2)


class CNBlock(nn.Module):
    """Residual block: a depthwise convolution with a large kernel, then an MLP for every pixel."""

    def __init__(
        self,
        dim: int,
        layer_scale: float,
        stochastic_depth_prob: float,
        norm_layer: _Norm | None = None,
    ) -> None:
        super().__init__()
        norm_layer = norm_layer or partial(nn.LayerNorm, eps=1e-6)
        self.block: nn.Sequential = nn.Sequential(
            nn.Conv2d(dim, dim, kernel_size=7, padding=3, groups=dim, bias=True),
            Permute([0, 2, 3, 1]),
            norm_layer(dim),
            nn.Linear(dim, 4 * dim, bias=True),
            nn.GELU(),
            nn.Linear(4 * dim, dim, bias=True),
            Permute([0, 3, 1, 2]),
        )
        self.layer_scale: nn.Parameter = nn.Parameter(fb.ones(dim, 1, 1) * layer_scale)
        self.stochastic_depth: StochasticDepth = StochasticDepth(stochastic_depth_prob, "row")

    def forward(self, input: Tensor) -> Tensor:
        return self.stochastic_depth(self.layer_scale * self.block(input)) + input  # type: ignore[no-any-return]


class CNBlockConfig:
    """A stage: input channels, input channels of the next stage, number of blocks."""

    def __init__(self, input_channels: int, out_channels: int | None, num_layers: int) -> None:
        self.input_channels = input_channels
        self.out_channels = out_channels
        self.num_layers = num_layers


class ConvNeXt(nn.Module):
    """Four stages of blocks with downsampling between them."""

    def __init__(
        self,
        block_setting: Sequence[CNBlockConfig],
        stochastic_depth_prob: float = 0.0,
        layer_scale: float = 1e-6,
        num_classes: int = 1000,
        block: Callable[..., nn.Module] | None = None,
        norm_layer: _Norm | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__()
        if not block_setting:
            raise ValueError("The block_setting should not be empty")
        block = block or CNBlock
        norm_layer = norm_layer or partial(LayerNorm2d, eps=1e-6)
        first = block_setting[0].input_channels
        layers: list[nn.Module] = [
            Conv2dNormActivation(
                3,
                first,
                kernel_size=4,
                stride=4,
                padding=0,
                norm_layer=norm_layer,
                activation_layer=None,
                bias=True,
            )
        ]
        total, done = sum(stage.num_layers for stage in block_setting), 0
        for stage in block_setting:
            width = stage.input_channels
            blocks = [
                block(width, layer_scale, stochastic_depth_prob * (done + i) / (total - 1.0))
                for i in range(stage.num_layers)
            ]
            done += stage.num_layers
            layers.append(nn.Sequential(*blocks))
            if stage.out_channels is not None:
                smaller = nn.Conv2d(width, stage.out_channels, kernel_size=2, stride=2)
                layers.append(nn.Sequential(norm_layer(width), smaller))
        self.features: nn.Sequential = nn.Sequential(*layers)
        self.avgpool: nn.AdaptiveAvgPool2d = nn.AdaptiveAvgPool2d(1)
        last = block_setting[-1].out_channels or block_setting[-1].input_channels
        self.classifier: nn.Sequential = nn.Sequential(
            norm_layer(last), nn.Flatten(1), nn.Linear(last, num_classes)
        )
        start(self, _truncated)

    def _forward_impl(self, x: Tensor) -> Tensor:
        return self.classifier(self.avgpool(self.features(x)))  # type: ignore[no-any-return]

    def forward(self, x: Tensor) -> Tensor:
        return self._forward_impl(x)


def _truncated(module: nn.Module) -> None:
    if isinstance(module, (nn.Conv2d, nn.Linear)):
        nn.init.trunc_normal_(module.weight, std=0.02)
        constant(module.bias, 0.0)


def _convnext(width: int, third: int, probability: float, **kwargs: Any) -> ConvNeXt:
    """Each stage twice as wide as the one before, most blocks in the third."""
    widths = [width, 2 * width, 4 * width, 8 * width, None]
    stages = [
        CNBlockConfig(before, after, count)  # type: ignore[arg-type]
        for before, after, count in zip(widths, widths[1:], (3, 3, third, 3), strict=False)
    ]
    return ConvNeXt(stages, kwargs.pop("stochastic_depth_prob", probability), **kwargs)


_Model = Callable[..., ConvNeXt]
_model = family(_convnext)

convnext_tiny: _Model = _model(ConvNeXt_Tiny_Weights, "a tiny ConvNeXt", 96, 9, 0.1)
convnext_small: _Model = _model(ConvNeXt_Small_Weights, "a small ConvNeXt", 96, 27, 0.4)
convnext_base: _Model = _model(ConvNeXt_Base_Weights, "a base ConvNeXt", 128, 27, 0.5)
convnext_large: _Model = _model(ConvNeXt_Large_Weights, "a large ConvNeXt", 192, 27, 0.5)
