"""Gradients that are one kernel: first derivatives of the most common functions.

`gradient` is the incoming gradient, the other operand what the function saved.
"""

from opgen.model import floating, floating_complex, op, pointwise

for signature, kinds, gradients, doc in (
    (
        "square_backward(gradient: Tensor, input: Tensor)",
        floating_complex,
        {
            "gradient": "_square_backward(grad, input.conj())",
            "input": "_square_backward(gradient, grad)",
        },
        "gradient * 2 * input, the derivative conjugated.",
    ),
    (
        "div_backward(gradient: Tensor, input: Tensor | Number, other: Tensor)",
        floating_complex,
        {
            "gradient": "_div_backward(grad, input.conj(), other.conj())",
            "input": "-grad.conj() * gradient / (other * other).conj()",
            "other": "2 * grad.conj() * gradient * (input / (other * other * other)).conj()",
        },
        "gradient * -input / other^2, the derivative conjugated.",
    ),
    (
        "reciprocal_backward(gradient: Tensor, output: Tensor)",
        floating_complex,
        {
            "gradient": "_reciprocal_backward(grad, output.conj())",
            "output": "-2 * grad.conj() * gradient * output.conj()",
        },
        "gradient * -output^2, the derivative conjugated.",
    ),
    (
        "tanh_backward(gradient: Tensor, output: Tensor)",
        floating_complex,
        {
            "gradient": "_tanh_backward(grad, output.conj())",
            "output": "-2 * grad.conj() * gradient * output.conj()",
        },
        "gradient * (1 - output^2), the derivative conjugated.",
    ),
    (
        "sigmoid_backward(gradient: Tensor, output: Tensor)",
        floating_complex,
        {
            "gradient": "_sigmoid_backward(grad, output.conj())",
            "output": "grad.conj() * gradient * (1 - 2 * output).conj()",
        },
        "gradient * output * (1 - output), the derivative conjugated.",
    ),
    (
        "silu_backward(gradient: Tensor, input: Tensor)",
        floating_complex,
        {
            "gradient": "_silu_backward(grad, input.conj())",
            "input": "grad.conj() * gradient * silu_curvature(input).conj()",
        },
        "gradient * s * (1 + input * (1 - s)) where s = sigmoid(input), the derivative conjugated.",
    ),
    (
        "threshold_backward(gradient: Tensor, input: Tensor, threshold: float)",
        floating,
        {"gradient": "_threshold_backward(grad, input, threshold)", "input": "zeros_like(grad)"},
        "gradient, but 0 where input <= threshold.",
    ),
    (
        "hardtanh_backward(gradient: Tensor, input: Tensor, min_val: float, max_val: float)",
        floating,
        {
            "gradient": "_hardtanh_backward(grad, input, min_val, max_val)",
            "input": "zeros_like(grad)",
        },
        "gradient, but 0 where input <= min_val or input >= max_val.",
    ),
    (
        "shrink_backward(gradient: Tensor, input: Tensor, lambd: float)",
        floating,
        {"gradient": "_shrink_backward(grad, input, lambd)", "input": "zeros_like(grad)"},
        "gradient, but 0 where -lambd <= input <= lambd.",
    ),
    (
        "leaky_relu_backward(gradient: Tensor, input: Tensor, negative_slope: float)",
        floating,
        {
            "gradient": "_leaky_relu_backward(grad, input, negative_slope)",
            "input": "zeros_like(grad)",
        },
        "gradient where input > 0, gradient * negative_slope elsewhere.",
    ),
    (
        "elu_backward(gradient: Tensor, input: Tensor, positive: float, negative: float, rate: float)",
        floating,
        {
            "gradient": "_elu_backward(grad, input, positive, negative, rate)",
            "input": "_elu_backward(grad * gradient, input, 0.0, negative * rate, rate)",
        },
        "gradient * positive where input > 0, gradient * negative * exp(rate * input) elsewhere.",
    ),
    (
        "softplus_backward(gradient: Tensor, input: Tensor, beta: float, threshold: float)",
        floating,
        {
            "gradient": "_softplus_backward(grad, input, beta, threshold)",
            "input": "grad * gradient * softplus_curvature(input, beta, threshold)",
        },
        "gradient * sigmoid(beta * input); gradient itself where beta * input > threshold.",
    ),
    (
        "hardswish_backward(gradient: Tensor, input: Tensor)",
        floating,
        {
            "gradient": "_hardswish_backward(grad, input)",
            "input": "_hardtanh_backward(grad * gradient, input, -3.0, 3.0) / 3",
        },
        "0 where input <= -3, gradient where input >= 3, gradient * (input / 3 + 1/2) between.",
    ),
    (
        "gelu_backward(gradient: Tensor, input: Tensor)",
        floating,
        {
            "gradient": "_gelu_backward(grad, input)",
            "input": "grad * gradient * gelu_curvature(input)",
        },
        "gradient * (ndtr(input) + input * the normal density at input).",
    ),
    (
        "gelu_tanh_backward(gradient: Tensor, input: Tensor)",
        floating,
        {
            "gradient": "_gelu_tanh_backward(grad, input)",
            "input": "grad * gradient * gelu_tanh_curvature(input)",
        },
        "gradient times the derivative of gelu by the hyperbolic tangent.",
    ),
    (
        "glu_gate_backward(gradient: Tensor, input: Tensor, gate: Tensor)",
        floating,
        {
            "gradient": "_glu_gate_backward(grad, input, gate)",
            "input": "_glu_gate_backward(gradient, grad, gate)",
            "gate": "_glu_gate_backward(grad * gradient, input, gate) * (1 - 2 * sigmoid(gate))",
        },
        "gradient * input * s * (1 - s) where s = sigmoid(gate).",
    ),
    (
        "mish_backward(gradient: Tensor, input: Tensor)",
        floating,
        {
            "gradient": "_mish_backward(grad, input)",
            "input": "grad * gradient * mish_curvature(input)",
        },
        "gradient * (t + input * sigmoid(input) * (1 - t^2)) where t = tanh(softplus(input)).",
    ),
    (
        "hardsigmoid_backward(gradient: Tensor, input: Tensor)",
        floating,
        {"gradient": "_hardsigmoid_backward(grad, input)", "input": "zeros_like(grad)"},
        "gradient / 6 where -3 < input < 3, else 0.",
    ),
    (
        "logsigmoid_backward(gradient: Tensor, input: Tensor)",
        floating,
        {
            "gradient": "_logsigmoid_backward(grad, input)",
            "input": "_sigmoid_backward(-grad * gradient, sigmoid(input))",
        },
        "gradient * sigmoid(-input).",
    ),
    (
        "tanhshrink_backward(gradient: Tensor, input: Tensor)",
        floating_complex,
        {
            "gradient": "_tanhshrink_backward(grad, input.conj())",
            "input": "2 * grad.conj() * gradient * _tanh_backward(tanh(input).conj(), tanh(input))",
        },
        "gradient * tanh(input)^2, the derivative conjugated.",
    ),
):
    op(
        f"_{signature} -> Tensor",
        kind=pointwise,
        dtypes=kinds,
        cpp=signature[: signature.index("(")],
        forms="inner",
        grad=gradients,
        doc=doc,
    )
