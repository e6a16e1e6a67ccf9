"""The LKJ distribution of correlation matrices."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import flambeau as fb
from flambeau import Size, Tensor
from flambeau.distributions import constraints
from flambeau.distributions.beta import Beta
from flambeau.distributions.distribution import Distribution, Shape
from flambeau.distributions.utils import _standard_normal, broadcast_all

__all__ = ["LKJCholesky"]


class LKJCholesky(Distribution):
    """Cholesky factors of random correlation matrices.

    The density of the matrix is proportional to det^(concentration - 1) (Lewandowski, Kurowicka
    and Joe, 2009).

    Args:
        dim: Size of the matrices.
        concentration: Above 1 favours matrices near the identity. Default: 1.
        validate_args: Whether to check parameters and values. Default: True.

    Example:
        >>> from flambeau.distributions import LKJCholesky
        >>> LKJCholesky(3).sample().shape
        torch.Size([3, 3])
    """

    concentration: Tensor
    arg_constraints: ClassVar[dict[str, constraints.Constraint]] = {
        "concentration": constraints.positive
    }
    support: constraints.Constraint = constraints.corr_cholesky

    def __init__(
        self,
        dim: int,
        concentration: Tensor | float = 1.0,
        validate_args: bool | None = None,
    ) -> None:
        if dim < 2:
            raise ValueError(
                f"Expected dim to be an integer greater than or equal to 2. Found dim={dim}."
            )
        self.dim = dim
        (self.concentration,) = broadcast_all(concentration)
        batch = self.concentration.shape
        # The squared length of each row left of the diagonal, from the first row on.
        before = fb.arange(dim, dtype=self.concentration.dtype, device=self.concentration.device)
        before = (before - 1).clamp(min=0)
        marginal = self.concentration.unsqueeze(-1) + 0.5 * (dim - 2)
        self._beta = Beta(before + 0.5, marginal - 0.5 * before)
        super().__init__(batch, Size((dim, dim)), validate_args=validate_args)

    def expand(self, batch_shape: Shape, _instance: Any = None) -> LKJCholesky:
        new = self._get_checked_instance(LKJCholesky, _instance)
        new._beta = self._beta.expand((*batch_shape, self.dim))
        return super().expand(batch_shape, _instance=new)

    def sample(self, sample_shape: Shape = ()) -> Tensor:
        with fb.no_grad():
            square = self._beta.sample(sample_shape).unsqueeze(-1)
            shape = self._extended_shape(sample_shape)
            like = self.concentration
            direction = _standard_normal(shape, like.dtype, like.device).tril(-1)
            direction = direction / direction.norm(dim=-1, keepdim=True)
            direction[..., 0, :] = 0.0  # the first row has nothing left of the diagonal
            rows = square.sqrt() * direction
            rest = 1 - rows.square().sum(-1)
            return rows + rest.clamp(min=fb.finfo(rows.dtype).tiny).sqrt().diag_embed()

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        diagonal = value.diagonal(dim1=-1, dim2=-2)[..., 1:]
        rest = fb.arange(self.dim - 2, -1, -1, device=self.concentration.device)
        order = 2 * (self.concentration - 1).unsqueeze(-1) + rest
        return (order * diagonal.log()).sum(-1) - self._fb_log_normalizer()

    def _fb_log_normalizer(self) -> Tensor:
        rows = self.dim - 1
        alpha = self.concentration + 0.5 * rows
        return (
            0.5 * rows * math.log(math.pi)
            + fb.mvlgamma(alpha - 0.5, rows)
            - fb.lgamma(alpha) * rows
        )
