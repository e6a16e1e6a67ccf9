"""Sorting, selecting and indexing on a GPU: 10^7 elements."""

from collections.abc import Callable
from typing import Any

from benchmarks.case import Namespace, add_case
from benchmarks.device import digest, hashed, rotating, size

COUNT = 10**7
TABLE = 10**6
WIDTH = 64  # of an embedding, and of the rows that are selected
SETS = 2

# What makes an operator and one set of inputs: of `count` elements, with `draw(most, n)` numbers.
Make = Callable[[Any, int, Callable[[int, int], Any]], tuple[Callable[..., Any], list[Any]]]


def floats(operator: Callable[[Any], Any]) -> Make:
    def make(t: Any, n: int, draw: Callable[[int, int], Any]) -> Any:
        return operator, [draw(2**23, n).to(t.float32) / 2**23]

    return make


def integers(name: str, most: int) -> Make:
    def make(t: Any, n: int, draw: Callable[[int, int], Any]) -> Any:
        return getattr(t, name), [draw(most, n)]

    return make


def index_put(t: Any, n: int, draw: Callable[[int, int], Any]) -> Any:
    rows = max(n // 10, 1)
    table, values = t.zeros(rows, device="cuda"), t.ones(n, device="cuda")
    call = lambda index: table.index_put_((index,), values, accumulate=True)  # noqa: E731
    return call, [draw(rows, n)]


def scatter_add(t: Any, n: int, draw: Callable[[int, int], Any]) -> Any:
    rows = max(n // 10, 1)
    table, values = t.zeros(rows, device="cuda"), t.ones(n, device="cuda")
    return lambda index: table.scatter_add_(0, index, values), [draw(rows, n)]


def index_select(t: Any, n: int, draw: Callable[[int, int], Any]) -> Any:
    rows = n // WIDTH
    table = (t.arange(rows * WIDTH, device="cuda") % 1009).to(t.float32).reshape(rows, WIDTH)
    return lambda index: table.index_select(0, index), [draw(rows, rows)]


def embedding(t: Any, n: int, draw: Callable[[int, int], Any]) -> Any:
    rows = max(n // WIDTH // 4, 1)
    weight = t.ones(rows, WIDTH, device="cuda").requires_grad_()
    gradient = t.ones(n // WIDTH, WIDTH, device="cuda")

    def call(index: Any) -> Any:
        return t.autograd.grad(t.nn.functional.embedding(index, weight), weight, gradient)

    return call, [draw(rows, n // WIDTH)]


def case(make: Make) -> Callable[[Any], Namespace]:
    def prepare(t: Any) -> Namespace:
        few = 8192
        operator, small = make(t, few, lambda most, n: (hashed(t, n) % most).to("cuda"))
        checked = digest(t, operator(*small))
        found = [
            make(t, size(COUNT, 1000), lambda most, n: t.randint(0, most, (n,), device="cuda"))
            for _ in range(SETS)
        ]
        return {"call": rotating(lambda f, x: f(*x), found), "checked": checked}

    return prepare


for name, make in (
    ("sort", floats(lambda x: x.sort())),
    ("topk(100)", floats(lambda x: x.topk(100))),
    ("argsort of int64", integers("argsort", 2**40)),
    ("unique of int64", integers("unique", TABLE)),
    ("cumsum", floats(lambda x: x.cumsum(0))),
    ("index_put, accumulate", index_put),
    ("scatter_add", scatter_add),
    ("index_select of rows", index_select),
    ("embedding + gradient", embedding),
):
    add_case("cuda-order", name, case(make), "call()", check="checked", timer="device")
