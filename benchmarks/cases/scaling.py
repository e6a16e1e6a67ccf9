"""Operators on more and more threads: products, convolutions, layers, memory."""

from collections.abc import Callable
from typing import Any

from benchmarks.case import Namespace, add_case


def products(*sizes: tuple[int, ...]) -> Callable[[Any], Namespace]:
    def prepare(t: Any) -> Namespace:
        return {"a": t.randn(*sizes[0]), "b": t.randn(*sizes[1])}

    return prepare


def layer(
    make: Callable[[Any], Any], sizes: tuple[int, ...], with_gradients: bool = True
) -> Callable[[Any], Namespace]:
    """What `make(t)` gives, on a tensor of these sizes: `infer()` and `step()`."""

    def prepare(t: Any) -> Namespace:
        t.manual_seed(0)
        f, x = make(t), t.randn(*sizes, requires_grad=with_gradients)
        with t.no_grad():
            g = t.randn(*f(x).shape)

        def infer() -> None:
            with t.no_grad():
                f(x)

        return {"infer": infer, "step": lambda: f(x).backward(g)}

    return prepare


def attention(t: Any) -> Any:
    return lambda x: t.nn.functional.scaled_dot_product_attention(x, x, x, is_causal=True)


def cross_entropy(t: Any) -> Any:
    target = t.randint(0, 8000, (2048,))
    return lambda x: t.nn.functional.cross_entropy(x, target)


def perceptron(t: Any) -> Any:
    nn = t.nn
    return nn.Sequential(
        nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 256), nn.ReLU(), nn.Linear(256, 10)
    )


def lstm(t: Any) -> Any:
    module = t.nn.LSTM(128, 256, 2, batch_first=True)
    return lambda x: module(x)[0]


def adamw(t: Any) -> Namespace:
    weights = [t.nn.Parameter(t.randn(1000, 1000)) for _ in range(10)]
    for weight in weights:
        weight.grad = t.randn(1000, 1000)
    return {"optimizer": t.optim.AdamW(weights)}


for m, k, n in (
    (256, 256, 256),
    (1024, 1024, 1024),
    (2048, 2048, 2048),
    (2048, 384, 1536),
    (64, 784, 512),
    (1, 1024, 1024),
):
    add_case("scaling", f"product {m} x {k} x {n}", products((m, k), (k, n)), "a @ b")
add_case("scaling", "48 products 256 x 64 x 256", products((48, 256, 64), (48, 64, 256)), "a @ b")

STEPS: tuple[tuple[str, Callable[[Any], Any], tuple[int, ...]], ...] = (
    ("linear 384-1536", lambda t: t.nn.Linear(384, 1536), (2048, 384)),
    ("conv 3 x 3", lambda t: t.nn.Conv2d(64, 64, 3, padding=1), (64, 64, 32, 32)),
    ("conv 1 x 1", lambda t: t.nn.Conv2d(256, 64, 1), (16, 256, 56, 56)),
    ("layer norm", lambda t: t.nn.LayerNorm(384), (8, 256, 384)),
    ("batch norm", lambda t: t.nn.BatchNorm2d(64), (64, 64, 32, 32)),
    ("GELU", lambda t: t.nn.GELU(), (8, 256, 1536)),
    ("causal attention", attention, (8, 6, 256, 64)),
    ("cross entropy", cross_entropy, (2048, 8000)),
    ("LSTM 2 x 256", lstm, (32, 100, 128)),
)
for name, make, sizes in STEPS:
    add_case("scaling", f"{name} + gradients", layer(make, sizes), "step()")
for name, make, sizes in (
    (STEPS[1][0], STEPS[1][1], STEPS[1][2]),
    ("MLP 784-512-256-10, one row", perceptron, (1, 784)),
):
    add_case("scaling", name, layer(make, sizes, False), "infer()")
add_case("scaling", "addition of 10^6", products((1000, 1000), (1000, 1000)), "a + b")
add_case("scaling", "AdamW, 10^7 parameters", adamw, "optimizer.step()")
