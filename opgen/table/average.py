"""Running averages of many tensors at once."""

from opgen.model import floating_complex, native, op

op(
    "_lerp_all(tensors: list[Tensor], ends: list[Tensor], weight: float) -> None",
    kind=native,
    dtypes=floating_complex,
    forms="function",
    writes="tensors",
    device="any",
    doc="Moves every tensor in place the fraction weight of the way to its end.",
)
