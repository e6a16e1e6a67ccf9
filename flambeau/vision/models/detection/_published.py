"""What the detectors that weights are published for have in common."""

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

COCO_CLASSES = 91  # with the background, and numbers that COCO does not use


def resnet50_fpn(
    weights: Any,
    trained: bool,
    trainable: int | None,
    *,
    frozen: bool = True,
    extra: Callable[[], ExtraFPNBlock] | None = None,
    **kwargs: Any,
) -> BackboneWithFPN:
    """A ResNet of 50 layers with a pyramid; all of it learns unless it is ``trained`` already.

    Then its normalisations are ``frozen``, if they may be. ``extra`` makes further levels: once the
    network is there, which draws its weights first.
    """
    trained = trained or weights is not None
    layers = _validate_trainable_layers(trained, trainable, 5, 3)
    norm = FrozenBatchNorm2d if trained and frozen else nn.BatchNorm2d
    network = resnet50(weights=weights, norm_layer=norm)
    blocks = None if extra is None else extra()
    return _resnet_fpn_extractor(network, layers, extra_blocks=blocks, **kwargs)


def without_eps(model: nn.Module, weights: WeightsEnum) -> None:
    """The first weights were trained with normalisations that add nothing to the variance."""
    if weights.name == "COCO_V1":
        overwrite_eps(model, 0.0)


def ignore_size(kwargs: dict[str, Any], side: int) -> None:
    """Warn about an argument ``size``: the networks are for images of one size only."""
    if kwargs.pop("size", None) is not None:
        warnings.warn(
            f"size is ignored: this network is for images of {side} by {side} pixels, and scales "
            "others to that",
            stacklevel=4,
        )
