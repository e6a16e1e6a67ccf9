"""Sorting of long rows, which is done in pieces."""

import numpy as np
import pytest

import flambeau as torch

LENGTH = 3 * 2**16 + 5  # three whole pieces, and one with fewer elements than are asked for

pytestmark = pytest.mark.usefixtures("restored_threads")


def row(dtype: str, seed: int = 0) -> np.ndarray:
    """Numbers with many ties, which the first position wins."""
    values = np.random.default_rng(seed).standard_normal(LENGTH) * 40
    if dtype.startswith("float"):
        values = np.round(values, 1)
        values[[5, LENGTH - 2]] = np.nan
    return values.astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "int32", "int8"])
@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("k", [1, 10, 4096, 4097])
def test_topk_of_a_long_row(dtype: str, largest: bool, k: int) -> None:
    values = row(dtype)
    # NaN counts as larger than every number.
    keys = np.where(np.isnan(values), np.inf, values).astype("float64")
    expected = np.argsort(-keys if largest else keys, kind="stable")[:k]
    tensor = torch.from_numpy(values)
    for threads in (1, 2, 3):
        torch.set_num_threads(threads)
        found = tensor.topk(k, largest=largest)
        np.testing.assert_array_equal(found.indices.numpy(), expected)
        np.testing.assert_array_equal(found.values.numpy(), values[expected])
