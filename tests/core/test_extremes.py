"""Numbers at the ends of their range, and those beyond."""

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


BEYOND = [
    ("uint8", 300),
    ("uint8", -300),
    ("uint8", -1.0),
    ("int8", 128),
    ("int32", float("inf")),
    ("int32", float("nan")),
    ("float16", 1e40),
    ("float32", -1e40),
    ("float32", 1 + 2j),
    ("complex64", 1e40j),
]


@pytest.mark.parametrize(("dtype", "value"), BEYOND)
def test_numbers_that_elements_cannot_be(dtype: str, value: complex) -> None:
    kind = getattr(fb, dtype)
    made = fb.zeros(2, dtype=kind)
    for call in (
        lambda: fb.full((2,), value, dtype=kind),
        lambda: fb.full((2,), value, out=fb.empty(0, dtype=kind)),
        lambda: fb.full_like(made, value),
        lambda: made.new_full((2,), value),
        lambda: fb.scalar_tensor(value, dtype=kind),
        lambda: made.fill_(value),
    ):
        with pytest.raises(RuntimeError, match=r"cannot be converted to type \w+ without overflow"):
            call()
    assert made.tolist() == [0, 0]


def test_numbers_that_elements_just_can_be() -> None:
    assert fb.full((), -255, dtype=fb.uint8).item() == 1
    assert fb.full((), 2.9, dtype=fb.int32).item() == 2
    assert fb.full((), float("-inf"), dtype=fb.float16).item() == float("-inf")
    assert fb.full((), 65504, dtype=fb.float16).item() == 65504
    assert fb.full((), 1 + 0j, dtype=fb.float32).item() == 1
    assert fb.full((), 1e40j, dtype=fb.bool).item() is True
    assert fb.full((), LARGEST, dtype=fb.int64).item() == LARGEST
