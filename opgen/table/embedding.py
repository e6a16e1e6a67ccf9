"""Rows of a table picked by number, alone or summed in bags."""

from opgen.model import all_types, composite, floating, native, none, not_implemented, op

_PICKED = "padding_idx: int = -1, scale_grad_by_freq: bool = False, sparse: bool = False"
_LIMITS = "max_norm: float | None = None, norm_type: float = 2.0"

op(
    f"embedding(weight: Tensor, indices: Tensor, {_PICKED}) -> Tensor",
    kind=native,
    dtypes=all_types,
    forms="function",
    grad={
        "weight": "embedding_backward(grad, indices, weight.size(0), padding_idx,"
        " scale_grad_by_freq, sparse)"
    },
    doc="The rows of weight at indices. The row padding_idx gets no gradient.",
)
op(
    "_embedding_backward(gradient: Tensor, indices: Tensor, num_weights: int, padding_idx: int,"
    " scale_grad_by_freq: bool) -> Tensor",
    kind=native,
    dtypes=floating,
    forms="inner",
    grad={
        "gradient": "embedding_backward_gradient(grad, indices, padding_idx, scale_grad_by_freq)"
    },
    doc="The rows of gradient summed into those of the table that they were picked from.",
)
op(
    "embedding_renorm_(input: Tensor, indices: Tensor, max_norm: float, norm_type: float) -> Tensor",
    kind=native,
    dtypes=floating,
    forms="function",
    mutates=True,
    grad=none,
    doc="Scales the rows at indices whose norm exceeds max_norm down to it, in place.",
)
op(
    f"embedding(input: Tensor, weight: Tensor, padding_idx: int | None = None, {_LIMITS},"
    " scale_grad_by_freq: bool = False, sparse: bool = False) -> Tensor",
    kind=native,
    namespace="nn.functional",
    dtypes=all_types,
    forms="function",
    grad=composite,
    doc="The rows of weight at input, scaled down in weight itself where they exceed max_norm. The"
    " row padding_idx gets no gradient.",
)
op(
    "embedding_bag(weight: Tensor, indices: Tensor, offsets: Tensor,"
    " scale_grad_by_freq: bool = False, mode: int = 0, sparse: bool = False,"
    " per_sample_weights: Tensor | None = None, include_last_offset: bool = False,"
    " padding_idx: int | None = None) -> tuple[Tensor, Tensor, Tensor, Tensor]",
    kind=native,
    dtypes=floating,
    forms="function",
    grad={
        "weight per_sample_weights": "embedding_bag_backward(grad, weight, indices, results[1],"
        " results[2], results[3], scale_grad_by_freq, mode, sparse, per_sample_weights, padding_idx,"
        " needed)"
    },
    doc="The sums (mode 0), means (1) or maxima (2) of the rows of weight in bags of indices, which"
    " start at offsets; with the bag of each index, the sizes of the bags and, for maxima, the rows"
    " they are in.",
)
op(
    "_embedding_bag_backward(gradient: Tensor, indices: Tensor, bags: Tensor, sizes: Tensor,"
    " maximum_rows: Tensor, num_weights: int, scale_grad_by_freq: bool, mode: int,"
    " per_sample_weights: Tensor | None, padding_idx: int) -> Tensor",
    kind=native,
    dtypes=floating,
    forms="inner",
    grad=not_implemented,
    doc="The gradient of the table that bags were taken from.",
)
op(
    f"embedding_bag(input: Tensor, weight: Tensor, offsets: Tensor | None = None, {_LIMITS},"
    " scale_grad_by_freq: bool = False, mode: str = 'mean', sparse: bool = False,"
    " per_sample_weights: Tensor | None = None, include_last_offset: bool = False,"
    " padding_idx: int | None = None) -> Tensor",
    kind=native,
    namespace="nn.functional",
    dtypes=floating,
    forms="function",
    grad=composite,
    doc="The mean, sum or max of the rows of weight in bags: the rows of a matrix input, or the"
    " parts of a vector that start at offsets.",
)
