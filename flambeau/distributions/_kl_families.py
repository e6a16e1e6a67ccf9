"""Divergences between two distributions of one family."""

from __future__ import annotations

import flambeau as fb
from flambeau import Tensor, inf
from flambeau._C import _normal_divergence
from flambeau._C.nn.functional import softplus
from flambeau.distributions.bernoulli import Bernoulli
from flambeau.distributions.beta import Beta
from flambeau.distributions.binomial import Binomial
from flambeau.distributions.categorical import Categorical
from flambeau.distributions.cauchy import Cauchy
from flambeau.distributions.continuous_bernoulli import ContinuousBernoulli
from flambeau.distributions.dirichlet import Dirichlet
from flambeau.distributions.exp_family import ExponentialFamily
from flambeau.distributions.exponential import Exponential
from flambeau.distributions.gamma import Gamma
from flambeau.distributions.geometric import Geometric
from flambeau.distributions.gumbel import Gumbel
from flambeau.distributions.half_normal import HalfNormal
from flambeau.distributions.independent import Independent
from flambeau.distributions.kl import kl_divergence, register_kl
from flambeau.distributions.laplace import Laplace
from flambeau.distributions.normal import Normal
from flambeau.distributions.one_hot_categorical import OneHotCategorical
from flambeau.distributions.pareto import Pareto
from flambeau.distributions.poisson import Poisson
from flambeau.distributions.transformed_distribution import TransformedDistribution
from flambeau.distributions.uniform import Uniform
from flambeau.distributions.utils import _sum_rightmost, euler_constant


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
        term = (y - x) * slope
        result = result - _sum_rightmost(term, term.dim() - result.dim())
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
    return _sum_rightmost(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)


@register_kl(Binomial, Binomial)
def _binomial(p: Binomial, q: Binomial) -> Tensor:
    if bool((p.total_count < q.total_count).any()):
        raise NotImplementedError(
            "KL between Binomials where q.total_count > p.total_count is not implemented"
        )
    trials = p.total_count * (
        p.probs * (p.logits - q.logits) + softplus(q.logits) - softplus(p.logits)
    )
    # More trials than q allows.
    return trials.masked_fill(p.total_count > q.total_count, inf)


@register_kl(ContinuousBernoulli, ContinuousBernoulli)
def _continuous_bernoulli(p: ContinuousBernoulli, q: ContinuousBernoulli) -> Tensor:
    failures = (-p.probs).log1p() - (-q.probs).log1p()
    norms = p._cont_bern_log_norm() - q._cont_bern_log_norm()
    return p.mean * (p.logits - q.logits) + norms + failures


@register_kl(Exponential, Exponential)
def _exponential(p: Exponential, q: Exponential) -> Tensor:
    ratio = q.rate / p.rate
    return ratio - ratio.log() - 1


@register_kl(Gumbel, Gumbel)
def _gumbel(p: Gumbel, q: Gumbel) -> Tensor:
    ratio = p.scale / q.scale
    shift = (q.loc - p.loc) / q.scale
    # The mean of exp(-x / q.scale) is a gamma function.
    moment = (shift + fb.lgamma(1 + ratio)).exp()
    return moment - shift + ratio * euler_constant - ratio.log() - (1 + euler_constant)


@register_kl(Geometric, Geometric)
def _geometric(p: Geometric, q: Geometric) -> Tensor:
    return -p.entropy() - (-q.probs).log1p() / p.probs - q.logits


@register_kl(HalfNormal, HalfNormal)
def _half_normal(p: HalfNormal, q: HalfNormal) -> Tensor:
    return _normal(p.base_dist, q.base_dist)


@register_kl(Laplace, Laplace)
def _laplace(p: Laplace, q: Laplace) -> Tensor:
    ratio = p.scale / q.scale
    distance = (p.loc - q.loc).abs()
    return ratio * (-distance / p.scale).exp() + distance / q.scale - ratio.log() - 1


@register_kl(OneHotCategorical, OneHotCategorical)
def _one_hot_categorical(p: OneHotCategorical, q: OneHotCategorical) -> Tensor:
    return _categorical(p._categorical, q._categorical)


@register_kl(Pareto, Pareto)
def _pareto(p: Pareto, q: Pareto) -> Tensor:
    ratio = q.alpha / p.alpha
    result = q.alpha * (p.scale / q.scale).log() - ratio.log() + ratio - 1
    return result.masked_fill(p.scale < q.scale, inf)  # q starts too high


@register_kl(Poisson, Poisson)
def _poisson(p: Poisson, q: Poisson) -> Tensor:
    return fb.xlogy(p.rate, p.rate) - p.rate * q.rate.log() - (p.rate - q.rate)


@register_kl(Cauchy, Cauchy)
def _cauchy(p: Cauchy, q: Cauchy) -> Tensor:
    above = ((p.scale + q.scale).square() + (p.loc - q.loc).square()).log()
    return above - (4 * p.scale * q.scale).log()


@register_kl(TransformedDistribution, TransformedDistribution)
def _transformed(p: TransformedDistribution, q: TransformedDistribution) -> Tensor:
    """Return the divergence of the bases: a common transform changes nothing."""
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise NotImplementedError(
            "KL(p || q) of transformed distributions needs the same transforms and event shapes:"
            f" {p.transforms} and {q.transforms}, {p.event_shape} and {q.event_shape}"
        )
    return kl_divergence(p.base_dist, q.base_dist)
