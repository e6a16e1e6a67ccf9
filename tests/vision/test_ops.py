"""Boxes and regions against definitions written out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import flambeau as fb
from flambeau.vision import ops

RNG = np.random.default_rng(0)
CORNERS = RNG.random((40, 4)) * 10
CORNERS[:, 2:] += CORNERS[:, :2] + 1
SCORES = RNG.permutation(40) / 40


def _overlap(a: Any, b: Any) -> float:
    wide = max(0.0, min(a[2], b[2]) - max(a[0], b[0]))
    high = max(0.0, min(a[3], b[3]) - max(a[1], b[1]))
    areas = [(c[2] - c[0]) * (c[3] - c[1]) for c in (a, b)]
    return wide * high / (sum(areas) - wide * high)


@pytest.mark.parametrize("dtype", [fb.float32, fb.float64])
@pytest.mark.parametrize("threshold", [0.0, 0.2, 0.6, 1.0])
def test_nms(threshold: float, dtype: fb.dtype) -> None:
    expected: list[int] = []
    for candidate in np.argsort(-SCORES):
        if all(_overlap(CORNERS[k], CORNERS[candidate]) <= threshold for k in expected):
            expected.append(int(candidate))
    boxes, scores = fb.tensor(CORNERS, dtype=dtype), fb.tensor(SCORES, dtype=dtype)
    assert ops.nms(boxes, scores, threshold).tolist() == expected


def test_nms_by_class() -> None:
    boxes, scores = fb.tensor(CORNERS).float(), fb.tensor(SCORES).float()
    labels = fb.arange(40) % 3
    kept = set(ops.batched_nms(boxes, scores, labels, 0.3).tolist())
    for label in range(3):
        rows = (labels == label).nonzero().flatten()
        alone = rows[ops.nms(boxes[rows], scores[rows], 0.3)].tolist()
        assert set(alone) == kept & set(rows.tolist())
    assert ops.nms(fb.zeros(0, 4), fb.zeros(0), 0.5).tolist() == []
    assert ops.batched_nms(fb.zeros(0, 4), fb.zeros(0), fb.zeros(0), 0.5).tolist() == []


def test_overlaps() -> None:
    first, second = fb.tensor(CORNERS[:6]), fb.tensor(CORNERS[6:10])
    expected = [[_overlap(a, b) for b in CORNERS[6:10]] for a in CORNERS[:6]]
    fb.testing.assert_close(ops.box_iou(first, second), fb.tensor(expected, dtype=fb.float64))
    apart = fb.tensor([[0.0, 0, 1, 1]]), fb.tensor([[2.0, 0, 3, 1]])
    assert ops.generalized_box_iou(*apart).item() == pytest.approx(-1 / 3)
    assert ops.distance_box_iou(*apart).item() == pytest.approx(-0.4)


def test_forms() -> None:
    boxes = fb.tensor(CORNERS)
    for form in ("xywh", "cxcywh", "xyxy"):
        there = ops.box_convert(boxes, "xyxy", form)
        fb.testing.assert_close(ops.box_convert(there, form, "xyxy"), boxes)
    assert ops.box_convert(fb.tensor([1.0, 2, 3, 6]), "xyxy", "cxcywh").tolist() == [2, 4, 2, 4]
    assert ops.clip_boxes_to_image(fb.tensor([[-1.0, 2, 9, 9]]), (4, 5)).tolist() == [[0, 2, 5, 4]]
    assert ops.box_area(fb.tensor([[0, 0, 200, 200]], dtype=fb.uint8)).tolist() == [40000]


def test_rotated_boxes() -> None:
    """A quarter of a turn exchanges width and height; two crossed bars share a square."""
    box = fb.tensor([[5.0, 6, 4, 2, 90]])
    corners = ops.box_convert(box, "cxcywhr", "xyxyxyxy").view(4, 2)
    assert corners.amin(0).tolist() == pytest.approx([4, 4])
    assert corners.amax(0).tolist() == pytest.approx([6, 8])
    for form in ("xywhr", "xyxyxyxy"):
        there = ops.box_convert(box, "cxcywhr", form)
        fb.testing.assert_close(ops.box_convert(there, form, "cxcywhr"), box)
    bars = fb.tensor([[0.0, 0, 6, 2, 0], [0, 0, 6, 2, 90], [0, 0, 6, 2, 180], [50, 0, 6, 2, 30]])
    expected = [1, 4 / 20, 1, 0]
    assert ops.box_iou(bars, bars[:1], "cxcywhr").flatten().tolist() == pytest.approx(expected)
    assert ops.box_iou(bars[:0], bars, "cxcywhr").shape == (0, 4)
    with pytest.raises(NotImplementedError, match="cxcywhr and out_fmt xyxy"):
        ops.box_convert(box, "cxcywhr", "xyxy")
    with pytest.raises(ValueError, match="Supported rotated formats"):
        ops.box_iou(bars, bars, "nope")


def test_blocks_left_out() -> None:
    fb.manual_seed(0)
    image = fb.ones(4, 8, 20, 20)
    dropped = ops.drop_block2d(image, 0.2, 5)
    share = (dropped == 0).float().mean().item()
    assert 0.1 < share < 0.3
    # The mean stays, and what is left out are blocks: most neighbours share their fate.
    assert dropped.mean().item() == pytest.approx(1, abs=1e-3)
    edges = ((dropped[..., 1:] == 0) != (dropped[..., :-1] == 0)).float().mean().item()
    assert edges < share
    layer = ops.DropBlock3d(0.5, 3, inplace=True)
    assert layer.eval()(image[None]) is not None
    volume = fb.ones(2, 3, 6, 6, 6)
    assert layer.train()(volume) is volume
    assert (volume == 0).any()
    with pytest.raises(ValueError, match="5 dimensional"):
        ops.drop_block3d(image, 0.5, 3)
    with pytest.raises(ValueError, match="odd"):
        ops.drop_block2d(image, 0.5, 4)


def test_regions_of_a_ramp() -> None:
    """The mean of a linear ramp over a cell is its value in the middle of the cell."""
    ramp = fb.arange(20.0).expand(1, 1, 20, 20)
    rows = fb.tensor([[0.0, 4, 2, 12, 10]])
    middles = [4 + 2 * cell + 1.0 for cell in range(4)]
    assert ops.roi_align(ramp, rows, (1, 4))[0, 0, 0].tolist() == pytest.approx(middles)
    shifted = ops.roi_align(ramp, rows, (1, 4), aligned=True)[0, 0, 0].tolist()
    assert shifted == pytest.approx([middle - 0.5 for middle in middles])
    pooled = ops.roi_pool(ramp, [fb.tensor([[4.0, 2, 11, 9]])], (1, 4))
    assert pooled.flatten().tolist() == [5, 7, 9, 11]


def test_region_gradients() -> None:
    image = fb.rand(2, 2, 6, 7, dtype=fb.float64, requires_grad=True)
    rows = fb.tensor([[0, 1, 1, 4.5, 3.2], [1, 0, 2, 8, 9], [1, -3, -3, 1, 1]], dtype=fb.float64)
    maps = fb.rand(2, 12, 6, 7, dtype=fb.float64, requires_grad=True)
    for call in (
        lambda x: ops.ps_roi_align(x, rows, (2, 3)),
        lambda x: ops.ps_roi_align(x, rows, 2, 0.5, 2),
        lambda x: ops.ps_roi_pool(x, rows, (2, 3)),
    ):
        assert fb.autograd.gradcheck(call, (maps,))
        assert fb.autograd.gradgradcheck(call, (maps,))
    for call in (
        lambda x: ops.roi_align(x, rows, (2, 3)),
        lambda x: ops.roi_align(x, rows, 2, 0.5, 2, True),
        lambda x: ops.roi_pool(x, rows, 2),
    ):
        assert fb.autograd.gradcheck(call, (image,))
        assert fb.autograd.gradgradcheck(call, (image,))


def test_cells_look_at_planes_of_their_own() -> None:
    """Plane 6 c + 3 i + j holds its number: so does cell (i, j) of channel c."""
    maps = fb.arange(12.0)[None, :, None, None].expand(1, 12, 8, 9)
    rows = fb.tensor([[0.0, 1, 1, 7, 7]])
    for pooled in (ops.ps_roi_align(maps, rows, (2, 3)), ops.ps_roi_pool(maps, rows, (2, 3))):
        assert pooled.flatten().tolist() == list(range(12))
    usual = ops.roi_align(maps[:, :1], rows, (2, 3), aligned=True)
    placed = ops.ps_roi_align(maps[:, :1].expand(1, 6, 8, 9), rows, (2, 3))
    fb.testing.assert_close(placed, usual)
    with pytest.raises(RuntimeError, match="multiple of 2 \\* 5 channels"):
        ops.PSRoIPool((2, 5), 1.0)(maps, rows)


def test_an_image_for_every_box_list() -> None:
    image = fb.rand(2, 1, 8, 8)
    lists = [fb.tensor([[0.0, 0, 4, 4]]), fb.tensor([[1.0, 1, 5, 5], [2, 2, 7, 7]])]
    rows = fb.tensor([[0.0, 0, 0, 4, 4], [1, 1, 1, 5, 5], [1, 2, 2, 7, 7]])
    fb.testing.assert_close(ops.roi_align(image, lists, 2), ops.roi_align(image, rows, 2))


def test_boxes_go_to_the_map_of_their_size() -> None:
    maps = {str(i): fb.full((1, 1, 64 >> i, 64 >> i), float(i)) for i in range(3)}
    boxes = [fb.tensor([[0.0, 0, 20, 20], [0, 0, 120, 120], [0, 0, 240, 240]])]
    pooler = ops.MultiScaleRoIAlign(["0", "1", "2"], output_size=2, sampling_ratio=2)
    assert pooler(maps, boxes, [(256, 256)]).mean((1, 2, 3)).tolist() == [0, 1, 2]
    wild = [fb.tensor([[0.0, 0, 20, 20], [fb.nan] * 4, [9, 0, 5, 9], [0, 0, 1e30, 1e30]])]
    result = pooler({name: each + 1 for name, each in maps.items()}, wild, [(256, 256)])
    assert result.flatten(1)[:3].tolist() == [[1.0] * 4, [0.0] * 4, [0.0] * 4]
    assert pooler(maps, [fb.zeros(0, 4)], [(256, 256)]).shape == (0, 1, 2, 2)
    with pytest.raises(ValueError, match="feature maps"):
        pooler({}, boxes, [(256, 256)])


def test_frozen_normalisation_loads_a_usual_one() -> None:
    usual = fb.nn.BatchNorm2d(3)
    usual(fb.randn(8, 3, 4, 4))
    frozen = ops.FrozenBatchNorm2d(3)
    frozen.load_state_dict(usual.state_dict())
    image = fb.randn(2, 3, 4, 4)
    fb.testing.assert_close(frozen(image), usual.eval()(image))
    assert not list(frozen.parameters())


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: ops.nms(fb.zeros(3, 5), fb.zeros(3), 0.5), RuntimeError, r"\(count, 4\)"),
        (lambda: ops.nms(fb.zeros(3, 4), fb.zeros(2), 0.5), RuntimeError, "each of the 3 boxes"),
        (lambda: ops.box_convert(fb.zeros(4), "xyxy", "x"), ValueError, "out_fmt x"),
        (
            lambda: ops.roi_align(fb.zeros(1, 1, 4, 4), fb.zeros(2, 4), 2),
            AssertionError,
            r"\(2, 4\)",
        ),
        (lambda: ops.roi_align(fb.zeros(1, 4, 4), fb.zeros(2, 5), 2), RuntimeError, "channels"),
        (lambda: ops.roi_align(fb.zeros(1, 1, 4, 4), fb.ones(1, 5), 2), IndexError, "image 1"),
        (lambda: ops.stochastic_depth(fb.zeros(2), 2.0, "row"), ValueError, "between 0 and 1"),
        (lambda: ops.masks_to_boxes(fb.zeros(3, 3)), ValueError, r"\(3, 3\)"),
        (lambda: ops.box_area(fb.zeros(2, 3)), IndexError, "3"),
        (lambda: ops.remove_small_boxes(fb.zeros(2, 3), 1.0), IndexError, "3"),
        (lambda: ops.nms(fb.ones(1, 4).long(), fb.ones(1), 0.5), NotImplementedError, "float"),
        (
            lambda: ops.roi_align(fb.ones(1, 1, 4, 4).int(), fb.zeros(1, 5), 2),
            NotImplementedError,
            "not implemented for dtype int32",
        ),
        (lambda: ops.roi_align(fb.ones(1, 1, 4, 4), fb.zeros(1, 5), (2,)), ValueError, r"\(2,\)"),
        (lambda: ops.sigmoid_focal_loss(fb.zeros(2), fb.zeros(3)), ValueError, "size"),
    ],
)
def test_bad_input(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()
