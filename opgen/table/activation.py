"""Activation functions of neural networks."""

from opgen.model import composite, floating, floating_complex, native, op, pointwise, real

op(
    "relu(input: Tensor) -> Tensor",
    kind=pointwise,
    dtypes=real,
    forms="function method inplace",
    aliases="nn.functional.relu",
    grad={"input": "_threshold_backward(grad, result, 0.0)"},
    doc="The elements, not below zero; NaN stays.",
)
op(
    "selu(input: Tensor) -> Tensor",
    kind=pointwise,
    dtypes=floating,
    forms="function",
    aliases="nn.functional.selu",
    grad={"input": "_elu_backward(grad, input, 1.0507009873554805, 1.7580993408473768, 1.0)"},
    node="EluBackward0",
    doc="elu, scaled so that a standard normal input keeps its mean and variance.",
)
op(
    "celu(input: Tensor, alpha: float = 1.0) -> Tensor",
    kind=pointwise,
    dtypes=floating,
    forms="function",
    aliases="nn.functional.celu",
    grad={"input": "_elu_backward(grad, input, 1.0, 1.0, 1.0 / alpha)"},
    doc="alpha * (exp(x / alpha) - 1) below zero, x above.",
)
op(
    "threshold(input: Tensor, threshold: float, value: float) -> Tensor",
    kind=pointwise,
    dtypes=real,
    forms="function",
    aliases="nn.functional.threshold",
    grad={"input": "_threshold_backward(grad, input, threshold)"},
    doc="The elements above threshold, value for the others; NaN stays.",
)
op(
    "hardshrink(input: Tensor, lambd: float = 0.5, *, out: Tensor | None = None) -> Tensor",
    kind=pointwise,
    dtypes=floating,
    aliases="nn.functional.hardshrink",
    grad={"input": "_shrink_backward(grad, input, lambd)"},
    doc="0 within [-lambd, lambd], x elsewhere.",
)
op(
    "prelu(input: Tensor, weight: Tensor) -> Tensor",
    kind=native,
    dtypes=floating,
    aliases="nn.functional.prelu",
    grad=composite,
    doc="x above zero, weight * x below; weight has one element, or one per channel (dimension 1).",
)
op(
    "_prelu(input: Tensor, weight: Tensor) -> Tensor",
    kind=pointwise,
    dtypes=floating,
    cpp="weighted_relu",
    forms="function",
    grad={
        "input": "where(input > 0, grad, weight * grad)",
        "weight": "where(input > 0, 0, input * grad)",
    },
    node="PreluKernelBackward0",
    doc="x above zero, weight * x below.",
)

# Where the graph names the operator otherwise.
NODES = {"relu6": "HardtanhBackward0", "logsigmoid": "LogSigmoidBackward0"}

for signature, kinds, gradient, doc in (
    (
        "relu6(input: Tensor)",
        real,
        "_hardtanh_backward(grad, input, 0.0, 6.0)",
        "The elements clamped to [0, 6]; NaN stays.",
    ),
    (
        "hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0)",
        real,
        "_hardtanh_backward(grad, input, min_val, max_val)",
        "The elements clamped to [min_val, max_val]; NaN stays.",
    ),
    (
        "elu(input: Tensor, alpha: float = 1.0)",
        floating,
        "_elu_backward(grad, input, 1.0, alpha, 1.0)",
        "alpha * (exp(x) - 1) below zero, x above.",
    ),
    (
        "leaky_relu(input: Tensor, negative_slope: float = 0.01)",
        floating,
        "_leaky_relu_backward(grad, input, negative_slope)",
        "x above zero, negative_slope * x below.",
    ),
    ("silu(input: Tensor)", floating_complex, "_silu_backward(grad, input)", "x * sigmoid(x)."),
    ("mish(input: Tensor)", floating, "mish_backward(grad, input)", "x * tanh(softplus(x))."),
    (
        "hardsigmoid(input: Tensor)",
        floating,
        "_hardtanh_backward(grad, input, -3.0, 3.0) / 6",
        "x + 3 clamped to [0, 6], divided by 6.",
    ),
    (
        "hardswish(input: Tensor)",
        floating,
        "_hardswish_backward(grad, input)",
        "x * hardsigmoid(x).",
    ),
    (
        "softplus(input: Tensor, beta: float = 1.0, threshold: float = 20.0)",
        floating,
        "_softplus_backward(grad, input, beta, threshold)",
        "log(1 + exp(beta x)) / beta; x itself where beta x > threshold.",
    ),
    (
        "logsigmoid(input: Tensor)",
        floating,
        "grad * sigmoid(-input)",
        "log(sigmoid(x)), exact for very negative x.",
    ),
    (
        "softsign(input: Tensor)",
        floating_complex,
        "softsign_backward(grad, input)",
        "x / (1 + |x|).",
    ),
    (
        "tanhshrink(input: Tensor)",
        floating_complex,
        "grad * (tanh(input) ** 2).conj()",
        "x - tanh(x).",
    ),
    (
        "softshrink(input: Tensor, lambd: float = 0.5)",
        floating,
        "_shrink_backward(grad, input, lambd)",
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
        grad={"input": gradient},
        node=NODES.get(name, ""),
        doc=doc,
    )

op(
    "gelu(input: Tensor, *, approximate: str = 'none') -> Tensor",
    kind=native,
    namespace="nn.functional",
    dtypes=floating,
    forms="function",
    grad=composite,
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
        grad={"input": f"_{name}_backward(grad, input)"},
        node="GeluBackward0",
        doc=doc,
    )
