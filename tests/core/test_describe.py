"""``Tensor.describe``: the statistics of a tensor in one line."""

import math

import flambeau as fb


def test_statistics() -> None:
    x = fb.tensor([[0.0, 1.0, -3.0], [math.nan, math.inf, 4.0]], requires_grad=True)
    found = x.describe()
    assert (found.min, found.max, found.mean) == (-3.0, 4.0, 0.5)
    assert math.isclose(found.std, math.sqrt((0.25 + 0.25 + 12.25 + 12.25) / 4))
    assert (found.nan, found.inf, found.zeros, found.numel, found.nbytes) == (1, 1, 1, 6, 24)
    assert repr(found) == (
        "float32 2×3 | range -3 .. 4 | mean 0.5, std 2.5 | zero 16.7 % | nan 1, inf 1 | 24 B"
        " | requires grad"
    )


def test_every_dtype_and_empty() -> None:
    assert repr(fb.empty(0, 3).describe()) == "float32 0×3 | nan 0, inf 0 | 0 B"
    assert fb.tensor(True).describe().mean == 1
    assert fb.tensor([1 + 2j, 3 - 2j]).describe().mean == 2
    assert fb.tensor([1 + 2j]).describe().min is None
    assert fb.full((3,), math.nan, dtype=fb.bfloat16).describe().mean is None
    assert fb.arange(5, dtype=fb.uint8).describe().max == 4
    # In float16 the sum of these is infinite; the mean is not.
    assert fb.full((100,), 6e4, dtype=fb.float16).describe().mean == 6e4
    assert fb.arange(10000).expand(200, 10000).describe().nbytes == 200 * 10000 * 8
