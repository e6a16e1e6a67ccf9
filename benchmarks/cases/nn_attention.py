"""Attention, forwards and backwards: the function, the module and a layer of a Transformer."""

import functools
from typing import Any

from benchmarks.case import Namespace, add_case

GROUP = "nn-attention"


def projected(t: Any, batch: int, heads: int, length: int, features: int) -> Namespace:
    """Queries, keys and values cut out of one projection, as programs have them."""
    t.manual_seed(0)
    width = heads * features
    x = t.randn(batch, length, 3 * width, requires_grad=True)
    cut = (part.view(batch, length, heads, features).transpose(1, 2) for part in x.split(width, 2))
    q, k, v = cut
    return {
        "attention": t.nn.functional.scaled_dot_product_attention,
        "grad": t.autograd.grad,
        "x": x,
        "q": q,
        "k": k,
        "v": v,
        "mask": t.rand(batch, 1, 1, length) > 0.1,
        "back": t.randn(batch, heads, length, features),
    }


for batch, heads, length, features in (
    (8, 6, 256, 64),
    (2, 6, 1024, 64),
    (16, 4, 32, 64),
    (8, 8, 197, 48),
):
    sizes = f"{batch} x {heads} heads x {length} x {features}"
    prepare = functools.partial(
        projected, batch=batch, heads=heads, length=length, features=features
    )
    for name, arguments in (("", ""), (", causal", ", is_causal=True"), (", masked", ", mask")):
        statement = f"grad(attention(q, k, v{arguments}), (q, k, v), back)"
        add_case(GROUP, f"attention {sizes}{name}", prepare, statement)


def module(t: Any, text: str, length: int) -> Namespace:
    """A module and a batch of sequences for it."""
    t.manual_seed(0)
    made = eval(text, {"nn": t.nn})
    x = t.randn(8, length, 256, requires_grad=True)
    return {
        "net": made,
        "x": x,
        "grad": t.autograd.grad,
        "inputs": (x, *made.parameters()),
        "back": t.randn(8, length, 256),
    }


ATTENTION = "nn.MultiheadAttention(256, 4, batch_first=True)"
LAYER = "nn.TransformerEncoderLayer(256, 4, 1024, dropout=0.0, batch_first=True)"
DROPPING = "nn.TransformerEncoderLayer(256, 4, 1024, batch_first=True)"
for name, text, call in (
    ("MultiheadAttention", ATTENTION, "net(x, x, x, need_weights=False)[0]"),
    ("MultiheadAttention with weights", ATTENTION, "net(x, x, x)[0]"),
    ("TransformerEncoderLayer", LAYER, "net(x)"),
    ("TransformerEncoderLayer with dropout", DROPPING, "net(x)"),
):
    for length in (32, 128):
        prepare = functools.partial(module, text=text, length=length)
        add_case(GROUP, f"{name}, 8 x {length} x 256", prepare, f"grad({call}, inputs, back)")
