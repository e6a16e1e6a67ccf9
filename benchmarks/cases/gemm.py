"""Products of matrices: square, tall, flat, batched and transposed; float32, and some bfloat16."""

import functools
from typing import Any

from benchmarks.case import Namespace, add_case


def square(t: Any, size: int) -> Namespace:
    t.manual_seed(0)
    return {"t": t, "a": t.rand(size, size), "b": t.rand(size, size), "c": t.rand(size)}


def batched(t: Any, batch: int, size: int) -> Namespace:
    t.manual_seed(0)
    return {"a": t.rand(batch, size, size), "b": t.rand(batch, size, size)}


def shaped(t: Any, m: int, k: int, n: int, dtype: str = "float32") -> Namespace:
    t.manual_seed(0)
    kind = getattr(t, dtype)
    return {"a": t.rand(m, k).to(kind), "b": t.rand(k, n).to(kind), "w": t.rand(n, k).to(kind)}


for n in (256, 512, 1024, 2048):
    make = functools.partial(square, size=n)
    add_case("gemm", f"a @ b  [{n}]", make, "a @ b")
    add_case("gemm", f"a.t() @ b  [{n}]", make, "a.t() @ b")
    add_case("gemm", f"a @ b.t()  [{n}]", make, "a @ b.t()")
add_case("gemm", "addmm  [1024]", functools.partial(square, size=1024), "t.addmm(c, a, b)")
for count, n in ((64, 64), (32, 128), (8, 512)):
    make = functools.partial(batched, batch=count, size=n)
    add_case("gemm", f"a @ b  [{count} x {n}]", make, "a @ b")
    add_case("gemm", f"a @ b.transpose(1, 2)  [{count} x {n}]", make, "a @ b.transpose(1, 2)")
# Tall, flat, a batch of rows and a single one against a weight, and a deep sum with a small result.
for m, k, n in (
    (2048, 384, 1536),
    (2048, 1536, 384),
    (64, 784, 512),
    (8, 1024, 1024),
    (1, 1024, 1024),
    (64, 20_000, 64),
):
    make = functools.partial(shaped, m=m, k=k, n=n)
    add_case("gemm", f"a @ b  [{m} x {k} x {n}]", make, "a @ b")
    add_case("gemm", f"a @ w.t()  [{m} x {k} x {n}]", make, "a @ w.t()")
for m, k, n in ((1024, 1024, 1024), (2048, 384, 1536)):
    make = functools.partial(shaped, m=m, k=k, n=n, dtype="bfloat16")
    add_case("gemm", f"bfloat16 a @ w.t()  [{m} x {k} x {n}]", make, "a @ w.t()")
