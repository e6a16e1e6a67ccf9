"""Trigonometric and hyperbolic functions."""

from opgen.model import floating, floating_complex, op, pointwise

RANGED = ("sin", "cos", "tan")

for name, aliases, doc in (
    ("sin", "", "The sine; NaN at infinity."),
    ("cos", "", "The cosine; NaN at infinity."),
    ("tan", "", "The tangent; NaN at infinity."),
    ("asin", "arcsin", "The inverse sine; NaN outside [-1, 1]."),
    ("acos", "arccos", "The inverse cosine; NaN outside [-1, 1]."),
    ("atan", "arctan", "The inverse tangent."),
    ("sinh", "", "The hyperbolic sine."),
    ("cosh", "", "The hyperbolic cosine."),
    ("tanh", "", "The hyperbolic tangent."),
    ("asinh", "arcsinh", "The inverse hyperbolic sine."),
    ("acosh", "arccosh", "The inverse hyperbolic cosine; NaN below 1."),
    ("atanh", "arctanh", "The inverse hyperbolic tangent; infinite at -1 and 1, NaN beyond."),
    ("sinc", "special.sinc", "sin(pi x) / (pi x); 1 at zero."),
):
    op(
        f"{name}(input: Tensor, *, out: Tensor | None = None) -> Tensor",
        kind=pointwise,
        dtypes=floating_complex,
        promote="float",
        forms="function method inplace",
        ranged=name in RANGED,
        aliases=aliases,
        doc=doc,
    )

op(
    "atan2(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor",
    kind=pointwise,
    dtypes=floating,
    promote="float",
    forms="function method inplace",
    aliases="arctan2",
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
        doc=doc,
    )
