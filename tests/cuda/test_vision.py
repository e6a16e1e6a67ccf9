"""Boxes, regions and deformable convolutions on the device: what the CPU gives, with gradients."""

from typing import Any

import numpy as np
import pytest

import flambeau as fb
from flambeau import _C
from flambeau.vision import ops
from tests.cuda.moving import gradients_on

TOLERANCE = {fb.float16: 2e-2, fb.float32: 1e-4, fb.float64: 1e-9}
# Whole, outside in part, larger than the image, and without extent.
REGIONS = [
    [0, 1.0, 2, 9, 11],
    [1, 0, 0, 18, 16],
    [1, -3, -4, 5, 6],
    [0, 10, 10, 40, 50],
    [0, 3, 3, 3, 3],
]


def compared(function: Any, *inputs: Any) -> None:
    ours, theirs = (gradients_on(device, function, list(inputs)) for device in ("cuda", "cpu"))
    limit = TOLERANCE[inputs[0].dtype]
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a.double(), b.double(), limit, limit)


def images(dtype: Any) -> Any:
    fb.manual_seed(0)
    return fb.randn(2, 8, 17, 19, dtype=dtype)


@pytest.mark.parametrize("dtype", list(TOLERANCE))
def test_regions_of_images(dtype: Any) -> None:
    rois = fb.tensor(REGIONS, dtype=dtype)
    for aligned in (False, True):
        for ratio in (-1, 2):
            compared(
                lambda x, a=aligned, r=ratio: ops.roi_align(
                    x, rois.to(x.device), (3, 2), 0.5, r, a
                ),
                images(dtype),
            )
    swapped = lambda x: ops.roi_align(x.transpose(2, 3), rois.to(x.device), (3, 2), 0.5)  # noqa: E731
    compared(swapped, images(dtype))
    compared(lambda x: ops.ps_roi_align(x, rois.to(x.device), (2, 2), 0.7), images(dtype))
    compared(lambda x: ops.ps_roi_pool(x, rois.to(x.device), (2, 2), 0.9), images(dtype))
    with fb.no_grad():
        x = images(dtype)
        pooled = ops.roi_pool(x.cuda(), rois.cuda(), (3, 2), 0.5).cpu()
        assert pooled.equal(ops.roi_pool(x, rois, (3, 2), 0.5))
    none = ops.roi_align(images(dtype).cuda(), rois[:0].cuda(), (2, 2))
    assert none.shape == (0, 8, 2, 2)


def test_a_region_of_no_image_is_an_error() -> None:
    ops.roi_align(images(fb.float32).cuda(), fb.tensor([[5.0, 0, 0, 3, 3]]).cuda(), (2, 2))
    with pytest.raises(IndexError, match="index 5"):
        fb.cuda.synchronize()


@pytest.mark.parametrize("dtype", list(TOLERANCE))
@pytest.mark.parametrize("count", [0, 1, 31, 64, 65, 300, 700])
def test_boxes_that_are_kept(dtype: Any, count: int) -> None:
    fb.manual_seed(count)
    boxes, scores = fb.rand(count, 4, dtype=dtype) * 50, fb.rand(count, dtype=dtype)
    boxes[:, 2:] += boxes[:, :2]
    if count > 40:
        scores[3], scores[7], boxes[9] = scores[5], float("nan"), boxes[11]
    for limit in (0.1, 0.5, 0.9):
        assert (
            ops.nms(boxes.cuda(), scores.cuda(), limit).tolist()
            == ops.nms(boxes, scores, limit).tolist()
        )


def test_rotated_boxes() -> None:
    fb.manual_seed(0)
    first, second = fb.rand(33, 5) * 30, fb.rand(17, 5) * 30
    ours = _C._box_iou_rotated(first.cuda(), second.cuda()).cpu()
    np.testing.assert_allclose(ours, _C._box_iou_rotated(first, second), 1e-5, 1e-6)


@pytest.mark.parametrize("dtype", [fb.float32, fb.float64])
@pytest.mark.parametrize("masked", [False, True])
def test_deformable_convolutions(dtype: Any, masked: bool) -> None:
    offset = 2 * fb.randn(2, 36, 9, 10, dtype=dtype)
    weight = fb.randn(6, 4, 3, 3, dtype=dtype)
    mask = [fb.rand(2, 18, 9, 10, dtype=dtype)] if masked else []
    compared(
        lambda x, o, w, m=None: ops.deform_conv2d(x, o, w, stride=2, padding=1, mask=m),
        images(dtype),
        offset,
        weight,
        *mask,
    )
