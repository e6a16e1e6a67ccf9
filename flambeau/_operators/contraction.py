"""Contractions as users call them: einsum, tensordot, chain_matmul and cdist."""

from __future__ import annotations

import string
from collections.abc import Sequence
from typing import Any

import flambeau as fb
from flambeau import _C, Tensor


def einsum(*args: Any) -> Tensor:
    """Sum products by Einstein's convention.

    ``einsum("ij,jk->ik", a, b)``, ``einsum("ij,jk->ik", [a, b])`` or, with numbers for letters,
    ``einsum(a, [0, 1], b, [1, 2], [0, 2])``.
    """
    if len(args) < 2:
        raise ValueError(
            "einsum: expected an equation and at least one operand, "
            "or at least one operand and its list of subscripts"
        )
    if isinstance(args[0], Tensor):
        equation, operands = _from_sublists(args)
    else:
        equation, operands = args[0], list(args[1:])
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = list(operands[0])
    return _C._einsum(equation, operands)


def _from_sublists(args: tuple[Any, ...]) -> tuple[str, list[Tensor]]:
    """Convert ``a, [0, 1], b, [1, 2], [0, 2]`` to an equation and its operands."""

    def letter(subscript: Any) -> str:
        if subscript is Ellipsis:
            return "..."
        if not 0 <= int(subscript) < len(string.ascii_letters):
            raise ValueError(f"einsum: expected subscripts from 0 to 51, got {subscript}")
        return string.ascii_letters[int(subscript)]

    operands = list(args[0:-1:2])
    inputs = [args[i] for i in range(1, len(args), 2)]
    equation = ",".join("".join(map(letter, each)) for each in inputs)
    if len(args) % 2:
        equation += "->" + "".join(map(letter, args[-1]))
    return equation, operands


def tensordot(
    a: Tensor,
    b: Tensor,
    dims: int | Sequence[Sequence[int]] | Sequence[int] | Tensor = 2,
) -> Tensor:
    """Sum over the last ``dims`` dimensions of a and the first of b, or over two lists of them."""
    if isinstance(dims, Tensor):
        dims = dims.tolist() if dims.numel() > 1 else int(dims.item())
    if isinstance(dims, int):
        if dims < 0:
            raise RuntimeError(f"tensordot: expected dims >= 0, got {dims}")
        if dims > min(a.dim(), b.dim()):
            raise RuntimeError(
                f"tensordot: expected dims <= {min(a.dim(), b.dim())}, "
                f"the dimensions of the smaller tensor, got {dims}"
            )
        dims_a, dims_b = list(range(-dims, 0)), list(range(dims))
    else:
        dims_a, dims_b = ([each] if isinstance(each, int) else list(each) for each in dims)
    return _C._tensordot(a, b, dims_a, dims_b)


def chain_matmul(*matrices: Tensor) -> Tensor:
    """Multiply matrices in the cheapest order."""
    if not matrices:
        raise ValueError("chain_matmul: expected at least one matrix")
    for matrix in matrices:
        if matrix.dim() != 2:
            raise RuntimeError(f"chain_matmul: expected matrices, got shape {tuple(matrix.shape)}")
    if len(matrices) == 1:
        return matrices[0]
    return fb.linalg.multi_dot(matrices)


# From this many rows on, matrix products are worth their loss of precision.
_ROWS_FOR_PRODUCTS = 25


def cdist(
    x1: Tensor,
    x2: Tensor,
    p: float = 2.0,
    compute_mode: str | None = "use_mm_for_euclid_dist_if_necessary",
) -> Tensor:
    """Distances in the p-norm between each row of x1 and each row of x2.

    ``compute_mode`` says whether Euclidean distances may come from ``|x|^2 + |y|^2 - 2 x y``, which
    is fast but loses digits between near points: ``use_mm_for_euclid_dist_if_necessary`` (from 25
    rows on), ``use_mm_for_euclid_dist`` or ``donot_use_mm_for_euclid_dist``.
    """
    for x in (x1, x2):
        if not x.is_floating_point():
            raise RuntimeError(f"cdist: expected floating-point tensors, got {x.dtype}")
        if x.dim() < 2:
            raise RuntimeError(f"cdist: expected at least 2-d tensors, got shape {tuple(x.shape)}")
    if x1.size(-1) != x2.size(-1):
        raise RuntimeError(
            f"cdist: expected as many columns in both, "
            f"got shapes {tuple(x1.shape)} and {tuple(x2.shape)}"
        )
    if p < 0:
        raise RuntimeError(f"cdist: expected p >= 0, got {p}")
    modes = {
        None: max(x1.size(-2), x2.size(-2)) > _ROWS_FOR_PRODUCTS,
        "use_mm_for_euclid_dist_if_necessary": max(x1.size(-2), x2.size(-2)) > _ROWS_FOR_PRODUCTS,
        "use_mm_for_euclid_dist": True,
        "donot_use_mm_for_euclid_dist": False,
    }
    if compute_mode not in modes:
        raise ValueError(f"cdist: {compute_mode} is not a valid value for compute_mode")
    if p == 2 and modes[compute_mode] and x1.numel() and x2.numel():
        return _C._euclidean_dist(x1, x2)
    return _C._cdist(x1, x2, float(p))
