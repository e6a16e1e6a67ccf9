"""The most common densities as one kernel each, and the checks of their arguments."""

from opgen.model import floating, native, op, pointwise, real_bool

op(
    "_normal_log_prob(value: Tensor, loc: Tensor, scale: Tensor) -> Tensor",
    kind=pointwise,
    dtypes=floating,
    promote="float",
    forms="function",
    cpp="normal_log_prob",
    grad={
        "value": "-grad * (value - loc) / (scale * scale)",
        "loc": "grad * (value - loc) / (scale * scale)",
        "scale": "grad * (((value - loc) / scale) ** 2 - 1) / scale",
    },
    doc="The logarithm of the normal density.",
)
op(
    "_normal_divergence(shift: Tensor, ratio: Tensor) -> Tensor",
    kind=pointwise,
    dtypes=floating,
    promote="float",
    forms="function",
    cpp="normal_divergence",
    grad={"shift": "grad * shift", "ratio": "grad * (ratio - 1 / ratio)"},
    doc="The divergence of a normal distribution of mean shift and deviation ratio from the standard"
    " one.",
)
op(
    "_all_within(input: Tensor, low: float, high: float, above: bool = False, below: bool = False,"
    " whole: bool = False) -> bool",
    kind=native,
    dtypes=real_bool,
    forms="function",
    doc="Whether all elements lie between low (excluded if above) and high (excluded if below),"
    " and are integers if whole; NaN does not.",
)
