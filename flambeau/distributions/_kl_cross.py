"""Divergences between distributions of different families.

The divergence of p from q is -H(p) - E[log q(x)], and log q is linear in a few functions of x: the
families below are grouped by q, and each needs the means of those functions under p.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import flambeau as fb
from flambeau import Tensor, inf
from flambeau._operators.joining import broadcast_shapes
from flambeau.distributions.bernoulli import Bernoulli
from flambeau.distributions.beta import Beta
from flambeau.distributions.binomial import Binomial
from flambeau.distributions.continuous_bernoulli import ContinuousBernoulli
from flambeau.distributions.distribution import Distribution
from flambeau.distributions.exponential import Exponential
from flambeau.distributions.gamma import Gamma
from flambeau.distributions.gumbel import Gumbel
from flambeau.distributions.kl import register_kl
from flambeau.distributions.laplace import Laplace
from flambeau.distributions.normal import Normal
from flambeau.distributions.pareto import Pareto
from flambeau.distributions.poisson import Poisson
from flambeau.distributions.uniform import Uniform
from flambeau.distributions.utils import euler_constant

_Divergence = Callable[[Any, Any], Tensor]


def _register(types_p: tuple[type, ...], type_q: type) -> Callable[[_Divergence], _Divergence]:
    def register(function: _Divergence) -> _Divergence:
        for type_p in types_p:
            register_kl(type_p, type_q)(function)
        return function

    return register


# --- means that log densities consist of


def _mean_log(p: Distribution) -> Tensor:
    """The mean of log(x)."""
    if isinstance(p, Beta):
        total = p.concentration1 + p.concentration0
        return fb.digamma(p.concentration1) - fb.digamma(total)
    if isinstance(p, Gamma):
        return fb.digamma(p.concentration) - p.rate.log()
    if isinstance(p, Exponential):
        return -euler_constant - p.rate.log()
    if isinstance(p, Pareto):
        return p.alpha.reciprocal() + p.scale.log()
    assert isinstance(p, Uniform)
    return _mean_log_between(p.low, p.high)


def _mean_log_between(low: Tensor, high: Tensor) -> Tensor:
    """The mean of log(x) of a uniform variable; NaN below zero."""
    return (fb.xlogy(high, high) - fb.xlogy(low, low)) / (high - low) - 1


def _mean_exp(p: Distribution, scale: Tensor) -> Tensor:
    """The mean of exp(-x / scale)."""
    if isinstance(p, Normal):
        ratio = p.scale / scale
        return (0.5 * ratio.square() - p.loc / scale).exp()
    if isinstance(p, Gamma):
        return (1 + (p.rate * scale).reciprocal()).pow(-p.concentration)
    if isinstance(p, Exponential):
        return p.rate * scale / (p.rate * scale + 1)
    assert isinstance(p, Uniform)
    difference = (-p.low / scale).exp() - (-p.high / scale).exp()
    return difference * scale / (p.high - p.low)


# --- families of q


@_register(
    (Beta, ContinuousBernoulli, Exponential, Gamma, Gumbel, Laplace, Pareto, Uniform), Normal
)
def _to_normal(p: Distribution, q: Normal) -> Tensor:
    square = p.variance + (p.mean - q.loc).square()
    constant = 0.5 * math.log(2 * math.pi) + q.scale.log()
    return -p.entropy() + constant + 0.5 * square / q.scale.square()


@_register((Beta, ContinuousBernoulli, Gamma, Pareto), Exponential)
def _to_exponential(p: Distribution, q: Exponential) -> Tensor:
    return -p.entropy() - q.rate.log() + q.rate * p.mean


@_register((Beta, Exponential, Pareto), Gamma)
def _to_gamma(p: Distribution, q: Gamma) -> Tensor:
    constant = q.concentration * q.rate.log() - fb.lgamma(q.concentration)
    return -p.entropy() - constant - (q.concentration - 1) * _mean_log(p) + q.rate * p.mean


@_register((Exponential, Gamma, Normal, Uniform), Gumbel)
def _to_gumbel(p: Distribution, q: Gumbel) -> Tensor:
    shift = q.loc / q.scale
    moment = shift.exp() * _mean_exp(p, q.scale)
    return -p.entropy() + q.scale.log() + p.mean / q.scale - shift + moment


@_register((Beta,), ContinuousBernoulli)
def _to_continuous_bernoulli(p: Distribution, q: ContinuousBernoulli) -> Tensor:
    constant = (-q.probs).log1p() + q._cont_bern_log_norm()
    return -p.entropy() - p.mean * q.logits - constant


@_register((Normal,), Laplace)
def _to_laplace(p: Normal, q: Laplace) -> Tensor:
    distance = (p.loc - q.loc) / p.scale
    size = math.sqrt(2 / math.pi) * (-0.5 * distance.square()).exp()
    size = p.scale * (size + distance * fb.erf(distance / math.sqrt(2)))
    return -p.entropy() + (2 * q.scale).log() + size / q.scale


@_register((Bernoulli,), Poisson)
def _to_poisson(p: Bernoulli, q: Poisson) -> Tensor:
    return -p.entropy() - p.probs * q.rate.log() + q.rate


# --- where the support of q may not cover p


@_register((Uniform,), Beta)
def _to_beta(p: Uniform, q: Beta) -> Tensor:
    log_beta = (
        fb.lgamma(q.concentration1)
        + fb.lgamma(q.concentration0)
        - fb.lgamma(q.concentration1 + q.concentration0)
    )
    mean_log, mean_log_rest = _mean_log(p), _mean_log_between(1 - p.high, 1 - p.low)
    expected = (q.concentration1 - 1) * mean_log + (q.concentration0 - 1) * mean_log_rest
    return (-p.entropy() + log_beta - expected).masked_fill(_leaves_unit(p), inf)


@_register((Uniform,), ContinuousBernoulli)
def _uniform_to_continuous_bernoulli(p: Uniform, q: ContinuousBernoulli) -> Tensor:
    return _to_continuous_bernoulli(p, q).masked_fill(_leaves_unit(p), inf)


def _leaves_unit(p: Uniform) -> Tensor:
    return (p.low < 0) | (p.high > 1)


@_register((Uniform,), Exponential)
def _uniform_to_exponential(p: Uniform, q: Exponential) -> Tensor:
    return _to_exponential(p, q).masked_fill(p.low < 0, inf)


@_register((Uniform,), Gamma)
def _uniform_to_gamma(p: Uniform, q: Gamma) -> Tensor:
    return _to_gamma(p, q).masked_fill(p.low < 0, inf)


@_register((Uniform,), Pareto)
def _uniform_to_pareto(p: Uniform, q: Pareto) -> Tensor:
    constant = q.alpha.log() + q.alpha * q.scale.log()
    expected = constant - (q.alpha + 1) * _mean_log(p)
    return (-p.entropy() - expected).masked_fill(p.low < q.scale, inf)


@_register((Beta, ContinuousBernoulli), Uniform)
def _to_uniform(p: Distribution, q: Uniform) -> Tensor:
    result = -p.entropy() + (q.high - q.low).log()
    return result.masked_fill((q.low > 0) | (q.high < 1), inf)


def _never(p: Distribution, q: Distribution) -> Tensor:
    """Return infinity, since p has samples outside of the support of q."""
    shape = broadcast_shapes(p.batch_shape, q.batch_shape)
    return p.mean.new_full(shape, inf)


_REAL = (Gumbel, Laplace, Normal)
_POSITIVE = (Exponential, Gamma)
_UNIT = (Beta, ContinuousBernoulli)
for _types_p, _types_q in (
    (_UNIT, (Pareto,)),
    (_POSITIVE, (Uniform, Pareto, *_UNIT)),
    (_REAL, (Uniform, Pareto, *_POSITIVE, *_UNIT)),
    ((Pareto,), (Uniform, *_UNIT)),
    ((Poisson,), (Bernoulli, Binomial)),
):
    for _type_q in _types_q:
        _register(_types_p, _type_q)(_never)
