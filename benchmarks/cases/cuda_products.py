"""Matrix products on a GPU: float32, TF32 and bfloat16, alone and within a layer."""

from collections.abc import Callable
from typing import Any

from benchmarks.case import Namespace, add_case
from benchmarks.device import digest, rotating, sample, size
from benchmarks.roofline import Work

KINDS = {  # the type, and what float32 products may round to
    "float32": ("float32", "highest"),
    "TF32": ("float32", "high"),
    "bfloat16": ("bfloat16", "highest"),
}
SIZES = (1024, 2048, 4096, 8192)
BATCH, WIDTH, LAYER = 64, 1024, 4096


def products(kind: str, width: int, *batch: int) -> Callable[[Any], Namespace]:
    def prepare(t: Any) -> Namespace:
        dtype, precision = getattr(t, KINDS[kind][0]), KINDS[kind][1]
        t.set_float32_matmul_precision(precision)
        few = sample(t, 64, 64).to(dtype)
        n = size(width, 32)
        shape = [size(each, 2) for each in batch] + [n, n]
        sets = [[t.randn(*shape, device="cuda").to(dtype) for _ in range(2)] for _ in range(2)]
        call = rotating(lambda a, b: a @ b, sets)
        return {"call": call, "checked": digest(t, (few @ few).float())}

    return prepare


def layer(t: Any) -> Namespace:
    """A linear layer and GELU, forwards and backwards, in bfloat16."""
    t.set_float32_matmul_precision("highest")
    rows, n = size(2 * LAYER, 16), size(LAYER, 16)

    def random(*shape: int) -> Any:
        return t.randn(*shape, device="cuda").to(t.bfloat16)

    x, weight, bias = random(rows, n), random(n, n) / n**0.5, random(n)
    parts = [each.requires_grad_() for each in (x, weight, bias)]
    gradient = random(rows, n)

    def call() -> None:
        y = t.nn.functional.gelu(t.nn.functional.linear(x, weight, bias))
        t.autograd.grad(y, parts, gradient)

    return {"call": call}


def add(name: str, prepare: Callable[[Any], Namespace], flops: float, check: str | None) -> None:
    work = Work(flops, 0)
    add_case("cuda-products", name, prepare, "call()", check=check, work=work, timer="device")


for kind in KINDS:
    for width in SIZES:
        add(f"{kind} {width}^3", products(kind, width), 2 * width**3, "checked")
add(
    f"{BATCH} of bfloat16 {WIDTH}^3",
    products("bfloat16", WIDTH, BATCH),
    2 * BATCH * WIDTH**3,
    "checked",
)
add(
    f"linear + GELU, gradients, {2 * LAYER} x {LAYER}^2",
    layer,
    3 * 2 * 2 * LAYER * LAYER**2,
    None,
)
