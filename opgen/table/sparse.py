"""Sparse tensors in coordinate form: construction, parts, and conversion to dense ones."""

from opgen.model import all_types, composite, floating, native, none, numeric, op, python

op(
    "sparse_coo_tensor(indices: Any = None, values: Any = None, size: Any = None, *,"
    " dtype: DType | None = None, device: Device | None = None, requires_grad: bool = False,"
    " check_invariants: bool | None = None, is_coalesced: bool | None = None) -> Tensor",
    kind=python,
    dtypes=all_types,
    forms="function",
    body="flambeau.sparse._tensor:sparse_coo_tensor",
    doc="A sparse tensor in coordinate form: values at the positions in the columns of indices.",
)
op(
    "_sparse_coo_tensor(indices: Tensor, values: Tensor, size: Ints, is_coalesced: bool = False) -> Tensor",
    kind=native,
    dtypes=all_types,
    forms="function",
    grad={"values": "sparse_coo_backward(grad, indices)"},
    node="SparseCooTensorWithDimsAndTensorsBackward0",
    doc="A sparse tensor of its parts.",
    batch="refuse",
)

for name, doc in (
    ("_indices", "The places of the values of a sparse tensor, one in a column."),
    ("_values", "The values of a sparse tensor, outside of any graph."),
    ("indices", "The coordinates of the values of a coalesced tensor, one column each."),
):
    op(
        f"{name}(input: Tensor) -> Tensor",
        kind=native,
        dtypes=all_types,
        forms="method",
        grad=none,
        doc=doc,
        sparse="any",
        batch="refuse",
    )
op(
    "values(input: Tensor) -> Tensor",
    kind=native,
    dtypes=all_types,
    forms="method",
    grad={"input": "values_backward(grad, input)"},
    doc="The values of a coalesced tensor.",
    sparse="any",
    batch="refuse",
)

for signature, doc in (
    ("_nnz(input: Tensor) -> int", "How many values a sparse tensor has."),
    ("sparse_dim(input: Tensor) -> int", "How many dimensions are in coordinates; 0 if strided."),
    ("dense_dim(input: Tensor) -> int", "How many dimensions each value has."),
    (
        "is_coalesced(input: Tensor) -> bool",
        "Whether the coordinates of a sparse tensor are sorted and unique.",
    ),
):
    op(signature, kind=native, forms="method", doc=doc, sparse="any")

op(
    "coalesce(input: Tensor) -> Tensor",
    kind=native,
    dtypes=all_types,
    forms="method",
    grad=composite,
    doc="The same sparse tensor with sorted, unique coordinates: values that share one are summed.",
    sparse="any",
)
op(
    "_coalesce(input: Tensor) -> Tensor",
    kind=native,
    dtypes=all_types,
    forms="inner",
    grad={"input": "grad"},
    node="CoalesceBackward0",
    doc="coalesce of a tensor that is not coalesced.",
    sparse="any",
    batch="refuse",
)
op(
    "to_dense(input: Tensor, dtype: DType | None = None, *, masked_grad: bool | None = None)"
    " -> Tensor",
    kind=native,
    dtypes=all_types,
    forms="method",
    grad=composite,
    doc="The same elements, zeros included, as a strided tensor; a strided one as it is.",
    sparse="any",
)
op(
    "_to_dense(input: Tensor, masked: bool) -> Tensor",
    kind=native,
    dtypes=all_types,
    forms="inner",
    grad={"input": "to_dense_backward(grad, input, masked)"},
    node="ToDenseBackward0",
    doc="to_dense of a sparse tensor.",
    sparse="any",
    batch="refuse",
)
op(
    "_to_sparse(input: Tensor, sparse_dim: int) -> Tensor",
    kind=native,
    dtypes=all_types,
    forms="function",
    grad={"input": "to_dense(grad)"},
    node="ToSparseBackward0",
    doc="A strided tensor in coordinate form; blocks of zeros are left out.",
    batch="refuse",
)
op(
    "to_sparse(input: Tensor, sparse_dim: int | None = None, *, layout: Any = None,"
    " blocksize: Any = None, dense_dim: int | None = None) -> Tensor",
    kind=python,
    dtypes=all_types,
    forms="method",
    body="flambeau.sparse._tensor:to_sparse",
    doc="The same elements in coordinate form, with the first sparse_dim dimensions in coordinates.",
)
op(
    "to_sparse_coo(input: Tensor) -> Tensor",
    kind=python,
    dtypes=all_types,
    forms="method",
    body="flambeau.sparse._tensor:to_sparse_coo",
    doc="The same elements in coordinate form; a sparse tensor as it is.",
)
op(
    "sparse_mask(input: Tensor, mask: Tensor) -> Tensor",
    kind=native,
    dtypes=all_types,
    forms="method",
    grad={"input": "sparse_mask_backward(grad, mask)"},
    doc="A sparse tensor of the elements at the coordinates of the sparse tensor mask.",
    sparse="any",
    batch="refuse",
)
op(
    "_sparse_mm(input: Tensor, mat2: Tensor) -> Tensor",
    kind=native,
    dtypes=numeric,
    forms="function",
    grad={
        "input": "to_dense_backward(mm(grad, adjoint_of(mat2)), input, True)",
        "mat2": "mm(adjoint_of(input), grad)",
    },
    node="SparseAddmmBackward0",
    doc="Product of a sparse and a dense matrix; the sparse one has a sparse gradient.",
    sparse="any",
    batch="refuse",
)
for signature, state, doc in (
    (
        (
            "_sparse_adam_(input: Tensor, exp_avg: Tensor, exp_avg_sq: Tensor, grad: Tensor,"
            " beta1: float, beta2: float, step_size: float, eps: float, maximize: bool = False)"
        ),
        "exp_avg exp_avg_sq",
        "One step of Adam on the rows that grad, a sparse tensor, has; the averages change too.",
    ),
    (
        (
            "_sparse_adagrad_(input: Tensor, sum: Tensor, grad: Tensor, rate: float, eps: float,"
            " maximize: bool = False)"
        ),
        "sum",
        "One step of Adagrad on the rows that grad, a sparse tensor, has; the sum changes too.",
    ),
):
    op(
        f"{signature} -> Tensor",
        kind=native,
        dtypes=floating,
        forms="function",
        mutates=True,
        writes=state,
        grad=none,
        doc=doc,
        sparse="any",
        batch="refuse",
    )
