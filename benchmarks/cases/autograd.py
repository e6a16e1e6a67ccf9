"""Recording operators and running graphs backwards."""

from typing import Any

from benchmarks.case import Namespace, add_case

CHAIN = 100


def small(t: Any) -> Namespace:
    """Leaves of four elements: so small that only overhead counts."""
    a, b = (t.ones(4, requires_grad=True) for _ in range(2))
    return {"t": t, "a": a, "b": b, "h": a * 1.5, "g": b * 0.5}


for statement in (
    "a * b",
    "h * g",
    "h + g",
    "h + 1.0",
    "h / g",
    "h.exp()",
    "h.tanh()",
    "h.sum()",
    "h.mean()",
    "h[1:3]",
    "h.view(2, 2)",
    "h.relu()",
    "h ** 2",
):
    add_case("record", statement, small, statement)


def with_chain(body: str) -> Any:
    """A function that runs a chain of operators forwards and backwards."""

    def prepare(t: Any) -> Namespace:
        names = small(t) | {"ones": t.ones(4)}
        source = f"""
def step():
    y = a
    for _ in range({CHAIN}):
        y = {body}
    y.backward(ones)
    a.grad = None
"""
        exec(source, names)
        return names

    return prepare


for body in ("y * 1.01", "y + 1.0", "y * b", "y.tanh()", "y.sin() + y"):
    add_case("chain", f"{CHAIN} times y = {body}", with_chain(body), "step()")


def branching(t: Any) -> Namespace:
    """A graph whose branches join again, over operands that broadcast."""
    rows = t.ones(4, 1, requires_grad=True)
    columns = t.ones(1, 4, requires_grad=True)

    def step() -> None:
        y = columns
        for _ in range(20):
            left = y * rows
            right = y + columns
            y = (left * right + left).tanh()
        y.sum().backward()
        rows.grad = columns.grad = None

    return {"step": step}


def fan(t: Any) -> Namespace:
    """Many uses of one value, whose gradients add up."""
    x = t.ones(3, requires_grad=True)
    scale = t.ones(2, 3)

    def step() -> None:
        h = x * 2.0
        total = h.sum()
        for k in range(50):
            total = total + (h * scale * float(k)).sum()
        total.backward()
        x.grad = None

    return {"step": step}


def layers(t: Any) -> Namespace:
    """Two layers by hand: products, biases, an activation, a loss."""
    x, target = t.ones(8, 16), t.zeros(8, 4)
    weights = [t.ones(16, 32) * 0.01, t.zeros(32), t.ones(32, 4) * 0.01, t.zeros(4)]
    weights = [w.requires_grad_() for w in weights]
    first, first_bias, second, second_bias = weights

    def step() -> None:
        hidden = (x @ first + first_bias).relu()
        loss = ((hidden @ second + second_bias - target) ** 2).mean()
        loss.backward()
        for w in weights:
            w.grad = None

    return {"step": step}


add_case("branching", "20 blocks of 5 operators", branching, "step()")
add_case("branching", "50 uses of one value", fan, "step()")
add_case("branching", "two layers by hand", layers, "step()")
