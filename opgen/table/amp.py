"""Mixed precision: gradients of a scaled loss, and the scale."""

from opgen.model import floating, native, none, op

op(
    "_amp_foreach_non_finite_check_and_unscale_(tensors: list[Tensor], found_inf: Tensor,"
    " inv_scale: Tensor) -> None",
    kind=native,
    dtypes=floating,
    forms="function",
    writes="tensors found_inf",
    doc="Multiplies all tensors in place by inv_scale; found_inf becomes 1 if an element was not finite.",
)
op(
    "_amp_update_scale_(input: Tensor, growth_tracker: Tensor, found_inf: Tensor,"
    " scale_growth_factor: float, scale_backoff_factor: float, growth_interval: int) -> Tensor",
    kind=native,
    dtypes=("float32",),
    forms="function",
    mutates=True,
    writes="growth_tracker",
    grad=none,
    doc="Changes a scale after a step: less if found_inf, more after growth_interval steps without.",
)
