"""Special functions: the error function's family, gamma and Bessel functions."""

from opgen.model import floating, native, op, pointwise, real, real_bool

for name, forms, aliases, doc in (
    ("erf", "function method inplace", "special.erf", "The error function."),
    ("erfc", "function method inplace", "special.erfc", "1 - erf(x), exact for large x."),
    (
        "erfinv",
        "function method inplace",
        "special.erfinv",
        "The inverse of erf; infinite at -1 and 1, NaN beyond.",
    ),
    (
        "lgamma",
        "function method inplace",
        "special.gammaln",
        "The logarithm of |gamma(x)|; inf at 0, -1, -2 and so on.",
    ),
    (
        "digamma",
        "function method inplace",
        "special.digamma special.psi",
        "The derivative of lgamma; NaN at -1, -2 and so on, infinite at 0.",
    ),
    (
        "i0",
        "function method inplace",
        "special.i0 special.modified_bessel_i0",
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
        doc=doc,
    )

SINGLE_DOUBLE = ("float32", "float64")
for name, kinds, aliases, doc in (
    ("erfcx", SINGLE_DOUBLE, "", "exp(x^2) erfc(x)."),
    ("ndtr", floating, "", "The distribution function of the standard normal."),
    ("ndtri", SINGLE_DOUBLE, "", "The inverse of ndtr; infinite at 0 and 1, NaN beyond."),
    ("log_ndtr", SINGLE_DOUBLE, "", "log(ndtr(x)), exact for very negative x."),
    ("entr", floating, "", "-x log(x); 0 at zero, -inf below."),
    ("i0e", floating, "", "exp(-|x|) i0(x)."),
    ("i1", floating, "special.modified_bessel_i1", "The modified Bessel function of order 1."),
    ("i1e", floating, "", "exp(-|x|) i1(x)."),
    ("bessel_j0", SINGLE_DOUBLE, "", "The Bessel function of the first kind of order 0."),
    ("bessel_j1", SINGLE_DOUBLE, "", "The Bessel function of the first kind of order 1."),
    (
        "bessel_y0",
        SINGLE_DOUBLE,
        "",
        "The Bessel function of the second kind of order 0; NaN below zero.",
    ),
    (
        "bessel_y1",
        SINGLE_DOUBLE,
        "",
        "The Bessel function of the second kind of order 1; NaN below zero.",
    ),
    ("spherical_bessel_j0", SINGLE_DOUBLE, "", "sin(x) / x; 1 at zero."),
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
        doc=doc,
    )

for name, doc in (
    ("xlog1py", "input * log1p(other); 0 where input is 0, unless other is NaN."),
    ("zeta", "Hurwitz's zeta function: the sum of (k + other)^-input over k >= 0."),
):
    op(
        f"{name}(input: Tensor | Number, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor",
        kind=pointwise,
        namespace="special",
        cpp=name,
        dtypes=floating if name == "xlog1py" else SINGLE_DOUBLE,
        promote="float",
        forms="function",
        doc=doc,
    )

for name, alias, doc in (
    (
        "igamma",
        "special.gammainc",
        "The regularised lower incomplete gamma function P(input, other).",
    ),
    (
        "igammac",
        "special.gammaincc",
        "The regularised upper incomplete gamma function Q(input, other).",
    ),
):
    op(
        f"{name}(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor",
        kind=pointwise,
        dtypes=floating,
        forms="function method inplace",
        aliases=alias,
        doc=doc,
    )

op(
    "polygamma(n: int, input: Tensor, *, out: Tensor | None = None) -> Tensor",
    kind=native,
    dtypes=real_bool,
    forms="function",
    aliases="special.polygamma",
    doc="The n-th derivative of digamma.",
)
op(
    "polygamma(input: Tensor, n: int) -> Tensor",
    kind=pointwise,
    dtypes=floating,
    promote="float",
    check="polygamma",
    forms="method inplace",
    doc="The n-th derivative of digamma.",
)
op(
    "mvlgamma(input: Tensor, p: int, *, out: Tensor | None = None) -> Tensor",
    kind=native,
    dtypes=real,
    forms="function method inplace",
    aliases="special.multigammaln",
    doc="The logarithm of the multivariate gamma function of dimension p.",
)
