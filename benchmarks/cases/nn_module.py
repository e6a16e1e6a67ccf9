"""Modules so small that only the cost of calling them counts."""

from typing import Any

from benchmarks.case import Namespace, add_case


def small(t: Any) -> Namespace:
    """A Sequential, the same as a class, and what trains it."""
    t.manual_seed(0)

    class Net(t.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.hidden = t.nn.Linear(4, 8)
            self.out = t.nn.Linear(8, 2)

        def forward(self, x: Any) -> Any:
            return self.out(t.relu(self.hidden(x)))

    class Call(t.nn.Module):
        def forward(self, x: Any) -> Any:
            return x

    row, custom = t.nn.Sequential(t.nn.Linear(4, 8), t.nn.ReLU(), t.nn.Linear(8, 2)), Net()

    def train(net: Any) -> None:
        net(x).sum().backward()
        net.zero_grad()

    def infer(net: Any) -> Any:
        with t.no_grad():
            return net(x)

    x = t.ones(3, 4)
    return {
        "t": t,
        "x": x,
        "row": row,
        "custom": custom,
        "linear": row[0],
        "call": Call(),
        "calls": t.nn.Sequential(Call(), Call(), Call()),
        "train": train,
        "infer": infer,
        "state": row.state_dict(),
    }


# What the project's bar for the cost of a module is measured on.
BAR = ("row(x)", "infer(row)", "train(row)", "custom(x)", "train(custom)", "calls(x)")

# What else programs do with modules.
MORE = (
    "call(x)",
    "linear(x)",
    "linear.weight",
    "custom.hidden",
    "linear.training",
    "list(row.parameters())",
    "row.state_dict()",
    "row.load_state_dict(state)",
    "row.train()",
    "row.zero_grad()",
    "t.nn.Linear(4, 8)",
)

for group, statements in (("nn-module", BAR), ("nn-module-more", MORE)):
    for statement in statements:
        add_case(group, statement, small, statement)
