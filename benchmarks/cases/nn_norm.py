"""Normalisation, softmax, embedding and dropout, forwards and backwards."""

from collections.abc import Callable
from typing import Any

from benchmarks.case import Namespace, add_case

GROUP = "nn-fused"


def step(call: str, make: Callable[[Any], Namespace]) -> Callable[[Any], Namespace]:
    """Names for `step()`: the call, and backward from a random gradient."""

    def prepare(t: Any) -> Namespace:
        t.manual_seed(0)
        names = {"t": t, "nn": t.nn, "F": t.nn.functional} | make(t)
        exec(f"def run(): return {call}", names)
        with t.no_grad():
            names["g"] = t.randn_like(names["run"]())
        names["leaves"] = [
            v for v in names.values() if isinstance(v, t.Tensor) and v.requires_grad
        ] + [p for v in names.values() if isinstance(v, t.nn.Module) for p in v.parameters()]
        source = """
def step():
    run().backward(g)
    for leaf in leaves:
        leaf.grad = None
"""
        exec(source, names)
        return names

    return prepare


def add(name: str, call: str, make: Callable[[Any], Namespace]) -> None:
    """A row that runs `call` and its backward."""
    add_case(GROUP, name, step(call, make), "step()")


def module(text: str, *shape: int, dtype: str = "float32") -> Callable[[Any], Namespace]:
    """A module `m`, and an input `x` that requires gradients."""

    def make(t: Any) -> Namespace:
        kind = getattr(t, dtype)
        return {
            "m": eval(text, {"nn": t.nn}).to(kind),
            "x": t.randn(*shape).to(kind).requires_grad_(),
        }

    return make


for _name, _text, _shape in (
    ("batch_norm 32x64x56x56", "nn.BatchNorm2d(64)", (32, 64, 56, 56)),
    ("batch_norm 32x256x14x14", "nn.BatchNorm2d(256)", (32, 256, 14, 14)),
    ("batch_norm 16x16x12x12", "nn.BatchNorm2d(16)", (16, 16, 12, 12)),
    ("batch_norm 256x512", "nn.BatchNorm1d(512)", (256, 512)),
    ("layer_norm 32x128x768", "nn.LayerNorm(768)", (32, 128, 768)),
    ("layer_norm 64x64x128", "nn.LayerNorm(128)", (64, 64, 128)),
    ("layer_norm 32x100", "nn.LayerNorm(100)", (32, 100)),
    ("group_norm 16x128x28x28", "nn.GroupNorm(32, 128)", (16, 128, 28, 28)),
    ("instance_norm 16x64x32x32", "nn.InstanceNorm2d(64, affine=True)", (16, 64, 32, 32)),
    ("rms_norm 32x128x768", "nn.RMSNorm(768)", (32, 128, 768)),
    ("dropout 32x128x768", "nn.Dropout(0.1)", (32, 128, 768)),
    ("dropout 128x512", "nn.Dropout(0.5)", (128, 512)),
    ("dropout2d 32x64x28x28", "nn.Dropout2d(0.5)", (32, 64, 28, 28)),
):
    add(_name, "m(x)", module(_text, *_shape))


def images_last(t: Any) -> Namespace:
    """A batch norm and images that lie channels last."""
    x = t.randn(32, 64, 28, 28).contiguous(memory_format=t.channels_last)
    return {"m": t.nn.BatchNorm2d(64), "x": x.requires_grad_()}


add("batch_norm 32x64x28x28 channels last", "m(x)", images_last)

for _rows, _columns in ((1000, 100), (4096, 64), (512, 1000), (64, 30000)):
    for _function in ("softmax", "log_softmax"):
        add(
            f"{_function} {_rows}x{_columns}",
            f"F.{_function}(x, dim=-1)",
            lambda t, shape=(_rows, _columns): {"x": t.randn(*shape).requires_grad_()},
        )


def table(rows: int, width: int, *shape: int) -> Callable[[Any], Namespace]:
    """An embedding and numbers of its rows."""
    return lambda t: {"m": t.nn.Embedding(rows, width), "x": t.randint(0, rows, shape)}


add("embedding 30000x128 of 32x64", "m(x)", table(30000, 128, 32, 64))
add("embedding 1000x64 of 128x100", "m(x)", table(1000, 64, 128, 100))
add("embedding 100x512 of 64x128", "m(x)", table(100, 512, 64, 128))
