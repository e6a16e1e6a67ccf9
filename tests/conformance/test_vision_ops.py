"""`vision.ops` against torchvision: boxes, losses, layers; regions where its library is there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import flambeau
from flambeau.vision import ops as ours
from flambeau.vision.ops import feature_pyramid_network as our_pyramids
from tests.conformance import vision_oracle

theirs = vision_oracle.load("ops")
Call = Callable[[Any, Any], Any]


def _boxes(t: Any, count: int = 9, seed: int = 0, dtype: str = "float32") -> Any:
    corners = np.random.default_rng(seed).random((count, 4)) * 20
    corners[:, 2:] += corners[:, :2] + 1
    return t.tensor(corners.astype(dtype))


BOXES: dict[str, Call] = {
    "area": lambda o, t: o.box_area(_boxes(t)),
    "area of integers": lambda o, t: o.box_area(_boxes(t, dtype="int16")),
    "iou": lambda o, t: o.box_iou(_boxes(t), _boxes(t, 5, 1)),
    "iou of integers": lambda o, t: o.box_iou(_boxes(t, dtype="int64"), _boxes(t, 5, 1, "int64")),
    "iou of middles": lambda o, t: o.box_iou(_boxes(t), _boxes(t, 5, 1), fmt="cxcywh"),
    "giou": lambda o, t: o.generalized_box_iou(_boxes(t), _boxes(t, 5, 1)),
    "diou": lambda o, t: o.distance_box_iou(_boxes(t), _boxes(t, 5, 1)),
    "ciou": lambda o, t: o.complete_box_iou(_boxes(t), _boxes(t, 5, 1)),
    "clip": lambda o, t: o.clip_boxes_to_image(_boxes(t), (10, 12)),
    "small": lambda o, t: o.remove_small_boxes(_boxes(t), 8.0),
    "masks": lambda o, t: o.masks_to_boxes(
        t.tensor(np.eye(6, dtype=bool)[:, None] * np.ones((1, 4, 1), bool))
    ),
    "focal": lambda o, t: o.sigmoid_focal_loss(_boxes(t) - 10, (_boxes(t, seed=2) > 10).float()),
    "focal mean": lambda o, t: o.sigmoid_focal_loss(
        _boxes(t) - 10, (_boxes(t) > 10).float(), alpha=-1, gamma=1.5, reduction="mean"
    ),
    **{
        f"{first} to {second}": (lambda o, t, a=first, b=second: o.box_convert(_boxes(t), a, b))
        for first in ("xyxy", "xywh", "cxcywh")
        for second in ("xyxy", "xywh", "cxcywh")
    },
    **{
        f"{first} to {second}": (
            lambda o, t, a=first, b=second: o.box_convert(
                o.box_convert(_boxes(t).repeat(1, 2)[:, :5], "xywhr", a), a, b
            )
        )
        for first in ("xywhr", "cxcywhr", "xyxyxyxy")
        for second in ("xywhr", "cxcywhr", "xyxyxyxy")
    },
    **{
        f"{name} {reduction}": (
            lambda o, t, n=name, r=reduction: getattr(o, n)(
                _boxes(t), _boxes(t, seed=1), reduction=r
            )
        )
        for name in ("generalized_box_iou_loss", "distance_box_iou_loss", "complete_box_iou_loss")
        for reduction in ("none", "mean", "sum")
    },
}


@pytest.mark.parametrize("name", BOXES)
def test_boxes(name: str) -> None:
    mine, other = BOXES[name](ours, flambeau).numpy(), BOXES[name](theirs, torch).numpy()
    assert mine.dtype == other.dtype
    np.testing.assert_allclose(mine, other, rtol=2e-5, atol=1e-6)


def test_names() -> None:
    assert set(theirs.__all__) == set(ours.__all__)


LAYERS: dict[str, Call] = {
    "frozen": lambda o, t: o.FrozenBatchNorm2d(4),
    "conv": lambda o, t: o.Conv2dNormActivation(4, 6, stride=2),
    "dilated": lambda o, t: o.Conv2dNormActivation(4, 6, (3, 5), dilation=2, norm_layer=None),
    "excitation": lambda o, t: o.SqueezeExcitation(4, 2),
    "mlp": lambda o, t: o.MLP(8, [5, 3], t.nn.LayerNorm, t.nn.GELU),
    "permute": lambda o, t: o.Permute([0, 2, 3, 1]),
    "blocks": lambda o, t: o.DropBlock2d(0.3, 3),
    "rows": lambda o, t: o.StochasticDepth(0.5, "row"),
    "batch": lambda o, t: o.StochasticDepth(0.5, "batch"),
}


@pytest.mark.parametrize("name", LAYERS)
def test_layers(name: str) -> None:
    flambeau.manual_seed(2)
    torch.manual_seed(2)
    mine, other = LAYERS[name](ours, flambeau), LAYERS[name](theirs, torch)
    assert repr(mine) == repr(other)
    image = np.random.default_rng(0).random((3, 4, 8, 8), dtype=np.float32)
    results = mine(flambeau.tensor(image)), other(torch.tensor(image))
    np.testing.assert_allclose(*(r.detach().numpy() for r in results), rtol=1e-4, atol=1e-5)


def test_feature_pyramid() -> None:
    results = []
    for package, t in ((ours, flambeau), (theirs, torch)):
        t.manual_seed(4)
        extra = vision_oracle.load("ops.feature_pyramid_network") if t is torch else our_pyramids
        network = package.FeaturePyramidNetwork([4, 6, 8], 5, extra.LastLevelMaxPool())
        maps = {str(i): t.randn(1, 4 + 2 * i, 16 >> i, 12 >> i) for i in range(3)}
        results.append({name: v.detach().numpy() for name, v in network(maps).items()})
    assert list(results[0]) == list(results[1])
    for name, value in results[1].items():
        np.testing.assert_allclose(results[0][name], value, rtol=1e-4, atol=1e-5)


if vision_oracle.has_operators():

    def test_regions_by_size() -> None:
        results = []
        for package, t in ((ours, flambeau), (theirs, torch)):
            t.manual_seed(4)
            pooler = package.MultiScaleRoIAlign(["a", "b", "c"], 3, 2)
            maps = {name: t.randn(2, 4, 64 >> i, 64 >> i) for i, name in enumerate("abc")}
            boxes = [_boxes(t, 6) * 8, _boxes(t, 5, 1)]
            results.append((repr(pooler), pooler(maps, boxes, [(256, 256), (200, 250)]).numpy()))
        assert results[0][0] == results[1][0]
        np.testing.assert_allclose(results[0][1], results[1][1], rtol=1e-4, atol=1e-5)

    # Its gradient goes to the last row and column too, which its result does not depend on.
    POOL_BY_PLACE = "pool by place"
    REGIONS: dict[str, Call] = {
        "align": lambda o, i: lambda r: o.roi_align(i, r, 5),
        "aligned": lambda o, i: lambda r: o.roi_align(i, r, (3, 4), 0.5, 2, aligned=True),
        "sampled": lambda o, i: lambda r: o.RoIAlign((3, 4), 0.25, 3)(i, r),
        "pool": lambda o, i: lambda r: o.roi_pool(i, r, 3),
        "by place": lambda o, i: lambda r: o.ps_roi_align(i, r, (1, 3), 0.5),
        POOL_BY_PLACE: lambda o, i: lambda r: o.PSRoIPool((3, 1), 0.4)(i, r),
        "scaled pool": lambda o, i: lambda r: o.RoIPool((2, 5), 0.3)(i, r),
    }

    @pytest.mark.parametrize("dtype", ["float32", "float64"])
    @pytest.mark.parametrize("name", REGIONS)
    def test_regions(name: str, dtype: str) -> None:
        """Values and gradients; some regions lie partly or wholly outside."""
        image = np.random.default_rng(0).standard_normal((2, 3, 20, 24)).astype(dtype)
        results = []
        for package, t in ((ours, flambeau), (theirs, torch)):
            x = t.tensor(image, requires_grad=True)
            regions = t.cat((t.arange(8)[:, None] % 2, _boxes(t, 8, dtype=dtype) * 2 - 9), 1)
            result = REGIONS[name](package, x)(regions.to(x))
            (result * t.arange(result.numel()).view(result.shape).to(x)).sum().backward()
            results.append((result.detach().numpy(), x.grad.numpy()))
        rounding = float(np.finfo(dtype).eps)
        for mine, other in list(zip(*results, strict=True))[: 1 if name == POOL_BY_PLACE else 2]:
            # Sums of some hundred terms in another order.
            np.testing.assert_allclose(
                mine, other, rtol=0, atol=100 * rounding * np.abs(other).max()
            )

    def test_deformable_convolution() -> None:
        results = []
        for package, t in ((ours, flambeau), (theirs, torch)):
            t.manual_seed(3)
            layer = package.DeformConv2d(4, 6, 3, stride=2, padding=1, groups=2)
            given = [t.randn(2, 4, 9, 8), t.randn(2, 36, 5, 4) * 2, t.rand(2, 18, 5, 4)]
            for each in given:
                each.requires_grad_()
            result = layer(*given)
            result.square().sum().backward()
            tensors = [result, *(p.grad for p in (*given, *layer.parameters()))]
            results.append((repr(layer), [each.detach().numpy() for each in tensors]))
        assert results[0][0] == results[1][0]
        for mine, other in zip(results[0][1], results[1][1], strict=True):
            np.testing.assert_allclose(mine, other, rtol=1e-4, atol=1e-4)

    def test_rotated_boxes() -> None:
        rng = np.random.default_rng(0)
        boxes = np.concatenate((rng.random((9, 4)) * 5 + 1, rng.random((9, 1)) * 360), 1)
        overlaps = [
            o.box_iou(t.tensor(boxes), t.tensor(boxes[::-1].copy()), fmt="xywhr").numpy()
            for o, t in ((ours, flambeau), (theirs, torch))
        ]
        np.testing.assert_allclose(*overlaps, atol=1e-5)

    @pytest.mark.parametrize("threshold", [0.1, 0.3, 0.5, 0.9])
    def test_nms(threshold: float) -> None:
        scores = np.round(np.random.default_rng(1).random(200), 2).astype(np.float32)
        kept = []
        for package, t in ((ours, flambeau), (theirs, torch)):
            boxes, ranks = _boxes(t, 200), t.tensor(scores)
            labels = t.arange(200) % 3
            kept.append(
                [
                    package.nms(boxes, ranks, threshold).tolist(),
                    package.batched_nms(boxes, ranks, labels, threshold).tolist(),
                ]
            )
        assert kept[0] == kept[1]
