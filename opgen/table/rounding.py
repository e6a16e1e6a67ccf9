"""Rounding."""

from opgen.model import floating, native, not_implemented, op, pointwise, real

for name, aliases, doc in (
    ("floor", "", "The largest integer that is not larger; integers stay."),
    ("ceil", "", "The smallest integer that is not smaller; integers stay."),
    ("trunc", "fix", "The integer part; integers stay."),
    ("round", "special.round", "The nearest integer, half to even; integers stay."),
):
    op(
        f"{name}(input: Tensor, *, out: Tensor | None = None) -> Tensor",
        kind=pointwise,
        dtypes=real,
        forms="function method inplace",
        aliases=aliases,
        grad={"input": "zeros_like(grad)"},
        out="exact",
        doc=doc,
        sparse="values",
    )

op(
    "round.decimals(input: Tensor, *, decimals: int, out: Tensor | None = None) -> Tensor",
    kind=native,
    dtypes=floating,
    type_check="own",
    forms="function method inplace",
    aliases="special.round",
    grad={"input": "zeros_like(grad)"},
    node="RoundBackward1",
    out="exact whole",
    doc="Rounds to the given number of decimals; negative ones round to tens, hundreds and so on.",
    batch="same",
)
op(
    "_round_decimals(input: Tensor, power: float) -> Tensor",
    kind=pointwise,
    dtypes=floating,
    cpp="round_decimals",
    forms="inner",
    grad=not_implemented,
    doc="round to the decimals whose power of ten is given, negative for digits left of the point.",
)
op(
    "frac(input: Tensor, *, out: Tensor | None = None) -> Tensor",
    kind=pointwise,
    dtypes=floating,
    forms="function method inplace",
    grad={"input": "grad"},
    out="exact",
    doc="The fractional part of each element, with its sign.",
    sparse="values",
)
