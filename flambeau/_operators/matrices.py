"""Small operators on matrices and their diagonals."""

from __future__ import annotations

from flambeau import Tensor


def adjoint(input: Tensor) -> Tensor:
    """The last two dimensions transposed, and complex elements conjugated."""
    if input.dim() == 1:
        raise RuntimeError("adjoint: expected a matrix or a batch of matrices, got a 1-d tensor")
    swapped = input if input.dim() == 0 else input.transpose(-2, -1)
    return swapped.conj() if input.is_complex() else swapped


def hermitian(input: Tensor) -> Tensor:
    """``Tensor.H``: the adjoint of one matrix."""
    if input.dim() not in (0, 2):
        raise RuntimeError(
            f"H: expected a matrix, got a {input.dim()}-d tensor; for batches there is mH"
        )
    return adjoint(input)


def fill_diagonal_(input: Tensor, fill_value: complex, wrap: bool = False) -> Tensor:
    """Fill the main diagonal."""
    if input.dim() < 2:
        raise RuntimeError(f"fill_diagonal_: expected 2 or more dimensions, got {input.dim()}")
    rows, columns = input.shape[:2]
    if input.dim() > 2 and any(size != rows for size in input.shape):
        raise RuntimeError(
            f"fill_diagonal_: expected all sizes to be equal, got {tuple(input.shape)}"
        )
    square = min(input.shape)
    input.as_strided((square,), (sum(input.stride()),), input.storage_offset()).fill_(fill_value)
    if wrap and input.dim() == 2 and rows > columns + 1:
        # One row stays empty between a diagonal and the next.
        fill_diagonal_(input[columns + 1 :], fill_value, wrap)
    return input
