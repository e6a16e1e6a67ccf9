"""Products of float32 matrices: square, batched and transposed."""

import functools
from typing import Any

from benchmarks.case import Namespace, add_case


def square(t: Any, size: int) -> Namespace:
    t.manual_seed(0)
    return {"t": t, "a": t.rand(size, size), "b": t.rand(size, size), "c": t.rand(size)}


def batched(t: Any, batch: int, size: int) -> Namespace:
    t.manual_seed(0)
    return {"a": t.rand(batch, size, size), "b": t.rand(batch, size, size)}


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
