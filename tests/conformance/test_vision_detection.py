"""`vision.models.detection` against torchvision: names, weights of a seed, losses, detections."""

from __future__ import annotations

import importlib
import inspect
import warnings
from typing import Any

import numpy as np
import pytest
import torch

import flambeau
from flambeau.vision import models as ours
from flambeau.vision.ops import feature_pyramid_network as our_pyramids
from tests.conformance import vision_oracle

theirs = vision_oracle.load("models")
PARTS = (
    "_utils",
    "anchor_utils",
    "backbone_utils",
    "faster_rcnn",
    "fcos",
    "generalized_rcnn",
    "image_list",
    "keypoint_rcnn",
    "mask_rcnn",
    "retinanet",
    "roi_heads",
    "rpn",
    "ssd",
    "ssdlite",
    "transform",
)
SIZE = {"min_size": 64, "max_size": 96}
# Few regions, where each of them is looked into.
FEW = {
    **SIZE,
    "rpn_post_nms_top_n_train": 60,
    "rpn_post_nms_top_n_test": 20,
    "box_batch_size_per_image": 16,
    "box_detections_per_img": 4,
}


def _pyramid(d: Any, levels: Any) -> Any:
    return d("backbone_utils").resnet_fpn_backbone(
        backbone_name="resnet18", weights=None, returned_layers=[2, 3, 4], extra_blocks=levels
    )


# Each family of detectors, the larger ones on a smaller network than the published ones.
FAMILIES: dict[str, Any] = {
    "faster": lambda d, o: d("faster_rcnn").fasterrcnn_mobilenet_v3_large_320_fpn(
        weights_backbone=None, num_classes=3, **FEW
    ),
    "mask": lambda d, o: d("mask_rcnn").MaskRCNN(
        d("backbone_utils").resnet_fpn_backbone(backbone_name="resnet18", weights=None),
        3,
        **{**FEW, "min_size": 32, "max_size": 32},
    ),
    "keypoint": lambda d, o: d("keypoint_rcnn").KeypointRCNN(
        d("backbone_utils").resnet_fpn_backbone(backbone_name="resnet18", weights=None),
        3,
        keypoint_head=d("keypoint_rcnn").KeypointRCNNHeads(256, (64, 512)),
        num_keypoints=5,
        **FEW,
    ),
    "retinanet": lambda d, o: d("retinanet").RetinaNet(
        _pyramid(d, o.LastLevelP6P7(256, 256)), 3, score_thresh=0.009, **SIZE
    ),
    "fcos": lambda d, o: d("fcos").FCOS(
        _pyramid(d, o.LastLevelP6P7(512, 256)), 3, score_thresh=0.009, **SIZE
    ),
    "ssd": lambda d, o: d("ssdlite").ssdlite320_mobilenet_v3_large(
        weights_backbone=None, num_classes=3, score_thresh=0.3
    ),
}
IMAGES = [
    np.random.default_rng(i).random((3, *size)) for i, size in enumerate([(50, 66), (61, 44)])
]
POINTS = np.random.default_rng(4).random((5, 2))
BOXES = [np.array([[5.0, 8, 30, 40], [20, 10, 60, 45]]), np.array([[2.0, 4, 40, 55]])]


def _made(package: Any, name: str, **options: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return package.get_model(name, weights_backbone=None, **options)


def _of(package: Any, part: str) -> Any:
    name = f"models.detection.{part}"
    return (
        vision_oracle.load(name)
        if package is theirs
        else importlib.import_module(f"flambeau.vision.{name}")
    )


@pytest.mark.parametrize("part", PARTS)
def test_names(part: str) -> None:
    """Every public name is there, and every class has the methods and their parameters."""
    mine, other = _of(ours, part), _of(theirs, part)
    for name, value in vars(other).items():
        if name.startswith("_") or getattr(value, "__module__", "") != other.__name__:
            continue
        if name == "expand_masks_tracing_scale":  # for TorchScript alone
            continue
        assert hasattr(mine, name), name
        if inspect.isclass(value) and not name.endswith("_Weights"):
            for method, function in vars(value).items():
                if inspect.isfunction(function) and not method.startswith("_"):
                    if method.startswith("_onnx"):
                        continue
                    parameters = inspect.signature(getattr(getattr(mine, name), method)).parameters
                    assert list(parameters) == list(inspect.signature(function).parameters)
        elif inspect.isfunction(value):
            parameters = inspect.signature(getattr(mine, name)).parameters
            assert list(parameters) == list(inspect.signature(value).parameters), name


@pytest.mark.parametrize("name", theirs.list_models(module=theirs.detection))
def test_state_dicts(name: str) -> None:
    with flambeau.device("meta"):
        mine = _made(ours, name)
    with torch.device("meta"):
        other = _made(theirs, name)
    state, expected = mine.state_dict(), other.state_dict()
    assert list(state) == list(expected)
    assert [tuple(v.shape) for v in state.values()] == [tuple(v.shape) for v in expected.values()]
    assert repr(mine) == repr(other)


def _targets(t: Any, name: str) -> list[dict[str, Any]]:
    targets = []
    for image, boxes in zip(IMAGES, BOXES, strict=True):
        target = {"boxes": t.tensor(boxes), "labels": t.arange(1, len(boxes) + 1)}
        if name == "keypoint":
            inside = boxes[:, None, :2] + (boxes[:, None, 2:] - boxes[:, None, :2]) * POINTS
            points = np.concatenate((inside, np.ones((len(boxes), 5, 1))), 2)
            target["keypoints"] = t.tensor(points.astype(np.float32))
        if name == "mask":
            masks = np.zeros((len(boxes), *image.shape[1:]), np.uint8)
            for mask, (left, top, right, bottom) in zip(masks, boxes.astype(int), strict=True):
                mask[top:bottom, left:right] = 1
            target["masks"] = t.tensor(masks)
        targets.append(target)
    return targets


def _ordered(found: dict[str, Any]) -> dict[str, np.ndarray]:
    """By scores, and where those are equal but for rounding, by place."""
    arrays = {key: value.numpy() for key, value in found.items()}
    places = np.round(arrays["boxes"], 2)
    order = np.lexsort((*places.T, arrays["labels"], -np.round(arrays["scores"], 6)))
    return {key: value[order] for key, value in arrays.items()}


@pytest.mark.parametrize("name", FAMILIES)
def test_training_and_detection(name: str) -> None:
    """In double precision: an untrained network makes much of differences of rounding.

    Images are scaled and anchors made in single precision by one or both, hence the tolerances.
    """
    results: list[Any] = []
    networks = []
    for package, t in ((ours, flambeau), (theirs, torch)):
        t.manual_seed(3)
        extras = (
            our_pyramids if package is ours else vision_oracle.load("ops.feature_pyramid_network")
        )
        network = FAMILIES[name](lambda part, package=package: _of(package, part), extras)
        networks.append(network)
        network.double()
        if name == "ssd":  # else nearly all scores would be equal
            with t.no_grad():
                for parameter in network.head.parameters():
                    parameter.mul_(20)
        t.manual_seed(5)
        losses = network([t.tensor(image) for image in IMAGES], _targets(t, name))
        sum(losses.values()).backward()
        gradients = {k: p.grad.numpy() for k, p in network.named_parameters() if p.grad is not None}
        network.eval()
        with t.no_grad():
            found = network([t.tensor(image) for image in IMAGES])
        results.append(({k: v.item() for k, v in losses.items()}, gradients, found))
    state, expected = (network.state_dict() for network in networks)
    for key, value in expected.items():  # with the statistics of the batch
        np.testing.assert_allclose(state[key].numpy(), value.numpy(), rtol=1e-5, atol=1e-7)
    (losses, gradients, found), (their_losses, their_gradients, their_found) = results
    assert list(losses) == list(their_losses)
    np.testing.assert_allclose(list(losses.values()), list(their_losses.values()), rtol=1e-5)
    assert list(gradients) == list(their_gradients)
    for key, value in their_gradients.items():
        scale = max(np.abs(value).max(), 1e-6)
        np.testing.assert_allclose(gradients[key] / scale, value / scale, atol=1e-4, err_msg=key)
    for detections, other in zip(found, their_found, strict=True):
        assert list(detections) == list(other)
        assert len(other["boxes"]) > 0
        mine = _ordered(detections)
        for key, value in _ordered(other).items():
            assert mine[key].dtype == value.dtype
            np.testing.assert_allclose(mine[key], value, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    "call",
    [
        lambda d, t: (
            d("transform")
            .GeneralizedRCNNTransform(800, 1333, [0.0] * 3, [1.0] * 3)
            .eval()([t.zeros(3, *size) for size in [(480, 640), (333, 500), (100, 801)]])[0]
        ),
        lambda d, t: d("anchor_utils").AnchorGenerator(((3, 10), (7,)), ((0.5, 1.0), (2.0,)))(
            d("image_list").ImageList(t.zeros(1, 3, 32, 48), [(32, 48)]),
            [t.zeros(1, 2, 4, 6), t.zeros(1, 2, 2, 3)],
        ),
        lambda d, t: d("anchor_utils").DefaultBoxGenerator([[2], [2, 3]], steps=[8, 16])(
            d("image_list").ImageList(t.zeros(1, 3, 32, 48), [(32, 48)]),
            [t.zeros(1, 2, 4, 6), t.zeros(1, 2, 2, 3)],
        ),
        lambda d, t: (
            d("_utils")
            .BoxCoder((10.0, 10.0, 5.0, 5.0))
            .encode_single(t.tensor(BOXES[0]), t.tensor(BOXES[0]).flip(0))
        ),
        lambda d, t: (
            d("_utils")
            .BoxCoder((10.0, 10.0, 5.0, 5.0))
            .decode(t.linspace(-9, 99, 16).double().view(2, 8), [t.tensor(BOXES[0])])
        ),
        lambda d, t: (
            d("_utils")
            .BoxLinearCoder()
            .decode(t.linspace(0, 3, 8).double().view(2, 4), t.tensor(BOXES[0]))
        ),
        lambda d, t: d("_utils").Matcher(0.7, 0.3, True)(
            t.linspace(0, 1, 15).view(3, 5) ** 2 % 0.9
        ),
        lambda d, t: d("_utils").SSDMatcher(0.5)(t.linspace(0, 1, 15).view(3, 5) ** 2 % 0.9),
        lambda d, t: d("roi_heads").paste_masks_in_image(
            t.linspace(0, 1, 72).view(2, 1, 6, 6), t.tensor(BOXES[0]).float() - 9, (40, 50)
        ),
        lambda d, t: d("roi_heads").heatmaps_to_keypoints(
            t.linspace(0, 50, 96).view(2, 3, 4, 4).sin(), t.tensor(BOXES[0]).float()
        ),
        lambda d, t: d("transform").resize_keypoints(t.ones(2, 3, 3), (10, 20), (7, 33)),
    ],
)
def test_parts(call: Any) -> None:
    results = []
    for package, t in ((ours, flambeau), (theirs, torch)):
        t.manual_seed(0)
        result = call(lambda part, package=package: _of(package, part), t)
        if hasattr(result, "image_sizes"):
            result = [t.tensor(result.image_sizes), t.tensor(result.tensors.shape)]
        results.append(
            [r.numpy() for r in (result if isinstance(result, list | tuple) else [result])]
        )
    for mine, other in zip(*results, strict=True):
        assert mine.dtype == other.dtype
        np.testing.assert_allclose(mine, other, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("value", ["sampled", "positive"])
def test_samples_of_a_seed(value: str) -> None:
    masks = []
    for package, t in ((ours, flambeau), (theirs, torch)):
        t.manual_seed(8)
        labels = [t.arange(-1, 40) % (4 if value == "sampled" else 2), t.zeros(30)]
        sampler = _of(package, "_utils").BalancedPositiveNegativeSampler(16, 0.5)
        masks.append([[mask.tolist() for mask in kind] for kind in sampler(labels)])
    assert masks[0] == masks[1]
