"""Detectors: what they return, that they learn, other heads and weights, refusals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import flambeau as fb
from flambeau import nn
from flambeau.vision import models, ops
from flambeau.vision.models import detection
from flambeau.vision.models.detection.anchor_utils import AnchorGenerator
from flambeau.vision.models.detection.faster_rcnn import FasterRCNN, FastRCNNPredictor, TwoMLPHead
from flambeau.vision.models.detection.keypoint_rcnn import KeypointRCNN, KeypointRCNNHeads
from flambeau.vision.models.detection.mask_rcnn import MaskRCNNPredictor
from flambeau.vision.models.detection.ssd import SSD
from flambeau.vision.models.detection.transform import GeneralizedRCNNTransform


def _small(**options: Any) -> FasterRCNN:
    """A detector of two classes for images of 64 pixels."""
    backbone = nn.Sequential(
        nn.Conv2d(3, 16, 3, 2, 1), nn.ReLU(), nn.Conv2d(16, 32, 3, 2, 1), nn.ReLU()
    )
    backbone.out_channels = 32
    pool = ops.MultiScaleRoIAlign(["0"], 5, 2)
    return FasterRCNN(
        backbone,
        min_size=64,
        max_size=64,
        rpn_anchor_generator=AnchorGenerator(((16, 32),), ((0.5, 1.0, 2.0),)),
        rpn_post_nms_top_n_test=50,
        box_roi_pool=pool,
        box_head=TwoMLPHead(32 * 25, 64),
        box_predictor=FastRCNNPredictor(64, 2),
        **options,
    )


def _image_with_a_square(left: int, top: int) -> tuple[fb.Tensor, dict[str, fb.Tensor]]:
    image = fb.zeros(3, 64, 64)
    image[:, top : top + 24, left : left + 24] = 1.0
    box = fb.tensor([[left, top, left + 24, top + 24]], dtype=fb.float32)
    return image, {"boxes": box, "labels": fb.ones(1, dtype=fb.int64)}


def test_a_detector_learns_to_find_squares() -> None:
    fb.manual_seed(0)
    model = _small(rpn_post_nms_top_n_train=100, box_batch_size_per_image=64)
    optimizer = fb.optim.Adam(model.parameters(), lr=3e-3)
    places = [(4, 8), (30, 20), (12, 36), (36, 4)]
    for _ in range(40):
        images, targets = zip(*(_image_with_a_square(*place) for place in places), strict=True)
        losses = model(list(images), list(targets))
        optimizer.zero_grad()
        sum(losses.values()).backward()
        optimizer.step()
    model.eval()
    image, target = _image_with_a_square(20, 28)
    with fb.no_grad():
        (found,) = model([image])
    assert found["labels"][0] == 1
    assert found["scores"][0] > 0.5
    assert ops.box_iou(found["boxes"][:1], target["boxes"]).item() > 0.5


@pytest.mark.parametrize(
    "name",
    [
        "fasterrcnn_mobilenet_v3_large_320_fpn",
        "retinanet_resnet50_fpn_v2",
        "fcos_resnet50_fpn",
        "ssdlite320_mobilenet_v3_large",
    ],
)
def test_losses_and_detections(name: str) -> None:
    """One image has objects, the other none."""
    size: dict[str, Any] = {} if name.startswith("ssd") else {"min_size": 64, "max_size": 96}
    model = models.get_model(name, weights_backbone=None, num_classes=2, **size)
    images = [fb.rand(3, 60, 80), fb.rand(3, 70, 50)]
    boxes = fb.tensor([[5.0, 5, 50, 40], [20, 10, 60, 55]])
    targets = [
        {"boxes": boxes, "labels": fb.ones(2, dtype=fb.int64)},
        {"boxes": fb.zeros(0, 4), "labels": fb.zeros(0, dtype=fb.int64)},
    ]
    losses = model(images, targets)
    total = sum(losses.values())
    assert total.isfinite()
    total.backward()
    assert any(parameter.grad is not None for parameter in model.parameters())
    assert targets[0]["boxes"] is boxes
    model.eval()
    with fb.no_grad():
        results = model(images)
    for image, found in zip(images, results, strict=True):
        assert {"boxes", "labels", "scores"} <= set(found)
        assert len(found["boxes"]) == len(found["labels"]) == len(found["scores"])
        height, width = image.shape[-2:]
        assert (found["boxes"] >= 0).all()
        assert (found["boxes"] <= fb.tensor([width, height] * 2) + 1e-3).all()
        assert (found["scores"].diff() <= 0).all()


def test_other_heads_on_a_known_detector() -> None:
    """What programs do that teach a detector classes of their own."""
    model = detection.maskrcnn_resnet50_fpn(weights_backbone=None, min_size=64, max_size=64)
    features = model.roi_heads.box_predictor.cls_score.in_features
    model.roi_heads.box_predictor = FastRCNNPredictor(features, 2)
    channels = model.roi_heads.mask_predictor.conv5_mask.in_channels
    model.roi_heads.mask_predictor = MaskRCNNPredictor(channels, 256, 2)
    image, target = _image_with_a_square(8, 16)
    target["masks"] = (image[:1] > 0).to(fb.uint8)
    trained = [p for p in model.parameters() if p.requires_grad]
    # Nothing is trained here yet, and no warm-up: a usual rate would blow the network up.
    optimizer = fb.optim.SGD(trained, lr=1e-6, momentum=0.9, weight_decay=0.0005)
    losses = model([image], [target])
    assert set(losses) == {
        "loss_classifier",
        "loss_box_reg",
        "loss_mask",
        "loss_objectness",
        "loss_rpn_box_reg",
    }
    sum(losses.values()).backward()
    optimizer.step()
    model.eval()
    model.roi_heads.score_thresh = 0.0
    model.roi_heads.detections_per_img = 3
    with fb.no_grad():
        (found,) = model([image])
    assert found["masks"].shape == (3, 1, 64, 64)
    assert (found["masks"] <= 1).all()


def test_points_of_objects() -> None:
    body = _small()
    model = KeypointRCNN(
        body.backbone,
        2,
        64,
        64,
        rpn_anchor_generator=body.rpn.anchor_generator,
        box_roi_pool=body.roi_heads.box_roi_pool,
        keypoint_roi_pool=ops.MultiScaleRoIAlign(["0"], 7, 2),
        keypoint_head=KeypointRCNNHeads(32, (16, 512)),
        num_keypoints=3,
        box_score_thresh=0.0,
        box_detections_per_img=2,
    )
    image, target = _image_with_a_square(8, 16)
    target["keypoints"] = fb.tensor([[[10.0, 18, 1], [30, 38, 1], [60, 60, 0]]])
    losses = model([image], [target])
    losses["loss_keypoint"].backward()
    assert model.roi_heads.keypoint_predictor.kps_score_lowres.weight.grad.abs().sum() > 0
    nothing = {"boxes": fb.zeros(0, 4), "labels": fb.zeros(0, dtype=fb.int64)}
    assert model([image], [{**nothing, "keypoints": fb.zeros(0, 3, 3)}])["loss_keypoint"] == 0
    with fb.no_grad():
        (found,) = model.eval()([image])
    assert found["keypoints"].shape == (2, 3, 3)
    assert found["keypoints_scores"].shape == (2, 3)


def test_only_the_last_layers_of_a_trained_backbone_learn() -> None:
    from flambeau.vision.models.detection.backbone_utils import resnet_fpn_backbone

    backbone = resnet_fpn_backbone(backbone_name="resnet18", weights=None, trainable_layers=1)
    learned = {name for name, p in backbone.body.named_parameters() if p.requires_grad}
    assert {name.split(".")[0] for name in learned} == {"layer4"}
    maps = backbone(fb.rand(1, 3, 64, 64))
    assert {name: tuple(each.shape) for name, each in maps.items()} == {
        "0": (1, 256, 16, 16),
        "1": (1, 256, 8, 8),
        "2": (1, 256, 4, 4),
        "3": (1, 256, 2, 2),
        "pool": (1, 256, 1, 1),
    }
    with pytest.warns(UserWarning, match="trainable_backbone_layers is ignored without weights"):
        detection.fasterrcnn_mobilenet_v3_large_fpn(
            weights_backbone=None, trainable_backbone_layers=2
        )


def test_weights_from_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLAMBEAU_WEIGHTS", str(tmp_path))
    weights = detection.SSDLite320_MobileNet_V3_Large_Weights.DEFAULT
    assert len(weights.meta["categories"]) == 91
    made = detection.ssdlite320_mobilenet_v3_large(weights_backbone=None)
    fb.save(made.state_dict(), tmp_path / weights.url.rpartition("/")[2])
    loaded = detection.ssdlite320_mobilenet_v3_large(weights="DEFAULT")
    assert isinstance(loaded, SSD)
    for name, value in made.state_dict().items():
        assert (loaded.state_dict()[name] == value).all()
    with pytest.raises(ValueError, match="num_classes"):
        detection.ssdlite320_mobilenet_v3_large(weights="DEFAULT", num_classes=3)


def test_names_of_older_weights() -> None:
    from flambeau.vision.models.detection.mask_rcnn import MaskRCNNHeads
    from flambeau.vision.models.detection.retinanet import RetinaNetRegressionHead
    from flambeau.vision.models.detection.rpn import RPNHead

    for module, old, new in (
        (RPNHead(8, 3), "conv", "conv.0.0"),
        (MaskRCNNHeads(8, (8, 8), 1), "mask_fcn2", "1.0"),
        (RetinaNetRegressionHead(8, 3), "conv.4", "conv.2.0"),
    ):
        state = module.state_dict()
        for kind in ("weight", "bias"):
            state[f"{old}.{kind}"] = fb.ones_like(state.pop(f"{new}.{kind}"))
        for rest in (key for key in list(state) if key.endswith(".0.weight") and key != old):
            state.pop(rest)
        state._metadata = {}
        module.load_state_dict(state, strict=False)
        assert (module.get_submodule(new).weight == 1).all()


def test_masks_are_put_where_their_boxes_are() -> None:
    from flambeau.vision.models.detection.roi_heads import paste_masks_in_image

    masks = fb.ones(2, 1, 28, 28)
    boxes = fb.tensor([[2.0, 3, 12, 9], [-5, -5, 4, 40]])
    first, second = paste_masks_in_image(masks, boxes, (20, 30))[:, 0] > 0.5
    assert ops.masks_to_boxes(first[None])[0].tolist() == pytest.approx([2, 3, 11, 8], abs=1)
    assert ops.masks_to_boxes(second[None])[0].tolist() == pytest.approx([0, 0, 4, 19], abs=1)
    assert paste_masks_in_image(masks[:0], boxes[:0], (20, 30)).shape == (0, 1, 20, 30)


def test_points_are_found_where_the_maps_are_hottest() -> None:
    from flambeau.vision.models.detection.roi_heads import (
        heatmaps_to_keypoints,
        keypoints_to_heatmap,
    )

    regions = fb.tensor([[10.0, 20, 66, 76]])
    points = fb.tensor([[[17.0, 25, 1], [66, 76, 2], [40, 50, 0], [5, 30, 1]]])
    places, valid = keypoints_to_heatmap(points, regions, 56)
    assert valid.tolist() == [[1, 1, 0, 0]]
    assert places.tolist() == [[5 * 56 + 7, 56 * 56 - 1, 0, 0]]
    maps = fb.nn.functional.one_hot(places[:, :2], 56 * 56).view(1, 2, 56, 56).float()
    found, scores = heatmaps_to_keypoints(maps, regions)
    assert found[0, :, :2].tolist() == [[17.5, 25.5], [65.5, 75.5]]
    assert scores.min() > 0.9


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda m: m([fb.rand(3, 64, 64)]), AssertionError, "targets must not be None in training"),
        (
            lambda m: m([fb.rand(3, 64, 64)], [{"boxes": [[1.0, 2, 3, 4]]}]),
            AssertionError,
            r"targets\[0\]\['boxes'\] must be a Tensor",
        ),
        (
            lambda m: m([fb.rand(3, 64, 64)], [{"boxes": fb.ones(3, 5)}]),
            AssertionError,
            r"\(N, 4\), got \(3, 5\)",
        ),
        (
            lambda m: m([fb.rand(3, 64, 64)], [{"boxes": fb.tensor([[4.0, 4, 4, 9]])}]),
            AssertionError,
            "positive height and width",
        ),
        (lambda m: m.eval()(fb.rand(3, 64, 64)), ValueError, "list of 3d tensors"),
        (
            lambda m: m.eval()([fb.ones(3, 64, 64, dtype=fb.uint8)]),
            TypeError,
            "floating type",
        ),
        (
            lambda m: m(
                [fb.rand(3, 64, 64)],
                [{"boxes": fb.tensor([[4.0, 4, 9, 9]]), "labels": fb.ones(1)}],
            ),
            TypeError,
            "int64",
        ),
        (lambda m: FasterRCNN(nn.ReLU(), 2), ValueError, "out_channels"),
        (lambda m: FasterRCNN(m.backbone), ValueError, "num_classes must not be None"),
        (
            lambda m: FasterRCNN(m.backbone, 2, box_predictor=m.backbone),
            ValueError,
            "num_classes must be None",
        ),
        (
            lambda m: FasterRCNN(m.backbone, 2, rpn_anchor_generator=3),
            TypeError,
            "AnchorGenerator",
        ),
        (
            lambda m: AnchorGenerator().grid_anchors([(2, 2)] * 2, [(1, 1)] * 2),
            ValueError,
            "number of feature maps",
        ),
        (
            lambda m: GeneralizedRCNNTransform(64, 64)([fb.rand(64, 64)]),
            ValueError,
            "3d tensors",
        ),
    ],
)
def test_bad_input(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call(_small())
