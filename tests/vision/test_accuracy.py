"""Gradients of whole networks in float32, against the same networks in float64."""

from __future__ import annotations

import copy

import pytest

import flambeau as fb
from flambeau import Tensor, nn
from flambeau.vision.models.resnet import BasicBlock, Bottleneck
from flambeau.vision.models.vision_transformer import VisionTransformer
from flambeau.vision.ops.misc import Conv2dNormActivation, SqueezeExcitation

EPS = fb.finfo(fb.float32).eps
# A sum of n products is wrong by about sqrt(n) roundings, which for the thousands of terms of a
# gradient here is some tens; Winograd's filtering doubles that, and each layer adds its own to what
# it is given. Found are up to 30, and up to 70 where sums nearly cancel. With sums of a few hundred
# equal numbers in float32, batch normalisation before pooling comes to 500.
TOLERANCE = 150 * EPS


def smooth(module: nn.Module) -> nn.Module:
    """The network without kinks: a number within rounding of one has two derivatives."""
    for parent in list(module.modules()):
        for name, child in parent.named_children():
            if isinstance(child, (nn.ReLU, nn.Hardswish, nn.Hardsigmoid)):
                setattr(parent, name, nn.SiLU() if name != "scale_activation" else nn.Sigmoid())
    return module


def residual() -> nn.Module:
    """Wide enough for every way in which a convolution is computed."""
    shrink = nn.Sequential(nn.Conv2d(64, 128, 1, 2, bias=False), nn.BatchNorm2d(128))
    return nn.Sequential(
        nn.Conv2d(3, 64, 7, 2, 3, bias=False),
        nn.BatchNorm2d(64),
        nn.ReLU(),
        BasicBlock(64, 64),
        Bottleneck(64, 16),
        BasicBlock(64, 128, 2, shrink),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(128, 10),
    )


def mobile() -> nn.Module:
    def block(inputs: int, hidden: int, outputs: int, kernel: int, stride: int) -> nn.Module:
        return nn.Sequential(
            Conv2dNormActivation(inputs, hidden, 1, activation_layer=nn.Hardswish),
            Conv2dNormActivation(
                hidden, hidden, kernel, stride, groups=hidden, activation_layer=nn.Hardswish
            ),
            SqueezeExcitation(hidden, 8, scale_activation=nn.Hardsigmoid),
            Conv2dNormActivation(hidden, outputs, 1, activation_layer=None),
        )

    return nn.Sequential(
        Conv2dNormActivation(3, 16, 3, 2, activation_layer=nn.Hardswish),
        block(16, 40, 24, 3, 2),
        block(24, 72, 32, 5, 1),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(32, 10),
    )


def transformer() -> nn.Module:
    model = VisionTransformer(64, 8, 3, 4, 128, 256, num_classes=10)
    nn.init.normal_(model.heads.head.weight, std=0.1)  # begins with zeros
    return model


def gradients(model: nn.Module, images: Tensor, classes: Tensor) -> dict[str, Tensor]:
    nn.functional.cross_entropy(model(images), classes).backward()
    return {name: p.grad.double() for name, p in model.named_parameters() if p.grad is not None}


@pytest.mark.parametrize("make", [residual, mobile, transformer])
@pytest.mark.parametrize("memory_format", [fb.contiguous_format, fb.channels_last])
def test_gradients_are_those_of_float64(make, memory_format):
    fb.manual_seed(0)
    model = smooth(make())
    images = fb.randn(8, 3, 64, 64).contiguous(memory_format=memory_format)
    classes = fb.randint(0, 10, (8,))
    exact = gradients(copy.deepcopy(model).double(), images.double(), classes)
    found = gradients(model, images, classes)
    scale = max(g.norm() for g in exact.values())
    for name, true in exact.items():
        # Small ones, sums of what nearly cancels, are measured by the large ones they come from.
        error = (found[name] - true).norm() / max(true.norm(), scale * 1e-2)
        assert error < TOLERANCE, f"{name}: {error / EPS:.0f} times the rounding of a number"
