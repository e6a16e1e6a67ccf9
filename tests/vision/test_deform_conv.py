"""Deformable convolution against the usual one, against sums written out, and its gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import flambeau as fb
from flambeau.nn.functional import conv2d, grid_sample
from flambeau.vision import ops


def _random(*shape: int, seed: int = 0, scale: float = 1.0) -> fb.Tensor:
    return fb.tensor(np.random.default_rng(seed).standard_normal(shape) * scale)


@pytest.mark.parametrize(("stride", "padding", "dilation"), [(1, 0, 1), (2, 1, 1), ((1, 2), 2, 2)])
@pytest.mark.parametrize("groups", [1, 2])
def test_without_offsets_it_is_a_convolution(
    stride: Any, padding: Any, dilation: Any, groups: int
) -> None:
    image, weight, bias = _random(2, 4, 9, 11), _random(6, 4 // groups, 3, 2, seed=1), _random(6)
    expected = conv2d(image, weight, bias, stride, padding, dilation, groups)
    offset = fb.zeros(2, 2 * 2 * 6, *expected.shape[2:], dtype=fb.float64)
    result = ops.deform_conv2d(image, offset, weight, bias, stride, padding, dilation)
    fb.testing.assert_close(result, expected)


def test_taps_look_where_they_are_told_to() -> None:
    """One tap of a weight of one, moved: the image interpolated there, zero outside, masked."""
    image, offset, mask = (
        _random(1, 3, 6, 8),
        _random(1, 2, 6, 8, seed=1, scale=3),
        _random(1, 1, 6, 8),
    )
    weight = fb.eye(3, dtype=fb.float64)[:, :, None, None]
    rows, columns = fb.meshgrid(fb.arange(6.0), fb.arange(8.0), indexing="ij")
    y, x = rows + offset[0, 0], columns + offset[0, 1]
    grid = fb.stack((2 * x / 7 - 1, 2 * y / 5 - 1), -1)[None]
    expected = grid_sample(image, grid, align_corners=True) * mask
    fb.testing.assert_close(ops.deform_conv2d(image, offset, weight, mask=mask), expected)


def test_gradients() -> None:
    arguments = [
        _random(2, 4, 5, 6, seed=2),
        _random(2, 2 * 2 * 6, 3, 3, seed=3),
        _random(6, 2, 2, 3, seed=4),
        _random(6, seed=5),
        _random(2, 2 * 6, 3, 3, seed=6),
    ]
    for each in arguments:
        each.requires_grad_()

    def call(image: Any, offset: Any, weight: Any, bias: Any, mask: Any) -> fb.Tensor:
        return ops.deform_conv2d(image, offset, weight, bias, 2, 1, 1, mask)

    assert fb.autograd.gradcheck(call, tuple(arguments))
    assert fb.autograd.gradcheck(
        lambda image, offset, weight: ops.deform_conv2d(image, offset, weight, None, 2, 1),
        tuple(arguments[:3]),
    )
    first = fb.autograd.grad(call(*arguments).sum(), arguments[0], create_graph=True)[0]
    with pytest.raises(NotImplementedError, match="deform_conv2d"):
        first.sum().backward()


def test_the_module() -> None:
    layer = ops.DeformConv2d(4, 6, 3, stride=2, padding=1, groups=2, bias=False)
    assert repr(layer) == (
        "DeformConv2d(4, 6, kernel_size=(3, 3), stride=(2, 2), padding=(1, 1), groups=2, "
        "bias=False)"
    )
    image, offset = fb.rand(2, 4, 8, 8), fb.zeros(2, 18, 4, 4)
    assert layer(image, offset).shape == (2, 6, 4, 4)
    assert layer(image[:0], offset[:0]).shape == (0, 6, 4, 4)
    for dtype in (fb.float16, fb.bfloat16):
        halves = (image.to(dtype), offset.to(dtype), layer.weight.to(dtype))
        assert ops.deform_conv2d(*halves, stride=2, padding=1).dtype == dtype


@pytest.mark.parametrize("value", [float("inf"), -float("inf"), 1e30, -1e9])
def test_far_away_is_nothing(value: float) -> None:
    offset = fb.full((1, 2, 3, 3), value)
    result = ops.deform_conv2d(fb.ones(1, 1, 3, 3), offset, fb.ones(1, 1, 1, 1))
    assert result.flatten().tolist() == [0.0] * 9
    nothing = ops.deform_conv2d(fb.ones(1, 1, 3, 3), offset * fb.nan, fb.ones(1, 1, 1, 1))
    assert nothing.isnan().all()


IMAGE, OFFSET, WEIGHT = fb.zeros(2, 4, 6, 7), fb.zeros(2, 18, 4, 5), fb.zeros(3, 4, 3, 3)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((IMAGE[0], OFFSET, WEIGHT), {}, "batch, channels, height, width"),
        ((IMAGE, OFFSET[0], WEIGHT), {}, "offset must have shape"),
        ((IMAGE, OFFSET, WEIGHT[0]), {}, "weight must have shape"),
        ((IMAGE, OFFSET[:, :17], WEIGHT), {}, "two for each element"),
        ((IMAGE, OFFSET[:, :, :3], WEIGHT), {}, r"\(2, 18, 4, 5\)"),
        ((IMAGE, OFFSET[:1], WEIGHT), {}, r"\(2, 18, 4, 5\)"),
        ((IMAGE, OFFSET, fb.zeros(3, 3, 3, 3)), {}, "multiple of the 3 channels"),
        ((IMAGE, OFFSET, fb.zeros(3, 2, 3, 3)), {}, "multiple of 2 filters"),
        ((IMAGE, OFFSET, fb.zeros(3, 4, 3, 0)), {}, "must not be empty"),
        ((IMAGE, OFFSET, fb.zeros(3, 4, 9, 9)), {}, "does not fit"),
        ((IMAGE.double(), OFFSET, WEIGHT), {}, "same dtype"),
        ((IMAGE, OFFSET, WEIGHT), {"stride": 0}, "stride must be at least 1"),
        ((IMAGE, OFFSET, WEIGHT), {"padding": -1}, "padding must be at least 0"),
        ((IMAGE, OFFSET, WEIGHT), {"dilation": (1, 2**62)}, "dilation must be at least 1"),
        ((IMAGE, OFFSET, WEIGHT), {"bias": fb.zeros(2)}, "each of the 3 filters"),
        ((IMAGE, OFFSET, WEIGHT), {"mask": fb.zeros(2, 8, 4, 5)}, "mask must have shape"),
    ],
)
def test_bad_input(arguments: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(RuntimeError, match=message):
        ops.deform_conv2d(*arguments, **options)


def test_channels_must_fit_groups() -> None:
    with pytest.raises(ValueError, match="in_channels must be divisible by groups"):
        ops.DeformConv2d(4, 6, 3, groups=3)
