"""The machine itself: a large product and a large copy, the two sides of the roofline."""

from typing import Any

from benchmarks.case import Namespace, add_case
from benchmarks.roofline import FLOAT, Work

EDGE = 2048
COUNT = 25_000_000


def product(t: Any) -> Namespace:
    return {"t": t, "a": t.rand(EDGE, EDGE), "b": t.rand(EDGE, EDGE)}


def copy(t: Any) -> Namespace:
    return {"source": t.rand(COUNT), "target": t.zeros(COUNT)}


add_case("machine", f"product of {EDGE} x {EDGE}", product, "t.mm(a, b)", work=Work(2 * EDGE**3))
add_case(
    "machine",
    f"copy of {COUNT * FLOAT // 10**6} MB",
    copy,
    "target.copy_(source)",
    work=Work(0, 2 * FLOAT * COUNT),
)
