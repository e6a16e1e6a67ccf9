"""Splitting a tensor into views along a dimension."""

from opgen.model import op, python

for name, along, doc in (
    (
        "tensor_split",
        ", dim: int = 0",
        "Cuts into nearly equal sections, or before each of the given indices.",
    ),
    (
        "hsplit",
        "",
        "Cuts along the second dimension, a vector along its only one, into equal sections or at indices.",
    ),
    ("vsplit", "", "Cuts along the first dimension into equal sections or at indices."),
    ("dsplit", "", "Cuts along the third dimension into equal sections or at indices."),
):
    op(
        f"{name}(input: Tensor, indices_or_sections: Any{along}) -> tuple[Tensor, ...]",
        kind=python,
        body=f"flambeau._operators.splitting:{name}",
        doc=doc,
    )
