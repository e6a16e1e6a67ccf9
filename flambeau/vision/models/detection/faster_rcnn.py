"""Faster R-CNN (https://arxiv.org/abs/1506.01497)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from flambeau import Tensor, nn
from flambeau.vision.models._api import builder
from flambeau.vision.models._weights import weights_of
from flambeau.vision.models.detection._heads import draw_kaiming
from flambeau.vision.models.detection._parts import (
    check_backbone,
    check_kind,
    check_predictor,
)
from flambeau.vision.models.detection._published import COCO_CLASSES, resnet50_fpn, without_eps
from flambeau.vision.models.detection.anchor_utils import AnchorGenerator
from flambeau.vision.models.detection.backbone_utils import (
    _mobilenet_extractor,
    _validate_trainable_layers,
)
from flambeau.vision.models.detection.generalized_rcnn import GeneralizedRCNN
from flambeau.vision.models.detection.roi_heads import RoIHeads
from flambeau.vision.models.detection.rpn import RegionProposalNetwork, RPNHead
from flambeau.vision.models.detection.transform import GeneralizedRCNNTransform
from flambeau.vision.models.mobilenetv3 import MobileNet_V3_Large_Weights, mobilenet_v3_large
from flambeau.vision.models.resnet import ResNet50_Weights
from flambeau.vision.ops.misc import Conv2dNormActivation, FrozenBatchNorm2d
from flambeau.vision.ops.poolers import MultiScaleRoIAlign

__all__ = [
    "FasterRCNN",
    "FasterRCNN_MobileNet_V3_Large_320_FPN_Weights",
    "FasterRCNN_MobileNet_V3_Large_FPN_Weights",
    "FasterRCNN_ResNet50_FPN_V2_Weights",
    "FasterRCNN_ResNet50_FPN_Weights",
    "fasterrcnn_mobilenet_v3_large_320_fpn",
    "fasterrcnn_mobilenet_v3_large_fpn",
    "fasterrcnn_resnet50_fpn",
    "fasterrcnn_resnet50_fpn_v2",
]

FasterRCNN_ResNet50_FPN_Weights: Any = weights_of("fasterrcnn_resnet50_fpn", "detection")
FasterRCNN_ResNet50_FPN_V2_Weights: Any = weights_of("fasterrcnn_resnet50_fpn_v2", "detection")
FasterRCNN_MobileNet_V3_Large_FPN_Weights: Any = weights_of(
    "fasterrcnn_mobilenet_v3_large_fpn", "detection"
)
FasterRCNN_MobileNet_V3_Large_320_FPN_Weights: Any = weights_of(
    "fasterrcnn_mobilenet_v3_large_320_fpn", "detection"
)


def _default_anchorgen() -> AnchorGenerator:
    sizes = ((32,), (64,), (128,), (256,), (512,))
    return AnchorGenerator(sizes, ((0.5, 1.0, 2.0),) * len(sizes))


class FasterRCNN(GeneralizedRCNN):
    """Two-stage detector: boxes and classes of regions that a network proposes.

    ``backbone`` returns a feature map or a dictionary of them, all with its ``out_channels``. With
    your own ``box_predictor``, ``num_classes`` (background included) may be left out.
    """

    def __init__(
        self,
        backbone: nn.Module,
        num_classes: int | None = None,
        min_size: int | Sequence[int] = 800,
        max_size: int = 1333,
        image_mean: Sequence[float] | None = None,
        image_std: Sequence[float] | None = None,
        rpn_anchor_generator: AnchorGenerator | None = None,
        rpn_head: nn.Module | None = None,
        rpn_pre_nms_top_n_train: int = 2000,
        rpn_pre_nms_top_n_test: int = 1000,
        rpn_post_nms_top_n_train: int = 2000,
        rpn_post_nms_top_n_test: int = 1000,
        rpn_nms_thresh: float = 0.7,
        rpn_fg_iou_thresh: float = 0.7,
        rpn_bg_iou_thresh: float = 0.3,
        rpn_batch_size_per_image: int = 256,
        rpn_positive_fraction: float = 0.5,
        rpn_score_thresh: float = 0.0,
        box_roi_pool: nn.Module | None = None,
        box_head: nn.Module | None = None,
        box_predictor: nn.Module | None = None,
        box_score_thresh: float = 0.05,
        box_nms_thresh: float = 0.5,
        box_detections_per_img: int = 100,
        box_fg_iou_thresh: float = 0.5,
        box_bg_iou_thresh: float = 0.5,
        box_batch_size_per_image: int = 512,
        box_positive_fraction: float = 0.25,
        bbox_reg_weights: tuple[float, float, float, float] | None = None,
        **kwargs: Any,
    ) -> None:
        check_backbone(backbone)
        check_kind("rpn_anchor_generator", rpn_anchor_generator, AnchorGenerator)
        check_kind("box_roi_pool", box_roi_pool, MultiScaleRoIAlign)
        check_predictor("box_predictor", box_predictor, num_classes)
        channels: int = backbone.out_channels  # type: ignore[assignment]
        anchors = rpn_anchor_generator or _default_anchorgen()
        rpn = RegionProposalNetwork(
            anchors,
            rpn_head or RPNHead(channels, anchors.num_anchors_per_location()[0]),
            rpn_fg_iou_thresh,
            rpn_bg_iou_thresh,
            rpn_batch_size_per_image,
            rpn_positive_fraction,
            {"training": rpn_pre_nms_top_n_train, "testing": rpn_pre_nms_top_n_test},
            {"training": rpn_post_nms_top_n_train, "testing": rpn_post_nms_top_n_test},
            rpn_nms_thresh,
            score_thresh=rpn_score_thresh,
        )
        box_roi_pool = box_roi_pool or MultiScaleRoIAlign(["0", "1", "2", "3"], 7, 2)
        if box_head is None:
            side: int = box_roi_pool.output_size[0]  # type: ignore[assignment,index]
            box_head = TwoMLPHead(channels * side**2, 1024)
        if box_predictor is None:
            assert num_classes is not None
            box_predictor = FastRCNNPredictor(1024, num_classes)
        roi_heads = RoIHeads(
            box_roi_pool,
            box_head,
            box_predictor,
            box_fg_iou_thresh,
            box_bg_iou_thresh,
            box_batch_size_per_image,
            box_positive_fraction,
            bbox_reg_weights,
            box_score_thresh,
            box_nms_thresh,
            box_detections_per_img,
        )
        transform = GeneralizedRCNNTransform(
            min_size,
            max_size,
            image_mean,
            image_std,
            **kwargs,
        )
        super().__init__(backbone, rpn, roi_heads, transform)


class TwoMLPHead(nn.Module):
    """Two linear layers with ReLU."""

    def __init__(self, in_channels: int, representation_size: int) -> None:
        super().__init__()
        self.fc6: nn.Linear = nn.Linear(in_channels, representation_size)
        self.fc7: nn.Linear = nn.Linear(representation_size, representation_size)

    def forward(self, x: Tensor) -> Tensor:
        return self.fc7(self.fc6(x.flatten(start_dim=1)).relu()).relu()  # type: ignore[no-any-return]


class FastRCNNConvFCHead(nn.Sequential):
    """Convolutions, then linear layers, of given widths."""

    def __init__(
        self,
        input_size: tuple[int, int, int],
        conv_layers: Sequence[int],
        fc_layers: Sequence[int],
        norm_layer: Callable[..., nn.Module] | None = None,
    ) -> None:
        channels, height, width = input_size
        layers: list[nn.Module] = []
        for size in conv_layers:
            layers.append(Conv2dNormActivation(channels, size, norm_layer=norm_layer))
            channels = size
        layers.append(nn.Flatten())
        inputs = channels * height * width
        for size in fc_layers:
            layers += [nn.Linear(inputs, size), nn.ReLU(inplace=True)]
            inputs = size
        super().__init__(*layers)
        draw_kaiming(self)


class FastRCNNPredictor(nn.Module):
    """Predict the scores of all classes, and a box for each of them."""

    def __init__(self, in_channels: int, num_classes: int) -> None:
        super().__init__()
        self.cls_score: nn.Linear = nn.Linear(in_channels, num_classes)
        self.bbox_pred: nn.Linear = nn.Linear(in_channels, num_classes * 4)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        if x.ndim == 4 and x.shape[2:] != (1, 1):
            raise AssertionError(
                f"x has the wrong shape, expecting the last two dimensions to be [1,1] instead of "
                f"{list(x.shape[2:])}"
            )
        rows = x.flatten(start_dim=1)
        return self.cls_score(rows), self.bbox_pred(rows)


def v2_parts(channels: int) -> dict[str, Any]:
    """The heads of the second version: more layers, and batch normalisation."""
    anchors = _default_anchorgen()
    return {
        "rpn_anchor_generator": anchors,
        "rpn_head": RPNHead(channels, anchors.num_anchors_per_location()[0], conv_depth=2),
        "box_head": FastRCNNConvFCHead(
            (channels, 7, 7), [256, 256, 256, 256], [1024], norm_layer=nn.BatchNorm2d
        ),
    }


@builder(
    FasterRCNN_ResNet50_FPN_Weights,
    legacy="COCO_V1",
    backbone=ResNet50_Weights.IMAGENET1K_V1,
    pretrained={"_trained": True},
    adapt=without_eps,
)
def fasterrcnn_resnet50_fpn(
    *,
    num_classes: int | None = None,
    weights_backbone: Any = None,
    trainable_backbone_layers: int | None = None,
    _trained: bool = False,
    **kwargs: Any,
) -> FasterRCNN:
    """Make a Faster R-CNN with a ResNet-50 backbone and a feature pyramid."""
    backbone = resnet50_fpn(weights_backbone, _trained, trainable_backbone_layers)
    return FasterRCNN(backbone, COCO_CLASSES if num_classes is None else num_classes, **kwargs)


@builder(FasterRCNN_ResNet50_FPN_V2_Weights, legacy="COCO_V1", pretrained={"_trained": True})
def fasterrcnn_resnet50_fpn_v2(
    *,
    num_classes: int | None = None,
    weights_backbone: Any = None,
    trainable_backbone_layers: int | None = None,
    _trained: bool = False,
    **kwargs: Any,
) -> FasterRCNN:
    """Make version 2, with normalised and deeper heads (https://arxiv.org/abs/2111.11429)."""
    backbone = resnet50_fpn(
        weights_backbone,
        _trained,
        trainable_backbone_layers,
        frozen=False,
        norm_layer=nn.BatchNorm2d,
    )
    parts = v2_parts(backbone.out_channels)
    classes = COCO_CLASSES if num_classes is None else num_classes
    return FasterRCNN(backbone, classes, **parts, **kwargs)


def _mobilenet_fpn(
    weights_backbone: Any,
    trained: bool,
    trainable: int | None,
    num_classes: int | None,
    **kwargs: Any,
) -> FasterRCNN:
    trained = trained or weights_backbone is not None
    layers = _validate_trainable_layers(trained, trainable, 6, 3)
    norm = FrozenBatchNorm2d if trained else nn.BatchNorm2d
    network = mobilenet_v3_large(weights=weights_backbone, norm_layer=norm)
    backbone = _mobilenet_extractor(network, True, layers)
    sizes = ((32, 64, 128, 256, 512),) * 3
    return FasterRCNN(
        backbone,
        COCO_CLASSES if num_classes is None else num_classes,
        rpn_anchor_generator=AnchorGenerator(sizes, ((0.5, 1.0, 2.0),) * len(sizes)),
        **kwargs,
    )


@builder(
    FasterRCNN_MobileNet_V3_Large_320_FPN_Weights,
    legacy="COCO_V1",
    backbone=MobileNet_V3_Large_Weights.IMAGENET1K_V1,
    pretrained={"_trained": True},
)
def fasterrcnn_mobilenet_v3_large_320_fpn(
    *,
    num_classes: int | None = None,
    weights_backbone: Any = None,
    trainable_backbone_layers: int | None = None,
    _trained: bool = False,
    **kwargs: Any,
) -> FasterRCNN:
    """Make a Faster R-CNN with a MobileNet v3 backbone for images of 320 pixels, for phones."""
    small = {
        "min_size": 320,
        "max_size": 640,
        "rpn_pre_nms_top_n_test": 150,
        "rpn_post_nms_top_n_test": 150,
        "rpn_score_thresh": 0.05,
    }
    return _mobilenet_fpn(
        weights_backbone,
        _trained,
        trainable_backbone_layers,
        num_classes,
        **{**small, **kwargs},
    )


@builder(
    FasterRCNN_MobileNet_V3_Large_FPN_Weights,
    legacy="COCO_V1",
    backbone=MobileNet_V3_Large_Weights.IMAGENET1K_V1,
    pretrained={"_trained": True},
)
def fasterrcnn_mobilenet_v3_large_fpn(
    *,
    num_classes: int | None = None,
    weights_backbone: Any = None,
    trainable_backbone_layers: int | None = None,
    _trained: bool = False,
    **kwargs: Any,
) -> FasterRCNN:
    """Make a Faster R-CNN with a MobileNet v3 backbone and a feature pyramid."""
    return _mobilenet_fpn(
        weights_backbone,
        _trained,
        trainable_backbone_layers,
        num_classes,
        **{"rpn_score_thresh": 0.05, **kwargs},
    )
