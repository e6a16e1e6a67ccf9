"""Image networks as backbones of detectors."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

from flambeau import Tensor, nn
from flambeau.vision.models import mobilenet, resnet
from flambeau.vision.models._utils import IntermediateLayerGetter
from flambeau.vision.ops.feature_pyramid_network import (
    ExtraFPNBlock,
    FeaturePyramidNetwork,
    LastLevelMaxPool,
)
from flambeau.vision.ops.misc import FrozenBatchNorm2d

__all__ = ["BackboneWithFPN", "mobilenet_backbone", "resnet_fpn_backbone"]

_Norm = Callable[..., nn.Module]
_RESNET_PARTS = ["layer4", "layer3", "layer2", "layer1", "conv1"]


class BackboneWithFPN(nn.Module):
    """Some layers of a network, with a feature pyramid on top.

    ``return_layers`` maps the names of layers to the names of feature maps, ``in_channels_list``
    gives their channels; all maps of the pyramid have ``out_channels``.
    """

    def __init__(
        self,
        backbone: nn.Module,
        return_layers: dict[str, str],
        in_channels_list: Sequence[int],
        out_channels: int,
        extra_blocks: ExtraFPNBlock | None = None,
        norm_layer: _Norm | None = None,
    ) -> None:
        super().__init__()
        self.body: IntermediateLayerGetter = IntermediateLayerGetter(backbone, return_layers)
        self.fpn: FeaturePyramidNetwork = FeaturePyramidNetwork(
            in_channels_list,
            out_channels,
            LastLevelMaxPool() if extra_blocks is None else extra_blocks,
            norm_layer,
        )
        self.out_channels = out_channels

    def forward(self, x: Tensor) -> dict[str, Tensor]:
        return self.fpn(self.body(x))  # type: ignore[no-any-return]


def resnet_fpn_backbone(
    *,
    backbone_name: str,
    weights: Any,
    norm_layer: _Norm = FrozenBatchNorm2d,
    trainable_layers: int = 3,
    returned_layers: Sequence[int] | None = None,
    extra_blocks: ExtraFPNBlock | None = None,
) -> BackboneWithFPN:
    """Make a named ResNet with a feature pyramid; only its last ``trainable_layers`` are trained.

    ``returned_layers`` are the stages, 1 to 4, that the pyramid uses.
    """
    network = getattr(resnet, backbone_name)(weights=weights, norm_layer=norm_layer)
    return _resnet_fpn_extractor(network, trainable_layers, returned_layers, extra_blocks)


def _resnet_fpn_extractor(
    backbone: resnet.ResNet,
    trainable_layers: int,
    returned_layers: Sequence[int] | None = None,
    extra_blocks: ExtraFPNBlock | None = None,
    norm_layer: _Norm | None = None,
) -> BackboneWithFPN:
    _check_layers(trainable_layers, 5)
    trained = _RESNET_PARTS[:trainable_layers]
    if trainable_layers == 5:
        trained.append("bn1")
    for name, parameter in backbone.named_parameters():
        if not name.startswith(tuple(trained)):
            parameter.requires_grad_(False)
    stages = [1, 2, 3, 4] if returned_layers is None else list(returned_layers)
    if min(stages) <= 0 or max(stages) >= 5:
        raise ValueError(f"returned_layers must be from 1 to 4, got {stages}")
    first = backbone.inplanes // 8
    return BackboneWithFPN(
        backbone,
        {f"layer{stage}": str(i) for i, stage in enumerate(stages)},
        [first * 2 ** (stage - 1) for stage in stages],
        256,
        extra_blocks,
        norm_layer,
    )


def mobilenet_backbone(
    *,
    backbone_name: str,
    weights: Any,
    fpn: bool,
    norm_layer: _Norm = FrozenBatchNorm2d,
    trainable_layers: int = 2,
    returned_layers: Sequence[int] | None = None,
    extra_blocks: ExtraFPNBlock | None = None,
) -> nn.Module:
    """Make a named MobileNet, with a feature pyramid or one feature map of 256 channels."""
    network = getattr(mobilenet, backbone_name)(weights=weights, norm_layer=norm_layer)
    return _mobilenet_extractor(network, fpn, trainable_layers, returned_layers, extra_blocks)


def _mobilenet_extractor(
    backbone: Any,
    fpn: bool,
    trainable_layers: int,
    returned_layers: Sequence[int] | None = None,
    extra_blocks: ExtraFPNBlock | None = None,
    norm_layer: _Norm | None = None,
) -> nn.Module:
    features = backbone.features
    starts = _stage_starts(features)
    _check_layers(trainable_layers, len(starts))
    _freeze_before(features, starts, trainable_layers)
    if not fpn:
        layer = nn.Conv2d(features[-1].out_channels, 256, 1)
        network = nn.Sequential(features, layer)
        network.out_channels = 256
        return network
    stages = [len(starts) - 2, len(starts) - 1] if returned_layers is None else returned_layers
    if min(stages) < 0 or max(stages) >= len(starts):
        raise ValueError(f"returned_layers must be from 0 to {len(starts) - 1}, got {stages}")
    return BackboneWithFPN(
        features,
        {str(starts[stage]): str(i) for i, stage in enumerate(stages)},
        [features[starts[stage]].out_channels for stage in stages],
        256,
        extra_blocks,
        norm_layer,
    )


def _stage_starts(features: nn.Sequential) -> list[int]:
    """Return the indices of a MobileNet's strided blocks, and of its first and last layer."""
    strided = [i for i, block in enumerate(features) if getattr(block, "_is_cn", False)]
    return [0, *strided, len(features) - 1]


def _freeze_before(features: nn.Sequential, starts: Sequence[int], trainable_layers: int) -> None:
    """Freeze all but the last stages."""
    first = len(features) if trainable_layers == 0 else starts[len(starts) - trainable_layers]
    for block in features[:first]:
        for parameter in block.parameters():
            parameter.requires_grad_(False)


def _check_layers(trainable_layers: int, most: int) -> None:
    if not 0 <= trainable_layers <= most:
        raise ValueError(f"trainable_layers must be from 0 to {most}, got {trainable_layers}")


def _validate_trainable_layers(
    is_trained: bool, trainable_backbone_layers: int | None, max_value: int, default_value: int
) -> int:
    """Return the number of trainable layers: all, if the network has no pretrained weights."""
    layers = trainable_backbone_layers
    if not is_trained:
        if layers is not None:
            warnings.warn(
                "trainable_backbone_layers is ignored without weights: a network of random numbers "
                f"learns in all of its {max_value} layers",
                stacklevel=2,
            )
        layers = max_value
    if layers is None:
        layers = default_value
    if not 0 <= layers <= max_value:
        raise ValueError(f"trainable_backbone_layers must be from 0 to {max_value}, got {layers}")
    return layers
