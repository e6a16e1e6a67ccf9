"""Trigonometric and hyperbolic functions."""

from opgen.model import floating, floating_complex, op, pointwise

RANGED = ("sin", "cos", "tan")
KEEP_ZERO = ("sin", "tan", "asin", "atan", "sinh", "tanh", "asinh", "atanh")

for name, aliases, gradient, doc in (
    ("sin", "", "grad * cos(input).conj()", "The sine; NaN at infinity."),
    ("cos", "", "grad * -sin(input).conj()", "The cosine; NaN at infinity."),
    ("tan", "", "grad * (1 + result * result).conj()", "The tangent; NaN at infinity."),
    (
        "asin",
        "arcsin",
        "grad * rsqrt(1 - input * input).conj()",
        "The inverse sine; NaN outside [-1, 1].",
    ),
    (
        "acos",
        "arccos",
        "grad * -rsqrt(1 - input * input).conj()",
        "The inverse cosine; NaN outside [-1, 1].",
    ),
    ("atan", "arctan", "grad / (1 + input * input).conj()", "The inverse tangent."),
    ("sinh", "", "grad * cosh(input).conj()", "The hyperbolic sine."),
    ("cosh", "", "grad * sinh(input).conj()", "The hyperbolic cosine."),
    ("tanh", "", "_tanh_backward(grad, result)", "The hyperbolic tangent."),
    ("asinh", "arcsinh", "grad * rsqrt(1 + input * input).conj()", "The inverse hyperbolic sine."),
    (
        "acosh",
        "arccosh",
        "acosh_backward(grad, input)",
        "The inverse hyperbolic cosine; NaN below 1.",
    ),
    (
        "atanh",
        "arctanh",
        "grad / (1 - input * input).conj()",
        "The inverse hyperbolic tangent; infinite at -1 and 1, NaN beyond.",
    ),
    (
        "sinc",
        "special.sinc",
        "sinc_backward(grad, input, result)",
        "sin(pi x) / (pi x); 1 at zero.",
    ),
):
    op(
        f"{name}(input: Tensor, *, out: Tensor | None = None) -> Tensor",
        kind=pointwise,
        dtypes=floating_complex,
        promote="float",
        forms="function method inplace",
        ranged=name in RANGED,
        aliases=aliases,
        grad={"input": gradient},
        doc=doc,
        sparse="values" if name in KEEP_ZERO else "",
    )

op(
    "atan2(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor",
    kind=pointwise,
    dtypes=floating,
    promote="float",
    forms="function method inplace",
    aliases="arctan2",
    grad={
        "input": "grad * other * inverse_square_norm(input, other)",
        "other": "-grad * input * inverse_square_norm(input, other)",
    },
    doc="The angle of the point (other, input), in (-pi, pi]; signed zeros choose the side.",
)
for name, doc in (
    ("deg2rad", "Degrees in radians."),
    ("rad2deg", "Radians in degrees."),
):
    op(
        f"{name}(input: Tensor, *, out: Tensor | None = None) -> Tensor",
        kind=pointwise,
        dtypes=floating,
        promote="float",
        forms="function method inplace",
        grad={"input": f"{name}(grad)"},
        doc=doc,
        sparse="values",
    )
