"""Samples of orthogonal polynomials."""

import numpy as np
from scipy import special

from tests.ops.pointwise import LARGE, in_double
from tests.ops.registry import forward_only, nan, samples


def _chebyshev_v(n, x):
    return special.eval_chebyu(n, x) - np.where(n > 0, special.eval_chebyu(n - 1, x), 0.0)


def _chebyshev_w(n, x):
    return special.eval_chebyu(n, x) + np.where(n > 0, special.eval_chebyu(n - 1, x), 0.0)


def _at(evaluate, shifted):
    """SciPy's evaluation with a degree that is truncated, and 0 for negative ones."""

    def reference(x, n):
        degree = np.trunc(n).astype(np.int64)
        point = 2.0 * x - 1.0 if shifted else x
        return np.where(degree < 0, 0.0, evaluate(np.maximum(degree, 0), point))

    return in_double(lambda x, n: reference(np.asarray(x, np.float64), np.asarray(n, np.float64)))


# Both lose digits where the polynomials oscillate; PyTorch computes float32 in float32.
TOLERANCE = {"float32": (2e-4, 2e-5), "float64": (1e-11, 1e-11)}
for name, evaluate in (
    ("chebyshev_polynomial_t", special.eval_chebyt),
    ("chebyshev_polynomial_u", special.eval_chebyu),
    ("chebyshev_polynomial_v", _chebyshev_v),
    ("chebyshev_polynomial_w", _chebyshev_w),
    ("shifted_chebyshev_polynomial_t", special.eval_chebyt),
    ("shifted_chebyshev_polynomial_u", special.eval_chebyu),
    ("shifted_chebyshev_polynomial_v", _chebyshev_v),
    ("shifted_chebyshev_polynomial_w", _chebyshev_w),
    ("hermite_polynomial_h", special.eval_hermite),
    ("hermite_polynomial_he", special.eval_hermitenorm),
    ("laguerre_polynomial_l", special.eval_laguerre),
    ("legendre_polynomial_p", special.eval_legendre),
):

    @samples(
        f"special.{name}",
        reference=_at(evaluate, name.startswith("shifted")),
        tolerance=TOLERANCE,
    )
    def polynomial(make):
        yield make(3, 4), make.of([[0], [1], [2]])
        yield make(2, 3), 4
        yield 0.25, make.of(0, 1, 2, 3)
        yield make.of(-1, 0, 1), make.of([3], [12])
        if make.is_floating:
            yield make(LARGE, low=-0.95, high=0.95), 12
            yield make.of(-1.5, 1.25, 2.0), make.of(2.0, 2.75, 5.0)  # the degree is truncated
            yield forward_only(make.of(0.5, 0.5), make.of(-1.0, nan))
