"""Samples of exponentials, logarithms and roots."""

import numpy as np
from scipy import special

from tests.ops.pointwise import binary, in_double, unary
from tests.ops.registry import call, errors, forward_only, inf, nan, samples

POSITIVE = (0.1, 5.0)

for name, function, domain in (
    ("exp", np.exp, None),
    ("exp2", np.exp2, None),
    ("expm1", np.expm1, None),
    ("log", np.log, POSITIVE),
    ("log2", np.log2, POSITIVE),
    ("log10", np.log10, POSITIVE),
    ("log1p", np.log1p, POSITIVE),
    ("sqrt", np.sqrt, POSITIVE),
    ("rsqrt", lambda x: 1 / np.sqrt(x), POSITIVE),
    ("sigmoid", lambda x: 1 / (1 + np.exp(-x)), None),
):
    unary(name, in_double(function), domain=domain)


def _logaddexp(a, b):
    if np.iscomplexobj(a) or np.iscomplexobj(b):
        return np.log(np.exp(a) + np.exp(b))
    return np.logaddexp(a, b)


@samples("logaddexp", reference=_logaddexp)
def logaddexp(make):
    yield make.unit(3, 4), make.unit(3, 4)
    yield make.unit(3, 1), make.unit(1, 4)  # broadcasting
    yield make(0, 4), make(4)  # empty
    if not make.is_complex:
        yield forward_only(make.of(1e4, inf, -inf, nan), make.of(1e4, inf, 3.0, 0.0))


@errors("logaddexp")
def logaddexp_errors(make):
    shapes = "logaddexp: shapes (2, 3) and (2, 4) do not broadcast"
    yield (make(2, 3), make(2, 4)), RuntimeError, shapes


binary("logaddexp2", np.logaddexp2, mixed=False)
binary("xlogy", in_double(special.xlogy), number=2.5, positive=True)


def _logit(x, eps=None):
    return special.logit(x if eps is None else np.clip(x, eps, 1 - eps))


@samples("logit", reference=in_double(_logit))
def logit(make):
    if make.is_floating:
        yield make(3, 4, low=0.01, high=0.99)
    yield make(3, 4), 0.25
    yield call(make(3, 4), eps=0.125)
    if make.is_floating:
        yield forward_only(make.of(0.0, 1.0, -1.0, 2.0, nan))
