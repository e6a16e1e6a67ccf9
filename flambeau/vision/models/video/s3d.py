"""S3D: separable 3D convolutions in Inception blocks (https://arxiv.org/abs/1712.04851)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import flambeau as fb
from flambeau import Tensor, nn
from flambeau.vision.models._api import builder
from flambeau.vision.models._weights import weights_of
from flambeau.vision.ops.misc import Conv3dNormActivation

__all__ = ["S3D", "S3D_Weights", "s3d"]

S3D_Weights: Any = weights_of("s3d", "video")
_Norm = Callable[..., nn.Module]


class TemporalSeparableConv(nn.Sequential):
    """Convolution over space, then over time."""

    def __init__(
        self,
        in_planes: int,
        out_planes: int,
        kernel_size: int,
        stride: int,
        padding: int,
        norm_layer: _Norm,
    ) -> None:
        layer = partial(Conv3dNormActivation, bias=False, norm_layer=norm_layer)
        window, around = kernel_size, padding
        super().__init__(
            layer(
                in_planes, out_planes, (1, window, window), (1, stride, stride), (0, around, around)
            ),
            layer(out_planes, out_planes, (window, 1, 1), (stride, 1, 1), (around, 0, 0)),
        )


class SepInceptionBlock3D(nn.Module):
    """Inception block: a 1 × 1 × 1, two separable and a max-pooling branch."""

    def __init__(
        self,
        in_planes: int,
        b0_out: int,
        b1_mid: int,
        b1_out: int,
        b2_mid: int,
        b2_out: int,
        b3_out: int,
        norm_layer: _Norm,
    ) -> None:
        super().__init__()

        def single(planes: int) -> nn.Module:
            return Conv3dNormActivation(in_planes, planes, kernel_size=1, norm_layer=norm_layer)

        def separable(before: int, after: int) -> nn.Module:
            return TemporalSeparableConv(before, after, 3, 1, 1, norm_layer)

        self.branch0: nn.Module = single(b0_out)
        self.branch1: nn.Sequential = nn.Sequential(single(b1_mid), separable(b1_mid, b1_out))
        self.branch2: nn.Sequential = nn.Sequential(single(b2_mid), separable(b2_mid, b2_out))
        self.branch3: nn.Sequential = nn.Sequential(
            nn.MaxPool3d(kernel_size=(3, 3, 3), stride=1, padding=1), single(b3_out)
        )

    def forward(self, x: Tensor) -> Tensor:
        ways = (self.branch0, self.branch1, self.branch2, self.branch3)
        return fb.cat([way(x) for way in ways], 1)


# Channels of the blocks, as in GoogLeNet; time and space shrink between the rows.
_Channels = tuple[int, int, int, int, int, int, int]
_ROWS: tuple[tuple[_Channels, ...], ...] = (
    (
        (192, 64, 96, 128, 16, 32, 32),
        (256, 128, 128, 192, 32, 96, 64),
    ),
    (
        (480, 192, 96, 208, 16, 48, 64),
        (512, 160, 112, 224, 24, 64, 64),
        (512, 128, 128, 256, 24, 64, 64),
        (512, 112, 144, 288, 32, 64, 64),
        (528, 256, 160, 320, 32, 128, 128),
    ),
    (
        (832, 256, 160, 320, 32, 128, 128),
        (832, 384, 192, 384, 48, 128, 128),
    ),
)


def _body(norm_layer: _Norm) -> list[nn.Module]:
    flat = (1, 3, 3), (1, 2, 2), (0, 1, 1)  # a kernel within each frame
    layers: list[nn.Module] = [
        TemporalSeparableConv(3, 64, 7, 2, 3, norm_layer),
        nn.MaxPool3d(*flat),
        Conv3dNormActivation(64, 64, kernel_size=1, norm_layer=norm_layer),
        TemporalSeparableConv(64, 192, 3, 1, 1, norm_layer),
        nn.MaxPool3d(*flat),
    ]
    sizes = ((3,) * 3, (2,) * 3, (1,) * 3), ((2,) * 3, (2,) * 3, (0,) * 3)
    pools = [nn.MaxPool3d(*each) for each in sizes]
    for number, row in enumerate(_ROWS):
        layers += [SepInceptionBlock3D(*channels, norm_layer) for channels in row]
        layers += pools[number : number + 1]
    return layers


class S3D(nn.Module):
    """Inception blocks over videos, and a convolution as the classifier."""

    def __init__(
        self,
        num_classes: int = 400,
        dropout: float = 0.2,
        norm_layer: _Norm | None = None,
    ) -> None:
        super().__init__()
        norm_layer = norm_layer or partial(nn.BatchNorm3d, eps=0.001, momentum=0.001)
        self.features: nn.Sequential = nn.Sequential(*_body(norm_layer))
        self.avgpool: nn.AvgPool3d = nn.AvgPool3d(kernel_size=(2, 7, 7), stride=1)
        self.classifier: nn.Sequential = nn.Sequential(
            nn.Dropout(p=dropout),
            nn.Conv3d(1024, num_classes, kernel_size=1, stride=1, bias=True),
        )

    def forward(self, x: Tensor) -> Tensor:
        scores: Tensor = self.classifier(self.avgpool(self.features(x)))
        return scores.mean(dim=(2, 3, 4))


@builder(S3D_Weights, legacy="KINETICS400_V1")
def s3d(**kwargs: Any) -> S3D:
    """Make an S3D."""
    return S3D(**kwargs)
