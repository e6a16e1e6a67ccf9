"""The multivariate normal distribution."""

from __future__ import annotations

import math
from typing import ClassVar

import flambeau as fb
from flambeau import Tensor
from flambeau._joining import broadcast_shapes
from flambeau.distributions import constraints
from flambeau.distributions._matrices import (
    _batch_mahalanobis,
    _batch_mv,
    _precision_to_scale_tril,
    log_diagonal,
)
from flambeau.distributions.distribution import Distribution, Shape
from flambeau.distributions.utils import _standard_normal, lazy_property

__all__ = ["MultivariateNormal"]


class MultivariateNormal(Distribution):
    """Vectors of mean ``loc`` and a covariance that is given in one of three ways.

    ``scale_tril`` is the lower triangle L with L L^T the covariance, and the cheapest of them.
    """

    arg_constraints: ClassVar = {
        "loc": constraints.real_vector,
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }
    support = constraints.real_vector
    has_rsample = True

    def __init__(
        self,
        loc: Tensor,
        covariance_matrix: Tensor | None = None,
        precision_matrix: Tensor | None = None,
        scale_tril: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        name, matrix = one_matrix(
            covariance_matrix=covariance_matrix,
            precision_matrix=precision_matrix,
            scale_tril=scale_tril,
        )
        batch = broadcast_shapes(matrix.shape[:-2], loc.shape[:-1])
        self.loc = loc.expand(*batch, -1)
        setattr(self, name, matrix.expand(*batch, -1, -1))
        super().__init__(batch, loc.shape[-1:], validate_args=validate_args)
        if name == "covariance_matrix":
            matrix = fb.linalg.cholesky(matrix)
        elif name == "precision_matrix":
            matrix = _precision_to_scale_tril(matrix)
        self._unbroadcasted_scale_tril = matrix

    @lazy_property
    def scale_tril(self) -> Tensor:
        """The lower triangle of the covariance."""
        return self._matrix(self._unbroadcasted_scale_tril)

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """The covariance."""
        triangle = self._unbroadcasted_scale_tril
        return self._matrix(triangle @ triangle.mT)

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """The inverse of the covariance."""
        return self._matrix(fb.cholesky_inverse(self._unbroadcasted_scale_tril))

    def _matrix(self, matrix: Tensor) -> Tensor:
        """One matrix for each of the batch."""
        return matrix.expand(*self._extended_shape(), self._event_shape[0])

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        variance = self._unbroadcasted_scale_tril.square().sum(-1)
        return variance.expand(self._extended_shape())

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        noise = _standard_normal(shape, self.loc.dtype, self.loc.device)
        return self.loc + _batch_mv(self._unbroadcasted_scale_tril, noise)

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        triangle = self._unbroadcasted_scale_tril
        distance = _batch_mahalanobis(triangle, value - self.loc)
        constant = self._event_shape[0] * math.log(2 * math.pi)
        return -0.5 * (constant + distance) - log_diagonal(triangle)

    def entropy(self) -> Tensor:
        constant = 0.5 * self._event_shape[0] * (1 + math.log(2 * math.pi))
        return (constant + log_diagonal(self._unbroadcasted_scale_tril)).expand(self._batch_shape)


def one_matrix(**matrices: Tensor | None) -> tuple[str, Tensor]:
    """Name and value of the only matrix that was given."""
    given = [(name, matrix) for name, matrix in matrices.items() if matrix is not None]
    if len(given) != 1:
        raise ValueError(f"Exactly one of {' or '.join(matrices)} may be specified.")
    name, matrix = given[0]
    if matrix.dim() < 2:
        raise ValueError(
            f"{name} must be at least two-dimensional, with optional leading batch dimensions"
        )
    return name, matrix
