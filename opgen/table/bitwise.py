"""Bit operations."""

from opgen.model import integers, integral, op, pointwise

for name, operator, kinds, doc in (
    ("bitwise_and", "and", integral, "The bits that are set in both elements; 'and' for bool."),
    ("bitwise_or", "or", integral, "The bits that are set in either element; 'or' for bool."),
    ("bitwise_xor", "xor", integral, "The bits that differ; 'xor' for bool."),
    (
        "bitwise_left_shift",
        "lshift",
        integers,
        "input shifted left by other bits; 0 when other is negative or too large.",
    ),
    (
        "bitwise_right_shift",
        "rshift",
        integers,
        "input shifted right by other bits; its sign fills from the left.",
    ),
):
    op(
        f"{name}(input: Tensor | Number, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor",
        kind=pointwise,
        dtypes=kinds,
        forms="function method inplace",
        operator=operator,
        doc=doc,
    )
op(
    "bitwise_not(input: Tensor, *, out: Tensor | None = None) -> Tensor",
    kind=pointwise,
    dtypes=integral,
    forms="function method inplace",
    operator="invert",
    out="exact",
    doc="The bits that are not set; 'not' for bool.",
)
