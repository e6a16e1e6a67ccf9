"""Activation functions of neural networks."""

from opgen.model import composite, floating, floating_complex, native, op, pointwise, real

op(
    "relu(input: Tensor) -> Tensor",
    kind=pointwise,
    dtypes=real,
    forms="function method inplace",
    aliases="nn.functional.relu(inplace)",
    grad={"input": "_threshold_backward(grad, result, 0.0)"},
    doc="Replaces negative elements by zero; NaN stays.",
    sparse="values",
)
op(
    "selu(input: Tensor) -> Tensor",
    kind=pointwise,
    dtypes=floating,
    forms="function inplace",
    aliases="nn.functional.selu(inplace)",
    grad={"input": "_elu_backward(grad, input, 1.0507009873554805, 1.7580993408473768, 1.0)"},
    node="EluBackward0",
    doc="The scaled ELU, which keeps the mean and variance of a standard normal input.",
)
op(
    "celu(input: Tensor, alpha: float = 1.0) -> Tensor",
    kind=pointwise,
    dtypes=floating,
    forms="function inplace",
    aliases="nn.functional.celu(inplace)",
    grad={"input": "_elu_backward(grad, input, 1.0, 1.0, 1.0 / alpha)"},
    doc="The continuously differentiable ELU: x above zero, alpha * (exp(x / alpha) - 1) below.",
)
op(
    "threshold(input: Tensor, threshold: float, value: float) -> Tensor",
    kind=pointwise,
    dtypes=real,
    forms="function inplace",
    aliases="nn.functional.threshold(inplace)",
    grad={"input": "_threshold_backward(grad, input, threshold)"},
    doc="Keeps the elements above threshold and replaces the others by value; NaN stays.",
)
op(
    "rrelu(input: Tensor, lower: float = 1.0 / 8, upper: float = 1.0 / 3, training: bool = False, *,"
    " generator: Generator | None = None) -> Tensor",
    kind=native,
    dtypes=floating,
    forms="function inplace",
    aliases="nn.functional.rrelu(inplace)",
    random=True,
    grad=composite,
    doc="Leaky ReLU; in training each element draws its slope from [lower, upper).",
)
op(
    "_rrelu(input: Tensor, lower: float, upper: float, generator: Generator | None) ->"
    " tuple[Tensor, Tensor]",
    kind=native,
    dtypes=floating,
    cpp="rrelu_with_noise",
    forms="inner",
    random=True,
    grad={"input": "grad * results[1]"},
    node="RreluWithNoiseBackward0",
    doc="leaky_relu with random slopes, and the slope of every element; 1 above zero.",
)
op(
    "hardshrink(input: Tensor, lambd: float = 0.5, *, out: Tensor | None = None) -> Tensor",
    kind=pointwise,
    dtypes=floating,
    aliases="nn.functional.hardshrink",
    grad={"input": "_shrink_backward(grad, input, lambd)"},
    out="exact",
    doc="Hard shrinkage: 0 within [-lambd, lambd], x elsewhere.",
)
op(
    "prelu(input: Tensor, weight: Tensor) -> Tensor",
    kind=native,
    dtypes=floating,
    aliases="nn.functional.prelu",
    grad=composite,
    doc="Leaky ReLU with learned slopes: x above zero, weight * x below.",
    autocast="lower",
)
op(
    "_prelu(input: Tensor, weight: Tensor) -> Tensor",
    kind=pointwise,
    dtypes=floating,
    cpp="prelu_kernel",
    forms="inner",
    grad={
        "input": "where(input > 0, grad, weight * grad)",
        "weight": "where(input > 0, 0, input * grad)",
    },
    node="PreluKernelBackward0",
    doc="x above zero, weight * x below.",
)

# Names in the graph that differ from the operator's.
NODES = {"relu6": "HardtanhBackward0", "logsigmoid": "LogSigmoidBackward0"}

for signature, kinds, gradient, doc in (
    (
        "relu6(input: Tensor, inplace: bool = False)",
        real,
        "_hardtanh_backward(grad, input, 0.0, 6.0)",
        "Clamps the elements to [0, 6]; NaN stays.",
    ),
    (
        "hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False)",
        real,
        "_hardtanh_backward(grad, input, min_val, max_val)",
        "Clamps the elements to [min_val, max_val]; NaN stays.",
    ),
    (
        "elu(input: Tensor, alpha: float = 1.0, inplace: bool = False)",
        floating,
        "_elu_backward(grad, input, 1.0, alpha, 1.0)",
        "The exponential linear unit: x above zero, alpha * (exp(x) - 1) below.",
    ),
    (
        "leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False)",
        floating,
        "_leaky_relu_backward(grad, input, negative_slope)",
        "Leaky ReLU: x above zero, negative_slope * x below.",
    ),
    (
        "silu(input: Tensor, inplace: bool = False)",
        floating_complex,
        "_silu_backward(grad, input)",
        "The sigmoid linear unit: x * sigmoid(x).",
    ),
    (
        "mish(input: Tensor, inplace: bool = False)",
        floating,
        "_mish_backward(grad, input)",
        "The Mish activation: x * tanh(softplus(x)).",
    ),
    (
        "hardsigmoid(input: Tensor, inplace: bool = False)",
        floating,
        "_hardsigmoid_backward(grad, input)",
        "A piecewise linear sigmoid: x + 3 clamped to [0, 6], divided by 6.",
    ),
    (
        "hardswish(input: Tensor, inplace: bool = False)",
        floating,
        "_hardswish_backward(grad, input)",
        "The hard swish: x * hardsigmoid(x).",
    ),
    (
        "softplus(input: Tensor, beta: float = 1.0, threshold: float = 20.0, *, out: Tensor | None = None)",
        floating,
        "_softplus_backward(grad, input, beta, threshold)",
        "A smooth ReLU: log(1 + exp(beta x)) / beta, and x itself where beta x > threshold.",
    ),
    (
        "logsigmoid(input: Tensor, *, out: Tensor | None = None)",
        floating,
        "_logsigmoid_backward(grad, input)",
        "The logarithm of sigmoid(x), exact for very negative x.",
    ),
    (
        "softsign(input: Tensor)",
        floating_complex,
        "softsign_backward(grad, input)",
        "The softsign: x / (1 + |x|).",
    ),
    (
        "tanhshrink(input: Tensor)",
        floating_complex,
        "_tanhshrink_backward(grad, input)",
        "Tanh shrinkage: x - tanh(x).",
    ),
    (
        "softshrink(input: Tensor, lambd: float = 0.5, *, out: Tensor | None = None)",
        floating,
        "_shrink_backward(grad, input, lambd)",
        "Soft shrinkage: x moved towards zero by lambd, and 0 within [-lambd, lambd].",
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
        out={"softplus": "exact", "softshrink": "exact", "logsigmoid": "exact quiet"}.get(name, ""),
        forms="function inplace" if "inplace" in signature else "function",
        grad={"input": gradient},
        node=NODES.get(name, ""),
        doc=doc,
    )

op(
    "gelu(input: Tensor, *, approximate: str = 'none', out: Tensor | None = None) -> Tensor",
    kind=native,
    out="exact whole",
    namespace="nn.functional",
    dtypes=floating,
    forms="function",
    grad=composite,
    doc="The Gaussian error linear unit: x times the distribution function of the standard normal.",
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
        forms="inner",
        grad={"input": f"_{name}_backward(grad, input)"},
        node="GeluBackward0",
        doc=doc,
    )

op(
    "glu(input: Tensor, dim: int = -1) -> Tensor",
    kind=native,
    namespace="nn.functional",
    dtypes=floating,
    forms="function",
    grad={"input": "_glu_backward(grad, input, dim)"},
    node="GluBackward0",
    doc="The gated linear unit: the first half of input along dim, times the sigmoid of the second.",
)
op(
    "_glu(input: Tensor, gate: Tensor) -> Tensor",
    kind=pointwise,
    dtypes=floating,
    cpp="gated",
    forms="inner",
    grad={"input": "_glu(grad, gate)", "gate": "_glu_gate_backward(grad, input, gate)"},
    doc="input * sigmoid(gate).",
)
op(
    "_glu_backward(gradient: Tensor, input: Tensor, dim: int) -> Tensor",
    kind=native,
    dtypes=floating,
    cpp="glu_backward",
    forms="inner",
    grad={"gradient input": "glu_backward_gradients(grad, gradient, input, dim)"},
    batch="dims",
    doc="The gradient of glu.",
)
for name, doc in (
    ("softmax", "``exp(input)`` scaled to sum to 1 along ``dim``."),
    ("log_softmax", "The logarithm of ``softmax(input, dim)``."),
    ("softmin", "``softmax(-input, dim)``."),
):
    op(
        f"{name}(input: Tensor, dim: int | None = None, _stacklevel: int = 3,"
        " dtype: DType | None = None) -> Tensor",
        kind=native,
        namespace="nn.functional",
        dtypes=floating,
        forms="function",
        grad=composite,
        doc=f"{doc} Without dim, it is dimension 0 of a tensor with 0, 1 or 3 dimensions, else 1.",
    )
