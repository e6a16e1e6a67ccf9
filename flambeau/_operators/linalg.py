"""Linear algebra composed of other operators: norms, ranks, pseudo-inverses, powers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import flambeau as fb
from flambeau import _C, Tensor


def _check_floating(name: str, *tensors: Tensor) -> None:
    for tensor in tensors:
        if not (tensor.is_floating_point() or tensor.is_complex()):
            raise RuntimeError(
                f"{name}: expected a floating point or complex tensor, got {tensor.dtype}"
            )


def _check_lapack(name: str, tensor: Tensor) -> None:
    """Refuse dtypes that LAPACK has no routines for, even if nothing is left to compute."""
    if tensor.dtype in (fb.float16, fb.bfloat16):
        raise RuntimeError(
            f"{name}: expected float32, float64, complex64 or complex128, got {tensor.dtype}; "
            "call float() on it"
        )


def _check_matrices(name: str, a: Tensor) -> None:
    if a.dim() < 2:
        raise RuntimeError(f"{name}: expected matrices, got shape {tuple(a.shape)}")


def _check_square(name: str, a: Tensor) -> None:
    if a.dim() < 2 or a.size(-1) != a.size(-2):
        raise RuntimeError(f"{name}: expected square matrices, got shape {tuple(a.shape)}")


def _adjoint(a: Tensor) -> Tensor:
    return a.transpose(-2, -1).conj()


# --- norms


def _dims(dim: int | Sequence[int] | None, x: Tensor) -> list[int]:
    """All dimensions in question, counted from the front."""
    if dim is None or (not isinstance(dim, int) and len(dim) == 0):
        return list(range(x.dim()))
    dims = [dim] if isinstance(dim, int) else list(dim)
    for d in dims:
        if not -max(x.dim(), 1) <= d < max(x.dim(), 1):
            raise IndexError(
                f"Dimension out of range (expected to be in range of "
                f"[{-max(x.dim(), 1)}, {max(x.dim(), 1) - 1}], but got {d})"
            )
    return [d % x.dim() for d in dims] if x.dim() else []


def matrix_norm(
    A: Tensor,
    ord: float | str = "fro",
    dim: Sequence[int] = (-2, -1),
    keepdim: bool = False,
    *,
    dtype: fb.dtype | None = None,
) -> Tensor:
    """Norm of matrices: 'fro', 'nuc', inf, -inf, 1, -1, 2 or -2."""
    _check_floating("linalg.matrix_norm", A)
    _check_matrices("linalg.matrix_norm", A)
    if isinstance(dim, int) or len(dim) != 2:
        raise RuntimeError(f"linalg.matrix_norm: expected dim to be two dimensions, got {dim}")
    dims = _dims(dim, A)
    if dims[0] == dims[1]:
        raise RuntimeError(f"linalg.matrix_norm: expected two different dimensions, got {dim}")
    if dtype is not None:
        A = A.to(dtype)
    return _matrix_norm(A, ord, dims, keepdim)


def _largest(sizes: Tensor, dim: int, keepdim: bool = False) -> Tensor:
    """amax for sizes; the maximum of none is 0."""
    return sizes.amax(dim, keepdim=keepdim) if sizes.shape[dim] else sizes.sum(dim, keepdim)


def _matrix_norm(a: Tensor, order: float | str, dims: list[int], keepdim: bool) -> Tensor:
    if order == "fro":
        return fb.linalg.vector_norm(a, 2, dims, keepdim)
    if order in ("nuc", 2, -2):
        rest = [d for d in range(a.dim()) if d not in dims]
        values = fb.linalg.svdvals(a.permute(*rest, *dims))
        if order == "nuc":
            result = values.sum(-1)
        else:
            result = _largest(values, -1) if order == 2 else values.amin(-1)
        if keepdim:
            for d in sorted(dims):
                result = result.unsqueeze(d)
        return result
    if order in (1, -1, math.inf, -math.inf):
        summed, kept = dims if abs(order) == 1 else reversed(dims)
        sums = fb.linalg.vector_norm(a, 1, summed, keepdim=True)
        largest = _largest(sums, kept, True) if order > 0 else sums.amin(kept, keepdim=True)
        if keepdim:
            return largest
        for d in sorted(dims, reverse=True):
            largest = largest.squeeze(d)
        return largest
    raise RuntimeError(f"linalg.matrix_norm: order {order} is not supported")


def norm(
    A: Tensor,
    ord: float | str | None = None,
    dim: int | Sequence[int] | None = None,
    keepdim: bool = False,
    *,
    dtype: fb.dtype | None = None,
    axis: int | Sequence[int] | None = None,
) -> Tensor:
    """A vector norm of one dimension or, without ord, of all; a matrix norm of two.

    ``axis`` is NumPy's name of ``dim``.
    """
    dim = axis if dim is None else dim
    if ord is None:
        return fb.linalg.vector_norm(A, 2, dim, keepdim, dtype=dtype)
    if dim is None:
        if A.dim() not in (1, 2):
            raise RuntimeError(
                f"linalg.norm: expected a 1-d or 2-d tensor where ord is given without dim, "
                f"got shape {tuple(A.shape)}"
            )
        if A.dim() == 2:
            return matrix_norm(A, ord, (-2, -1), keepdim, dtype=dtype)
        dim = -1
    dims = [dim] if isinstance(dim, int) else list(dim)
    if len(dims) == 2:
        return matrix_norm(A, ord, dims, keepdim, dtype=dtype)
    if isinstance(ord, str):
        raise RuntimeError(f"linalg.norm: order {ord} is for matrices, got dim {dim}")
    return fb.linalg.vector_norm(A, ord, dims, keepdim, dtype=dtype)


def cond(A: Tensor, p: float | str | None = None) -> Tensor:
    """Condition number in one of matrix_norm's norms; inf for a singular matrix."""
    _check_matrices("linalg.cond", A)
    if A.numel() == 0 and not isinstance(p, str):
        return fb.zeros(A.shape[:-2], dtype=A.abs().dtype, device=A.device)
    if p in (None, 2, -2):
        values = fb.linalg.svdvals(A)
        largest, smallest = values[..., 0], values[..., -1]
        return smallest / largest if p == -2 else largest / smallest
    _check_square("linalg.cond", A)
    inverse, info = fb.linalg.inv_ex(A)
    product = matrix_norm(A, p) * matrix_norm(inverse, p)
    return fb.where(info == 0, product, fb.full_like(product, math.inf))


# --- singular values and what follows from them


def _tolerances(a: Tensor, atol: Any, rtol: Any) -> tuple[Any, Any]:
    """PyTorch's defaults: a relative tolerance of eps * max(m, n) unless atol alone was given."""
    if rtol is None:
        if atol is None:
            rtol = fb.finfo(a.dtype).eps * max(a.shape[-2:])
        elif isinstance(atol, Tensor):
            default = fb.finfo(a.dtype).eps * max(a.shape[-2:])
            rtol = fb.where(atol > 0, fb.zeros_like(atol), fb.full_like(atol, default))
        else:
            rtol = 0.0 if atol > 0 else fb.finfo(a.dtype).eps * max(a.shape[-2:])
    return (0.0 if atol is None else atol), rtol


def _threshold(largest: Tensor, atol: Any, rtol: Any) -> Tensor:
    """``max(atol, rtol * largest)`` with a new last dimension."""
    relative = rtol * largest
    absolute = atol if isinstance(atol, Tensor) else fb.full_like(relative, atol)
    return fb.maximum(absolute.to(relative.dtype), relative).unsqueeze(-1)


def matrix_rank(
    A: Tensor,
    tol: Any = None,
    hermitian: bool = False,
    *,
    atol: Any = None,
    rtol: Any = None,
) -> Tensor:
    """How many singular values exceed ``max(atol, rtol * the largest)``; tol is an older atol."""
    _check_floating("linalg.matrix_rank", A)
    _check_matrices("linalg.matrix_rank", A)
    if tol is not None:
        atol, rtol = tol, 0.0
    atol, rtol = _tolerances(A, atol, rtol)
    values = fb.linalg.eigvalsh(A).abs() if hermitian else fb.linalg.svdvals(A)
    if values.size(-1) == 0:
        return fb.zeros(values.shape[:-1], dtype=fb.int64, device=A.device)
    return (values > _threshold(values.amax(-1), atol, rtol)).sum(-1)


def pinv(
    A: Tensor,
    rcond: Any = None,
    hermitian: bool = False,
    *,
    atol: Any = None,
    rtol: Any = None,
) -> Tensor:
    """Moore-Penrose inverse; singular values up to max(atol, rtol * the largest) count as 0."""
    _check_floating("linalg.pinv", A)
    _check_lapack("linalg.pinv", A)
    _check_matrices("linalg.pinv", A)
    if rcond is not None:
        atol, rtol = None, rcond
    absolute, relative = (
        each if isinstance(each, Tensor) else fb.tensor(each, dtype=fb.float64, device=A.device)
        for each in _tolerances(A, atol, rtol)
    )
    return _C._linalg_pinv(A, absolute, relative, hermitian)


def pinverse(input: Tensor, rcond: float = 1e-15) -> Tensor:
    """``linalg.pinv`` with a relative tolerance."""
    return pinv(input, rcond)


def logdet(input: Tensor) -> Tensor:
    """Log determinant; NaN if the determinant is negative."""
    sign, logarithm = fb.linalg.slogdet(input)
    if input.is_complex():
        return sign.log() + logarithm
    return fb.where(sign == -1, fb.full_like(logarithm, math.nan), logarithm)


# --- powers


def matrix_power(A: Tensor, n: int) -> Tensor:
    """Product of n copies of a matrix, by repeated squaring."""
    _check_square("linalg.matrix_power", A)
    if n == -1:
        return fb.linalg.inv(A)
    if n < 0:
        A, n = fb.linalg.inv(A), -n
    if n == 0:
        eye = fb.eye(A.size(-1), dtype=A.dtype, device=A.device)
        # Written over a copy of A, the result has a gradient, which is zero.
        return A.clone(memory_format=fb.contiguous_format).copy_(eye)
    result: Tensor | None = None
    square = A
    while n > 0:
        if n & 1:
            result = square if result is None else result @ square
        n >>= 1
        square = square @ square if n else square
    assert result is not None
    if result is A or not result.is_contiguous():
        result = result.clone(memory_format=fb.contiguous_format)
    return result


# --- products and shapes


def multi_dot(tensors: Sequence[Tensor]) -> Tensor:
    """Product of several matrices in the cheapest order; the ends may be vectors."""
    if len(tensors) < 2:
        raise RuntimeError(f"linalg.multi_dot: expected at least 2 tensors, got {len(tensors)}")
    chain = list(tensors)
    first_is_row, last_is_column = chain[0].dim() == 1, chain[-1].dim() == 1
    if first_is_row:
        chain[0] = chain[0].unsqueeze(0)
    if last_is_column:
        chain[-1] = chain[-1].unsqueeze(-1)
    for i, each in enumerate(chain):
        if each.dim() != 2:
            raise RuntimeError(
                f"linalg.multi_dot: expected tensor {i} to be a matrix, "
                f"got shape {tuple(each.shape)}"
            )
        if i and chain[i - 1].size(1) != each.size(0):
            raise RuntimeError(
                f"linalg.multi_dot: tensors {i - 1} and {i} of shapes {tuple(chain[i - 1].shape)} "
                f"and {tuple(each.shape)} cannot be multiplied"
            )
    result = _multiply_chain(chain, _cheapest_splits(chain), 0, len(chain) - 1)
    if first_is_row:
        result = result.squeeze(0)
    if last_is_column:
        result = result.squeeze(-1)
    return result


def _cheapest_splits(chain: list[Tensor]) -> dict[tuple[int, int], int]:
    """The best split of each part of the chain (dynamic programming)."""
    sizes = [chain[0].size(0), *(each.size(1) for each in chain)]
    cost = {(i, i): 0 for i in range(len(chain))}
    split: dict[tuple[int, int], int] = {}
    for length in range(1, len(chain)):
        for i in range(len(chain) - length):
            j = i + length
            options = [
                (cost[i, k] + cost[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1], k)
                for k in range(i, j)
            ]
            cost[i, j], split[i, j] = min(options)
    return split


def _multiply_chain(
    chain: list[Tensor], split: dict[tuple[int, int], int], first: int, last: int
) -> Tensor:
    if first == last:
        return chain[first]
    middle = split[first, last]
    left = _multiply_chain(chain, split, first, middle)
    return left @ _multiply_chain(chain, split, middle + 1, last)


def tensorinv(A: Tensor, ind: int = 2) -> Tensor:
    """Inverse of a tensor as a map between its first ind dimensions and the others."""
    if not 0 < ind <= A.dim():
        raise RuntimeError(f"linalg.tensorinv: expected 0 < ind <= {A.dim()}, got {ind}")
    first, last = A.shape[:ind], A.shape[ind:]
    if math.prod(first) != math.prod(last):
        raise RuntimeError(
            f"linalg.tensorinv: expected as many elements in {tuple(first)} as in {tuple(last)}"
        )
    inverse = fb.linalg.inv(A.reshape(math.prod(first), -1))
    return inverse.reshape(*last, *first)


def tensorsolve(A: Tensor, B: Tensor, dims: Sequence[int] | None = None) -> Tensor:
    """X with ``tensordot(A, X, X.ndim) = B``; ``dims`` of A go to the end first."""
    if dims is not None:
        moved = [d % A.dim() for d in dims]
        A = A.permute(*(d for d in range(A.dim()) if d not in moved), *moved)
    solution_shape = A.shape[B.dim() :]
    if math.prod(solution_shape) != B.numel() or A.numel() != B.numel() ** 2:
        raise RuntimeError(
            f"linalg.tensorsolve: A of shape {tuple(A.shape)} is not square "
            f"for B of shape {tuple(B.shape)}"
        )
    solution = fb.linalg.solve(A.reshape(B.numel(), -1), B.flatten())
    return solution.reshape(solution_shape)


def vander(x: Tensor, N: int | None = None) -> Tensor:
    """Powers 0 ... N-1 of each element, as a new last dimension."""
    if x.dtype == fb.bool:
        raise RuntimeError("linalg.vander: expected a tensor of numbers, got bool")
    _check_lapack("linalg.vander", x)
    if not (x.is_floating_point() or x.is_complex()):
        x = x.to(fb.int64)  # for which powers underflow or overflow sooner
    x = x.unsqueeze(0) if x.dim() == 0 else x
    count = x.size(-1) if N is None else N
    if count <= 1:
        raise RuntimeError(f"linalg.vander: expected N > 1, got {count}")
    powers = x.unsqueeze(-1).expand(*x.shape, count - 1).cumprod(-1)
    return fb.cat([fb.ones_like(powers[..., :1]), powers], -1)


def vecdot(x: Tensor, y: Tensor, *, dim: int = -1) -> Tensor:
    """Dot products along a dimension, with the conjugate of x."""
    if x.dtype != y.dtype:
        raise RuntimeError(f"linalg.vecdot: expected one dtype, got {x.dtype} and {y.dtype}")
    return (x.conj() * y).sum(dim)


def diagonal(A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """A view of the diagonals of matrices."""
    return A.diagonal(offset=offset, dim1=dim1, dim2=dim2)


# --- older spellings


def lu(A: Tensor, pivot: bool = True, get_infos: bool = False, out: Any = None) -> Any:
    """``linalg.lu_factor``, with a tensor of error codes if asked for."""
    factors, pivots, info = fb.linalg.lu_factor_ex(A, pivot=pivot, check_errors=not get_infos)
    results = (factors, pivots, info) if get_infos else (factors, pivots)
    if out is None:
        return results
    for each, place in zip(results, out, strict=True):  # of any type, as in PyTorch
        if place.shape != each.shape:
            place.resize_(each.shape)
        place.copy_(each)
    return tuple(out)
