"""Tensors from Python data, and creation into tensors that exist."""

import numpy as np
import pytest

import flambeau as torch


@pytest.mark.parametrize(
    ("data", "dtype"),
    [
        (1, torch.int64),
        (True, torch.bool),
        (1.5, torch.float32),
        (1j, torch.complex64),
        ([1, 2.5], torch.float32),
        ([True, 2], torch.int64),
        ([], torch.float32),
        (np.float64(1), torch.float64),
        ([np.float32(1), 2], torch.float32),
        ([np.int32(1), np.float16(2)], torch.float16),
        (np.arange(3, dtype=np.int16), torch.int16),
        (np.array(2.5), torch.float64),
        (range(3), torch.int64),
    ],
    ids=repr,
)
def test_type_of_data(data: object, dtype: torch.dtype) -> None:
    made = torch.tensor(data)
    assert made.dtype == dtype
    np.testing.assert_array_equal(made.numpy(), np.array(data, made.numpy().dtype))


def test_default_dtype_of_floats() -> None:
    torch.set_default_dtype(torch.float64)
    try:
        assert torch.tensor([1.5]).dtype == torch.float64
        assert torch.zeros(1).dtype == torch.float64
        assert torch.arange(0.0, 1.0, 0.5).dtype == torch.float64
        assert torch.tensor([1j]).dtype == torch.complex128
    finally:
        torch.set_default_dtype(torch.float32)


def test_lists_of_tensors_and_arrays() -> None:
    assert torch.tensor([torch.tensor(1), torch.tensor([2])]).tolist() == [1, 2]
    assert torch.tensor([np.arange(2), np.arange(2)]).tolist() == [[0, 1], [0, 1]]
    assert torch.tensor([[1, 2], (3, 4)]).tolist() == [[1, 2], [3, 4]]


def test_data_is_copied_or_shared() -> None:
    array = np.zeros(2, np.float32)
    copied, shared = torch.tensor(array), torch.as_tensor(array)
    array[0] = 1
    assert copied.tolist() == [0.0, 0.0]
    assert shared.tolist() == [1.0, 0.0]
    assert torch.as_tensor(shared) is shared
    assert torch.asarray(shared, copy=True) is not shared


def test_numbers_are_read_as_what_they_are_to_be() -> None:
    for make in (torch.tensor, torch.as_tensor, torch.asarray):
        assert make(0.1, dtype=torch.float64).item() == 0.1
        assert make([0.1, 1e300], dtype=torch.float64).tolist() == [0.1, 1e300]
        assert make([0.1 + 0.3j], dtype=torch.complex128).tolist() == [0.1 + 0.3j]
        assert make([2**53 + 1], dtype=torch.int64).tolist() == [2**53 + 1]
    with pytest.raises(ValueError, match="without a copy"):
        torch.asarray([0.1], dtype=torch.float64, copy=False)


def test_sizes_are_added_to_tuples_alone() -> None:
    size = torch.zeros(2, 3).shape
    assert type(size + (4,)) is type((4,) + size) is torch.Size  # noqa: RUF005
    with pytest.raises(TypeError, match=r"can only concatenate tuple \(not list\) to torch.Size"):
        size + [4]  # noqa: RUF005
    with pytest.raises(TypeError, match="can only concatenate list"):
        [4] + size  # noqa: RUF005

    class Joins:
        def __radd__(self, other):
            return "joined"

    assert size + Joins() == "joined"


def test_integers_that_do_not_fit() -> None:
    assert torch.tensor([-1], dtype=torch.uint8).item() == 255
    with pytest.raises(RuntimeError, match="without overflow"):
        torch.tensor([256], dtype=torch.uint8)
    with pytest.raises(RuntimeError, match="without overflow"):
        torch.tensor([float("nan")], dtype=torch.int64)


def test_out_decides_the_type() -> None:
    out = torch.ones(2, dtype=torch.int32)
    assert torch.zeros(3, out=out) is out
    assert out.tolist() == [0, 0, 0]
    assert torch.arange(3, out=torch.empty(0, dtype=torch.float64)).dtype == torch.float64


def test_large_list() -> None:
    data = [[float(i + j) for j in range(200)] for i in range(300)]
    np.testing.assert_array_equal(torch.tensor(data).numpy(), np.array(data, np.float32))


def test_other_devices_are_refused() -> None:
    with pytest.raises(AssertionError, match="zeros: no device cuda"):
        torch.zeros(2, device="cuda")
    assert str(torch.zeros(2, device="cpu:0").device) == "cpu"
