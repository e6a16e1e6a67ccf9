"""MNASNet (https://arxiv.org/abs/1807.11626)."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable
from typing import Any

from flambeau import Tensor, nn
from flambeau.vision.models._api import family
from flambeau.vision.models._init import constant, conv_fan_out, norm_unit, start
from flambeau.vision.models._weights import weights_of

__all__ = [
    "MNASNet",
    "MNASNet0_5_Weights",
    "MNASNet0_75_Weights",
    "MNASNet1_0_Weights",
    "MNASNet1_3_Weights",
    "mnasnet0_5",
    "mnasnet0_75",
    "mnasnet1_0",
    "mnasnet1_3",
]

MNASNet0_5_Weights: Any = weights_of("mnasnet0_5")
MNASNet0_75_Weights: Any = weights_of("mnasnet0_75")
MNASNet1_0_Weights: Any = weights_of("mnasnet1_0")
MNASNet1_3_Weights: Any = weights_of("mnasnet1_3")

_MOMENTUM = 1 - 0.9997  # the paper's 0.9997 in the other convention
_WIDTHS = (32, 16, 24, 40, 80, 96, 192, 320)
# Of each stage: kernel, stride, expansion, blocks.
_STAGES = ((3, 2, 3, 3), (5, 2, 3, 3), (5, 2, 6, 3), (3, 1, 6, 2), (5, 2, 6, 4), (3, 1, 6, 1))


class _InvertedResidual(nn.Module):
    """Inverted residual block."""

    def __init__(
        self,
        in_ch: int,
        out_ch: int,
        kernel_size: int,
        stride: int,
        expansion_factor: int,
        bn_momentum: float = 0.1,
    ) -> None:
        super().__init__()
        inner = in_ch * expansion_factor
        self.apply_residual = in_ch == out_ch and stride == 1
        self.layers = nn.Sequential(
            nn.Conv2d(in_ch, inner, 1, bias=False),
            nn.BatchNorm2d(inner, momentum=bn_momentum),
            nn.ReLU(inplace=True),
            nn.Conv2d(
                inner,
                inner,
                kernel_size,
                padding=kernel_size // 2,
                stride=stride,
                groups=inner,
                bias=False,
            ),
            nn.BatchNorm2d(inner, momentum=bn_momentum),
            nn.ReLU(inplace=True),
            nn.Conv2d(inner, out_ch, 1, bias=False),
            nn.BatchNorm2d(out_ch, momentum=bn_momentum),
        )

    def forward(self, input: Tensor) -> Tensor:
        changed: Tensor = self.layers(input)
        return changed + input if self.apply_residual else changed


def _stage(
    before: int, after: int, window: int, stride: int, factor: int, count: int
) -> nn.Sequential:
    first = _InvertedResidual(before, after, window, stride, factor, _MOMENTUM)
    others = [
        _InvertedResidual(after, after, window, 1, factor, _MOMENTUM) for _ in range(1, count)
    ]
    return nn.Sequential(first, *others)


def _widths(alpha: float) -> list[int]:
    """Round to multiples of eight, at most a tenth below the given numbers."""
    rounded = []
    for width in _WIDTHS:
        wanted = width * alpha
        near = max(8, int(wanted + 4) // 8 * 8)
        rounded.append(near if near >= 0.9 * wanted else near + 8)
    return rounded


def _stem(first: int, second: int) -> list[nn.Module]:
    """Return the first convolutions."""
    return [
        nn.Conv2d(3, first, 3, padding=1, stride=2, bias=False),
        nn.BatchNorm2d(first, momentum=_MOMENTUM),
        nn.ReLU(inplace=True),
        nn.Conv2d(first, first, 3, padding=1, stride=1, groups=first, bias=False),
        nn.BatchNorm2d(first, momentum=_MOMENTUM),
        nn.ReLU(inplace=True),
        nn.Conv2d(first, second, 1, padding=0, stride=1, bias=False),
        nn.BatchNorm2d(second, momentum=_MOMENTUM),
    ]


class MNASNet(nn.Module):
    """A stem, six stages of blocks and a linear layer; ``alpha`` scales all widths."""

    _version = 2

    def __init__(self, alpha: float, num_classes: int = 1000, dropout: float = 0.2) -> None:
        super().__init__()
        if alpha <= 0.0:
            raise ValueError(f"alpha should be greater than 0.0 instead of {alpha}")
        self.alpha = alpha
        self.num_classes = num_classes
        widths = _widths(alpha)
        layers = _stem(widths[0], widths[1])
        pairs = itertools.pairwise(widths[1:])
        layers += [_stage(*pair, *numbers) for pair, numbers in zip(pairs, _STAGES, strict=True)]
        layers += [
            nn.Conv2d(widths[-1], 1280, 1, padding=0, stride=1, bias=False),
            nn.BatchNorm2d(1280, momentum=_MOMENTUM),
            nn.ReLU(inplace=True),
        ]
        self.layers: nn.Sequential = nn.Sequential(*layers)
        self.classifier: nn.Sequential = nn.Sequential(
            nn.Dropout(p=dropout, inplace=True), nn.Linear(1280, num_classes)
        )
        start(self, conv_fan_out, norm_unit, _linear_uniform)

    def _load_from_state_dict(
        self,
        state_dict: dict[str, Any],
        prefix: str,
        local_metadata: dict[str, Any],
        *args: Any,
        **kwargs: Any,
    ) -> None:
        version = local_metadata.get("version", 2)
        if version not in (1, 2):
            raise ValueError(f"version should be set to 1 or 2 instead of {version}")
        if version == 1 and self.alpha != 1.0:
            self._fb_unscale_stem()
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *args, **kwargs)

    def _fb_unscale_stem(self) -> None:
        """Rebuild the stem of version 1, where ``alpha`` did not scale it."""
        first_stage = _stage(_WIDTHS[1], _widths(self.alpha)[2], *_STAGES[0])
        for i, layer in enumerate([*_stem(_WIDTHS[0], _WIDTHS[1]), first_stage]):
            self.layers[i] = layer
        self._version = 1
        warnings.warn(
            "A new version of MNASNet model has been implemented. Your checkpoint was saved using "
            "the previous version. This checkpoint will load and work as before, but you may want "
            "to upgrade by training a newer model or transfer learning from an updated ImageNet "
            "checkpoint.",
            UserWarning,
            stacklevel=6,
        )

    def forward(self, x: Tensor) -> Tensor:
        return self.classifier(self.layers(x).mean([2, 3]))  # type: ignore[no-any-return]


def _linear_uniform(module: nn.Module) -> None:
    if isinstance(module, nn.Linear):
        nn.init.kaiming_uniform_(module.weight, mode="fan_out", nonlinearity="sigmoid")
        constant(module.bias, 0.0)


_Model = Callable[..., MNASNet]
_model = family(MNASNet)

mnasnet0_5: _Model = _model(MNASNet0_5_Weights, "an MNASNet of half the width", 0.5)
mnasnet0_75: _Model = _model(MNASNet0_75_Weights, "an MNASNet of three quarters of the width", 0.75)
mnasnet1_0: _Model = _model(MNASNet1_0_Weights, "an MNASNet", 1.0)
mnasnet1_3: _Model = _model(MNASNet1_3_Weights, "an MNASNet a third wider", 1.3)
