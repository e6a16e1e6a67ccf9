"""The multivariate normal distribution."""

from __future__ import annotations

import math
from typing import ClassVar

from flambeau import Tensor
from flambeau._operators.joining import broadcast_shapes
from flambeau.distributions import constraints
from flambeau.distributions._covariance import CovarianceForms
from flambeau.distributions._matrices import _batch_mahalanobis, _batch_mv, log_diagonal
from flambeau.distributions._matrices import _precision_to_scale_tril as _precision_to_scale_tril
from flambeau.distributions.distribution import Distribution, Shape
from flambeau.distributions.utils import _standard_normal

__all__ = ["MultivariateNormal"]


class MultivariateNormal(CovarianceForms, Distribution):
    """Normal distribution of vectors.

    Args:
        loc: Mean.
        covariance_matrix: Covariance; or one of the next two is given.
        precision_matrix: Inverse of the covariance.
        scale_tril: Lower triangle L with L L^T the covariance; the cheapest form.
        validate_args: Whether to check parameters and values. Default: True.

    Example:
        >>> from flambeau.distributions import MultivariateNormal
        >>> d = MultivariateNormal(torch.zeros(2), torch.eye(2))
        >>> d.log_prob(torch.zeros(2))
        tensor(-1.8379)
        >>> d.sample((3,)).shape
        torch.Size([3, 2])
    """

    arg_constraints: ClassVar[dict[str, constraints.Constraint]] = {
        "loc": constraints.real_vector,
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }
    support: constraints.Constraint = constraints.real_vector
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
        name, matrix = self._fb_given(
            covariance_matrix=covariance_matrix,
            precision_matrix=precision_matrix,
            scale_tril=scale_tril,
        )
        batch = broadcast_shapes(matrix.shape[:-2], loc.shape[:-1])
        self.loc: Tensor = loc.expand(*batch, -1)
        setattr(self, name, matrix.expand(*batch, -1, -1))
        super().__init__(batch, loc.shape[-1:], validate_args=validate_args)
        self._fb_factorize(name, matrix)

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
