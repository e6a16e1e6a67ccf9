"""Mask R-CNN (https://arxiv.org/abs/1703.06870)."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

from flambeau import nn
from flambeau.vision.models._api import builder
from flambeau.vision.models._weights import weights_of
from flambeau.vision.models.detection._heads import draw_kaiming, rename
from flambeau.vision.models.detection._parts import check_kind, check_predictor
from flambeau.vision.models.detection._published import COCO_CLASSES, resnet50_fpn, without_eps
from flambeau.vision.models.detection.faster_rcnn import FasterRCNN, v2_parts
from flambeau.vision.models.resnet import ResNet50_Weights
from flambeau.vision.ops.misc import Conv2dNormActivation
from flambeau.vision.ops.poolers import MultiScaleRoIAlign

__all__ = [
    "MaskRCNN",
    "MaskRCNN_ResNet50_FPN_V2_Weights",
    "MaskRCNN_ResNet50_FPN_Weights",
    "maskrcnn_resnet50_fpn",
    "maskrcnn_resnet50_fpn_v2",
]

MaskRCNN_ResNet50_FPN_Weights: Any = weights_of("maskrcnn_resnet50_fpn", "detection")
MaskRCNN_ResNet50_FPN_V2_Weights: Any = weights_of("maskrcnn_resnet50_fpn_v2", "detection")


class MaskRCNN(FasterRCNN):
    """Faster R-CNN that also finds the mask of every object.

    Targets also have ``masks`` (N, H, W); detections have (N, 1, H, W), values from 0 to 1.
    """

    def __init__(
        self,
        backbone: nn.Module,
        num_classes: int | None = None,
        *args: Any,
        mask_roi_pool: nn.Module | None = None,
        mask_head: nn.Module | None = None,
        mask_predictor: nn.Module | None = None,
        **kwargs: Any,
    ) -> None:
        check_kind("mask_roi_pool", mask_roi_pool, MultiScaleRoIAlign)
        check_predictor("mask_predictor", mask_predictor, num_classes)
        channels: Any = getattr(backbone, "out_channels", None)
        mask_roi_pool = mask_roi_pool or MultiScaleRoIAlign(["0", "1", "2", "3"], 14, 2)
        mask_head = mask_head or MaskRCNNHeads(channels, (256, 256, 256, 256), 1)
        if mask_predictor is None:
            assert num_classes is not None
            mask_predictor = MaskRCNNPredictor(256, 256, num_classes)
        super().__init__(backbone, num_classes, *args, **kwargs)
        self.roi_heads.mask_roi_pool = mask_roi_pool
        self.roi_heads.mask_head = mask_head
        self.roi_heads.mask_predictor = mask_predictor


class MaskRCNNHeads(nn.Sequential):
    """Convolutions of given widths."""

    _version = 2

    def __init__(
        self,
        in_channels: int,
        layers: Sequence[int],
        dilation: int,
        norm_layer: Callable[..., nn.Module] | None = None,
    ) -> None:
        blocks = []
        for width in layers:
            blocks.append(
                Conv2dNormActivation(
                    in_channels,
                    width,
                    kernel_size=3,
                    padding=dilation,
                    dilation=dilation,
                    norm_layer=norm_layer,
                )
            )
            in_channels = width
        super().__init__(*blocks)
        draw_kaiming(self)

    def _load_from_state_dict(
        self, state_dict: dict[str, Any], prefix: str, local_metadata: dict[str, Any], *args: Any
    ) -> None:
        if local_metadata.get("version", 1) < 2:  # from before layers were numbered
            rename(state_dict, prefix, {f"mask_fcn{i + 1}": f"{i}.0" for i in range(len(self))})
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *args)


class MaskRCNNPredictor(nn.Sequential):
    """Predict a mask, twice as large as the features, for every class."""

    def __init__(self, in_channels: int, dim_reduced: int, num_classes: int) -> None:
        super().__init__(
            OrderedDict(
                conv5_mask=nn.ConvTranspose2d(in_channels, dim_reduced, 2, 2, 0),
                relu=nn.ReLU(inplace=True),
                mask_fcn_logits=nn.Conv2d(dim_reduced, num_classes, 1, 1, 0),
            )
        )
        for name, parameter in self.named_parameters():
            if name.endswith("weight"):
                nn.init.kaiming_normal_(parameter, mode="fan_out", nonlinearity="relu")


@builder(
    MaskRCNN_ResNet50_FPN_Weights,
    legacy="COCO_V1",
    backbone=ResNet50_Weights.IMAGENET1K_V1,
    pretrained={"_trained": True},
    adapt=without_eps,
)
def maskrcnn_resnet50_fpn(
    *,
    num_classes: int | None = None,
    weights_backbone: Any = None,
    trainable_backbone_layers: int | None = None,
    _trained: bool = False,
    **kwargs: Any,
) -> MaskRCNN:
    """Make a Mask R-CNN with a ResNet-50 backbone and a feature pyramid."""
    backbone = resnet50_fpn(weights_backbone, _trained, trainable_backbone_layers)
    return MaskRCNN(backbone, COCO_CLASSES if num_classes is None else num_classes, **kwargs)


@builder(MaskRCNN_ResNet50_FPN_V2_Weights, legacy="COCO_V1", pretrained={"_trained": True})
def maskrcnn_resnet50_fpn_v2(
    *,
    num_classes: int | None = None,
    weights_backbone: Any = None,
    trainable_backbone_layers: int | None = None,
    _trained: bool = False,
    **kwargs: Any,
) -> MaskRCNN:
    """Make version 2, with normalised and deeper heads (https://arxiv.org/abs/2111.11429)."""
    backbone = resnet50_fpn(
        weights_backbone,
        _trained,
        trainable_backbone_layers,
        frozen=False,
        norm_layer=nn.BatchNorm2d,
    )
    parts = v2_parts(backbone.out_channels)
    parts["mask_head"] = MaskRCNNHeads(
        backbone.out_channels, [256, 256, 256, 256], 1, norm_layer=nn.BatchNorm2d
    )
    classes = COCO_CLASSES if num_classes is None else num_classes
    return MaskRCNN(backbone, classes, **parts, **kwargs)
