"""The step of the optimiser Adafactor."""

from opgen.model import floating, native, op

op(
    "_adafactor_step(params: list[Tensor], grads: list[Tensor], rows: list[Tensor], columns: list[Tensor], steps: list[Tensor], lr: float, beta2_decay: float, eps1: float | None, eps2: float, d: float, weight_decay: float, maximize: bool) -> None",
    kind=native,
    dtypes=floating,
    forms="function",
    writes="params rows columns steps",
    device="any",
    doc="Changes parameters and their second moments in place; those of a vector are in rows and columns alike.",
)
