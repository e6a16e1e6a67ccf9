"""Arithmetic."""

from opgen.model import (
    all_types,
    composite,
    floating,
    floating_complex,
    integers,
    native,
    not_implemented,
    numeric,
    op,
    pointwise,
    python,
    real,
    real_bool,
)

op(
    "add(input: Tensor | Number, other: Tensor | Number, *, alpha: Number = 1, out: Tensor | None = None) -> Tensor",
    kind=pointwise,
    dtypes=all_types,
    forms="function method inplace",
    operator="add",
    check="alpha",
    grad={"input": "grad", "other": "scaled(grad, alpha)"},
    old_order="alpha",
    doc="Adds other, scaled by alpha, to input; bool adds as 'or'.",
    sparse="own",
)
op(
    "sub(input: Tensor | Number, other: Tensor | Number, *, alpha: Number = 1, out: Tensor | None = None) -> Tensor",
    kind=pointwise,
    dtypes=numeric,
    forms="function method inplace",
    operator="sub",
    check="subtraction",
    aliases="subtract",
    grad={"input": "grad", "other": "scaled(-grad, alpha)"},
    number_nodes={"input": "RsubBackward1"},
    old_order="alpha",
    doc="Subtracts other, scaled by alpha, from input.",
    sparse="own",
)
op(
    "rsub(input: Tensor | Number, other: Tensor | Number, *, alpha: Number = 1) -> Tensor",
    kind=pointwise,
    dtypes=numeric,
    forms="function",
    check="subtraction",
    grad={"input": "scaled(-grad, alpha)", "other": "grad"},
    number_nodes={"other": "RsubBackward1"},
    doc="Subtracts input, scaled by alpha, from other.",
)
op(
    "mul(input: Tensor | Number, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor",
    kind=pointwise,
    dtypes=all_types,
    forms="function method inplace",
    operator="mul",
    aliases="multiply",
    grad={"input": "grad * other.conj()", "other": "grad * input.conj()"},
    doc="Multiplies input by other.",
    sparse="own",
)
op(
    "div(input: Tensor | Number, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor",
    kind=pointwise,
    dtypes=floating_complex,
    promote="float",
    forms="function method inplace",
    operator="truediv",
    aliases="divide true_divide",
    grad={"input": "grad / other.conj()", "other": "_div_backward(grad, input, other)"},
    number_nodes={"input": "MulBackward0"},
    doc="Divides input by other; integers divide as floating point numbers.",
    sparse="own",
)
op(
    "div.rounding_mode(input: Tensor | Number, other: Tensor | Number, *, rounding_mode: str | None, out: Tensor | None = None) -> Tensor",
    kind=native,
    forms="function method inplace",
    aliases="divide",
    grad={
        "input": "grad / other.conj() if rounding_mode is None else zeros_like(grad)",
        "other": "_div_backward(grad, input, other) if rounding_mode is None else zeros_like(grad)",
    },
    node="DivBackward2",
    doc="Divides input by other and rounds towards zero ('trunc') or down ('floor').",
    batch="aligned",
)
op(
    "_div_trunc(input: Tensor | Number, other: Tensor | Number) -> Tensor",
    kind=pointwise,
    dtypes=real,
    cpp="div_trunc",
    check="divisor",
    forms="inner",
    grad=not_implemented,
    doc="The quotient, rounded towards zero.",
)
op(
    "floor_divide(input: Tensor | Number, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor",
    kind=pointwise,
    dtypes=real,
    forms="function method inplace",
    operator="floordiv",
    ranged=True,
    check="divisor",
    grad=not_implemented,
    doc="The quotient, rounded down; an integer divided by zero is an error.",
)
op(
    "remainder(input: Tensor | Number, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor",
    kind=pointwise,
    dtypes=real,
    forms="function method inplace",
    operator="mod",
    ranged=True,
    check="divisor",
    grad={"input": "grad", "other": "-grad * div(input, other, rounding_mode='floor')"},
    node="RemainderBackward1",
    number_nodes={"other": "RemainderBackward0"},
    doc="Python's modulus: the remainder has the sign of other.",
)
op(
    "fmod(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor",
    kind=pointwise,
    dtypes=real,
    forms="function method inplace",
    ranged=True,
    check="divisor",
    grad={"input": "grad", "other": "-grad * div(input, other, rounding_mode='trunc')"},
    node="FmodBackward1",
    number_nodes={"other": "FmodBackward0"},
    doc="C's modulus: the remainder has the sign of input.",
)
POW_GRADIENTS = {
    "input": "pow_backward(grad, input, exponent)",
    "exponent": "pow_backward_exponent(grad, input, exponent, result)",
}
POW_NODES = {"input": "PowBackward2", "exponent": "PowBackward0"}
op(
    "pow(input: Tensor | Number, exponent: Tensor | Number, *, out: Tensor | None = None) -> Tensor",
    kind=native,
    dtypes=numeric,
    forms="function method inplace",
    operator="pow",
    cpp="power",
    grad=POW_GRADIENTS,
    node="PowBackward1",
    number_nodes=POW_NODES,
    out="whole",
    autocast="cuda_float32",
    doc="Raises input to the power exponent; anything to the power 0 is 1, also NaN.",
    batch="aligned",
)
op(
    "_pow(input: Tensor | Number, exponent: Tensor | Number) -> Tensor",
    kind=pointwise,
    dtypes=numeric,
    cpp="pow",
    forms="inner",
    grad=POW_GRADIENTS,
    node="PowBackward1",
    number_nodes=POW_NODES,
    doc="pow without its short cuts for small constant exponents.",
)
op(
    "float_power(input: Tensor | Number, exponent: Tensor | Number, *, out: Tensor | None = None) -> Tensor",
    kind=native,
    forms="function method",
    grad=composite,
    out="exact",
    doc="Raises input to the power exponent in double precision.",
)
op(
    "float_power_(input: Tensor, exponent: Any) -> Tensor",
    kind=python,
    body="flambeau._operators.powers:float_power_",
    dtypes=("float64", "complex128"),
    forms="method",
    doc="float_power in place, of a tensor that has double precision.",
)

op(
    "neg(input: Tensor, *, out: Tensor | None = None) -> Tensor",
    kind=pointwise,
    dtypes=numeric,
    forms="function method inplace",
    operator="neg",
    aliases="negative",
    grad={"input": "-grad"},
    out="exact",
    doc="The negative of each element.",
    sparse="own",
)
op(
    "positive(input: Tensor) -> Tensor",
    kind=native,
    dtypes=numeric,
    operator="pos",
    grad=composite,
    doc="The tensor itself.",
    sparse="any",
)
op(
    "square(input: Tensor, *, out: Tensor | None = None) -> Tensor",
    kind=native,
    forms="function method inplace",
    cpp="square_any",
    grad={"input": "_square_backward(grad, input)"},
    node="PowBackward0",
    out="whole",
    doc="The square of each element; that of bool is an integer.",
    batch="same",
    sparse="values",
)
op(
    "_square(input: Tensor) -> Tensor",
    kind=pointwise,
    dtypes=numeric,
    cpp="square",
    forms="inner",
    grad={"input": "_square_backward(grad, input)"},
    node="PowBackward0",
    doc="The square of each element.",
)
for name, kinds, promote, gradient, doc in (
    (
        "reciprocal",
        floating_complex,
        "float",
        "_reciprocal_backward(grad, result)",
        "1 divided by each element.",
    ),
    (
        "sign",
        real_bool,
        "same",
        "zeros_like(grad)",
        "-1, 0 or 1 by the sign of each element; 0 for NaN.",
    ),
    (
        "sgn",
        all_types,
        "same",
        "sgn_backward(grad, input, result)",
        "The sign of each element; of a complex one, z / |z|.",
    ),
):
    op(
        f"{name}(input: Tensor, *, out: Tensor | None = None) -> Tensor",
        kind=pointwise,
        dtypes=kinds,
        promote=promote,
        forms="function method inplace",
        grad={"input": gradient},
        out="" if name == "reciprocal" else "exact",
        doc=doc,
        sparse="" if name == "reciprocal" else "values",
    )

op(
    "abs(input: Tensor, *, out: Tensor | None = None) -> Tensor",
    kind=pointwise,
    dtypes=numeric,
    output="real",
    forms="function method inplace",
    operator="abs",
    aliases="absolute",
    grad={"input": "grad * sgn(input)"},
    out="exact",
    doc="The absolute value of each element.",
    sparse="values",
)
op(
    "signbit(input: Tensor, *, out: Tensor | None = None) -> Tensor",
    kind=pointwise,
    dtypes=real_bool,
    output="bool",
    out="exact",
    doc="Whether the sign bit of each element is set; that of -0.0 is.",
    sparse="values",
)

# The gradient goes to the larger element; maximum halves it between equal ones.
for name, lost, doc in (
    ("maximum", "<", "The larger of two elements; NaN where either is."),
    ("minimum", ">", "The smaller of two elements; NaN where either is."),
):
    op(
        f"{name}(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor",
        kind=pointwise,
        dtypes=real_bool,
        grad={
            "input": f"where(input == other, grad / 2, where(input {lost} other, 0, grad))",
            "other": f"where(input == other, grad / 2, where(other {lost} input, 0, grad))",
        },
        doc=doc,
    )
for name, won, doc in (
    ("fmax", ">=", "The larger of two elements; NaN only where both are."),
    ("fmin", "<=", "The smaller of two elements; NaN only where both are."),
):
    op(
        f"{name}(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor",
        kind=pointwise,
        dtypes=real_bool,
        grad={
            "input": f"where((input {won} other) | isnan(other), grad, 0)",
            "other": f"where((input {won} other) | isnan(other), 0, grad)",
        },
        doc=doc,
    )

op(
    "clamp(input: Tensor, min: Number | None = None, max: Number | None = None, *, out: Tensor | None = None) -> Tensor",
    kind=native,
    dtypes=real_bool,
    forms="function method inplace",
    aliases="clip",
    grad={"input": "clamp_backward(grad, input, min, max)"},
    node="ClampBackward1",
    out="exact whole",
    doc="Clamps the elements to [min, max]; NaN stays.",
    batch="aligned",
)
op(
    "clamp.Tensor(input: Tensor, min: Tensor | None = None, max: Tensor | None = None, *, out: Tensor | None = None) -> Tensor",
    kind=native,
    dtypes=real_bool,
    forms="function method inplace",
    aliases="clip",
    grad={
        "input": "clamp_backward(grad, input, min, max)",
        "min": "clamp_backward_min(grad, input, min, max)",
        "max": "clamp_backward_max(grad, input, min, max)",
    },
    out="exact whole",
    doc="Clamps the elements to [min, max]; NaN stays.",
    batch="aligned",
)
op(
    "_clamp(input: Tensor | Number, min: Tensor | Number, max: Tensor | Number) -> Tensor",
    kind=pointwise,
    dtypes=real,
    cpp="clamp",
    forms="inner",
    grad=not_implemented,
    doc="clamp with both bounds.",
)
op(
    "clamp_min(input: Tensor, min: Tensor | Number, *, out: Tensor | None = None) -> Tensor",
    kind=pointwise,
    dtypes=real_bool,
    check="numbers",
    forms="function method inplace",
    grad={"input": "where(input >= min, grad, 0)", "min": "where(input < min, grad, 0)"},
    node="ClampMinBackward1",
    number_nodes={"min": "ClampMinBackward0"},
    doc="Raises the elements below min to it; NaN stays.",
)
op(
    "clamp_max(input: Tensor, max: Tensor | Number, *, out: Tensor | None = None) -> Tensor",
    kind=pointwise,
    dtypes=real_bool,
    check="numbers",
    forms="function method inplace",
    grad={"input": "where(input <= max, grad, 0)", "max": "where(input > max, grad, 0)"},
    node="ClampMaxBackward1",
    number_nodes={"max": "ClampMaxBackward0"},
    doc="Lowers the elements above max to it; NaN stays.",
)

op(
    "addcmul(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1, out: Tensor | None = None) -> Tensor",
    kind=pointwise,
    dtypes=numeric,
    check="numbers",
    forms="function method inplace",
    grad={
        "input": "grad",
        "tensor1": "scaled(grad * tensor2.conj(), value)",
        "tensor2": "scaled(grad * tensor1.conj(), value)",
    },
    old_order="value",
    doc="input + value * tensor1 * tensor2.",
)
op(
    "addcdiv(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1, out: Tensor | None = None) -> Tensor",
    kind=pointwise,
    dtypes=floating_complex,
    forms="function method inplace",
    grad={
        "input": "grad",
        "tensor1": "scaled(grad / tensor2.conj(), value)",
        "tensor2": "scaled(-grad * (tensor1 / tensor2 / tensor2).conj(), value)",
    },
    old_order="value",
    doc="input + value * tensor1 / tensor2.",
)
op(
    "lerp(input: Tensor, end: Tensor, weight: Tensor | Number, *, out: Tensor | None = None) -> Tensor",
    kind=pointwise,
    dtypes=floating_complex,
    forms="function method inplace",
    check="one_type",
    grad={
        "input": "grad - grad * weight.conj()",
        "end": "grad * weight.conj()",
        "weight": "grad * (end - input).conj()",
    },
    node="LerpBackward1",
    number_nodes={"weight": "LerpBackward0"},
    doc="Linear interpolation: input + weight * (end - input), exact at both ends.",
)
op(
    "copysign(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor",
    kind=pointwise,
    dtypes=floating,
    promote="float",
    forms="function method inplace",
    grad={"input": "grad * where(input == 0, 0, result / input)", "other": "zeros_like(grad)"},
    number_nodes={"other": "CopysignBackward1"},
    doc="The absolute value of input with the sign of other; -0.0 counts as negative.",
)
op(
    "hypot(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor",
    kind=pointwise,
    dtypes=floating,
    forms="function method inplace",
    grad={"input": "grad * (input / result)", "other": "grad * (other / result)"},
    doc="The square root of input^2 + other^2, without overflow on the way.",
)
op(
    "gcd(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor",
    kind=pointwise,
    dtypes=integers,
    forms="function method inplace",
    doc="The greatest common divisor; that of 0 and 0 is 0.",
)
op(
    "lcm(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor",
    kind=pointwise,
    dtypes=integers,
    forms="function method inplace",
    doc="The least common multiple; 0 where either is 0.",
)
op(
    "nextafter(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor",
    kind=pointwise,
    dtypes=("float32", "float64"),
    forms="function method inplace",
    grad={"input": "where(input == other, 0, grad)", "other": "zeros_like(grad)"},
    doc="The next representable number after input, towards other.",
)
op(
    "ldexp(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor",
    kind=pointwise,
    dtypes=floating_complex,
    promote="float",
    forms="function method inplace",
    grad={
        "input": "ldexp(grad, other.conj())",
        "other": "grad * (result * 0.6931471805599453).conj()",
    },
    doc="input * 2^other.",
)
op(
    "frexp(input: Tensor, *, out: list[Tensor] | None = None) -> tuple[Tensor, Tensor]",
    kind=native,
    dtypes=floating,
    returns="mantissa exponent",
    grad={"input": "ldexp(grad, -exponent)"},
    out="exact",
    doc="Splits input into mantissa * 2^exponent, |mantissa| in [0.5, 1); exponent 0 for 0, inf and NaN.",
)
op(
    "heaviside(input: Tensor, values: Tensor, *, out: Tensor | None = None) -> Tensor",
    kind=pointwise,
    dtypes=real_bool,
    forms="function method inplace",
    check="one_type",
    grad=not_implemented,
    out="exact",
    doc="0 below zero, 1 above, values at zero; 0 for NaN.",
)
op(
    "nan_to_num(input: Tensor, nan: float | None = None, posinf: float | None = None, neginf: float | None = None, *, out: Tensor | None = None) -> Tensor",
    kind=native,
    forms="function method inplace",
    grad={"input": "where(isfinite(input), grad, 0)"},
    out="exact whole",
    doc="Replaces NaN by 0 and infinities by the largest finite numbers, or as given.",
    batch="same",
)
op(
    "_nan_to_num(input: Tensor, nan: float, posinf: float, neginf: float) -> Tensor",
    kind=pointwise,
    dtypes=floating_complex,
    cpp="nan_to_num",
    forms="inner",
    grad=not_implemented,
    doc="nan_to_num with all replacements given.",
)
