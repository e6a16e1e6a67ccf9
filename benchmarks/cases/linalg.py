"""Factorisations, one large matrix and many small ones."""

import functools
from typing import Any

from benchmarks.case import Namespace, add_case

ONE = 512
MANY = (1000, 16)  # matrices, and their size


def matrices(t: Any, shape: tuple[int, ...]) -> Namespace:
    """A matrix that has an inverse, one that is symmetric and positive, and a right-hand side."""
    t.manual_seed(0)
    size = shape[-1]
    a = t.randn(*shape, size) + 3 * t.eye(size)
    return {"t": t, "a": a, "s": a @ a.mT + t.eye(size), "b": t.randn(*shape, 4)}


ON_ONE = (
    "t.linalg.solve(a, b)",
    "t.linalg.inv(a)",
    "t.linalg.cholesky(s)",
    "t.linalg.qr(a)",
    "t.linalg.eigh(s)",
    "t.linalg.svd(a)",
    "t.linalg.lstsq(a, b)",
)
ON_MANY = (
    "t.linalg.solve(a, b)",
    "t.linalg.inv(a)",
    "t.linalg.cholesky(s)",
    "t.linalg.det(a)",
    "t.linalg.qr(a)",
    "t.linalg.eigh(s)",
)

for statement in ON_ONE:
    prepare = functools.partial(matrices, shape=(ONE,))
    add_case("linalg", f"{statement}  [{ONE} x {ONE}]", prepare, statement)
for statement in ON_MANY:
    prepare = functools.partial(matrices, shape=MANY)
    title = f"{statement}  [{MANY[0]} of {MANY[1]} x {MANY[1]}]"
    add_case("linalg", title, prepare, statement)
