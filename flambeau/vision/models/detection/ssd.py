"""SSD (https://arxiv.org/abs/1512.02325)."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

import flambeau as fb
from flambeau import Tensor, nn
from flambeau.nn.functional import cross_entropy, normalize, smooth_l1_loss
from flambeau.vision.models._api import builder
from flambeau.vision.models._weights import weights_of
from flambeau.vision.models.detection import _utils as det_utils
from flambeau.vision.models.detection._published import COCO_CLASSES, ignore_size
from flambeau.vision.models.detection._single_stage import (
    Outputs,
    SingleStage,
    best_of,
    matches_of,
)
from flambeau.vision.models.detection._targets import Target
from flambeau.vision.models.detection.anchor_utils import DefaultBoxGenerator
from flambeau.vision.models.detection.backbone_utils import (
    _check_layers,
    _freeze_before,
    _validate_trainable_layers,
)
from flambeau.vision.models.detection.rpn import permute_and_flatten
from flambeau.vision.models.detection.transform import GeneralizedRCNNTransform
from flambeau.vision.models.vgg import VGG, VGG16_Weights, vgg16
from flambeau.vision.ops import boxes as box_ops

__all__ = ["SSD300_VGG16_Weights", "ssd300_vgg16"]

SSD300_VGG16_Weights: Any = weights_of("ssd300_vgg16", "detection")


def _xavier_init(conv: nn.Module) -> None:
    for layer in conv.modules():
        if isinstance(layer, nn.Conv2d):
            nn.init.xavier_uniform_(layer.weight)
            if layer.bias is not None:
                nn.init.constant_(layer.bias, 0.0)


class SSDScoringHead(nn.Module):
    """A layer for each feature map, whose outputs are rows of a fixed number of columns."""

    def __init__(self, module_list: nn.ModuleList, num_columns: int) -> None:
        super().__init__()
        self.module_list = module_list
        self.num_columns = num_columns

    def forward(self, x: Sequence[Tensor]) -> Tensor:
        rows = []
        for feature, layer in zip(x, self.module_list, strict=False):
            result = layer(feature)
            batch, channels, height, width = result.shape
            anchors = channels // self.num_columns
            rows.append(
                permute_and_flatten(result, batch, anchors, self.num_columns, height, width)
            )
        return fb.cat(rows, dim=1)


class _ConvolutionHead(SSDScoringHead):
    """Head with one convolution for each map."""

    def __init__(
        self, in_channels: Sequence[int], num_anchors: Sequence[int], columns: int
    ) -> None:
        layers = nn.ModuleList(
            nn.Conv2d(channels, columns * anchors, kernel_size=3, padding=1)
            for channels, anchors in zip(in_channels, num_anchors, strict=True)
        )
        _xavier_init(layers)
        super().__init__(layers, columns)


class SSDClassificationHead(_ConvolutionHead):
    """Predict the scores of classes."""

    def __init__(
        self, in_channels: Sequence[int], num_anchors: Sequence[int], num_classes: int
    ) -> None:
        super().__init__(in_channels, num_anchors, num_classes)


class SSDRegressionHead(_ConvolutionHead):
    """Predict boxes relative to anchors."""

    def __init__(self, in_channels: Sequence[int], num_anchors: Sequence[int]) -> None:
        super().__init__(in_channels, num_anchors, 4)


class SSDHead(nn.Module):
    """Heads for classes and boxes."""

    def __init__(
        self, in_channels: Sequence[int], num_anchors: Sequence[int], num_classes: int
    ) -> None:
        super().__init__()
        self.classification_head: nn.Module = SSDClassificationHead(
            in_channels, num_anchors, num_classes
        )
        self.regression_head: nn.Module = SSDRegressionHead(in_channels, num_anchors)

    def forward(self, x: Sequence[Tensor]) -> Outputs:
        return {
            "bbox_regression": self.regression_head(x),
            "cls_logits": self.classification_head(x),
        }


class SSD(SingleStage):
    """One-stage detector with default boxes on feature maps, for a fixed image size.

    For every object, the ``(1 - positive_fraction) / positive_fraction`` background boxes with the
    largest loss are used in training.
    """

    def __init__(
        self,
        backbone: nn.Module,
        anchor_generator: DefaultBoxGenerator,
        size: tuple[int, int],
        num_classes: int,
        image_mean: Sequence[float] | None = None,
        image_std: Sequence[float] | None = None,
        head: nn.Module | None = None,
        score_thresh: float = 0.01,
        nms_thresh: float = 0.45,
        detections_per_img: int = 200,
        iou_thresh: float = 0.5,
        topk_candidates: int = 400,
        positive_fraction: float = 0.25,
        **kwargs: Any,
    ) -> None:
        super().__init__()
        self.backbone = backbone
        self.anchor_generator = anchor_generator
        self.box_coder: det_utils.BoxCoder = det_utils.BoxCoder(weights=(10.0, 10.0, 5.0, 5.0))
        if head is None:
            head = self._fb_default_head(backbone, anchor_generator, size, num_classes)
        self.head = head
        self.proposal_matcher: det_utils.SSDMatcher = det_utils.SSDMatcher(iou_thresh)
        self.transform = GeneralizedRCNNTransform(
            min(size),
            max(size),
            image_mean,
            image_std,
            size_divisible=1,
            fixed_size=size,
            **kwargs,
        )
        self.score_thresh = score_thresh
        self.nms_thresh = nms_thresh
        self.detections_per_img = detections_per_img
        self.topk_candidates = topk_candidates
        self.neg_to_pos_ratio: float = (1.0 - positive_fraction) / positive_fraction

    @staticmethod
    def _fb_default_head(
        backbone: Any, generator: DefaultBoxGenerator, size: tuple[int, int], num_classes: int
    ) -> SSDHead:
        known = getattr(backbone, "out_channels", None)
        channels = det_utils.retrieve_out_channels(backbone, size) if known is None else known
        if len(channels) != len(generator.aspect_ratios):
            raise ValueError(
                f"The length of the output channels from the backbone ({len(channels)}) do not "
                "match the length of the anchor generator aspect ratios "
                f"({len(generator.aspect_ratios)})"
            )
        return SSDHead(channels, generator.num_anchors_per_location(), num_classes)

    def compute_loss(
        self,
        targets: Sequence[Target],
        head_outputs: Outputs,
        anchors: Sequence[Tensor],
        matched_idxs: Sequence[Tensor],
    ) -> dict[str, Tensor]:
        """Return the losses of matched boxes, and of classes."""
        logits = head_outputs["cls_logits"]
        classes = fb.zeros(logits.shape[:2], dtype=targets[0]["labels"].dtype, device=logits.device)
        box_losses, count = [], 0
        for i, (target, regression, own, matches) in enumerate(
            zip(targets, head_outputs["bbox_regression"], anchors, matched_idxs, strict=True)
        ):
            objects = fb.where(matches >= 0)[0]
            rows = matches[objects]
            wanted = self.box_coder.encode_single(target["boxes"][rows], own[objects])
            box_losses.append(smooth_l1_loss(regression[objects], wanted, reduction="sum"))
            classes[i, objects] = target["labels"][rows]
            count += len(objects)
        loss = cross_entropy(logits.flatten(0, 1), classes.flatten(), reduction="none")
        loss = loss.view(classes.shape)
        positive = classes > 0
        learned = loss[positive].sum() + loss[self._fb_hardest(loss, positive)].sum()
        return {
            "bbox_regression": fb.stack(box_losses).sum() / max(1, count),
            "classification": learned / max(1, count),
        }

    def _fb_hardest(self, loss: Tensor, positive: Tensor) -> Tensor:
        """Return the background boxes with the largest losses of each image."""
        wanted = self.neg_to_pos_ratio * positive.sum(1, keepdim=True)
        order = loss.detach().masked_fill(positive, -fb.inf).sort(1, descending=True)[1]
        return order.sort(1)[1] < wanted

    def _fb_losses(
        self, targets: Any, outputs: Outputs, anchors: list[Tensor], maps: list[Tensor]
    ) -> dict[str, Tensor]:
        matches = matches_of(self.proposal_matcher, targets, anchors)
        return self.compute_loss(targets, outputs, anchors, matches)

    def _fb_detections(
        self,
        outputs: Outputs,
        anchors: list[Tensor],
        maps: list[Tensor],
        image_shapes: list[tuple[int, int]],
    ) -> list[Target]:
        return self.postprocess_detections(outputs, anchors, image_shapes)

    def postprocess_detections(
        self,
        head_outputs: Outputs,
        image_anchors: Sequence[Tensor],
        image_shapes: Sequence[tuple[int, int]],
    ) -> list[Target]:
        """Return the detections of each image: the best boxes of every foreground class."""
        detections = []
        for regression, scores, anchors, shape in zip(
            head_outputs["bbox_regression"],
            head_outputs["cls_logits"].softmax(-1),
            image_anchors,
            image_shapes,
            strict=True,
        ):
            boxes = self.box_coder.decode_single(regression, anchors)
            boxes = box_ops.clip_boxes_to_image(boxes, shape)
            candidates = []
            for label in range(1, scores.shape[-1]):
                values, rows = best_of(scores[:, label], self.score_thresh, self.topk_candidates)
                candidates.append((boxes[rows], values, fb.full_like(rows, label)))
            parts = (fb.cat(each) for each in zip(*candidates, strict=True))
            detections.append(self._fb_separate(*parts))
        return detections


def _step(before: int, inner: int, after: int, **options: int) -> nn.Sequential:
    """A 1 × 1 convolution to few channels, and a strided one."""
    return nn.Sequential(
        nn.Conv2d(before, inner, kernel_size=1),
        nn.ReLU(inplace=True),
        nn.Conv2d(inner, after, **options),  # type: ignore[arg-type]
        nn.ReLU(inplace=True),
    )


class SSDFeatureExtractorVGG(nn.Module):
    """A VGG whose linear layers are convolutions, followed by smaller and smaller maps."""

    def __init__(self, backbone: Any, highres: bool) -> None:
        super().__init__()
        pools = [i for i, layer in enumerate(backbone) if isinstance(layer, nn.MaxPool2d)]
        third, fourth = pools[2:4]
        backbone[third].ceil_mode = True  # 75 pixels become 38, as published
        self.scale_weight: nn.Parameter = nn.Parameter(fb.ones(512) * 20)
        self.features: nn.Sequential = nn.Sequential(*backbone[:fourth])
        steps = [
            _step(1024, 256, 512, kernel_size=3, padding=1, stride=2),
            _step(512, 128, 256, kernel_size=3, padding=1, stride=2),
            _step(256, 128, 256, kernel_size=3),
            _step(256, 128, 256, kernel_size=3),
        ]
        if highres:
            steps.append(_step(256, 128, 256, kernel_size=4))
        extra = nn.ModuleList(steps)
        _xavier_init(extra)
        linear = nn.Sequential(
            nn.MaxPool2d(kernel_size=3, stride=1, padding=1),
            nn.Conv2d(512, 1024, kernel_size=3, padding=6, dilation=6),
            nn.ReLU(inplace=True),
            nn.Conv2d(1024, 1024, kernel_size=1),
            nn.ReLU(inplace=True),
        )
        _xavier_init(linear)
        extra.insert(0, nn.Sequential(*backbone[fourth:-1], linear))
        self.extra: nn.ModuleList = extra

    def forward(self, x: Tensor) -> OrderedDict[str, Tensor]:
        x = self.features(x)
        # These features are much larger than the later ones: a learned scale balances them.
        maps = [self.scale_weight.view(1, -1, 1, 1) * normalize(x)]
        for block in self.extra:
            x = block(x)
            maps.append(x)
        return OrderedDict((str(i), each) for i, each in enumerate(maps))


def _vgg_extractor(backbone: VGG, highres: bool, trainable_layers: int) -> SSDFeatureExtractorVGG:
    features: Any = backbone.features
    pools = [i for i, layer in enumerate(features) if isinstance(layer, nn.MaxPool2d)]
    starts = [0, *pools[:-1]]
    _check_layers(trainable_layers, len(starts))
    _freeze_before(features, starts, trainable_layers)
    return SSDFeatureExtractorVGG(features, highres)


@builder(
    SSD300_VGG16_Weights,
    legacy="COCO_V1",
    backbone=VGG16_Weights.IMAGENET1K_FEATURES,
    pretrained={"_trained": True},
)
def ssd300_vgg16(
    *,
    num_classes: int | None = None,
    weights_backbone: Any = None,
    trainable_backbone_layers: int | None = None,
    _trained: bool = False,
    **kwargs: Any,
) -> SSD:
    """Make an SSD with a VGG-16 backbone, for images of 300 × 300 pixels."""
    ignore_size(kwargs, 300)
    trained = _trained or weights_backbone is not None
    layers = _validate_trainable_layers(trained, trainable_backbone_layers, 5, 4)
    backbone = _vgg_extractor(vgg16(weights=weights_backbone), False, layers)
    boxes = DefaultBoxGenerator(
        [[2], [2, 3], [2, 3], [2, 3], [2], [2]],
        scales=[0.07, 0.15, 0.33, 0.51, 0.69, 0.87, 1.05],
        steps=[8, 16, 32, 64, 100, 300],
    )
    # The published network was trained on values up to 255.
    usual = {"image_mean": [0.48235, 0.45882, 0.40784], "image_std": [1.0 / 255.0] * 3}
    classes = COCO_CLASSES if num_classes is None else num_classes
    return SSD(backbone, boxes, (300, 300), classes, **{**usual, **kwargs})
