"""Tensors resized to a given size or length."""

from opgen.model import COMPLEX, FLOATS, all_types, floating_complex, op, python

for signature, forms, doc in (
    (
        "resize(input: Tensor, sizes: Size) -> Tensor",
        "method",
        "The same elements in another shape; an older name of reshape.",
    ),
    (
        "resize_as(input: Tensor, tensor: Tensor) -> Tensor",
        "method",
        "The same elements in the shape of tensor.",
    ),
    (
        "sum_to_size(input: Tensor, size: Size) -> Tensor",
        "method",
        "Sums over the dimensions that broadcasting from this size has added or stretched.",
    ),
    (
        "nonzero_static(input: Tensor, *, size: int, fill_value: int = -1) -> Tensor",
        "function method",
        "The first ``size`` rows of nonzero(input), filled up with fill_value.",
    ),
):
    name = signature.partition("(")[0]
    op(
        signature,
        kind=python,
        body=f"flambeau._operators.adapt:{name}",
        forms=forms,
        dtypes=all_types,
        doc=doc,
    )

for signature, forms, doc in (
    (
        "renorm(input: Tensor, p: float, dim: int, maxnorm: float) -> Tensor",
        "function method",
        "Scales down the slices along ``dim`` whose p-norm exceeds maxnorm.",
    ),
    (
        "renorm_(input: Tensor, p: float, dim: int, maxnorm: float) -> Tensor",
        "method",
        "renorm in place.",
    ),
    (
        "norm_except_dim(v: Tensor, pow: int = 2, dim: int = 0) -> Tensor",
        "function",
        "The norm over all dimensions except ``dim``, with size 1; over all of them if dim is -1.",
    ),
    (
        "nuclear_norm(input: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor",
        "function",
        "The sum of the singular values of a matrix, or of those in the two dimensions dim.",
    ),
    (
        "frobenius_norm(input: Tensor, dim: Any, keepdim: bool = False) -> Tensor",
        "function",
        "The root of the sum of squares over ``dim``.",
    ),
):
    name = signature.partition("(")[0]
    op(
        signature,
        kind=python,
        body=f"flambeau._operators.adapt:{name}",
        forms=forms,
        dtypes=FLOATS + COMPLEX if name == "nuclear_norm" else floating_complex,
        doc=doc,
    )
