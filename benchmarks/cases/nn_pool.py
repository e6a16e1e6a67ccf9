"""Pooling forwards and backwards, on plain images and on those that a convolution has made."""

import functools
from collections.abc import Callable
from typing import Any

from benchmarks.case import Namespace, add_case

BACKWARD = "t.autograd.grad(layer(x), x, grad)"


def plain(t: Any, layer: Callable[[Any], Any], shape: tuple[int, ...]) -> Namespace:
    t.manual_seed(0)
    x = t.randn(*shape, requires_grad=True)
    module = layer(t)
    return {"t": t, "x": x, "layer": module, "grad": t.randn(*module(x).shape)}


def convolved(t: Any, layer: Callable[[Any], Any], shape: tuple[int, ...]) -> Namespace:
    """The same, laid out as the framework's own convolution lays out its result."""
    t.manual_seed(0)
    image = t.randn(shape[0], 3, *shape[2:], requires_grad=True)
    x = t.nn.functional.conv2d(image, t.randn(shape[1], 3, 3, 3), padding=1)
    module = layer(t)
    return {"t": t, "x": x, "layer": module, "grad": module(x).detach()}


IMAGES, SMALL = (64, 64, 56, 56), (64, 6, 28, 28)
LAYERS: dict[str, Callable[[Any], Any]] = {
    "max_pool2d 2x2": lambda t: t.nn.MaxPool2d(2),
    "max_pool2d 3x3/2": lambda t: t.nn.MaxPool2d(3, 2, 1),
    "avg_pool2d 2x2": lambda t: t.nn.AvgPool2d(2),
    "adaptive_avg_pool2d to 1": lambda t: t.nn.AdaptiveAvgPool2d(1),
}
for name, layer in LAYERS.items():
    for shape in (IMAGES, SMALL):
        sizes = " x ".join(map(str, shape))
        for kind, prepare in (("", plain), (", of a convolution", convolved)):
            make = functools.partial(prepare, layer=layer, shape=shape)
            add_case("nn-fused", f"{name}{kind}  [{sizes}]", make, BACKWARD)

for name, statement in (("max_pool1d 2", "layer(x.detach())"), ("max_pool1d 2, fwd+bwd", BACKWARD)):
    make = functools.partial(plain, layer=lambda t: t.nn.MaxPool1d(2), shape=(32, 64, 1000))
    add_case("nn-fused", f"{name}  [32 x 64 x 1000]", make, statement)


# --- other resolutions


def grid(t: Any, shape: tuple[int, ...]) -> Namespace:
    t.manual_seed(0)
    x = t.randn(*shape, requires_grad=True)
    points = (t.rand(shape[0], *shape[2:], 2) * 2 - 1).requires_grad_()
    return {"t": t, "F": t.nn.functional, "x": x, "points": points, "grad": t.randn(*shape)}


SCALED: dict[str, Callable[[Any], Any]] = {
    f"interpolate {mode} x2": functools.partial(
        lambda t, mode: t.nn.Upsample(scale_factor=2, mode=mode), mode=mode
    )
    for mode in ("nearest", "bilinear", "bicubic")
}
for name, layer in SCALED.items():
    make = functools.partial(plain, layer=layer, shape=(16, 32, 32, 32))
    add_case("nn-resample", f"{name}, fwd+bwd  [16 x 32 x 32 x 32]", make, BACKWARD)
make = functools.partial(grid, shape=(8, 16, 64, 64))
sample = "F.grid_sample(x, points, align_corners=False)"
add_case("nn-resample", "grid_sample  [8 x 16 x 64 x 64]", make, sample)
add_case(
    "nn-resample",
    "grid_sample, fwd+bwd  [8 x 16 x 64 x 64]",
    make,
    f"t.autograd.grad({sample}, (x, points), grad)",
)
PADDED: dict[str, Callable[[Any], Any]] = {
    "reflection pad": lambda t: t.nn.ReflectionPad2d(2),
    "replication pad": lambda t: t.nn.ReplicationPad2d(2),
    "zero pad": lambda t: t.nn.ZeroPad2d(2),
    "pixel shuffle": lambda t: t.nn.PixelShuffle(2),
}
for name, layer in PADDED.items():
    make = functools.partial(plain, layer=layer, shape=(16, 32, 64, 64))
    add_case("nn-resample", f"{name}, fwd+bwd  [16 x 32 x 64 x 64]", make, BACKWARD)
    add_case("nn-resample", f"{name}  [16 x 32 x 64 x 64]", make, "layer(x.detach())")
