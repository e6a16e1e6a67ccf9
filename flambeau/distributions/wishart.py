"""The Wishart distribution."""

from __future__ import annotations

import math

import flambeau as fb
from flambeau import Size, Tensor, nan
from flambeau._operators.joining import broadcast_shapes
from flambeau.distributions import constraints
from flambeau.distributions._covariance import CovarianceForms
from flambeau.distributions._matrices import log_diagonal
from flambeau.distributions._odds import Number
from flambeau.distributions.chi2 import Chi2
from flambeau.distributions.distribution import Shape
from flambeau.distributions.exp_family import ExponentialFamily

__all__ = ["Wishart"]

# Close to the smallest degrees of freedom, two of three samples are singular in float32.
_ATTEMPTS = 100


class Wishart(CovarianceForms, ExponentialFamily):
    """Distribution of positive definite matrices: sums of x x^T of normal vectors x.

    Args:
        df: Degrees of freedom, the number of vectors.
        covariance_matrix: Covariance of the vectors; or one of the next two is given.
        precision_matrix: Inverse of the covariance.
        scale_tril: Lower triangle L with L L^T the covariance.
        validate_args: Whether to check parameters and values. Default: True.

    Example:
        >>> from flambeau.distributions import Wishart
        >>> Wishart(torch.tensor(4.0), torch.eye(2)).mean
        tensor([[4., 0.],
                [0., 4.]])
    """

    support: constraints.Constraint = constraints.positive_definite
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(
        self,
        df: Tensor | Number,
        covariance_matrix: Tensor | None = None,
        precision_matrix: Tensor | None = None,
        scale_tril: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        name, matrix = self._fb_given(
            covariance_matrix=covariance_matrix,
            precision_matrix=precision_matrix,
            scale_tril=scale_tril,
        )
        df = fb.as_tensor(df, dtype=matrix.dtype, device=matrix.device)
        batch = broadcast_shapes(matrix.shape[:-2], df.shape)
        size = matrix.size(-1)
        self.df: Tensor = df.expand(batch)
        setattr(self, name, matrix.expand(*batch, -1, -1))
        if bool((self.df <= size - 1).any()):
            raise ValueError(f"Value of df={df} expected to be greater than ndim - 1 = {size - 1}.")
        super().__init__(batch, Size((size, size)), validate_args=validate_args)
        self._fb_factorize(name, matrix)

    @property
    def arg_constraints(self) -> dict[str, constraints.Constraint]:
        return {
            "covariance_matrix": constraints.positive_definite,
            "precision_matrix": constraints.positive_definite,
            "scale_tril": constraints.lower_cholesky,
            "df": constraints.greater_than(self._fb_size - 1),
        }

    @property
    def _fb_size(self) -> int:
        given = ("covariance_matrix", "precision_matrix", "scale_tril")
        return int(next(self.__dict__[name] for name in given if name in self.__dict__).size(-1))

    @property
    def mean(self) -> Tensor:
        return self.df.unsqueeze(-1).unsqueeze(-1) * self.covariance_matrix

    @property
    def mode(self) -> Tensor:
        factor = (self.df - self._fb_size - 1).unsqueeze(-1).unsqueeze(-1)
        return (factor * self.covariance_matrix).masked_fill(factor <= 0, nan)

    @property
    def variance(self) -> Tensor:
        covariance = self.covariance_matrix
        diagonal = covariance.diagonal(dim1=-2, dim2=-1)
        products = diagonal.unsqueeze(-1) * diagonal.unsqueeze(-2)
        return self.df.unsqueeze(-1).unsqueeze(-1) * (covariance.square() + products)

    def _bartlett_sampling(self, sample_shape: Shape = ()) -> Tensor:
        """Roots of chi-squared numbers on the diagonal, normal ones below: Bartlett's triangle."""
        size = self._fb_size
        degrees = self.df.unsqueeze(-1) - fb.arange(
            size, dtype=self.df.dtype, device=self.df.device
        )
        noise = Chi2(degrees, validate_args=False).rsample(sample_shape).sqrt().diag_embed()
        rows, columns = fb.tril_indices(size, size, -1, device=self.df.device)
        below = (*sample_shape, *self._batch_shape, size * (size - 1) // 2)
        noise[..., rows, columns] = fb.randn(below, dtype=self.df.dtype, device=self.df.device)
        triangle = self._unbroadcasted_scale_tril @ noise
        return triangle @ triangle.mT

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        # PyTorch takes the good samples for singular ones at first, and draws them once more: so it
        # is here, for the same numbers from the same seed.
        sample = self._bartlett_sampling(sample_shape)
        again = ~self._fb_singular(sample)
        for _ in range(_ATTEMPTS):
            sample[again] = self._bartlett_sampling((int(again.sum()),))
            again = self._fb_singular(sample)
            if not again.any():
                break
        return sample

    def _fb_singular(self, sample: Tensor) -> Tensor:
        """Which samples of the batch hold a matrix that rounding has made singular."""
        singular = ~self.support.check(sample.detach())
        return singular.flatten(-len(self._batch_shape)).any(-1) if self._batch_shape else singular

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        size = self._fb_size
        half = self.df / 2
        triangle = self._unbroadcasted_scale_tril
        trace = fb.cholesky_solve(value, triangle.expand(value.shape))
        trace = trace.diagonal(dim1=-2, dim2=-1).sum(-1)
        return (
            (self.df - size - 1) / 2 * fb.linalg.slogdet(value)[1]
            - trace / 2
            - half * (size * math.log(2) + 2 * log_diagonal(triangle))
            - fb.mvlgamma(half, size)
        )

    def _fb_mean_log_determinant(self) -> Tensor:
        """The mean of log det, without that of the covariance."""
        steps = fb.arange(self._fb_size, dtype=self.df.dtype, device=self.df.device)
        digammas = fb.digamma((self.df.unsqueeze(-1) - steps) / 2).sum(-1)
        return digammas + self._fb_size * math.log(2)

    def entropy(self) -> Tensor:
        size = self._fb_size
        half = self.df / 2
        log_determinant = 2 * log_diagonal(self._unbroadcasted_scale_tril)
        mean = self._fb_mean_log_determinant() + log_determinant
        return (
            half * (size * math.log(2) + log_determinant)
            + fb.mvlgamma(half, size)
            - (self.df - size - 1) / 2 * mean
            + half * size
        )

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (-self.precision_matrix / 2, (self.df - self._fb_size - 1) / 2)

    def _log_normalizer(self, x: Tensor, y: Tensor) -> Tensor:  # type: ignore[override]
        size = self._fb_size
        half = y + (size + 1) / 2
        return half * (size * math.log(2) - fb.linalg.slogdet(-2 * x)[1]) + fb.mvlgamma(half, size)
