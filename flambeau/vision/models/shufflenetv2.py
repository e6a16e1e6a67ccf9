"""ShuffleNet v2 (https://arxiv.org/abs/1807.11164)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import flambeau as fb
from flambeau import Tensor, nn
from flambeau.nn.functional import channel_shuffle
from flambeau.vision.models._api import family
from flambeau.vision.models._weights import weights_of

__all__ = [
    "ShuffleNetV2",
    "ShuffleNet_V2_X0_5_Weights",
    "ShuffleNet_V2_X1_0_Weights",
    "ShuffleNet_V2_X1_5_Weights",
    "ShuffleNet_V2_X2_0_Weights",
    "shufflenet_v2_x0_5",
    "shufflenet_v2_x1_0",
    "shufflenet_v2_x1_5",
    "shufflenet_v2_x2_0",
]

ShuffleNet_V2_X0_5_Weights: Any = weights_of("shufflenet_v2_x0_5")
ShuffleNet_V2_X1_0_Weights: Any = weights_of("shufflenet_v2_x1_0")
ShuffleNet_V2_X1_5_Weights: Any = weights_of("shufflenet_v2_x1_5")
ShuffleNet_V2_X2_0_Weights: Any = weights_of("shufflenet_v2_x2_0")


def _pixels(channels: int, wanted: int) -> list[nn.Module]:
    return [
        nn.Conv2d(channels, wanted, kernel_size=1, stride=1, padding=0, bias=False),
        nn.BatchNorm2d(wanted),
        nn.ReLU(inplace=True),
    ]


def _windows(channels: int, stride: int) -> list[nn.Module]:
    return [
        nn.Conv2d(channels, channels, 3, stride, 1, bias=False, groups=channels),
        nn.BatchNorm2d(channels),
    ]


class InvertedResidual(nn.Module):
    """Block that transforms half of the channels, passes the other on, and shuffles both."""

    def __init__(self, inp: int, oup: int, stride: int) -> None:
        super().__init__()
        if not 1 <= stride <= 3:
            raise ValueError(f"illegal stride value {stride}")
        self.stride = stride
        half = oup // 2
        if stride == 1 and inp != half << 1:
            raise ValueError(
                f"Invalid combination of stride {stride}, inp {inp} and oup {oup}: inp should be "
                "oup // 2 << 1 for a stride of 1"
            )
        self.branch1: nn.Sequential = nn.Sequential()
        if stride > 1:
            self.branch1 = nn.Sequential(*_windows(inp, stride), *_pixels(inp, half))
        self.branch2: nn.Sequential = nn.Sequential(
            *_pixels(inp if stride > 1 else half, half),
            *_windows(half, stride),
            *_pixels(half, half),
        )

    def forward(self, x: Tensor) -> Tensor:
        if self.stride == 1:
            kept, changed = x.chunk(2, dim=1)
            both = fb.cat((kept, self.branch2(changed)), dim=1)
        else:
            both = fb.cat((self.branch1(x), self.branch2(x)), dim=1)
        return channel_shuffle(both, 2)


class ShuffleNetV2(nn.Module):
    """Three stages of blocks between two convolutions."""

    stage2: nn.Sequential
    stage3: nn.Sequential
    stage4: nn.Sequential

    def __init__(
        self,
        stages_repeats: Sequence[int],
        stages_out_channels: Sequence[int],
        num_classes: int = 1000,
        inverted_residual: Callable[..., nn.Module] = InvertedResidual,
    ) -> None:
        super().__init__()
        if len(stages_repeats) != 3:
            raise ValueError("expected stages_repeats as list of 3 positive ints")
        if len(stages_out_channels) != 5:
            raise ValueError("expected stages_out_channels as list of 5 positive ints")
        first, *widths, last = stages_out_channels
        self.conv1: nn.Sequential = nn.Sequential(
            nn.Conv2d(3, first, 3, 2, 1, bias=False),
            nn.BatchNorm2d(first),
            nn.ReLU(inplace=True),
        )
        self.maxpool: nn.MaxPool2d = nn.MaxPool2d(kernel_size=3, stride=2, padding=1)
        stages, channels = [], first
        for count, width in zip(stages_repeats, widths, strict=True):
            blocks = [inverted_residual(channels, width, 2)]
            blocks += [inverted_residual(width, width, 1) for _ in range(count - 1)]
            stages.append(nn.Sequential(*blocks))
            channels = width
        self.stage2, self.stage3, self.stage4 = stages
        self.conv5: nn.Sequential = nn.Sequential(*_pixels(channels, last))
        self.fc: nn.Linear = nn.Linear(last, num_classes)

    def _forward_impl(self, x: Tensor) -> Tensor:
        x = self.maxpool(self.conv1(x))
        x = self.conv5(self.stage4(self.stage3(self.stage2(x))))
        return self.fc(x.mean([2, 3]))  # type: ignore[no-any-return]

    def forward(self, x: Tensor) -> Tensor:
        return self._forward_impl(x)


_Model = Callable[..., ShuffleNetV2]
_model = family(ShuffleNetV2)

shufflenet_v2_x0_5: _Model = _model(
    ShuffleNet_V2_X0_5_Weights,
    "a ShuffleNet v2 of half the width",
    [4, 8, 4],
    [24, 48, 96, 192, 1024],
)
shufflenet_v2_x1_0: _Model = _model(
    ShuffleNet_V2_X1_0_Weights, "a ShuffleNet v2", [4, 8, 4], [24, 116, 232, 464, 1024]
)
shufflenet_v2_x1_5: _Model = _model(
    ShuffleNet_V2_X1_5_Weights,
    "a ShuffleNet v2 half as wide again",
    [4, 8, 4],
    [24, 176, 352, 704, 1024],
)
shufflenet_v2_x2_0: _Model = _model(
    ShuffleNet_V2_X2_0_Weights,
    "a ShuffleNet v2 of twice the width",
    [4, 8, 4],
    [24, 244, 488, 976, 2048],
)
