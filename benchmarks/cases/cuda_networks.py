"""Layers of networks on a GPU: convolutions, attention, a recurrent network."""

from collections.abc import Callable
from typing import Any

from benchmarks.case import Namespace, add_case
from benchmarks.device import size


def passes(
    make: Callable[[Any, Any], Callable[[Any], Any]], shape: tuple[int, ...], dtype: str
) -> Callable[[Any], Namespace]:
    """`infer()` and `step()` of what `make(t, dtype)` gives, on a tensor of this shape."""

    def prepare(t: Any) -> Namespace:
        kind = getattr(t, dtype)
        layer = make(t, kind)
        x = t.randn(*shape, device="cuda").to(kind).requires_grad_()
        with t.no_grad():
            gradient = t.ones_like(layer(x))

        def infer() -> None:
            with t.no_grad():
                layer(x)

        return {"infer": infer, "step": lambda: layer(x).backward(gradient)}

    return prepare


def convolution(t: Any, dtype: Any) -> Any:
    return t.nn.Conv2d(*[size(64, 4)] * 2, 3, padding=1).to("cuda").to(dtype)


def attention(t: Any, dtype: Any) -> Any:
    return lambda x: t.nn.functional.scaled_dot_product_attention(x, x, x, is_causal=True)


def lstm(t: Any, dtype: Any) -> Any:
    module = t.nn.LSTM(size(128, 8), size(512, 8), 2, batch_first=True).to("cuda").to(dtype)
    return lambda x: module(x)[0]


IMAGES = (size(64, 1), size(64, 4), size(56, 8), size(56, 8))
HEADS = (size(16, 1), size(16, 1), size(1024, 16), size(64, 16))
SEQUENCES = (size(64, 2), size(100, 3), size(128, 8))

for name, make, shape, dtype, statement in (
    ("conv 3 x 3, float32", convolution, IMAGES, "float32", "infer()"),
    ("conv 3 x 3, float32, gradients", convolution, IMAGES, "float32", "step()"),
    ("conv 3 x 3, bfloat16", convolution, IMAGES, "bfloat16", "infer()"),
    ("conv 3 x 3, bfloat16, gradients", convolution, IMAGES, "bfloat16", "step()"),
    ("causal attention, bfloat16, gradients", attention, HEADS, "bfloat16", "step()"),
    ("LSTM 128-512, 2 layers, gradients", lstm, SEQUENCES, "float32", "step()"),
):
    add_case("cuda-networks", name, passes(make, shape, dtype), statement, timer="device")
