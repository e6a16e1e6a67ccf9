"""Operators with fresh outputs on 10^3, 10^5 and 10^7 elements."""

import functools
from typing import Any

from benchmarks.case import Namespace, add_case

SIZES = {"ops-1e3": 1_000, "ops-1e5": 100_000, "ops-1e7": 10_000_000}
COLUMNS = 100  # the matrices below are (size / 100, 100)


def vectors(t: Any, size: int) -> Namespace:
    """Random float vectors, masks and positions."""
    t.manual_seed(0)
    x, y = t.rand(size) * 4 - 2, t.rand(size) * 4 - 2
    return {
        "t": t,
        "size": size,
        "x": x,
        "y": y,
        "positive": x.abs() + 0.1,
        "mask": x > 0,
        "idx": t.randint(0, size, (size,)),
        "few": t.randint(0, size, (size // 10,)),
        "i64": t.randint(-50, 50, (size,)),
    }


def matrices(t: Any, size: int) -> Namespace:
    """Random float matrices of `COLUMNS` columns."""
    t.manual_seed(0)
    rows = size // COLUMNS
    x = t.rand(rows, COLUMNS) * 4 - 2
    return {
        "t": t,
        "x": x,
        "y": t.rand(rows, COLUMNS),
        "row": t.rand(COLUMNS),
        "idx": t.randint(0, COLUMNS, (rows, COLUMNS)),
        "rows": t.randint(0, rows, (rows,)),
        "halves": list(x.chunk(2)),
    }


ON_VECTORS = (
    # elementwise
    "x + y",
    "x * y",
    "x * 2 + 1",
    "t.exp(x)",
    "t.tanh(x)",
    "t.sigmoid(x)",
    "0.5 * x * (1 + t.erf(x * 0.70710678))",
    "t.sqrt(positive)",
    "positive ** 2",
    "positive ** 1.5",
    "t.log(positive)",
    "t.sin(x)",
    "x / y",
    "i64 + i64",
    "t.where(mask, x, y)",
    "x.clamp(-1, 1)",
    "x > y",
    "x.add_(1)",
    # reductions
    "x.sum()",
    "x.mean()",
    "x.max()",
    "x.argmax()",
    "x.var()",
    "x.norm()",
    "x.pow(2).sum()",
    "mask.any()",
    "i64.sum()",
    # create
    "t.arange(size)",
    "t.linspace(0, 1, size)",
    # copies
    "x.clone()",
    "x.to(t.float64)",
    "x.to(t.float16)",
    "i64.to(t.float32)",
    # index
    "x[idx]",
    "x[mask]",
    "x.index_select(0, few)",
    "x.masked_fill(mask, 0.0)",
    # sort
    "x.sort()",
    "i64.sort()",
    "x.argsort()",
    "x.topk(10)",
    "x.cumsum(0)",
)

ON_MATRICES = (
    "x + row",
    "x.sum(0)",
    "x.sum(1)",
    "x.mean(1)",
    "x.max(1)",
    "x.argmax(1)",
    "x.var(1)",
    "x.norm(dim=1)",
    "t.softmax(x, 1)",
    "t.log_softmax(x, 1)",
    "t.logsumexp(x, 1)",
    "x.t().contiguous()",
    "x.tril()",
    "t.cat(halves)",
    "t.cat([x, y], 1)",
    "t.stack([x, y])",
    "x.gather(1, idx)",
    "x.scatter(1, idx, y)",
    "x.index_select(0, rows)",
    "x[rows]",
    "x.sort(1)",
    "x.cumsum(1)",
)

for group, size in SIZES.items():
    for statement in ON_VECTORS:
        add_case(group, statement, functools.partial(vectors, size=size), statement)
    for statement in ON_MATRICES:
        add_case(group, f"{statement}  [rows]", functools.partial(matrices, size=size), statement)
