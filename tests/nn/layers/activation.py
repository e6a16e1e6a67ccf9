"""Configurations of activation functions."""

from tests.nn.layers.registry import function, layer, refused

for text in (
    "ReLU()",
    "ReLU6()",
    "Threshold(0.1, 20)",
    "Hardtanh()",
    "Hardtanh(-2, 0.5)",
    "Sigmoid()",
    "Tanh()",
    "Hardsigmoid()",
    "Hardswish()",
    "SiLU()",
    "Mish()",
    "ELU()",
    "ELU(0.5)",
    "CELU(2.0)",
    "SELU()",
    "GELU()",
    "GELU('tanh')",
    "Hardshrink()",
    "Hardshrink(0.1)",
    "LeakyReLU()",
    "LeakyReLU(0.3)",
    "LogSigmoid()",
    "Softplus()",
    "Softplus(2, 1.5)",
    "Softshrink()",
    "Softshrink(1.0)",
    "Softsign()",
    "Tanhshrink()",
    "RReLU()",
    "RReLU(0.2, 0.8)",
    "PReLU()",
    "PReLU(3, 0.1)",
    "GLU(-1)",
    "Softmin(1)",
    "Softmax(-1)",
    "Softmax(0)",
    "LogSoftmax(1)",
):
    # An empty batch has no softmax along it; PyTorch divides by 6 in float32 whatever the type.
    switches = {"zero_batch": "(0)" not in text, "double": "Hardsigmoid" not in text}
    layer(text, ["2 3 5 4"], **switches)
    if "PReLU(3" not in text:
        layer(text, ["7 6"], **switches)

for text in (
    "ReLU(True)",
    "ReLU6(True)",
    "Hardtanh(-1, 1, True)",
    "SiLU(True)",
    "Mish(True)",
    "ELU(0.5, True)",
    "CELU(2.0, True)",
    "SELU(True)",
    "Hardswish(True)",
    "Hardsigmoid(True)",
    "LeakyReLU(0.1, True)",
    "Threshold(0, 1, True)",
    "RReLU(0.1, 0.3, True)",
):
    layer(text, ["3 4"], call="m(a * 1)", double="Hardsigmoid" not in text)

layer("GLU(1)", ["2 6 5"])
layer("Softmax2d()", ["2 3 4 5"])
layer("Softmax2d()", ["3 4 5"], zero_batch=False)

for text in (
    "F.softmax(x, dim=1)",
    "F.softmax(x, -1, dtype=torch.float64)",
    "F.log_softmax(x, 0)",
    "F.softmin(x, dim=0)",
    "F.glu(x, 0)",
    "F.gelu(x, approximate='tanh')",
    "F.elu(x, alpha=0.3)",
    "F.leaky_relu(x, 0.2)",
    "F.hardtanh(x, min_val=-0.5, max_val=0.7)",
    "F.threshold(x, 0.2, -1.0)",
    "F.softplus(x, beta=3, threshold=2)",
    "F.softshrink(x, 0.2)",
    "F.hardshrink(x, lambd=0.2)",
    "F.rrelu(x, 0.1, 0.4, training=True)",
    "F.rrelu(x)",
    "F.gumbel_softmax(x)",
    "F.gumbel_softmax(x, tau=0.3, hard=True, dim=0)",
    "F.relu_(x * 1)",
    "F.elu_(x * 1, 0.5)",
    "F.leaky_relu_(x * 1, 0.5)",
    "F.hardtanh_(x * 1)",
    "F.selu_(x * 1)",
    "F.celu_(x * 1, 0.5)",
    "F.threshold_(x * 1, 0.1, 3)",
    "F.rrelu_(x * 1, training=True)",
    "F.logsigmoid(x)",
    "F.tanhshrink(x)",
    "F.softsign(x)",
    "F.sigmoid(x)",
    "F.tanh(x)",
    "torch.selu(x)",
    "torch.rrelu(x, training=True)",
    "F.gelu(x.bfloat16())",
    "F.silu(x.half())",
    "F.softmax(x.bfloat16(), 1)",
):
    name = text[2 : text.index("(")] if text.startswith("F.") else text[: text.index("(")]
    # Numbers of 16 bits are up to 2^-8 apart, and may be rounded either way.
    function(name, text, x="6 4", tolerance=100 if "half" in text or "bfloat16" in text else 1)

function("prelu", "F.prelu(x, w)", x="2 3 4", w="3")
function("prelu", "F.prelu(x, w)", x="2 3 4", w="1")

refused("F.glu(x)", x="2 3")
refused("F.softmax(x, 2)", x="2 3")
refused("F.softshrink(x, -1.0)", x="2 3")
refused("F.prelu(x, w)", x="2 3", w="2")
refused("F.gelu(x, approximate='no')", x="2 3")
refused("F.gelu(x)", x="int64[0:3] 2 3")
refused("F.rrelu(x, 0.5, 0.1)", x="2 3")
refused("nn.Hardtanh(1, -1)")
refused("nn.Softmax2d()(x)", x="2 3")
refused("F.relu('x')")
