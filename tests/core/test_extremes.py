"""Whole numbers at the ends of their range, where sums with them would overflow."""

import pytest

import flambeau as fb

LARGEST, SMALLEST = 2**63 - 1, -(2**63)


@pytest.mark.parametrize("far", [LARGEST, LARGEST - 1, 2**62, 2**31])
def test_triangles(far: int) -> None:
    x = fb.arange(6.0).reshape(2, 3) + 1
    assert fb.triu(x, far).tolist() == fb.zeros(2, 3).tolist()
    assert fb.triu(x, -far).tolist() == x.tolist()
    assert fb.tril(x, far).tolist() == x.tolist()
    assert fb.tril(x, -far).tolist() == fb.zeros(2, 3).tolist()
    assert x.clone().tril_(far).tolist() == x.tolist()
    assert fb.triu_indices(2, 3, far).shape == (2, 0)
    assert fb.triu_indices(2, 3, -far).shape == (2, 6)
    assert fb.tril_indices(2, 3, far).shape == (2, 6)
    assert fb.tril_indices(2, 3, -far).shape == (2, 0)


def test_smallest_diagonal() -> None:
    x = fb.arange(6.0).reshape(2, 3) + 1
    assert fb.triu(x, SMALLEST).tolist() == x.tolist()
    assert fb.tril(x, SMALLEST).tolist() == fb.zeros(2, 3).tolist()
    assert fb.triu_indices(2, 3, SMALLEST).shape == (2, 6)
    assert fb.tril_indices(2, 3, SMALLEST).shape == (2, 0)
