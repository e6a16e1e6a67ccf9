"""Activation functions of neural networks."""

from opgen.model import floating, floating_complex, native, op, pointwise, real

op(
    "relu(input: Tensor) -> Tensor",
    kind=pointwise,
    dtypes=real,
    forms="function method inplace",
    aliases="nn.functional.relu",
    doc="The elements, not below zero; NaN stays.",
)
op(
    "selu(input: Tensor) -> Tensor",
    kind=pointwise,
    dtypes=floating,
    forms="function",
    aliases="nn.functional.selu",
    doc="elu, scaled so that a standard normal input keeps its mean and variance.",
)
op(
    "celu(input: Tensor, alpha: float = 1.0) -> Tensor",
    kind=pointwise,
    dtypes=floating,
    forms="function",
    aliases="nn.functional.celu",
    doc="alpha * (exp(x / alpha) - 1) below zero, x above.",
)
op(
    "threshold(input: Tensor, threshold: float, value: float) -> Tensor",
    kind=pointwise,
    dtypes=real,
    forms="function",
    aliases="nn.functional.threshold",
    doc="The elements above threshold, value for the others; NaN stays.",
)
op(
    "hardshrink(input: Tensor, lambd: float = 0.5, *, out: Tensor | None = None) -> Tensor",
    kind=pointwise,
    dtypes=floating,
    aliases="nn.functional.hardshrink",
    doc="0 within [-lambd, lambd], x elsewhere.",
)
op(
    "prelu(input: Tensor, weight: Tensor) -> Tensor",
    kind=native,
    dtypes=floating,
    aliases="nn.functional.prelu",
    doc="x above zero, weight * x below; weight has one element, or one per channel (dimension 1).",
)
op(
    "_prelu(input: Tensor, weight: Tensor) -> Tensor",
    kind=pointwise,
    dtypes=floating,
    cpp="weighted_relu",
    forms="function",
    doc="x above zero, weight * x below.",
)

for signature, kinds, doc in (
    ("relu6(input: Tensor)", real, "The elements clamped to [0, 6]; NaN stays."),
    (
        "hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0)",
        real,
        "The elements clamped to [min_val, max_val]; NaN stays.",
    ),
    (
        "elu(input: Tensor, alpha: float = 1.0)",
        floating,
        "alpha * (exp(x) - 1) below zero, x above.",
    ),
    (
        "leaky_relu(input: Tensor, negative_slope: float = 0.01)",
        floating,
        "x above zero, negative_slope * x below.",
    ),
    ("silu(input: Tensor)", floating_complex, "x * sigmoid(x)."),
    ("mish(input: Tensor)", floating, "x * tanh(softplus(x))."),
    ("hardsigmoid(input: Tensor)", floating, "x + 3 clamped to [0, 6], divided by 6."),
    ("hardswish(input: Tensor)", floating, "x * hardsigmoid(x)."),
    (
        "softplus(input: Tensor, beta: float = 1.0, threshold: float = 20.0)",
        floating,
        "log(1 + exp(beta x)) / beta; x itself where beta x > threshold.",
    ),
    ("logsigmoid(input: Tensor)", floating, "log(sigmoid(x)), exact for very negative x."),
    ("softsign(input: Tensor)", floating_complex, "x / (1 + |x|)."),
    ("tanhshrink(input: Tensor)", floating_complex, "x - tanh(x)."),
    (
        "softshrink(input: Tensor, lambd: float = 0.5)",
        floating,
        "x moved towards zero by lambd, and 0 within [-lambd, lambd].",
    ),
):
    name = signature[: signature.index("(")]
    op(
        f"{signature} -> Tensor",
        kind=pointwise,
        namespace="nn.functional",
        cpp=name,
        dtypes=kinds,
        promote="float" if name in ("softsign", "tanhshrink") else "same",
        check={"softshrink": "lambd", "hardtanh": "limits"}.get(name, ""),
        forms="function",
        doc=doc,
    )

op(
    "gelu(input: Tensor, *, approximate: str = 'none') -> Tensor",
    kind=native,
    namespace="nn.functional",
    dtypes=floating,
    forms="function",
    doc="x times the normal distribution function, or with approximate='tanh' a formula close to it.",
)
for name, doc in (
    ("gelu", "gelu by the error function."),
    ("gelu_tanh", "gelu by the hyperbolic tangent."),
):
    op(
        f"_{name}(input: Tensor) -> Tensor",
        kind=pointwise,
        dtypes=floating,
        cpp=name,
        forms="function",
        doc=doc,
    )
