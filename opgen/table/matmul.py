"""Products of matrices and vectors, and contractions made of them."""

from opgen.model import composite, floating, native, numeric, op, python

op(
    "matmul(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor",
    kind=native,
    dtypes=numeric,
    operator="matmul",
    grad=composite,
    out="exact",
    doc="Matrix product over the last two dimensions; the others broadcast, a 1-d operand is a vector.",
    sparse="any",
    autocast="lower",
)
op(
    "mm(input: Tensor, mat2: Tensor, *, out: Tensor | None = None) -> Tensor",
    kind=native,
    dtypes=numeric,
    grad={
        "input": "product(grad, adjoint_of(mat2), input.by_columns)",
        "mat2": "product(adjoint_of(input), grad, mat2.by_columns)",
    },
    out="exact",
    doc="Product of two matrices.",
    batch="own",
    sparse="own",
    autocast="lower",
)
op(
    "bmm(input: Tensor, mat2: Tensor, *, out: Tensor | None = None) -> Tensor",
    kind=native,
    dtypes=numeric,
    grad={
        "input": "product(grad, adjoint_of(mat2), input.by_columns)",
        "mat2": "product(adjoint_of(input), grad, mat2.by_columns)",
    },
    out="exact",
    doc="Products of two batches of matrices.",
    batch="own",
    autocast="lower",
)
op(
    "mv(input: Tensor, vec: Tensor, *, out: Tensor | None = None) -> Tensor",
    kind=native,
    dtypes=numeric,
    grad={"input": "outer(grad, vec.conj())", "vec": "mv(adjoint_of(input), grad)"},
    out="exact",
    doc="Product of a matrix and a vector.",
    batch="own",
    sparse="own",
)
op(
    "dot(input: Tensor, tensor: Tensor, *, out: Tensor | None = None) -> Tensor",
    kind=native,
    dtypes=numeric,
    grad={"input": "grad * tensor.conj()", "tensor": "grad * input.conj()"},
    out="exact",
    doc="Sum of the products of two vectors.",
    batch="own",
)
op(
    "vdot(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor",
    kind=native,
    dtypes=numeric,
    grad={"input": "grad.conj() * other", "other": "grad * input"},
    out="exact",
    doc="Dot product with the conjugate of the first vector.",
    batch="own",
)
op(
    "inner(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor",
    kind=native,
    dtypes=numeric,
    grad=composite,
    out="exact",
    doc="Dot products along the last dimension of both operands; a plain product if one has no dimension.",
)
op(
    "outer(input: Tensor, vec2: Tensor, *, out: Tensor | None = None) -> Tensor",
    kind=native,
    grad=composite,
    out="apart",
    doc="Matrix of all products of an element of one vector with one of the other.",
)
op(
    "ger(input: Tensor, vec2: Tensor, *, out: Tensor | None = None) -> Tensor",
    kind=native,
    cpp="outer",
    grad=composite,
    out="apart",
    doc="An older name of outer.",
)
op(
    "addmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Number = 1, alpha: Number = 1,"
    " out: Tensor | None = None) -> Tensor",
    kind=native,
    dtypes=numeric,
    forms="function method inplace",
    grad={
        "input": "scaled(grad, beta)",
        "mat1": "scaled(product(grad, adjoint_of(mat2), mat1.by_columns), alpha)",
        "mat2": "scaled(product(adjoint_of(mat1), grad, mat2.by_columns), alpha)",
    },
    out="exact whole",
    old_order="beta alpha",
    doc="beta * input + alpha * (mat1 @ mat2); with beta 0 input is not read, NaNs in it included.",
    batch="own",
    autocast="lower",
)
op(
    "addmv(input: Tensor, mat: Tensor, vec: Tensor, *, beta: Number = 1, alpha: Number = 1,"
    " out: Tensor | None = None) -> Tensor",
    kind=native,
    dtypes=numeric,
    forms="function method inplace",
    grad={
        "input": "scaled(grad, beta)",
        "mat": "scaled(outer(grad, vec.conj()), alpha)",
        "vec": "scaled(mv(adjoint_of(mat), grad), alpha)",
    },
    out="exact whole",
    old_order="beta alpha",
    doc="beta * input + alpha * (mat @ vec); with beta 0 input is not read.",
)
op(
    "addr(input: Tensor, vec1: Tensor, vec2: Tensor, *, beta: Number = 1, alpha: Number = 1,"
    " out: Tensor | None = None) -> Tensor",
    kind=native,
    forms="function method inplace",
    grad={
        "input": "scaled(grad, beta)",
        "vec1": "scaled(mv(grad, vec2.conj()), alpha)",
        "vec2": "scaled(mv(grad.t(), vec1.conj()), alpha)",
    },
    out="changed",
    old_order="beta alpha",
    doc="beta * input + alpha * outer(vec1, vec2); with beta 0 input is not read.",
)
op(
    "baddbmm(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Number = 1, alpha: Number = 1,"
    " out: Tensor | None = None) -> Tensor",
    kind=native,
    dtypes=numeric,
    forms="function method inplace",
    grad={
        "input": "scaled(grad, beta)",
        "batch1": "scaled(product(grad, adjoint_of(batch2), batch1.by_columns), alpha)",
        "batch2": "scaled(product(adjoint_of(batch1), grad, batch2.by_columns), alpha)",
    },
    out="exact whole",
    old_order="beta alpha",
    doc="beta * input + alpha * (batch1 @ batch2); with beta 0 input is not read.",
    autocast="lower",
)
op(
    "addbmm(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Number = 1, alpha: Number = 1,"
    " out: Tensor | None = None) -> Tensor",
    kind=native,
    dtypes=numeric,
    forms="function method inplace",
    grad={
        "input": "scaled(grad, beta)",
        "batch1": "scaled(matmul(grad, adjoint_of(batch2)), alpha)",
        "batch2": "scaled(matmul(adjoint_of(batch1), grad), alpha)",
    },
    out="exact quiet whole",
    old_order="beta alpha",
    doc="beta * input + alpha * the sum over the batch of batch1 @ batch2; with beta 0 input is not read.",
    autocast="lower",
)
op(
    "_tensordot(input: Tensor, other: Tensor, dims_input: Ints, dims_other: Ints) -> Tensor",
    kind=native,
    dtypes=numeric,
    forms="function",
    grad=composite,
    doc="Sums over pairs of dimensions of two tensors; the others follow one another.",
)
op(
    "tensordot(a: Any, b: Any, dims: Any = 2, out: Tensor | None = None) -> Tensor",
    kind=python,
    dtypes=numeric,
    forms="function",
    body="flambeau._operators.contraction:tensordot",
    out="exact",
    doc="Sums over the last dims dimensions of a and the first of b, or over two lists of dimensions.",
)
op(
    "_einsum(equation: str, operands: list[Tensor]) -> Tensor",
    kind=native,
    dtypes=numeric,
    forms="function",
    grad=composite,
    doc="The sum of products that an equation with letters as subscripts describes.",
)
op(
    "einsum(equation: Any, operands: Any) -> Tensor",
    kind=python,
    dtypes=numeric,
    forms="function",
    body="flambeau._operators.contraction:einsum",
    doc="Sums products by Einstein's convention: einsum('ij,jk->ik', a, b), or with lists of integers.",
)
op(
    "kron(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor",
    kind=native,
    grad=composite,
    out="ordered apart",
    doc="Kronecker product: every element of input times the whole of other.",
)
op(
    "cross(input: Tensor, other: Tensor, dim: int | None = None, *, out: Tensor | None = None) -> Tensor",
    kind=native,
    dtypes=numeric,
    grad=composite,
    out="exact apart",
    doc="Vector product along a dimension of size 3; the first such one if dim is not given.",
)
op(
    "chain_matmul(matrices: Any, *, out: Tensor | None = None) -> Tensor",
    kind=python,
    dtypes=numeric,
    forms="function",
    body="flambeau._operators.contraction:chain_matmul",
    out="exact",
    doc="Product of several matrices in the order that costs least.",
)
op(
    "_cdist(x1: Tensor, x2: Tensor, p: float) -> Tensor",
    kind=native,
    dtypes=floating,
    forms="function",
    grad={
        "x1": "cdist_backward(grad, x1, x2, p, result)",
        "x2": "cdist_backward(transposed(grad), x2, x1, p, transposed(result))",
    },
    doc="Distances between all rows of two batches of matrices, term by term.",
    batch="aligned",
)
op(
    "_euclidean_dist(x1: Tensor, x2: Tensor) -> Tensor",
    kind=native,
    dtypes=floating,
    forms="function",
    grad={
        "x1": "euclidean_backward(grad, x1, x2, result)",
        "x2": "euclidean_backward(transposed(grad), x2, x1, transposed(result))",
    },
    doc="Euclidean distances between all rows, from |x|^2 + |y|^2 - 2 x y.",
    batch="aligned",
)
op(
    "cdist(x1: Any, x2: Any, p: Any = 2.0, compute_mode: Any = None) -> Tensor",
    kind=python,
    dtypes=floating,
    forms="function",
    body="flambeau._operators.contraction:cdist",
    doc="Distances in the p-norm between each row of x1 and each row of x2.",
    autocast="float32",
)
