"""Divergences between multivariate normal distributions."""

from __future__ import annotations

import flambeau as fb
from flambeau import Tensor
from flambeau.distributions._matrices import log_diagonal, squared_distance
from flambeau.distributions.kl import register_kl
from flambeau.distributions.multivariate_normal import MultivariateNormal


@register_kl(MultivariateNormal, MultivariateNormal)
def _multivariate_normal(p: MultivariateNormal, q: MultivariateNormal) -> Tensor:
    if p.event_shape != q.event_shape:
        raise ValueError(
            "KL-divergence between two Multivariate Normals with different event shapes cannot be"
            f" computed: {tuple(p.event_shape)} and {tuple(q.event_shape)}"
        )
    mine, other = p._unbroadcasted_scale_tril, q._unbroadcasted_scale_tril
    trace = fb.linalg.solve_triangular(other, mine, upper=False).square().sum((-2, -1))
    distance = squared_distance(other, q.loc - p.loc)
    log_ratio = log_diagonal(other) - log_diagonal(mine)
    return log_ratio + 0.5 * (trace + distance - p.event_shape[0])
