"""Samples of activation functions."""

import numpy as np
from scipy import special

from tests.ops import dtypes
from tests.ops.pointwise import LARGE, in_double, unary
from tests.ops.registry import call, errors, forward_only, nan, samples

F = "nn.functional."
FINITE = (0.0, -0.0, 30.0, -30.0, nan)  # x * 0 of an infinite x is a matter of formulas


def _below(function):
    """`function(x)` below zero, x above."""
    return lambda x, *args: np.where(x > 0, x, function(x, *args))


def _selu(x):
    alpha, scale = 1.6732632423543772, 1.0507009873554805
    return scale * np.where(x > 0, x, alpha * np.expm1(x))


for name, function in (
    ("relu", lambda x: np.maximum(x, x.dtype.type(0))),
    ("selu", _selu),
    (f"{F}relu6", lambda x: np.clip(x, x.dtype.type(0), x.dtype.type(6))),
    (f"{F}silu", lambda x: x / (1 + np.exp(-x))),
    (f"{F}mish", lambda x: x * np.tanh(np.logaddexp(x, 0))),
    (f"{F}hardsigmoid", lambda x: np.clip(x + 3, 0, 6) / 6),
    (f"{F}hardswish", lambda x: x * np.clip(x + 3, 0, 6) / 6),
    (f"{F}softsign", in_double(lambda x: x / (1 + np.abs(x)))),
):
    unary(name, function, special=FINITE)


# PyTorch computes on a contiguous copy.
unary(f"{F}logsigmoid", special.log_expit, special=FINITE, strides=False)
# PyTorch subtracts after rounding tanh(x), and has no difference of bools.
unary(
    f"{F}tanhshrink",
    in_double(lambda x: x - np.tanh(x)),
    special=FINITE,
    dtypes=tuple(each for each in dtypes.ALL if each != "bool"),
    tolerance={"float16": (2e-3, 1e-3), "bfloat16": (1.6e-2, 1e-2)},
)


def with_parameters(name, reference, *parameters):
    """Samples of an activation function with its defaults and with each set of `parameters`."""

    @samples(name, reference=reference)
    def calls(make):
        yield make(3, 4)
        yield make(LARGE)
        for given in parameters:
            yield make(3, 4), *given
        if make.is_floating:
            yield forward_only(make.of(*FINITE))


def _softplus(x, beta=1.0, threshold=20.0):
    return np.where(beta * x > threshold, x, np.logaddexp(beta * x, 0) / beta)


def _softshrink(x, lambd=0.5):
    return np.where(np.abs(x) > lambd, x - np.sign(x) * lambd, 0 * x)


with_parameters("celu", _below(lambda x, alpha=1.0: alpha * np.expm1(x / alpha)), (2.0,))
with_parameters(f"{F}elu", _below(lambda x, alpha=1.0: alpha * np.expm1(x)), (2.0,))
with_parameters(f"{F}leaky_relu", _below(lambda x, slope=0.01: slope * x), (0.25,))
with_parameters(f"{F}softplus", _softplus, (2.0, 3.0))
with_parameters(f"{F}softshrink", _softshrink, (1.0,))
with_parameters("hardshrink", lambda x, lambd=0.5: np.where(np.abs(x) <= lambd, 0, x), (1.0,))


@samples(f"{F}hardtanh", reference=lambda x, low=-1, high=1: np.clip(x, low, high).astype(x.dtype))
def hardtanh(make):
    yield make(3, 4), 0.0, 2.0
    if make.dtype != "uint8":
        yield make(3, 4)
        yield make(LARGE), -2.0, 2.0
    if make.is_floating:
        yield forward_only(make.of(*FINITE))


@errors(f"{F}hardtanh")
def hardtanh_errors(make):
    yield make(3, dtype="uint8"), RuntimeError, "hardtanh: uint8 elements"


@errors(f"{F}softshrink")
def softshrink_errors(make):
    yield (make(3), -1.0), RuntimeError, "softshrink: lambd must not be negative"


@samples(
    "threshold",
    reference=lambda x, threshold, value: np.where(x <= threshold, value, x).astype(x.dtype),
)
def threshold(make):
    yield make(3, 4), 1.0, 7.0
    yield call(make(LARGE), threshold=0.0, value=-2.0 if make.is_floating else 2.0)


def _gelu(x, approximate="none"):
    if approximate == "none":
        return x * special.ndtr(x)
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


@samples(f"{F}gelu", reference=_gelu)
def gelu(make):
    yield make(3, 4)
    yield make(LARGE, low=-9, high=9)
    yield call(make(LARGE, low=-9, high=9), approximate="tanh")
    yield forward_only(make.of(0.0, 30.0, -30.0, nan))


@errors(f"{F}gelu")
def gelu_errors(make):
    yield (
        call(make(3), approximate="no"),
        RuntimeError,
        "gelu: approximate must be 'none' or 'tanh'",
    )


def _prelu(x, weight):
    shape = [-1 if d == 1 else 1 for d in range(x.ndim)] if weight.size > 1 else []
    return np.where(x > 0, x, x * weight.reshape(shape))


@samples("prelu", reference=_prelu)
def prelu(make):
    yield make(3, 4), make(1)
    yield make(2, 3, 4), make(3)
    yield make(5), make(1)


@errors("prelu")
def prelu_errors(make):
    yield (make(2, 3), make(2)), RuntimeError, "prelu: weight must have 1 element"


@samples(
    "rrelu",
    reference=lambda x, lower=1 / 8, upper=1 / 3: np.where(x > 0, x, x * (lower + upper) / 2),
    strides=False,  # PyTorch computes on a contiguous copy
)
def rrelu(make):
    yield make(3, 4)
    yield make(LARGE), 0.1, 0.2


@errors("rrelu")
def rrelu_errors(make):
    yield (make(3), 0.5, 0.25), RuntimeError, "rrelu: lower bound 0.5 is above"


def _glu(x, dim=-1):
    first, second = np.split(x, 2, axis=dim)
    return first * special.expit(second)


@samples(f"{F}glu", reference=_glu)
def glu(make):
    yield make(3, 4)
    yield make(4, 3), 0
    yield call(make(2, 6, 5), dim=1)
    yield make(LARGE, 2)


@errors(f"{F}glu")
def glu_errors(make):
    yield make(2, 3), RuntimeError, "glu: Halving dimension must be even, but dimension 1 is size 3"
    yield make(), RuntimeError, "glu: a 0-dimensional tensor"
    yield (make(2, 4), 2), IndexError, "glu: "


def _implied(x, dim):
    return (0 if x.ndim in (0, 1, 3) else 1) if dim is None else dim


def _softmax(x, dim=None, _stacklevel=3, dtype=None):
    return special.softmax(x, axis=_implied(x, dim))


for name, reference in (
    ("softmax", _softmax),
    ("log_softmax", lambda x, dim=None: special.log_softmax(x, axis=_implied(x, dim))),
    ("softmin", lambda x, dim=None: special.softmax(-x, axis=_implied(x, dim))),
):
    # PyTorch's logarithm of a 16-bit sum is rounded twice.
    @samples(
        f"{F}{name}",
        reference=reference,
        tolerance={"float16": (4e-3, 2e-3), "bfloat16": (3.2e-2, 1.6e-2)},
    )
    def softmaxes(make):
        yield make(3, 4), 1
        yield call(make(2, 3, 4), dim=0)
        yield call(make(2, 3, 4), dim=-1)


@errors(f"{F}softmax")
def softmax_errors(make):
    yield (make(2, 3), 2), IndexError, "softmax: "
