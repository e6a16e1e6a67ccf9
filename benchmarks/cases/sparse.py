"""Training steps of a large table of embeddings, of which each step reads few rows."""

import functools
from typing import Any

from benchmarks.case import Namespace, add_case


def table_of(t: Any, optimizer: str, options: dict[str, Any]) -> Namespace:
    t.manual_seed(0)
    table = t.nn.Embedding(100_000, 64, sparse=True)
    numbers, weights = t.randint(0, 100_000, (4096,)), t.randn(4096, 64)
    stepping = getattr(t.optim, optimizer)(table.parameters(), **options)

    def step() -> None:
        stepping.zero_grad()
        (table(numbers) * weights).sum().backward()
        stepping.step()

    return {"step": step, "table": table}


for name, options in (("SparseAdam", {}), ("SGD", {"lr": 0.1}), ("Adagrad", {})):
    add_case(
        "sparse",
        f"table 100000 x 64, 4096 rows, {name}",
        functools.partial(table_of, optimizer=name, options=options),
        "step()",
        check="[step() or table.weight.detach().double().square().sum().item()]",
    )
