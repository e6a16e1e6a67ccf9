"""Orthogonal polynomials of degree ``n`` at ``input``."""

from opgen.model import none, op, pointwise

for name, doc in (
    ("chebyshev_polynomial_t", "Chebyshev's polynomial of the first kind: cos(n acos(x))."),
    (
        "chebyshev_polynomial_u",
        "Chebyshev's polynomial of the second kind: sin((n + 1) t) / sin(t), where x is cos(t).",
    ),
    (
        "chebyshev_polynomial_v",
        "Chebyshev's polynomial of the third kind: cos((n + 1/2) t) / cos(t/2), where x is cos(t).",
    ),
    (
        "chebyshev_polynomial_w",
        "Chebyshev's polynomial of the fourth kind: sin((n + 1/2) t) / sin(t/2), where x is cos(t).",
    ),
    ("shifted_chebyshev_polynomial_t", "Chebyshev's polynomial of the first kind at 2 x - 1."),
    ("shifted_chebyshev_polynomial_u", "Chebyshev's polynomial of the second kind at 2 x - 1."),
    ("shifted_chebyshev_polynomial_v", "Chebyshev's polynomial of the third kind at 2 x - 1."),
    ("shifted_chebyshev_polynomial_w", "Chebyshev's polynomial of the fourth kind at 2 x - 1."),
    ("hermite_polynomial_h", "Hermite's polynomial, orthogonal under exp(-x^2)."),
    ("hermite_polynomial_he", "Hermite's polynomial, orthogonal under exp(-x^2 / 2)."),
    ("laguerre_polynomial_l", "Laguerre's polynomial, orthogonal under exp(-x) on x > 0."),
    ("legendre_polynomial_p", "Legendre's polynomial, orthogonal on [-1, 1]."),
):
    op(
        f"{name}(input: Tensor | Number, n: Tensor | Number, *, out: Tensor | None = None) -> Tensor",
        kind=pointwise,
        namespace="special",
        cpp=name,
        dtypes=("float32", "float64"),
        promote="float",
        forms="function",
        grad=none,
        doc=doc + " 0 where n is negative.",
    )
