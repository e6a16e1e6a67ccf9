"""Boxes that no detector should give, and images without pixels."""

import contextlib
import itertools

import pytest

import flambeau as torch
from flambeau.vision import ops

_NUMBERS = [1e9, 1e30, float("inf"), -float("inf"), float("nan"), -1e30]
_FUNCTIONS = [ops.roi_align, ops.roi_pool, ops.ps_roi_align, ops.ps_roi_pool]


@pytest.mark.parametrize("function", _FUNCTIONS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_wild_boxes_give_a_result_or_an_error(function, dtype):
    images = torch.randn(2, 4, 5, 5, dtype=dtype, requires_grad=True)
    for value, place in itertools.product(_NUMBERS, range(5)):
        box = torch.tensor([[0, 0, 0, 3, 3]], dtype=dtype)
        box[0, place] = value
        with contextlib.suppress(RuntimeError, IndexError):
            result = function(images, box, (2, 2))
            assert result.shape[:1] + result.shape[2:] == (1, 2, 2)
            result.sum().backward()


@pytest.mark.parametrize("aligned", [False, True])
def test_boxes_turned_inside_out_hold_nothing(aligned):
    box = torch.tensor([[0.0, 90, 90, 1, 1]])
    result = ops.roi_align(torch.ones(1, 1, 4, 4), box, (2, 2), aligned=aligned)
    assert result.flatten().tolist() == [0.0] * 4


@pytest.mark.parametrize("ratio", [10**6, 2**40, 2**62])
def test_too_many_points(ratio):
    with pytest.raises(RuntimeError, match="smaller sampling_ratio"):
        ops.roi_align(torch.ones(1, 1, 4, 4), torch.zeros(1, 5), (2, 2), sampling_ratio=ratio)


@pytest.mark.parametrize("function", _FUNCTIONS)
@pytest.mark.parametrize("size", [(0, 0), (0, 5), (5, 0)])
def test_images_without_pixels(function, size):
    with pytest.raises(RuntimeError, match="input has no pixels"):
        function(torch.ones(1, 3, *size), torch.zeros(1, 5), (1, 1))
    assert function(torch.ones(1, 3, *size), torch.zeros(0, 5), (1, 1)).shape == (0, 3, 1, 1)


@pytest.mark.parametrize("function", _FUNCTIONS)
@pytest.mark.parametrize("size", [(0, 2), (-1, 2), (2**62, 4), (2**31, 2**31)])
def test_output_sizes(function, size):
    with pytest.raises(RuntimeError, match="output_size must be positive"):
        function(torch.ones(1, 3, 4, 4), torch.zeros(1, 5), size)


@pytest.mark.parametrize("value", _NUMBERS)
def test_wild_boxes_among_others(value):
    """Whatever a box is, the others are judged as without it."""
    boxes = torch.tensor([[0.0, 0, 4, 4], [0, 0, 4, 3.9], [9, 9, 12, 12]])
    scores = torch.tensor([0.9, 0.8, 0.7])
    for place in range(4):
        wild = boxes[:1].clone()
        wild[0, place] = value
        kept = ops.nms(torch.cat((boxes, wild)), torch.cat((scores, torch.zeros(1))), 0.5)
        assert kept[:2].tolist() == [0, 2]
        turned = torch.tensor([[0.0, 0, 4, 4, 30]])
        turned[0, place] = value
        assert ops.box_iou(turned, torch.ones(1, 5), "cxcywhr").shape == (1, 1)
    # NaN is better than any number, as when tensors are sorted.
    assert ops.nms(boxes, torch.tensor([0.9, float("nan"), 0.1]), 0.5).tolist() == [1, 2]
