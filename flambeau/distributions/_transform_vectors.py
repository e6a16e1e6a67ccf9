"""Transforms of vectors and matrices, and of parts of tensors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import flambeau as fb
from flambeau import Size, Tensor
from flambeau._C.nn.functional import logsigmoid, pad
from flambeau.distributions import constraints
from flambeau.distributions._transform import Transform, check_rank
from flambeau.distributions._transform_elements import inside_unit_interval, log_tanh_slope
from flambeau.distributions.distribution import Shape
from flambeau.distributions.utils import (
    _sum_rightmost,
    tril_matrix_to_vec,
    vec_to_tril_matrix,
)


class SoftmaxTransform(Transform):
    """Softmax: positive numbers with sum 1. The inverse, log(y), is one of many.

    Args:
        cache_size: 1 keeps the last pair, for an exact inverse. Default: 0.

    Example:
        >>> torch.distributions.SoftmaxTransform()(torch.zeros(4))
        tensor([0.2500, 0.2500, 0.2500, 0.2500])
    """

    domain = constraints.real_vector
    codomain = constraints.simplex

    def _call(self, x: Tensor) -> Tensor:
        return x.softmax(-1)

    def _inverse(self, y: Tensor) -> Tensor:
        return y.log()

    def forward_shape(self, shape: Shape) -> Shape:
        check_rank(len(shape), 1)
        return shape

    inverse_shape = forward_shape


class StickBreakingTransform(Transform):
    """Stick breaking: each x says which fraction of the remaining stick is broken off.

    At x = 0 all pieces are equal, by an offset of log(number of pieces still to come).

    Args:
        cache_size: 1 keeps the last pair, for an exact inverse. Default: 0.

    Example:
        >>> torch.distributions.StickBreakingTransform()(torch.zeros(3))
        tensor([0.2500, 0.2500, 0.2500, 0.2500])
    """

    domain = constraints.real_vector
    codomain = constraints.simplex
    bijective = True

    @staticmethod
    def _fb_log_offset(pieces: Tensor) -> Tensor:
        count = pieces.size(-1)
        return fb.arange(count, 0, -1, dtype=pieces.dtype, device=pieces.device).log()

    def _call(self, x: Tensor) -> Tensor:
        part = inside_unit_interval((x - self._fb_log_offset(x)).sigmoid())
        left = (1 - part).cumprod(-1)
        return pad(part, [0, 1], value=1) * pad(left, [1, 0], value=1)

    def _inverse(self, y: Tensor) -> Tensor:
        pieces = y[..., :-1]
        # The remainder of a full stick may round to zero.
        left = (1 - pieces.cumsum(-1)).clamp(min=fb.finfo(y.dtype).tiny)
        return pieces.log() - left.log() + self._fb_log_offset(pieces)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        x = x - self._fb_log_offset(x)
        return (logsigmoid(x) - x + y[..., :-1].log()).sum(-1)

    def forward_shape(self, shape: Shape) -> Shape:
        check_rank(len(shape), 1)
        return Size((*shape[:-1], shape[-1] + 1))

    def inverse_shape(self, shape: Shape) -> Shape:
        check_rank(len(shape), 1)
        return Size((*shape[:-1], shape[-1] - 1))


class CorrCholeskyTransform(Transform):
    """Cholesky factor of a correlation matrix from D (D - 1) / 2 numbers.

    Row by row, tanh of a number is the fraction of the row's remaining length that goes into an
    element: y[i, j] = tanh(x[i, j]) sqrt(1 - sum of y[i, k]^2 over k < j).

    Args:
        cache_size: 1 keeps the last pair, for an exact inverse. Default: 0.

    Shape:
        Input: (*, D (D - 1) / 2), output: (*, D, D).

    Example:
        >>> t = torch.distributions.CorrCholeskyTransform()
        >>> factor = t(torch.tensor([0.5]))
        >>> factor
        tensor([[1.0000, 0.0000],
                [0.4621, 0.8868]])
        >>> (factor @ factor.T).diagonal()
        tensor([1., 1.])

    See also:
        `distributions.LKJCholesky`.
    """

    domain = constraints.real_vector
    codomain = constraints.corr_cholesky
    bijective = True

    def _call(self, x: Tensor) -> Tensor:
        x = x.tanh()
        epsilon = fb.finfo(x.dtype).eps
        share = vec_to_tril_matrix(x.clamp(-1 + epsilon, 1 - epsilon), diag=-1)
        left = (1 - share.square()).sqrt().cumprod(-1)
        identity = fb.eye(share.size(-1), dtype=x.dtype, device=x.device)
        return (share + identity) * pad(left[..., :-1], [1, 0], value=1)

    def _inverse(self, y: Tensor) -> Tensor:
        left = pad(self._fb_left(y)[..., :-1], [1, 0], value=1)
        share = tril_matrix_to_vec(y, diag=-1) / tril_matrix_to_vec(left, diag=-1).sqrt()
        return share.atanh()

    @staticmethod
    def _fb_left(y: Tensor) -> Tensor:
        """What remains of the squared length of one after each element of a row."""
        return 1 - y.square().cumsum(-1)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        left = tril_matrix_to_vec(self._fb_left(y), diag=-2)
        return 0.5 * left.log().sum(-1) + log_tanh_slope(x).sum(-1)

    def forward_shape(self, shape: Shape) -> Shape:
        check_rank(len(shape), 1)
        size = round((1 + math.sqrt(1 + 8 * shape[-1])) / 2)
        if size * (size - 1) // 2 != shape[-1]:
            raise ValueError(f"Input is not a flattened lower-diagonal number: {shape[-1]}")
        return Size((*shape[:-1], size, size))

    def inverse_shape(self, shape: Shape) -> Shape:
        check_rank(len(shape), 2)
        if shape[-2] != shape[-1]:
            raise ValueError(f"Input is not square: {tuple(shape[-2:])}")
        return Size((*shape[:-2], shape[-1] * (shape[-1] - 1) // 2))


class LowerCholeskyTransform(Transform):
    """Lower triangular matrices with a positive diagonal, the exponential of x's diagonal.

    Args:
        cache_size: 1 keeps the last pair, for an exact inverse. Default: 0.

    Shape:
        Input and output: (*, D, D).

    Example:
        >>> t = torch.distributions.LowerCholeskyTransform()
        >>> t(torch.tensor([[0.0, 5.0], [2.0, 0.0]]))
        tensor([[1., 0.],
                [2., 1.]])

    See also:
        `distributions.PositiveDefiniteTransform`.
    """

    domain: Any = constraints.independent(constraints.real, 2)
    codomain = constraints.lower_cholesky

    def _call(self, x: Tensor) -> Tensor:
        return x.tril(-1) + x.diagonal(dim1=-2, dim2=-1).exp().diag_embed()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.tril(-1) + y.diagonal(dim1=-2, dim2=-1).log().diag_embed()


class PositiveDefiniteTransform(Transform):
    """Positive definite matrices L L^T, with L from `LowerCholeskyTransform`.

    Args:
        cache_size: 1 keeps the last pair, for an exact inverse. Default: 0.

    Shape:
        Input and output: (*, D, D).

    Example:
        >>> t = torch.distributions.PositiveDefiniteTransform()
        >>> t(torch.tensor([[0.0, 5.0], [2.0, 0.0]]))
        tensor([[1., 2.],
                [2., 5.]])

    See also:
        `distributions.LowerCholeskyTransform`.
    """

    domain: Any = constraints.independent(constraints.real, 2)
    codomain = constraints.positive_definite

    def _call(self, x: Tensor) -> Tensor:
        triangle = LowerCholeskyTransform()(x)
        return triangle @ triangle.mT

    def _inverse(self, y: Tensor) -> Tensor:
        return LowerCholeskyTransform().inv(fb.linalg.cholesky(y))


class _JoinedTransform(Transform):
    """Several transforms, each for its part of dimension ``dim``."""

    transforms: list[Transform]
    dim: int

    def _fb_parts(self, value: Tensor) -> Sequence[Tensor]:
        raise NotImplementedError

    def _fb_join(self, parts: list[Tensor]) -> Tensor:
        raise NotImplementedError

    def _fb_adopt(self, tseq: Sequence[Transform], dim: int, cache_size: int) -> None:
        if not all(isinstance(transform, Transform) for transform in tseq):
            raise TypeError(f"{self!r}: expected transforms, got {list(tseq)}")
        self.transforms = [t.with_cache(cache_size) for t in tseq] if cache_size else list(tseq)
        self.dim = dim

    @property
    def bijective(self) -> Any:
        return all(transform.bijective for transform in self.transforms)

    def _call(self, x: Tensor) -> Tensor:
        return self._fb_join(
            [t(part) for t, part in zip(self.transforms, self._fb_parts(x), strict=True)]
        )

    def _inverse(self, y: Tensor) -> Tensor:
        return self._fb_join(
            [t.inv(part) for t, part in zip(self.transforms, self._fb_parts(y), strict=True)]
        )

    def _fb_jacobians(self, x: Tensor, y: Tensor) -> list[Tensor]:
        parts = zip(self.transforms, self._fb_parts(x), self._fb_parts(y), strict=True)
        return [t.log_abs_det_jacobian(before, after) for t, before, after in parts]

    def _fb_check_size(self, value: Tensor, expected: int) -> None:
        if value.size(self.dim) != expected:
            raise AssertionError(
                f"{self!r}: expected size {expected} of dim {self.dim}, got {tuple(value.shape)}"
            )


class CatTransform(_JoinedTransform):
    """Transforms of pieces of ``lengths`` elements along ``dim``.

    Args:
        tseq: Transforms, one for each piece.
        dim: Dimension along which the pieces follow each other. Default: 0.
        lengths: Number of elements of each piece. Default: one each.
        cache_size: 1 keeps the last pair, for an exact inverse. Default: 0.

    Example:
        >>> from flambeau.distributions import AbsTransform, CatTransform, ExpTransform
        >>> t = CatTransform([AbsTransform(), ExpTransform()], lengths=[2, 1])
        >>> t(torch.tensor([-1.0, -2.0, 0.0]))
        tensor([1., 2., 1.])

    See also:
        `distributions.StackTransform`, `torch.cat`.
    """

    def __init__(
        self,
        tseq: Sequence[Transform],
        dim: int = 0,
        lengths: Sequence[int] | None = None,
        cache_size: int = 0,
    ) -> None:
        super().__init__(cache_size=cache_size)
        self._fb_adopt(tseq, dim, cache_size)
        self.lengths: list[int] = [1] * len(self.transforms) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.transforms):
            raise ValueError(
                f"{self!r}: expected {len(self.transforms)} lengths, got {len(self.lengths)}"
            )

    @property
    def event_dim(self) -> int:
        return max(transform.event_dim for transform in self.transforms)

    @property
    def length(self) -> int:
        """The size of the dimension."""
        return sum(self.lengths)

    def _fb_rebuilt(self, cache_size: int) -> Transform:
        return CatTransform(self.transforms, self.dim, self.lengths, cache_size)

    @constraints.dependent_property
    def domain(self) -> Any:
        return constraints.cat([t.domain for t in self.transforms], self.dim, self.lengths)

    @constraints.dependent_property
    def codomain(self) -> Any:
        return constraints.cat([t.codomain for t in self.transforms], self.dim, self.lengths)

    def _fb_parts(self, value: Tensor) -> Sequence[Tensor]:
        self._fb_check_size(value, self.length)
        return value.split(self.lengths, self.dim)

    def _fb_join(self, parts: list[Tensor]) -> Tensor:
        return fb.cat(parts, self.dim)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        logs = [
            _sum_rightmost(log, self.event_dim - transform.event_dim)
            for transform, log in zip(self.transforms, self._fb_jacobians(x, y), strict=True)
        ]
        # Counted from the right of what the events leave; inside of an event the parts add up.
        dim = (self.dim if self.dim < 0 else self.dim - x.dim()) + self.event_dim
        return fb.cat(logs, dim) if dim < 0 else fb.stack(logs).sum(0)


class StackTransform(_JoinedTransform):
    """Transforms of the slices along ``dim``.

    Args:
        tseq: Transforms, one for each slice.
        dim: Dimension of the slices. Default: 0.
        cache_size: 1 keeps the last pair, for an exact inverse. Default: 0.

    Example:
        >>> from flambeau.distributions import AbsTransform, ExpTransform, StackTransform
        >>> t = StackTransform([AbsTransform(), ExpTransform()])
        >>> t(torch.tensor([[-1.0, -2.0], [0.0, 1.0]]))
        tensor([[1.0000, 2.0000],
                [1.0000, 2.7183]])

    See also:
        `distributions.CatTransform`, `torch.stack`.
    """

    def __init__(self, tseq: Sequence[Transform], dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self._fb_adopt(tseq, dim, cache_size)

    def _fb_rebuilt(self, cache_size: int) -> Transform:
        return StackTransform(self.transforms, self.dim, cache_size)

    @constraints.dependent_property
    def domain(self) -> Any:
        return constraints.stack([t.domain for t in self.transforms], self.dim)

    @constraints.dependent_property
    def codomain(self) -> Any:
        return constraints.stack([t.codomain for t in self.transforms], self.dim)

    def _fb_parts(self, value: Tensor) -> Sequence[Tensor]:
        self._fb_check_size(value, len(self.transforms))
        return value.unbind(self.dim)

    def _fb_join(self, parts: list[Tensor]) -> Tensor:
        return fb.stack(parts, self.dim)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return self._fb_join(self._fb_jacobians(x, y))
