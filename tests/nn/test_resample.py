"""Images at other resolutions, as users see them."""

import numpy as np
import pytest

import flambeau as torch
import flambeau.nn.functional as F
from flambeau import nn


def test_nearest_repeats_pixels() -> None:
    x = torch.tensor([[[[1.0, 2.0], [3.0, 4.0]]]])
    assert F.interpolate(x, scale_factor=2)[0, 0].tolist() == [
        [1, 1, 2, 2],
        [1, 1, 2, 2],
        [3, 3, 4, 4],
        [3, 3, 4, 4],
    ]


def test_bilinear_corners() -> None:
    x = torch.tensor([[[0.0, 3.0]]])
    aligned = F.interpolate(x, 4, mode="linear", align_corners=True)
    torch.testing.assert_close(aligned, torch.tensor([[[0.0, 1.0, 2.0, 3.0]]]))
    centred = F.interpolate(x, 4, mode="linear")
    torch.testing.assert_close(centred, torch.tensor([[[0.0, 0.75, 2.25, 3.0]]]))


@pytest.mark.parametrize("mode", ["nearest", "bilinear", "bicubic", "area"])
@pytest.mark.parametrize("channels", [1, 3, 18])
def test_layouts_agree(mode: str, channels: int) -> None:
    x = torch.randn(2, channels, 9, 7)
    results, gradients = [], []
    for layout in (torch.contiguous_format, torch.channels_last):
        leaf = x.contiguous(memory_format=layout).clone().requires_grad_()
        result = F.interpolate(leaf, (5, 13), mode=mode)
        (result * torch.arange(65.0).view(5, 13)).sum().backward()
        results.append(result)
        gradients.append(leaf.grad)
    torch.testing.assert_close(results[0], results[1])
    torch.testing.assert_close(gradients[0], gradients[1])


def test_constant_images_stay_constant() -> None:
    x = torch.full((1, 2, 6, 5), 3.0)
    for mode in ("nearest", "bilinear", "bicubic", "area"):
        torch.testing.assert_close(
            F.interpolate(x, (11, 3), mode=mode), torch.full((1, 2, 11, 3), 3.0)
        )
    for mode in ("bilinear", "bicubic", "lanczos"):
        smooth = F.interpolate(x, (3, 9), mode=mode, antialias=True)
        torch.testing.assert_close(smooth, torch.full((1, 2, 3, 9), 3.0))


def test_bytes_are_rounded() -> None:
    x = torch.tensor([[[[0, 255], [100, 31]]]], dtype=torch.uint8)
    y = F.interpolate(x, (5, 5), mode="bilinear")
    exact = F.interpolate(x.float(), (5, 5), mode="bilinear")
    assert y.dtype == torch.uint8
    assert (y.float() - exact).abs().max() <= 1
    assert F.interpolate(x, (4, 4), mode="bicubic").dtype == torch.uint8


def test_identity_grid_gives_the_image_back() -> None:
    image = torch.randn(2, 3, 5, 6)
    theta = torch.eye(2, 3).expand(2, 2, 3)
    for corners in (False, True):
        grid = F.affine_grid(theta, image.shape, align_corners=corners)
        for mode in ("bilinear", "nearest", "bicubic"):
            sampled = F.grid_sample(image, grid, mode, align_corners=corners)
            torch.testing.assert_close(sampled, image, rtol=1e-4, atol=1e-5)


def test_points_outside_are_safe() -> None:
    image = torch.ones(1, 1, 3, 3)
    points = [float("nan"), float("inf"), -float("inf"), 1e30, -7.0]
    grid = torch.tensor(points).view(1, 1, 5, 1).expand(1, 1, 5, 2).contiguous()
    for mode in ("bilinear", "nearest", "bicubic"):
        outside = F.grid_sample(image, grid, mode, align_corners=False)
        assert outside.tolist() == [[[[0.0] * 5]]]
    border = F.grid_sample(image, grid, padding_mode="border", align_corners=False)
    assert border.tolist() == [[[[1.0] * 5]]]
    F.grid_sample(image, grid, padding_mode="reflection", align_corners=False)


def test_infinities_do_not_leak_from_where_nothing_is_taken() -> None:
    image = torch.tensor([[[[float("inf"), 1.0]]]])
    grid = torch.tensor([[[[5.0, 0.0]]]])
    assert F.grid_sample(image, grid, align_corners=False).item() == 0


def test_shuffles_are_inverse() -> None:
    x = torch.rand(2, 8, 3, 5)
    assert torch.equal(nn.PixelUnshuffle(2)(nn.PixelShuffle(2)(x)), x)
    assert torch.equal(nn.ChannelShuffle(4)(nn.ChannelShuffle(2)(x)), x)
    ramp = torch.arange(4.0).view(1, 4, 1, 1)
    assert F.pixel_shuffle(ramp, 2)[0, 0].tolist() == [[0, 1], [2, 3]]


def test_graph_names() -> None:
    x = torch.rand(1, 4, 4, 4, requires_grad=True)
    names = {
        "nearest": "UpsampleNearest2DBackward0",
        "nearest-exact": "UpsampleNearestExact2DBackward0",
        "bilinear": "UpsampleBilinear2DBackward0",
        "bicubic": "UpsampleBicubic2DBackward0",
        "area": "AdaptiveAvgPool2DBackward0",
    }
    for mode, name in names.items():
        assert F.interpolate(x, 3, mode=mode).grad_fn.name() == name
    smooth = F.interpolate(x, 3, mode="bilinear", antialias=True)
    assert smooth.grad_fn.name() == "UpsampleBilinear2DAaBackward0"
    grid = torch.rand(1, 2, 2, 2)
    sampled = F.grid_sample(x, grid, align_corners=False)
    assert sampled.grad_fn.name() == "GridSampler2DBackward0"
    assert F.pixel_shuffle(x, 2).grad_fn.name() == "PixelShuffleBackward0"


def test_upsample_layer() -> None:
    layer = nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True)
    assert repr(layer) == "Upsample(scale_factor=2.0, mode='bilinear')"
    assert layer(torch.rand(1, 1, 3, 3)).shape == (1, 1, 6, 6)
    x = np.random.default_rng(0).random((1, 1, 3, 3), dtype=np.float32)
    up = nn.UpsamplingBilinear2d(scale_factor=2)(torch.from_numpy(x))
    torch.testing.assert_close(up, layer(torch.from_numpy(x)))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: F.interpolate(x), ValueError, "either size or scale_factor"),
        (
            lambda x: F.interpolate(x, (2, 2, 2)),
            ValueError,
            r"input of shape \(1, 2, 4, 4\) has 2 spatial dimensions, but size \(2, 2, 2\) has 3",
        ),
        (
            lambda x: F.interpolate(x, 2, mode="trilinear"),
            NotImplementedError,
            r"mode 'trilinear' does not exist for input of shape \(1, 2, 4, 4\)",
        ),
        (
            lambda x: F.grid_sample(x, torch.rand(1, 2, 2, 3)),
            RuntimeError,
            r"input \(1, 2, 4, 4\) needs a grid of 4 dimensions .* got grid \(1, 2, 2, 3\)",
        ),
        (
            lambda x: torch.grid_sampler(x, torch.rand(1, 2, 2, 2), 3, 0, False),
            RuntimeError,
            "expected interpolation_mode and padding_mode in 0, 1, 2, got 3 and 0",
        ),
        (
            lambda x: F.pixel_shuffle(x, 3),
            RuntimeError,
            r"channels of input \(1, 2, 4, 4\) must be divisible by the square",
        ),
        (
            lambda x: F.affine_grid(torch.rand(1, 2, 2), (1, 1, 2, 2)),
            ValueError,
            r"matrices of shape \(N, 2, 3\) for size \(1, 1, 2, 2\), got \(1, 2, 2\)",
        ),
    ],
)
def test_messages(call, error, message) -> None:
    with pytest.raises(error, match=message):
        call(torch.rand(1, 2, 4, 4))
