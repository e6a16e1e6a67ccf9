"""Numbers of rows, and where rows begin."""

from __future__ import annotations

import pytest

import flambeau as fb

ROWS = [0, 0, 2, 2, 2]
BEGINS = [0, 2, 2, 5, 5]
COLUMNS = [1, 3, 0, 1, 2]


@pytest.mark.parametrize(("out_int32", "dtype"), [(False, fb.int64), (True, fb.int32)])
def test_both_ways(out_int32, dtype):
    begins = fb._convert_indices_from_coo_to_csr(fb.tensor(ROWS), 4, out_int32=out_int32)
    assert (begins.tolist(), begins.dtype) == (BEGINS, dtype)
    places = fb._convert_indices_from_csr_to_coo(begins, fb.tensor(COLUMNS), out_int32=out_int32)
    assert (places.tolist(), places.dtype) == ([ROWS, COLUMNS], dtype)


def test_transposed():
    begins, columns = fb.tensor(BEGINS), fb.tensor(COLUMNS)
    swapped = fb._convert_indices_from_csr_to_coo(begins, columns, transpose=True)
    assert swapped.tolist() == [COLUMNS, ROWS]


def test_no_elements():
    nothing = fb.tensor([], dtype=fb.int64)
    assert fb._convert_indices_from_coo_to_csr(nothing, 2).tolist() == [0, 0, 0]
    assert fb._convert_indices_from_csr_to_coo(fb.tensor([0, 0]), nothing).shape == (2, 0)
