"""Python functions called for every element: slow, for functions that are not operators."""

from opgen.model import all_types, op, python

for signature, doc in (
    (
        "apply_(input: Tensor, callable: Any) -> Tensor",
        "Replaces each element by callable(element).",
    ),
    (
        "map_(input: Tensor, tensor: Tensor, callable: Any) -> Tensor",
        "Replaces each element by callable(element, element of tensor), which is broadcast.",
    ),
    (
        "map2_(input: Tensor, x: Tensor, y: Tensor, callable: Any) -> Tensor",
        "Replaces each element by callable(element, element of x, element of y), which are broadcast.",
    ),
):
    name = signature.partition("(")[0]
    op(
        signature,
        kind=python,
        body=f"flambeau._operators.elements:{name}",
        forms="method",
        dtypes=all_types,
        doc=doc,
    )
