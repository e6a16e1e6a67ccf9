"""Convolutions of a batch of images, forwards, and with the gradients of image, weight and bias.

Forwards they are also read in the order of their dimensions, as whoever flattens them does.
"""

import functools
from typing import Any

from benchmarks.case import Namespace, add_case

# image, weight, and the other arguments of the call
CONVOLUTIONS = {
    "7x7/2, 3 -> 64, 224": ((8, 3, 224, 224), (64, 3, 7, 7), "stride=2, padding=3"),
    "3x3, 64 -> 64, 56": ((8, 64, 56, 56), (64, 64, 3, 3), "padding=1"),
    "3x3, 256 -> 256, 14": ((8, 256, 14, 14), (256, 256, 3, 3), "padding=1"),
    "3x3/2, 128 -> 128, 28": ((8, 128, 28, 28), (128, 128, 3, 3), "stride=2, padding=1"),
    "1x1, 256 -> 64, 56": ((8, 256, 56, 56), (64, 256, 1, 1), ""),
    "1x1, 64 -> 256, 56": ((8, 64, 56, 56), (256, 64, 1, 1), ""),
    "5x5, 1 -> 6, 28": ((64, 1, 28, 28), (6, 1, 5, 5), ""),
    "5x5, 6 -> 16, 14": ((64, 6, 14, 14), (16, 6, 5, 5), ""),
    "3x3 depthwise, 64, 56": ((8, 64, 56, 56), (64, 1, 3, 3), "padding=1, groups=64"),
    "3x3 depthwise, 128, 28": ((8, 128, 28, 28), (128, 1, 3, 3), "padding=1, groups=128"),
    "3x3 in 4 groups, 128 -> 128, 28": ((8, 128, 28, 28), (128, 32, 3, 3), "padding=1, groups=4"),
    "4x4/2 transposed, 128 -> 64, 14": ((8, 128, 14, 14), (128, 64, 4, 4), "stride=2, padding=1"),
    "4x4/2 transposed, 64 -> 32, 28": ((8, 64, 28, 28), (64, 32, 4, 4), "stride=2, padding=1"),
}


def prepare(t: Any, name: str) -> Namespace:
    """Leaves, the result's gradient, and the call as a function."""
    t.manual_seed(0)
    image, weight, arguments = CONVOLUTIONS[name]
    transposed = "transposed" in name
    names = {
        "t": t,
        "F": t.nn.functional,
        "x": t.randn(image, requires_grad=True),
        "w": t.randn(weight, requires_grad=True),
        "b": t.randn(weight[1 if transposed else 0], requires_grad=True),
    }
    function = "conv_transpose2d" if transposed else "conv2d"
    source = f"""
def forward():
    return F.{function}(x, w, b, {arguments})

def without_gradients():
    with t.no_grad():
        return forward()

def in_order():
    return without_gradients().view(-1)

def with_gradients():
    return t.autograd.grad(forward(), (x, w, b), gradient)
"""
    exec(source, names)
    names["gradient"] = t.randn(tuple(names["without_gradients"]().shape))
    return names


LABELS = {"without_gradients": "", "in_order": ", in order", "with_gradients": ", gradients"}
for name in CONVOLUTIONS:
    for what, label in LABELS.items():
        make = functools.partial(prepare, name=name)
        add_case("nn-conv", f"{name}{label}", make, f"{what}()")
