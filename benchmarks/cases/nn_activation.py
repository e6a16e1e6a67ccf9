"""Activation functions, forwards and backwards."""

import functools
from typing import Any

from benchmarks.case import Namespace, add_case

GROUP = "nn-activation"


def elements(t: Any, size: int) -> Namespace:
    """A matrix of normal numbers, and an incoming gradient."""
    t.manual_seed(0)
    x = t.randn(size // 100, 100, requires_grad=True)
    return {
        "F": t.nn.functional,
        "grad": t.autograd.grad,
        "x": x,
        "back": t.randn(size // 100, 100),
        "half": t.randn(size // 100, 50),
    }


for call in (
    "F.relu(x)",
    "F.gelu(x)",
    "F.gelu(x, approximate='tanh')",
    "F.silu(x)",
    "F.leaky_relu(x, 0.1)",
    "F.elu(x)",
    "F.selu(x)",
    "F.mish(x)",
    "F.softplus(x)",
    "F.hardswish(x)",
    "F.hardsigmoid(x)",
    "F.logsigmoid(x)",
    "F.sigmoid(x)",
    "F.tanh(x)",
    "F.softsign(x)",
    "F.tanhshrink(x)",
    "F.glu(x)",
    "F.softmax(x, -1)",
    "F.log_softmax(x, -1)",
):
    back = "half" if "glu" in call else "back"
    for size in (10_000, 1_000_000):
        prepare = functools.partial(elements, size=size)
        add_case(GROUP, f"{call} of {size:,}", prepare, f"grad({call}, x, {back})")

for call in ("F.relu(x)", "F.gelu(x)", "F.silu(x)"):
    add_case(
        GROUP,
        f"{call} of 1,000,000 bfloat16",
        lambda t: {"F": t.nn.functional, "x": t.randn(10_000, 100).bfloat16()},
        call,
    )
