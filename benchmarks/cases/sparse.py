"""Training steps of a large table of embeddings, of which each step reads few rows."""

import functools
from typing import Any

from benchmarks.case import Namespace, add_case

STEP = "optimizer.zero_grad(); (table(numbers) * weights).sum().backward(); optimizer.step()"


def table_of(t: Any, optimizer: str, options: dict[str, Any]) -> Namespace:
    t.manual_seed(0)
    table = t.nn.Embedding(100_000, 64, sparse=True)
    return {
        "table": table,
        "numbers": t.randint(0, 100_000, (4096,)),
        "weights": t.randn(4096, 64),
        "optimizer": getattr(t.optim, optimizer)(table.parameters(), **options),
    }


for name, options in (("SparseAdam", {}), ("SGD", {"lr": 0.1}), ("Adagrad", {})):
    add_case(
        "sparse",
        f"table of 100000 x 64, 4096 numbers, {name}",
        functools.partial(table_of, optimizer=name, options=options),
        STEP,
        check="table.weight.sum()",
    )
