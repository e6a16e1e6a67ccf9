"""Divergences between distributions of vectors and matrices."""

from __future__ import annotations

import math

import flambeau as fb
from flambeau import Tensor
from flambeau.distributions._matrices import _batch_mahalanobis, log_diagonal
from flambeau.distributions.distribution import Distribution
from flambeau.distributions.kl import register_kl
from flambeau.distributions.lowrank_multivariate_normal import LowRankMultivariateNormal
from flambeau.distributions.multivariate_normal import MultivariateNormal
from flambeau.distributions.wishart import Wishart


def _check_sizes(p: Distribution, q: Distribution, kind: str) -> None:
    if p.event_shape != q.event_shape:
        raise ValueError(
            f"KL-divergence between two {kind} with different event shapes cannot be computed:"
            f" {tuple(p.event_shape)} and {tuple(q.event_shape)}"
        )


@register_kl(MultivariateNormal, MultivariateNormal)
@register_kl(LowRankMultivariateNormal, MultivariateNormal)
def _to_multivariate_normal(
    p: MultivariateNormal | LowRankMultivariateNormal, q: MultivariateNormal
) -> Tensor:
    _check_sizes(p, q, "Multivariate Normals")
    triangle = q._unbroadcasted_scale_tril
    # The trace of q's inverse covariance times p's, through a square root of p's.
    if isinstance(p, MultivariateNormal):
        root = p._unbroadcasted_scale_tril
        half_log_determinant = log_diagonal(root)
    else:
        diagonal = p._unbroadcasted_cov_diag
        root = fb.cat([p._unbroadcasted_cov_factor, diagonal.sqrt().diag_embed()], -1)
        half_log_determinant = 0.5 * p._fb_log_determinant()
    trace = fb.linalg.solve_triangular(triangle, root, upper=False).square().sum((-2, -1))
    distance = _batch_mahalanobis(triangle, q.loc - p.loc)
    log_ratio = log_diagonal(triangle) - half_log_determinant
    return log_ratio + 0.5 * (trace + distance - p.event_shape[0])


@register_kl(LowRankMultivariateNormal, LowRankMultivariateNormal)
@register_kl(MultivariateNormal, LowRankMultivariateNormal)
def _to_low_rank_normal(
    p: MultivariateNormal | LowRankMultivariateNormal, q: LowRankMultivariateNormal
) -> Tensor:
    _check_sizes(p, q, "(Low Rank) Multivariate Normals")
    diagonal = q._unbroadcasted_cov_diag.unsqueeze(-1)
    if isinstance(p, MultivariateNormal):
        root = p._unbroadcasted_scale_tril
        log_determinant = 2 * log_diagonal(root)
    else:
        own = p._unbroadcasted_cov_diag.sqrt().diag_embed()
        root = fb.cat([p._unbroadcasted_cov_factor, own], -1)
        log_determinant = p._fb_log_determinant()
    # Woodbury: the term of the diagonal alone, minus what the factors of q explain.
    scaled = q._unbroadcasted_cov_factor.mT / diagonal.mT
    explained = fb.linalg.solve_triangular(q._capacitance_tril, scaled @ root, upper=False)
    trace = (root.square() / diagonal).sum((-2, -1)) - explained.square().sum((-2, -1))
    distance = q._fb_squared_distance(q.loc - p.loc)
    log_ratio = q._fb_log_determinant() - log_determinant
    return 0.5 * (log_ratio + trace + distance - p.event_shape[0])


@register_kl(Wishart, Wishart)
def _wishart(p: Wishart, q: Wishart) -> Tensor:
    _check_sizes(p, q, "Wishart distributions")
    size = p._fb_size
    log_determinant = 2 * log_diagonal(p._unbroadcasted_scale_tril)
    other = 2 * log_diagonal(q._unbroadcasted_scale_tril)
    expected = (
        (q.df - size - 1) / 2 * (p._fb_mean_log_determinant() + log_determinant)
        - (q.precision_matrix * p.mean).sum((-2, -1)) / 2
        - q.df / 2 * (size * math.log(2) + other)
        - fb.mvlgamma(q.df / 2, size)
    )
    return -p.entropy() - expected
