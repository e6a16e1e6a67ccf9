"""What the operator samples leave out of ``flambeau._operators.matrices``."""

from __future__ import annotations

import numpy as np
import pytest

import flambeau as fb


def test_hermitian():
    matrix = fb.tensor([[1 + 2j, 3.0], [0.0, -1j]])
    assert matrix.H.tolist() == [[1 - 2j, 0], [3, 1j]]
    assert fb.zeros(4, 2, 3).mH.shape == (4, 3, 2)
    with pytest.raises(RuntimeError, match="H: expected a matrix"):
        _ = fb.zeros(4, 2, 3).H
    with pytest.raises(RuntimeError, match="expected a matrix or a batch"):
        _ = fb.zeros(3).mH


@pytest.mark.parametrize("shape", [(7, 2), (8, 3), (3, 3), (2, 5)])
def test_fill_diagonal_wraps(shape):
    """PyTorch gets this wrong where the matrix is not contiguous, so NumPy alone is the judge."""
    expected = np.zeros(shape)
    np.fill_diagonal(expected, 1, wrap=True)
    assert fb.zeros(shape).fill_diagonal_(1, wrap=True).tolist() == expected.tolist()
    strided = fb.zeros(shape[1], shape[0]).t()
    assert strided.fill_diagonal_(1, wrap=True).tolist() == expected.tolist()
