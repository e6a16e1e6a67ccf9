"""Common parts of detectors with published weights."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from flambeau import nn
from flambeau.vision.models._api import WeightsEnum
from flambeau.vision.models.detection._utils import overwrite_eps
from flambeau.vision.models.detection.backbone_utils import (
    BackboneWithFPN,
    _resnet_fpn_extractor,
    _validate_trainable_layers,
)
from flambeau.vision.models.resnet import resnet50
from flambeau.vision.ops.feature_pyramid_network import ExtraFPNBlock
from flambeau.vision.ops.misc import FrozenBatchNorm2d

__all__ = ["COCO_CLASSES", "ignore_size", "resnet50_fpn", "without_eps"]

COCO_CLASSES = 91  # with the background, and unused category numbers of COCO


def resnet50_fpn(
    weights: Any,
    trained: bool,
    trainable: int | None,
    *,
    frozen: bool = True,
    extra: Callable[[], ExtraFPNBlock] | None = None,
    **kwargs: Any,
) -> BackboneWithFPN:
    """Make a ResNet-50 with a feature pyramid, all of it trainable unless it is ``trained``.

    Then its normalisation is ``frozen``, if possible. ``extra`` makes further levels; it is called
    after the network has drawn its weights.
    """
    trained = trained or weights is not None
    layers = _validate_trainable_layers(trained, trainable, 5, 3)
    norm = FrozenBatchNorm2d if trained and frozen else nn.BatchNorm2d
    network = resnet50(weights=weights, norm_layer=norm)
    blocks = None if extra is None else extra()
    return _resnet_fpn_extractor(network, layers, extra_blocks=blocks, **kwargs)


def without_eps(model: nn.Module, weights: WeightsEnum) -> None:
    """Set eps to 0 in the normalisation layers: the first weights were trained that way."""
    if weights.name == "COCO_V1":
        overwrite_eps(model, 0.0)


def ignore_size(kwargs: dict[str, Any], side: int) -> None:
    """Warn about an argument ``size``: the networks have a fixed image size."""
    if kwargs.pop("size", None) is not None:
        warnings.warn(
            f"size is ignored: this network is for images of {side} by {side} pixels, and scales "
            "others to that",
            stacklevel=4,
        )
