"""Operators on 2^28 bytes of a GPU's memory: how much of the bandwidth of a copy they reach.

Bytes are the least that can move: each input is read once and each output written once.
"""

from collections.abc import Callable
from typing import Any

from benchmarks.case import Namespace, add_case
from benchmarks.device import COPY, digest, rotating, sample, size
from benchmarks.roofline import Work

BYTES = 2**28
SETS = 3  # of inputs, which are taken in turn
SHARE = 0.9  # least share of the bandwidth of a copy
ROWS, SQUARE = (2**16, 1024), (2**13, 2**13)

Operator = Callable[..., Any]


def function(operator: Operator) -> Callable[[Any, int, int], Operator]:
    """An operator that needs no module, for `forward`."""
    return lambda t, rows, columns: operator


def copied(t: Any, rows: int, columns: int) -> Operator:
    return lambda x: t.empty_like(x).copy_(x)


def layer_norm(t: Any, rows: int, columns: int) -> Operator:
    weight, bias = t.ones(columns, device="cuda"), t.zeros(columns, device="cuda")
    return lambda x: t.nn.functional.layer_norm(x, (columns,), weight, bias)


def cross_entropy(t: Any, rows: int, columns: int) -> Operator:
    target = (t.arange(rows) * 7919 % columns).to("cuda")
    return lambda x: t.nn.functional.cross_entropy(x, target)


def inputs(t: Any, shape: tuple[int, int], count: int, dtype: Any) -> list[list[Any]]:
    return [
        [t.randn(*shape, device="cuda").to(dtype) for _ in range(count)]
        for _ in range(size(SETS, 1))
    ]


def forward(
    make: Callable[[Any, int, int], Operator],
    shape: tuple[int, int],
    count: int,
    dtype: str,
) -> Callable[[Any], Namespace]:
    def prepare(t: Any) -> Namespace:
        kind = getattr(t, dtype)
        small = make(t, 8, 1024)(*(sample(t, 8, 1024).to(kind) for _ in range(count)))
        rows, columns = size(shape[0], 16), size(shape[1], 16)
        operator = make(t, rows, columns)
        call = rotating(operator, inputs(t, (rows, columns), count, kind))
        return {"call": call, "checked": digest(t, small)}

    return prepare


def gradients(
    make: Callable[[Any, int, int], Operator], shape: tuple[int, int]
) -> Callable[[Any], Namespace]:
    """The operator and the gradient of its input."""

    def prepare(t: Any) -> Namespace:
        def passes(operator: Operator, x: Any, weight: Any) -> Any:
            return t.autograd.grad(operator(x), x, weight)

        few = sample(t, 8, 1024).requires_grad_()
        operator = make(t, 8, 1024)
        with t.no_grad():
            weight = sample(t, *operator(few).shape) * 37 % 1  # the inputs' own would give zeros
        checked = digest(t, passes(operator, few, weight))
        rows, columns = size(shape[0], 16), size(shape[1], 16)
        operator = make(t, rows, columns)
        sets = inputs(t, (rows, columns), 1, t.float32)
        with t.no_grad():
            large = t.rand(operator(sets[0][0]).shape, device="cuda")
        found = [(x.requires_grad_(), large) for (x,) in sets]
        call = rotating(lambda x, g: passes(operator, x, g), found)
        return {"call": call, "checked": checked}

    return prepare


def add(name: str, prepare: Callable[[Any], Namespace], passes: int) -> None:
    """A row that moves `passes` times 2^28 bytes."""
    add_case(
        "cuda-bandwidth",
        name,
        prepare,
        "call()",
        check="checked",
        bar=0.0 if name == COPY else None,
        work=Work(0, passes * BYTES),
        timer="device",
        share_bar=0.0 if name == COPY else SHARE,
    )


for name, make, shape, count, passes in (
    (COPY, copied, ROWS, 1, 2),
    ("a + b", function(lambda a, b: a + b), ROWS, 2, 3),
    ("a * 2.5", function(lambda a: a * 2.5), ROWS, 1, 2),
    ("exp", function(lambda a: a.exp()), ROWS, 1, 2),
    ("GELU", lambda t, rows, columns: t.nn.functional.gelu, ROWS, 1, 2),
    ("sum of all", function(lambda a: a.sum()), ROWS, 1, 1),
    ("sum of rows", function(lambda a: a.sum(1)), ROWS, 1, 1),
    ("sum of columns", function(lambda a: a.sum(0)), ROWS, 1, 1),
    ("max of all", function(lambda a: a.max()), ROWS, 1, 1),
    ("softmax of 1024", function(lambda a: a.softmax(1)), ROWS, 1, 2),
    ("layer norm of 1024", layer_norm, ROWS, 1, 2),
    ("cross entropy of 8192", cross_entropy, SQUARE, 1, 1),
    ("cat", lambda t, rows, columns: lambda a, b: t.cat([a, b]), ROWS, 2, 4),
    ("transpose", function(lambda a: a.t().contiguous()), SQUARE, 1, 2),
    ("cumsum of 1024", function(lambda a: a.cumsum(1)), ROWS, 1, 2),
):
    add(name, forward(make, shape, count, "float32"), passes)
add(
    "a + b of bfloat16",
    forward(function(lambda a, b: a + b), (2**17, 1024), 2, "bfloat16"),
    3,
)
for name, make, shape, passes in (
    ("softmax of 1024 + gradient", function(lambda a: a.softmax(1)), ROWS, 5),
    ("layer norm of 1024 + gradient", layer_norm, ROWS, 5),
    ("cross entropy of 8192 + gradient", cross_entropy, SQUARE, 3),
):
    add(name, gradients(make, shape), passes)
