"""Samples of special functions."""

import numpy as np
from scipy import special

from tests.ops.pointwise import in_double, unary
from tests.ops.registry import errors, forward_only, inf, nan, samples

for name, function in (
    ("erf", special.erf),
    ("erfc", special.erfc),
    ("i0", special.i0),
    ("special.erfcx", special.erfcx),
    ("special.log_ndtr", special.log_ndtr),
    ("special.i0e", special.i0e),
    ("special.i1", special.i1),
    ("special.i1e", special.i1e),
    ("special.spherical_bessel_j0", lambda x: special.spherical_jn(0, np.abs(x))),
):
    unary(name, in_double(function))

unary("special.entr", in_double(special.entr), domain=(0.1, 5.0))

# PyTorch subtracts from 1 in the type of the elements.
unary(
    "special.ndtr",
    in_double(special.ndtr),
    tolerance={"float16": (2e-3, 1e-3), "bfloat16": (1.6e-2, 1e-2)},
)
unary("lgamma", in_double(special.gammaln), special=(0.0, -0.0, 1.0, -1.0, inf))
unary("erfinv", in_double(special.erfinv), low=-0.99, high=0.99, special=(0.0, 1.0, -1.0, 2.0))


@samples("special.ndtri", reference=in_double(special.ndtri))
def ndtri(make):
    if make.is_floating:
        yield make(3, 4, low=0.01, high=0.99)
        yield make(1031, low=0.0, high=0.1)
    yield forward_only(make.of(0, 1))


# Poles: SciPy gives NaN at zero, PyTorch an infinity of the other sign.
unary("digamma", in_double(special.digamma), low=0.1, high=9, special=(0.5, 20.0, -0.5, -3.25))

# PyTorch's own Bessel functions are off by as much as 1e-6 in double precision.
COARSE = {"float32": (1e-5, 1e-5), "float64": (2e-6, 2e-6)}
for name, function in (
    ("special.bessel_j0", special.j0),
    ("special.bessel_j1", special.j1),
    ("special.bessel_y0", special.y0),
    ("special.bessel_y1", special.y1),
):
    unary(name, in_double(function), low=0.1, high=20, special=(0.0, 1.0, 30.0), tolerance=COARSE)


for order, plain, scaled in ((0, special.k0, special.k0e), (1, special.k1, special.k1e)):
    points = {"low": 0.1, "high": 20, "special": (0.0, 2.0, 30.0, inf)}
    unary(f"special.modified_bessel_k{order}", in_double(plain), **points)
    unary(f"special.scaled_modified_bessel_k{order}", in_double(scaled), **points)

# PyTorch's own is off by 3e-6 near -2, and NaN at infinity.
unary(
    "special.airy_ai",
    in_double(lambda x: special.airy(x)[0]),
    low=-9,
    high=9,
    special=(0.0, -4.0, 2.0, -20.0, 50.0, nan),
    tolerance={"float32": (1e-4, 1e-5), "float64": (4e-6, 4e-6)},
)


@samples("special.xlog1py", reference=in_double(special.xlog1py))
def xlog1py(make):
    yield make(3, 4), make.positive(3, 4)
    yield make(3, 4), 2.0
    yield 0.5, make.positive(3)
    if make.is_floating:
        yield forward_only(make.of(0.0, 0.0, 1.0), make.of(-1.0, inf, -1.0))


@samples("special.zeta", reference=in_double(special.zeta))
def zeta(make):
    yield make(3, 4, low=2, high=6), make.positive(3, 4)
    yield make(3, 4, low=2, high=6), 2.0
    yield 3.0, make.positive(3)
    if make.is_floating:
        yield forward_only(make.of(1.0, 2.0), make.of(2.0, 0.0))


# PyTorch computes the incomplete gamma functions in the tensor's own type.
GAMMA = {"float16": (1e-2, 1e-3), "float32": (1e-4, 1e-5), "float64": (1e-8, 1e-10)}
for name, function in (("igamma", special.gammainc), ("igammac", special.gammaincc)):

    @samples(name, reference=function, tolerance=GAMMA)
    def incomplete(make):
        yield make.positive(3, 4), make.positive(3, 4)
        yield make.positive(3, 1), make(4, low=5, high=30)
        yield forward_only(make.of(1.0, 2.0, 0.0, inf), make.of(0.0, inf, 1.0, 1.0))


# PyTorch's trigamma keeps six digits near its poles, and nine elsewhere.
DERIVATIVE = {"float16": (4e-3, 1e-3), "float32": (1e-4, 1e-4), "float64": (1e-8, 1e-8)}


@samples(
    "polygamma",
    reference=lambda n, x: special.polygamma(n, in_double(np.array)(x)),
    tolerance=DERIVATIVE,
)
def polygamma(make):
    for n in range(4):
        yield n, make(3, 4, low=0.5, high=9)


@errors("polygamma")
def polygamma_errors(make):
    yield (-1, make(3)), RuntimeError, "polygamma: n must not be negative"


@samples("mvlgamma", reference=in_double(special.multigammaln), strides=False)  # a sum over a copy
def mvlgamma(make):
    yield make.positive(3, 4), 1
    yield make(3, 4, low=3, high=9), 3


@errors("mvlgamma")
def mvlgamma_errors(make):
    yield (make.positive(3), 0), RuntimeError, "mvlgamma: p must be at least 1"
