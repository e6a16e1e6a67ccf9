"""Operators of images, and their gradients, on the device as on the CPU."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import flambeau as fb
from flambeau import nn
from flambeau.nn import functional as F
from tests.cuda.moving import CUDA, to_cuda

TOLERANCE = {fb.float64: 1e-10, fb.float32: 3e-5, fb.float16: 6e-3, fb.bfloat16: 5e-2}
FLOATS = [fb.float32, fb.float64, fb.bfloat16]


def random(*shape: int, dtype: Any = fb.float32) -> Any:
    return fb.randn(*shape, dtype=fb.float64).to(dtype)


def assert_close(ours: Any, theirs: Any) -> None:
    assert ours.device.type == "cuda"
    assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
    rtol = TOLERANCE.get(theirs.dtype, 0)
    a, b = (t.detach().cpu() for t in (ours, theirs))
    if a.dtype == fb.bfloat16:
        a, b = a.float(), b.float()
    finite = b[b.isfinite()].double().abs() if rtol else b[:0]
    scale = float(finite.max()) if finite.numel() else 0
    np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=rtol, atol=rtol * scale)


def compare(function: Callable[..., Any], *tensors: Any) -> None:
    """Results and first gradients of both devices."""
    found = []
    for place in (lambda t: t.clone(), to_cuda):
        inputs = [place(t.detach()).requires_grad_(t.is_floating_point()) for t in tensors]
        result = function(*inputs)
        first = result[0] if isinstance(result, tuple) else result
        fb.manual_seed(1)
        weights = fb.randn(first.shape, dtype=fb.float64).to(first.dtype)
        wanted = [t for t in inputs if t.requires_grad]
        gradients = fb.autograd.grad(first, wanted, weights.to(first.device))
        results = list(result) if isinstance(result, tuple) else [result]
        found.append([*results, *gradients])
    for theirs, ours in zip(*found, strict=True):
        assert_close(ours, theirs)


@pytest.fixture(autouse=True)
def _seed() -> None:
    fb.manual_seed(0)


# Channels in, channels out, groups, image, kernel, options.
CONVOLUTIONS = [
    (3, 6, 1, (9,), (3,), {}),
    (1, 1, 1, (5, 4), (2, 3), {"padding": 1}),
    (3, 5, 1, (11, 7), (3, 3), {"stride": 2, "padding": 1}),
    (8, 12, 1, (10, 9), (3, 3), {"padding": (0, 2), "dilation": (2, 1)}),
    (4, 4, 1, (8, 8), (1, 1), {}),
    (4, 8, 1, (8, 8), (1, 1), {"stride": 2}),
    (20, 130, 1, (33, 31), (1, 3), {"padding": (0, 1)}),
    (65, 33, 1, (6, 5), (3, 3), {"stride": (3, 2), "padding": (2, 1)}),
    (70, 10, 1, (4, 4), (3, 3), {"padding": 1}),
    (6, 6, 6, (9, 8), (3, 3), {"padding": 1}),
    (6, 12, 6, (9, 8), (3, 3), {"stride": 2}),
    (6, 9, 3, (7, 8), (2, 2), {"dilation": 2}),
    (24, 40, 2, (6, 6), (3, 3), {"padding": 1}),
    (4, 5, 1, (4, 5, 6), (2, 3, 2), {"stride": (1, 2, 2), "padding": 1}),
]


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("case", CONVOLUTIONS, ids=str)
def test_convolution(case: Any, dtype: Any) -> None:
    channels, out, groups, image, kernel, options = case
    rank = len(image)
    conv = getattr(F, f"conv{rank}d")
    x = random(2, channels, *image, dtype=dtype)
    weight = random(out, channels // groups, *kernel, dtype=dtype)
    bias = random(out, dtype=dtype)
    compare(lambda *t: conv(*t, groups=groups, **options), x, weight, bias)
    compare(lambda *t: conv(*t, groups=groups, **options), x, weight)
    back = getattr(F, f"conv_transpose{rank}d")
    y = random(2, out, *image, dtype=dtype)
    compare(lambda *t: back(*t, groups=groups, **options), y, weight, random(channels, dtype=dtype))


def test_convolution_of_channels_last_and_of_views() -> None:
    x, weight = random(2, 8, 9, 7), random(16, 8, 3, 3)
    for memory in (fb.channels_last, fb.contiguous_format):
        like = x.contiguous(memory_format=memory)
        compare(lambda x, w: F.conv2d(x, w, padding=1), like, weight)
        compare(lambda x, w: F.conv2d(x, w, padding=1), x, weight.contiguous(memory_format=memory))
    compare(lambda x, w: F.conv2d(x[:, 1:5], w[:, ::2]), x, weight)
    compare(lambda x, w: F.conv2d(x.transpose(2, 3), w.flip(2)), x, weight)


def test_long_sums_are_cut() -> None:
    compare(
        lambda x, w, b: F.conv2d(x, w, b), random(1, 128, 5, 5), random(9, 128, 3, 3), random(9)
    )
    compare(lambda x, w: F.conv1d(x, w), random(3, 4, 1030), random(4, 4, 3))
    compare(lambda x, w: F.conv1d(x, w, groups=4), random(3, 4, 1030), random(4, 1, 3))


def test_large_tiles() -> None:
    x, weight = random(1, 4, 150, 131), random(68, 4, 1, 1)
    compare(lambda x, w: F.conv2d(x, w, stride=(1, 1), padding=(1, 0)), x, weight)
    compare(lambda x, w: F.conv2d(x, w), random(1, 66, 9, 9), random(66, 66, 2, 2))


@pytest.mark.parametrize(
    ("stride", "kernel", "dilation"), [((2, 2), (4, 3), (1, 1)), ((3, 1), (2, 3), (2, 1))]
)
def test_strides_of_large_gradients(stride: Any, kernel: Any, dilation: Any) -> None:
    def back(x: Any, w: Any, b: Any) -> Any:
        return F.conv_transpose2d(x, w, b, stride, 1, dilation=dilation)

    compare(back, random(2, 20, 30, 21), random(20, 36, *kernel), random(36))


@pytest.mark.parametrize("dtype", [fb.int64, fb.uint8, fb.complex64], ids=str)
def test_convolution_of_other_types(dtype: Any) -> None:
    x = fb.randint(0, 5, (2, 3, 6, 5)).to(dtype)
    weight = fb.randint(0, 5, (4, 3, 3, 2)).to(dtype)
    ours, theirs = F.conv2d(to_cuda(x), to_cuda(weight), padding=1), F.conv2d(x, weight, padding=1)
    assert (ours.cpu() == theirs).all()


def test_empty_images() -> None:
    x, weight, bias = random(0, 3, 6, 6), random(4, 3, 3, 3), random(4)
    compare(lambda *t: F.conv2d(*t), x, weight, bias)
    assert F.max_pool2d(to_cuda(x), 2).shape == (0, 3, 3, 3)
    assert F.avg_pool2d(to_cuda(x), 2).shape == (0, 3, 3, 3)
    assert F.interpolate(to_cuda(x), scale_factor=2.0).shape == (0, 3, 12, 12)


POOLS: list[Any] = [
    (1, lambda x: F.max_pool1d(x, 3, 2, 1)),
    (1, lambda x: F.avg_pool1d(x, 3, 2, 1)),
    (1, lambda x: F.adaptive_max_pool1d(x, 5)),
    (2, lambda x: F.max_pool2d(x, 2)),
    (2, lambda x: F.max_pool2d(x, 3, 2, 1, ceil_mode=True)),
    (2, lambda x: F.max_pool2d(x, (3, 2), (1, 3), (1, 0), (2, 1))),
    (2, lambda x: F.max_pool2d(x, 3, 2, 1, return_indices=True)),
    (2, lambda x: F.max_pool2d(x, 20, 1, 10)),
    (2, lambda x: F.adaptive_max_pool2d(x, (3, 5), return_indices=True)),
    (2, lambda x: F.avg_pool2d(x, 3, 2, 1)),
    (2, lambda x: F.avg_pool2d(x, 3, 2, 1, ceil_mode=True, count_include_pad=False)),
    (2, lambda x: F.adaptive_avg_pool2d(x, (3, 4))),
    (2, lambda x: F.adaptive_avg_pool2d(x, 1)),
    (2, lambda x: F.lp_pool2d(x, 2, 3)),
    (3, lambda x: F.max_pool3d(x, 2, 1, 1)),
    (3, lambda x: F.avg_pool3d(x, 3, 2)),
    (3, lambda x: F.adaptive_avg_pool3d(x, (2, 3, 1))),
    (3, lambda x: F.adaptive_max_pool3d(x, 2)),
]


@pytest.mark.parametrize("dtype", [fb.float32, fb.bfloat16], ids=str)
@pytest.mark.parametrize("pool", POOLS, ids=range(len(POOLS)))
def test_pooling(pool: Any, dtype: Any) -> None:
    rank, function = pool
    sizes = {1: (33,), 2: (17, 31), 3: (5, 7, 6)}[rank]
    x = random(2, 5, *sizes, dtype=dtype)
    compare(function, x)
    compare(lambda x: function(x.transpose(1, -1)), x)
    if rank == 2:
        compare(function, x.contiguous(memory_format=fb.channels_last))


def test_the_largest_element_is_the_last_nan_or_the_first_of_equals() -> None:
    x = fb.tensor([[[[1.0, 1, fb.nan, 0], [1, 1, 0, fb.nan], [-fb.inf] * 4, [-fb.inf] * 4]]])
    compare(lambda x: F.max_pool2d(x, 2, return_indices=True), x)
    x = fb.randint(-128, 127, (2, 3, 8, 8)).to(fb.int8)
    values, indices = F.max_pool2d(x, 3, 2, return_indices=True)
    ours = F.max_pool2d(to_cuda(x), 3, 2, return_indices=True)
    assert_close(ours[0], values)
    assert_close(ours[1], indices)


def test_unpooling() -> None:
    x = random(2, 3, 12, 10)
    values, indices = F.max_pool2d(x, 3, 2, 1, return_indices=True)  # with repeated positions
    compare(lambda v, i: F.max_unpool2d(v, i, 3, 2, 1, output_size=(12, 10)), values, indices)
    with pytest.raises(IndexError, match="the index 120"):
        F.max_unpool2d(to_cuda(values), to_cuda(indices * 0 + 120), 3, 2, 1, (12, 10)).cpu()


def test_fractional_pooling() -> None:
    x = random(2, 3, 12, 10)
    samples = fb.rand(2, 3, 2)

    def pool(x: Any) -> Any:
        there = samples.to(x.device)
        return F.fractional_max_pool2d(x, (3, 2), (5, 4), None, True, there)

    compare(pool, x)


RESIZES: list[Any] = [
    {"size": (20, 33)},
    {"size": (7, 40), "mode": "nearest-exact"},
    {"scale_factor": 2.0, "mode": "bilinear"},
    {"size": (5, 9), "mode": "bilinear", "align_corners": True},
    {"size": (30, 30), "mode": "bicubic"},
    {"size": (4, 5), "mode": "bilinear", "antialias": True},
    {"size": (3, 3), "mode": "bicubic", "antialias": True},
    {"size": (6, 8), "mode": "area"},
]


@pytest.mark.parametrize("dtype", [fb.float32, fb.float64, fb.float16], ids=str)
@pytest.mark.parametrize("options", RESIZES, ids=str)
def test_resizing(options: Any, dtype: Any) -> None:
    x = random(2, 3, 12, 150, dtype=dtype)
    compare(lambda x: F.interpolate(x, **options), x)
    last = x.contiguous(memory_format=fb.channels_last)
    compare(lambda x: F.interpolate(x, **options), last)


@pytest.mark.parametrize("mode", ["nearest", "bilinear", "bicubic"])
def test_resizing_of_bytes(mode: str) -> None:
    x = fb.randint(0, 256, (2, 3, 12, 17)).to(fb.uint8)
    for each in (x, x.contiguous(memory_format=fb.channels_last), x[:, :, 2:, 3:]):
        for size in ((30, 9), (12, 40), (5, 17), (12, 17)):
            theirs = F.interpolate(each, size=size, mode=mode)
            assert_close(F.interpolate(to_cuda(each), size=size, mode=mode), theirs)


@pytest.mark.parametrize("mode", ["constant", "reflect", "replicate", "circular"])
def test_padding(mode: str) -> None:
    compare(lambda x: F.pad(x, (2, 3, 1, 0), mode), random(2, 3, 6, 7))


@pytest.mark.parametrize("align_corners", [False, True])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("mode", ["bilinear", "nearest", "bicubic"])
def test_sampling(mode: str, padding: str, align_corners: bool) -> None:
    def sample(image: Any, grid: Any) -> Any:
        return F.grid_sample(image, grid, mode, padding, align_corners)

    grid = random(2, 9, 40, 2)
    grid[0, 0, :3] = fb.tensor([[fb.nan, 0.0], [fb.inf, 0.5], [7.3, -5.1]])
    compare(sample, random(2, 3, 7, 6), grid)
    if mode != "bicubic":
        compare(
            sample, random(2, 2, 4, 5, 6, dtype=fb.float64), random(2, 3, 4, 5, 3, dtype=fb.float64)
        )


def test_affine_grids() -> None:
    compare(lambda t: F.affine_grid(t, [2, 1, 9, 33], align_corners=False), random(2, 2, 3))
    compare(lambda t: F.affine_grid(t, [2, 1, 3, 4, 5], align_corners=True), random(2, 3, 4))


def test_windows_as_columns() -> None:
    x = random(2, 3, 9, 11)
    options: Any = {"kernel_size": (3, 2), "dilation": (1, 2), "padding": (1, 0), "stride": (2, 1)}
    compare(lambda x: F.unfold(x, **options), x)
    columns = F.unfold(x, **options)
    compare(lambda c: F.fold(c, (9, 11), **options), columns)
    compare(lambda c: F.fold(c, (9, 11), **options), columns.to(fb.bfloat16))


def test_shuffles() -> None:
    for dtype in (fb.float32, fb.float64, fb.bfloat16):
        compare(lambda x: F.pixel_shuffle(x, 3), random(2, 18, 5, 7, dtype=dtype))
        compare(lambda x: F.pixel_unshuffle(x, 2), random(2, 3, 6, 14, dtype=dtype))
        compare(lambda x: F.channel_shuffle(x, 3), random(2, 6, 5, 7, dtype=dtype))


class Block(nn.Module):
    """Two convolutions around a shortcut, as in a ResNet; no normalisation."""

    def __init__(self, channels: int, out: int, stride: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(channels, out, 3, stride, 1)
        self.second = nn.Conv2d(out, out, 3, 1, 1)
        self.shortcut = nn.Conv2d(channels, out, 1, stride, bias=False)

    def forward(self, x: Any) -> Any:
        inner = self.second(F.relu(self.first(x)))
        return F.relu(inner + self.shortcut(x))


def lenet() -> Any:
    return nn.Sequential(
        nn.Conv2d(1, 6, 5, padding=2),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(6, 16, 5),
        nn.ReLU(),
        nn.AvgPool2d(2),
        nn.Flatten(),
        nn.Linear(16, 10),
    )


def resnet() -> Any:
    return nn.Sequential(
        nn.Conv2d(1, 8, 3, 2, 1),
        nn.MaxPool2d(3, 2, 1),
        Block(8, 12, 2),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(12, 10),
    )


@pytest.mark.parametrize("make", [lenet, resnet])
def test_a_network_learns(make: Callable[[], Any]) -> None:
    def losses(device: Any) -> list[float]:
        fb.manual_seed(0)
        net = make()
        x, classes = fb.randn(3, 1, 12, 12), fb.randint(0, 10, (3,))
        net, x, classes = net.to(device), x.to(device), classes.to(device)
        optimizer = fb.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
        found = []
        for _ in range(3):
            optimizer.zero_grad()
            loss = F.cross_entropy(net(x), classes)
            loss.backward()
            optimizer.step()
            found.append(loss.item())
        return found

    assert losses(CUDA) == pytest.approx(losses("cpu"), rel=1e-3)


def test_a_gradient_that_adds_in_any_order_is_refused_if_asked_for() -> None:
    image, grid = (fb.ones(*shape, device=CUDA) for shape in ((1, 1, 3, 3), (1, 2, 2, 2)))
    result = F.grid_sample(image.requires_grad_(), grid, align_corners=False)
    fb.use_deterministic_algorithms(True)
    try:
        with pytest.raises(RuntimeError, match="does not have a deterministic implementation"):
            result.sum().backward(retain_graph=True)
        fb.use_deterministic_algorithms(True, warn_only=True)
        with pytest.warns(UserWarning, match="gradient of grid_sample"):
            result.sum().backward()
    finally:
        fb.use_deterministic_algorithms(False)
