"""Gradients of many parameters seen as one vector: its norm, and bounds on it."""

from opgen.model import composite, floating_complex, native, none, op

op(
    "_total_norm(tensors: list[Tensor], norm_type: float = 2.0) -> Tensor",
    kind=native,
    dtypes=floating_complex,
    forms="function",
    grad=none,
    doc="The norm of the norms of all tensors; 0 if there are none.",
    batch="loop",
)
op(
    "_shrink_to_norm(tensors: list[Tensor], max_norm: float, total_norm: Tensor | Number) -> None",
    kind=native,
    dtypes=floating_complex,
    forms="function",
    writes="tensors",
    grad=composite,
    doc="Multiplies every tensor in place so that the norm of all, total_norm, is max_norm at most.",
)
op(
    "_clamp_all(tensors: list[Tensor], low: float, high: float) -> None",
    kind=native,
    dtypes=floating_complex,
    forms="function",
    writes="tensors",
    grad=composite,
    doc="Limits the elements of every tensor, in place.",
)
