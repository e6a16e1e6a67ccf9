"""Integrals and derivatives of sampled functions."""

from opgen.model import numeric, op, python

for name, aliases, doc in (
    (
        "trapezoid",
        "trapz",
        "The integral along dim by the trapezoidal rule, at points x or dx apart.",
    ),
    (
        "cumulative_trapezoid",
        "",
        "The integral up to each point but the first, by the trapezoidal rule.",
    ),
):
    op(
        f"{name}(y: Tensor, x: Tensor | None = None, *, dx: Number = 1, dim: int = -1) -> Tensor",
        kind=python,
        body=f"flambeau._operators.calculus:{name}",
        aliases=aliases,
        dtypes=numeric,
        forms="function",
        doc=doc,
    )
op(
    "gradient(input: Tensor, *, spacing: Any = 1, dim: Dims | None = None, edge_order: int = 1) -> tuple[Tensor, ...]",
    kind=python,
    body="flambeau._operators.calculus:gradient",
    dtypes=tuple(name for name in numeric if name != "uint8"),  # its differences would wrap
    forms="function",
    doc="The derivative along each dimension by central differences, between samples spacing apart.",
)
