"""Distributions parametrised by a covariance, its inverse or its Cholesky factor."""

from __future__ import annotations

from collections.abc import Sequence

import flambeau as fb
from flambeau import Tensor
from flambeau.distributions._matrices import _precision_to_scale_tril
from flambeau.distributions.utils import lazy_property


class CovarianceForms:
    """The three matrices, exactly one of which is given.

    They are expanded to the whole batch; ``_unbroadcasted_scale_tril``, which all computations use,
    is as small as the given matrix.
    """

    _batch_shape: Sequence[int]
    _unbroadcasted_scale_tril: Tensor

    @staticmethod
    def _fb_given(**matrices: Tensor | None) -> tuple[str, Tensor]:
        """Name and value of the only matrix that is given."""
        given = [(name, matrix) for name, matrix in matrices.items() if matrix is not None]
        if len(given) != 1:
            raise ValueError(f"Exactly one of {' or '.join(matrices)} may be specified.")
        name, matrix = given[0]
        if matrix.dim() < 2:
            raise ValueError(
                f"{name} must be at least two-dimensional, with optional leading batch dimensions"
            )
        return name, matrix

    def _fb_factorize(self, name: str, matrix: Tensor) -> None:
        if name == "covariance_matrix":
            matrix = fb.linalg.cholesky(matrix)
        elif name == "precision_matrix":
            matrix = _precision_to_scale_tril(matrix)
        self._unbroadcasted_scale_tril = matrix

    def _fb_for_batch(self, matrix: Tensor) -> Tensor:
        return matrix.expand(*self._batch_shape, -1, -1)

    @lazy_property
    def scale_tril(self) -> Tensor:
        """The lower-triangular L with L L^T = covariance."""
        return self._fb_for_batch(self._unbroadcasted_scale_tril)

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """The covariance."""
        triangle = self._unbroadcasted_scale_tril
        return self._fb_for_batch(triangle @ triangle.mT)

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """The inverse of the covariance."""
        return self._fb_for_batch(fb.cholesky_inverse(self._unbroadcasted_scale_tril))
