"""Special functions: the error function's family, gamma and Bessel functions."""

from opgen.model import floating, native, none, op, pointwise, real, real_bool

for name, forms, aliases, gradient, doc in (
    (
        "erf",
        "function method inplace",
        "special.erf",
        "1.1283791670955126 * exp(-input * input) * grad",
        "The error function.",
    ),
    (
        "erfc",
        "function method inplace",
        "special.erfc",
        "-1.1283791670955126 * exp(-input * input) * grad",
        "1 - erf(x), exact for large x.",
    ),
    (
        "erfinv",
        "function method inplace",
        "special.erfinv",
        "0.886226925452758 * exp(result * result) * grad",
        "The inverse of erf; infinite at -1 and 1, NaN beyond.",
    ),
    (
        "lgamma",
        "function method inplace",
        "special.gammaln",
        "grad * digamma(input)",
        "The logarithm of |gamma(x)|; inf at 0, -1, -2 and so on.",
    ),
    (
        "digamma",
        "function method inplace",
        "special.digamma special.psi",
        "grad * polygamma(1, input)",
        "The derivative of lgamma; NaN at -1, -2 and so on, infinite at 0.",
    ),
    (
        "i0",
        "function method inplace",
        "special.i0 special.modified_bessel_i0",
        "grad * special.i1(input)",
        "The modified Bessel function of order 0.",
    ),
):
    op(
        f"{name}(input: Tensor, *, out: Tensor | None = None) -> Tensor",
        kind=pointwise,
        dtypes=floating,
        promote="float",
        forms=forms,
        aliases=aliases,
        grad={"input": gradient},
        doc=doc,
        sparse="values" if name in ("erf", "erfinv") else "",
    )

SINGLE_DOUBLE = ("float32", "float64")
for name, kinds, aliases, gradient, doc in (
    (
        "erfcx",
        SINGLE_DOUBLE,
        "",
        "grad * (2 * input * result - 1.1283791670955126)",
        "exp(x^2) erfc(x).",
    ),
    (
        "ndtr",
        floating,
        "",
        "grad * (0.3989422804014327 * exp(-0.5 * input * input))",
        "The distribution function of the standard normal.",
    ),
    (
        "ndtri",
        SINGLE_DOUBLE,
        "",
        "grad * (2.5066282746310002 * exp(0.5 * result * result))",
        "The inverse of ndtr; infinite at 0 and 1, NaN beyond.",
    ),
    (
        "log_ndtr",
        SINGLE_DOUBLE,
        "",
        "grad * (0.7978845608028654 / special.erfcx(-0.7071067811865476 * input))",
        "log(ndtr(x)), exact for very negative x.",
    ),
    ("entr", floating, "", "grad * (-1 - log(input))", "-x log(x); 0 at zero, -inf below."),
    ("i0e", floating, "", "grad * (special.i1e(input) - sgn(input) * result)", "exp(-|x|) i0(x)."),
    (
        "i1",
        floating,
        "special.modified_bessel_i1",
        "i1_backward(grad, input, result)",
        "The modified Bessel function of order 1.",
    ),
    ("i1e", floating, "", "i1e_backward(grad, input, result)", "exp(-|x|) i1(x)."),
    ("bessel_j0", SINGLE_DOUBLE, "", "", "The Bessel function of the first kind of order 0."),
    ("bessel_j1", SINGLE_DOUBLE, "", "", "The Bessel function of the first kind of order 1."),
    (
        "bessel_y0",
        SINGLE_DOUBLE,
        "",
        "",
        "The Bessel function of the second kind of order 0; NaN below zero.",
    ),
    (
        "bessel_y1",
        SINGLE_DOUBLE,
        "",
        "",
        "The Bessel function of the second kind of order 1; NaN below zero.",
    ),
    (
        "modified_bessel_k0",
        SINGLE_DOUBLE,
        "",
        "",
        "The modified Bessel function of the second kind of order 0; infinite at 0, NaN below.",
    ),
    (
        "modified_bessel_k1",
        SINGLE_DOUBLE,
        "",
        "",
        "The modified Bessel function of the second kind of order 1; infinite at 0, NaN below.",
    ),
    ("scaled_modified_bessel_k0", SINGLE_DOUBLE, "", "", "exp(x) modified_bessel_k0(x)."),
    ("scaled_modified_bessel_k1", SINGLE_DOUBLE, "", "", "exp(x) modified_bessel_k1(x)."),
    ("airy_ai", SINGLE_DOUBLE, "", "", "The Airy function Ai; 0 at both infinities."),
    ("spherical_bessel_j0", SINGLE_DOUBLE, "", "", "sin(x) / x; 1 at zero."),
):
    op(
        f"{name}(input: Tensor, *, out: Tensor | None = None) -> Tensor",
        kind=pointwise,
        namespace="special",
        cpp=name,
        dtypes=kinds,
        promote="float",
        forms="function",
        aliases=aliases,
        grad={"input": gradient} if gradient else none,
        doc=doc,
    )

for name, kinds, gradients, doc in (
    (
        "xlog1py",
        floating,
        {
            "input": "xlog1py_backward(grad, input, other)",
            "other": "grad * (input / (other + 1))",
        },
        "input * log1p(other); 0 where input is 0, unless other is NaN.",
    ),
    (
        "zeta",
        SINGLE_DOUBLE,
        {"input": "not_implemented", "other": "zeta_backward(grad, input, other)"},
        "Hurwitz's zeta function: the sum of (k + other)^-input over k >= 0.",
    ),
):
    op(
        f"{name}(input: Tensor | Number, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor",
        kind=pointwise,
        namespace="special",
        cpp=name,
        dtypes=kinds,
        promote="float",
        forms="function",
        grad=gradients,
        number_nodes={
            "input": f"Special{name.title()}Backward1",
            "other": f"Special{name.title()}Backward2",
        },
        doc=doc,
    )

for name, alias, sign, doc in (
    (
        "igamma",
        "special.gammainc",
        "",
        "The regularised lower incomplete gamma function P(input, other).",
    ),
    (
        "igammac",
        "special.gammaincc",
        "-",
        "The regularised upper incomplete gamma function Q(input, other).",
    ),
):
    op(
        f"{name}(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor",
        kind=pointwise,
        dtypes=floating,
        forms="function method inplace",
        aliases=alias,
        grad={
            "input": "not_implemented",
            "other": f"{sign}grad * exp((input - 1) * log(other) - other - lgamma(input))",
        },
        doc=doc,
    )

op(
    "polygamma(n: int, input: Tensor, *, out: Tensor | None = None) -> Tensor",
    kind=native,
    dtypes=real_bool,
    forms="function",
    aliases="special.polygamma",
    grad={"input": "grad * polygamma(n + 1, input)"},
    out="whole",
    doc="The n-th derivative of digamma.",
    batch="same",
)
op(
    "polygamma.method(input: Tensor, n: int) -> Tensor",
    kind=pointwise,
    dtypes=floating,
    promote="float",
    check="polygamma",
    forms="method inplace",
    grad={"input": "grad * polygamma(n + 1, input)"},
    doc="The n-th derivative of digamma.",
)
op(
    "mvlgamma(input: Tensor, p: int, *, out: Tensor | None = None) -> Tensor",
    kind=native,
    dtypes=real,
    forms="function method inplace",
    aliases="special.multigammaln",
    grad={"input": "mvlgamma_backward(grad, input, p)"},
    doc="The logarithm of the multivariate gamma function of dimension p.",
    batch="same",
)
