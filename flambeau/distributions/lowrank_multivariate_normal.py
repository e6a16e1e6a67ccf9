"""Multivariate normal distributions with covariance of low rank plus a diagonal."""

from __future__ import annotations

import math
from typing import ClassVar

import flambeau as fb
from flambeau import Tensor
from flambeau._operators.joining import broadcast_shapes
from flambeau.distributions import constraints
from flambeau.distributions._matrices import _batch_mahalanobis, _batch_mv, log_diagonal
from flambeau.distributions.distribution import Distribution, Shape
from flambeau.distributions.utils import _standard_normal, lazy_property

__all__ = ["LowRankMultivariateNormal"]


class LowRankMultivariateNormal(Distribution):
    """Normal distribution of vectors with covariance W W^T + D.

    Args:
        loc: Mean.
        cov_factor: W, of shape (*, size, rank).
        cov_diag: Diagonal of D, of shape (*, size).
        validate_args: Whether to check parameters and values. Default: True.

    Example:
        >>> from flambeau.distributions import LowRankMultivariateNormal
        >>> d = LowRankMultivariateNormal(torch.zeros(2), torch.ones(2, 1), torch.ones(2))
        >>> d.covariance_matrix
        tensor([[2., 1.],
                [1., 2.]])
    """

    arg_constraints: ClassVar[dict[str, constraints.Constraint]] = {
        "loc": constraints.real_vector,
        "cov_factor": constraints.independent(constraints.real, 2),
        "cov_diag": constraints.independent(constraints.positive, 1),
    }
    support: constraints.Constraint = constraints.real_vector
    has_rsample = True

    def __init__(
        self,
        loc: Tensor,
        cov_factor: Tensor,
        cov_diag: Tensor,
        validate_args: bool | None = None,
    ) -> None:
        _check_shapes(loc, cov_factor, cov_diag)
        batch = broadcast_shapes(loc.shape[:-1], cov_factor.shape[:-2], cov_diag.shape[:-1])
        self.loc: Tensor = loc.expand(*batch, -1)
        self.cov_factor: Tensor = cov_factor.expand(*batch, -1, -1)
        self.cov_diag: Tensor = cov_diag.expand(*batch, -1)
        self._unbroadcasted_cov_factor = cov_factor
        self._unbroadcasted_cov_diag = cov_diag
        self._capacitance_tril = capacitance_triangle(cov_factor, cov_diag)
        super().__init__(batch, loc.shape[-1:], validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @lazy_property
    def variance(self) -> Tensor:
        """The diagonal of the covariance."""
        factor = self._unbroadcasted_cov_factor
        variance = factor.square().sum(-1) + self._unbroadcasted_cov_diag
        return variance.expand(self._extended_shape())

    @lazy_property
    def scale_tril(self) -> Tensor:
        """The lower-triangular L with L L^T = covariance."""
        root = self._unbroadcasted_cov_diag.sqrt().unsqueeze(-1)
        scaled = self._unbroadcasted_cov_factor / root
        identity = fb.eye(scaled.size(-2), dtype=scaled.dtype, device=scaled.device)
        triangle = root * fb.linalg.cholesky(scaled @ scaled.mT + identity)
        return triangle.expand(*self._extended_shape(), self._event_shape[0])

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """The covariance."""
        factor = self._unbroadcasted_cov_factor
        covariance = factor @ factor.mT + self._unbroadcasted_cov_diag.diag_embed()
        return covariance.expand(*self._extended_shape(), self._event_shape[0])

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """The inverse of the covariance."""
        diagonal = self._unbroadcasted_cov_diag
        scaled = self._unbroadcasted_cov_factor.mT / diagonal.unsqueeze(-2)
        part = fb.linalg.solve_triangular(self._capacitance_tril, scaled, upper=False)
        precision = diagonal.reciprocal().diag_embed() - part.mT @ part
        return precision.expand(*self._extended_shape(), self._event_shape[0])

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        rank = self.cov_factor.size(-1)
        along = _standard_normal((*shape[:-1], rank), self.loc.dtype, self.loc.device)
        across = _standard_normal(shape, self.loc.dtype, self.loc.device)
        return (
            self.loc
            + _batch_mv(self._unbroadcasted_cov_factor, along)
            + self._unbroadcasted_cov_diag.sqrt() * across
        )

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        distance = self._fb_squared_distance(value - self.loc)
        constant = self._event_shape[0] * math.log(2 * math.pi)
        return -0.5 * (constant + self._fb_log_determinant() + distance)

    def entropy(self) -> Tensor:
        constant = self._event_shape[0] * (1.0 + math.log(2 * math.pi))
        return (0.5 * (constant + self._fb_log_determinant())).expand(self._batch_shape)

    def _fb_log_determinant(self) -> Tensor:
        """The log determinant of the covariance."""
        return 2 * log_diagonal(self._capacitance_tril) + self._unbroadcasted_cov_diag.log().sum(-1)

    def _fb_squared_distance(self, difference: Tensor) -> Tensor:
        """d^T covariance^-1 d."""
        scaled = self._unbroadcasted_cov_factor.mT / self._unbroadcasted_cov_diag.unsqueeze(-2)
        whole = (difference.square() / self._unbroadcasted_cov_diag).sum(-1)
        return whole - _batch_mahalanobis(self._capacitance_tril, _batch_mv(scaled, difference))


def capacitance_triangle(factor: Tensor, diagonal: Tensor) -> Tensor:
    """The Cholesky factor of I + W^T D^-1 W."""
    scaled = factor.mT / diagonal.unsqueeze(-2)
    identity = fb.eye(factor.size(-1), dtype=factor.dtype, device=factor.device)
    return fb.linalg.cholesky(scaled @ factor + identity)


def _check_shapes(loc: Tensor, factor: Tensor, diagonal: Tensor) -> None:
    if loc.dim() < 1:
        raise ValueError("loc must be at least one-dimensional.")
    if factor.dim() < 2:
        raise ValueError(
            "cov_factor must be at least two-dimensional, with optional leading batch dimensions"
        )
    if factor.size(-2) != loc.size(-1):
        raise ValueError(
            f"cov_factor must be a batch of matrices with shape {loc.size(-1)} x m,"
            f" got {tuple(factor.shape)}"
        )
    if diagonal.shape[-1:] != loc.shape[-1:]:
        raise ValueError(
            f"cov_diag must be a batch of vectors with shape {tuple(loc.shape[-1:])},"
            f" got {tuple(diagonal.shape)}"
        )
