"""Linear maps of the last dimension, as layers apply them, and the products of their gradients.

Three products of rows are closed under differentiation: rows with the rows of a weight
(`_linear_product`), rows with a weight (`_linear_rows`), and the sum of the outer products of two
sets of rows (`_linear_outer`). Each is a single product of matrices whatever the number of
dimensions before the last.
"""

from opgen.model import composite, native, numeric, op

op(
    "linear(input: Tensor, weight: Tensor, bias: Tensor | None = None, *, out: Tensor | None = None) -> Tensor",
    kind=native,
    dtypes=numeric,
    forms="function",
    namespace="nn.functional",
    grad=composite,
    out="exact changed",
    doc="input @ weight.T + bias, over the last dimension.",
    autocast="lower",
)
op(
    "_linear(bias: Tensor, input: Tensor, weight: Tensor) -> Tensor",
    kind=native,
    dtypes=numeric,
    forms="inner",
    node="AddmmBackward0",
    grad={
        "bias": "grad",
        "input": "_linear_rows(grad, weight.conj())",
        "weight": "linear_weight_backward(grad, input, 2)",
    },
    doc="Dot products of each row of input with each row of weight, and one bias for each.",
    batch="own",
)
op(
    "_linear_product(input: Tensor, weight: Tensor) -> Tensor",
    kind=native,
    dtypes=numeric,
    forms="inner",
    node="MmBackward0",
    grad={
        "input": "_linear_rows(grad, weight.conj())",
        "weight": "linear_weight_backward(grad, input, 1)",
    },
    doc="Dot products of each row of input with each row of weight.",
    batch="own",
)
op(
    "_linear_rows(input: Tensor, weight: Tensor) -> Tensor",
    kind=native,
    dtypes=numeric,
    forms="inner",
    node="MmBackward0",
    grad={
        "input": "_linear_product(grad, weight.conj())",
        "weight": "_linear_outer(input.conj(), grad)",
    },
    doc="Each row of input times a matrix.",
    batch="own",
)
op(
    "_linear_outer(left: Tensor, right: Tensor) -> Tensor",
    kind=native,
    dtypes=numeric,
    forms="inner",
    node="MmBackward0",
    grad={
        "left": "_linear_product(right.conj(), grad)",
        "right": "_linear_rows(left.conj(), grad)",
    },
    doc="The sum over all rows of the outer products of a row of left and one of right.",
    batch="own",
)
op(
    "bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor",
    kind=native,
    dtypes=numeric,
    forms="function",
    aliases="nn.functional.bilinear",
    grad=composite,
    doc="For each matrix of weight the form input1 @ matrix @ input2 of the last dimensions.",
    autocast="off",
)
