"""Operators on tensors so small that only the cost of a call counts."""

from typing import Any

from benchmarks.case import Namespace, add_case


def small(t: Any) -> Namespace:
    """The variables of all statements below."""
    return {
        "t": t,
        "a": t.ones(3, 4),
        "b": t.ones(3, 4),
        "v": t.arange(12),
        "m": t.ones(8, 8),
        "n": t.ones(8, 8),
        "one": t.ones(()),
        "mask": t.ones(3, 4) > 0,
        "picks": t.tensor([0, 2]),
        "parts": [t.ones(3), t.ones(3)],
    }


# What the project's bar for the cost of a call is measured on.
BAR = (
    "a + b",
    "a * 2",
    "a.view(12)",
    "v[3]",
    "a.t()",
    "m @ n",
    "t.zeros(3)",
    "one.item()",
)

# What else small programs are made of.
MORE = (
    "a.add_(b)",
    "a.sum()",
    "a.mean(1)",
    "t.relu(a)",
    "t.exp(a)",
    "a > b",
    "a[1:3]",
    "a[:, None]",
    "a[picks]",
    "a.transpose(0, 1)",
    "a.reshape(4, 3)",
    "a.unsqueeze(0)",
    "t.cat(parts)",
    "t.where(mask, a, b)",
    "t.tensor([1.0, 2.0])",
    "t.empty(3, 4)",
    "a.shape",
    "a.to(t.float64)",
    "t.softmax(a, 1)",
)

for group, statements in (("overhead", BAR), ("overhead-more", MORE)):
    for statement in statements:
        add_case(group, statement, small, statement)
