"""Divergences between two distributions of one family."""

from __future__ import annotations

import flambeau as fb
from flambeau import Tensor, inf
from flambeau._C import _normal_divergence
from flambeau.distributions.bernoulli import Bernoulli
from flambeau.distributions.beta import Beta
from flambeau.distributions.categorical import Categorical
from flambeau.distributions.dirichlet import Dirichlet
from flambeau.distributions.exp_family import ExponentialFamily
from flambeau.distributions.gamma import Gamma
from flambeau.distributions.independent import Independent
from flambeau.distributions.kl import kl_divergence, register_kl
from flambeau.distributions.normal import Normal
from flambeau.distributions.uniform import Uniform
from flambeau.distributions.utils import sum_rightmost
from flambeau.nn.functional import softplus


@register_kl(ExponentialFamily, ExponentialFamily)
def _exponential_families(p: ExponentialFamily, q: ExponentialFamily) -> Tensor:
    """The Bregman divergence of the log normalizer."""
    if type(p) is not type(q):
        raise NotImplementedError(
            f"No KL(p || q) is implemented for p type {type(p).__name__} and q type"
            f" {type(q).__name__}: different exponential families have no Bregman divergence"
        )
    own = [x if x.requires_grad else x.detach().requires_grad_() for x in p._natural_params]
    with fb.enable_grad():
        normalizer = p._log_normalizer(*own)
    slopes = fb.autograd.grad(normalizer.sum(), own, create_graph=True)
    result = q._log_normalizer(*q._natural_params) - normalizer
    for x, y, slope in zip(own, q._natural_params, slopes, strict=True):
        result = result - sum_rightmost((y - x) * slope, len(q.event_shape))
    return result


@register_kl(Bernoulli, Bernoulli)
def _bernoulli(p: Bernoulli, q: Bernoulli) -> Tensor:
    # An outcome that q rules out costs infinitely much, one that p rules out nothing.
    success = p.probs * (softplus(-q.logits) - softplus(-p.logits))
    success = success.masked_fill(q.probs == 0, inf).masked_fill(p.probs == 0, 0)
    failure = (1 - p.probs) * (softplus(q.logits) - softplus(p.logits))
    failure = failure.masked_fill(q.probs == 1, inf).masked_fill(p.probs == 1, 0)
    return success + failure


@register_kl(Beta, Beta)
def _beta(p: Beta, q: Beta) -> Tensor:
    return kl_divergence(p._dirichlet, q._dirichlet)


@register_kl(Categorical, Categorical)
def _categorical(p: Categorical, q: Categorical) -> Tensor:
    cost = p.probs * (p.logits - q.logits)
    cost = cost.masked_fill(q.probs == 0, inf).masked_fill(p.probs == 0, 0)
    return cost.sum(-1)


@register_kl(Dirichlet, Dirichlet)
def _dirichlet(p: Dirichlet, q: Dirichlet) -> Tensor:
    total = p.concentration.sum(-1)
    mean_log = fb.digamma(p.concentration) - fb.digamma(total).unsqueeze(-1)
    return (
        fb.lgamma(total)
        - fb.lgamma(q.concentration.sum(-1))
        - (fb.lgamma(p.concentration) - fb.lgamma(q.concentration)).sum(-1)
        + ((p.concentration - q.concentration) * mean_log).sum(-1)
    )


@register_kl(Gamma, Gamma)
def _gamma(p: Gamma, q: Gamma) -> Tensor:
    return (
        q.concentration * (p.rate / q.rate).log()
        + fb.lgamma(q.concentration)
        - fb.lgamma(p.concentration)
        + (p.concentration - q.concentration) * fb.digamma(p.concentration)
        + (q.rate - p.rate) * (p.concentration / p.rate)
    )


@register_kl(Normal, Normal)
def _normal(p: Normal, q: Normal) -> Tensor:
    return _normal_divergence((p.loc - q.loc) / q.scale, p.scale / q.scale)


@register_kl(Uniform, Uniform)
def _uniform(p: Uniform, q: Uniform) -> Tensor:
    result = ((q.high - q.low) / (p.high - p.low)).log()
    return result.masked_fill((q.low > p.low) | (q.high < p.high), inf)


@register_kl(Independent, Independent)
def _independent(p: Independent[Normal], q: Independent[Normal]) -> Tensor:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError(
            "KL(p || q) of Independent distributions: p has"
            f" {p.reinterpreted_batch_ndims} reinterpreted batch dims, q has"
            f" {q.reinterpreted_batch_ndims}"
        )
    return sum_rightmost(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)
