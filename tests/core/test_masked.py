"""Reductions of the elements at which a mask is True."""

from __future__ import annotations

import math

import pytest

import flambeau as fb
from flambeau import masked

X = fb.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
MASK = fb.tensor([[True, False, True], [False, False, False]])
INF, NAN = math.inf, math.nan


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("sum", [4, 0]),
        ("prod", [3, 1]),
        ("amax", [3, -INF]),
        ("amin", [1, INF]),
        ("mean", [2, NAN]),
        ("median", [1, NAN]),
        ("var", [2, NAN]),
        ("std", [math.sqrt(2), NAN]),
        ("norm", [math.sqrt(10), 0]),
        ("logsumexp", [math.log(math.exp(1) + math.exp(3)), -INF]),
        ("argmax", [2, 0]),
        ("argmin", [0, 0]),
    ],
)
def test_reductions(name, expected):
    reduce = getattr(masked, name)
    options = {"dim": 1} if name == "norm" else {}
    args = () if name == "norm" else (1,)
    expected = fb.tensor(expected, dtype=fb.float32)
    result = reduce(X, *args, mask=MASK, **options)
    fb.testing.assert_close(result, expected, equal_nan=True)
    kept = reduce(X, *args, mask=MASK, keepdim=True, **options)
    fb.testing.assert_close(kept, expected[:, None], equal_nan=True)


def test_without_a_mask():
    for name in ("sum", "prod", "amax", "amin", "mean", "var", "std"):
        fb.testing.assert_close(getattr(masked, name)(X, 1), getattr(X, name)(1))
    assert masked.mean(X).item() == 3.5
    assert masked.var(X, 1, unbiased=False, mask=MASK)[0].item() == 1
    with pytest.raises(ValueError, match="only one of unbiased and correction"):
        masked.var(X, 1, True, correction=0)


def test_types():
    assert masked.mean(X, 1, mask=MASK, dtype=fb.float64).dtype == fb.float64
    assert masked.sum(X.long(), 1, mask=MASK).tolist() == [4, 0]
    assert masked.amax(X.long(), 1, mask=MASK)[1].item() == fb.iinfo(fb.int64).min
    with pytest.raises(ValueError, match="Could not infer output dtype"):
        masked.mean(X.long(), 1)


def test_masks_are_broadcast():
    assert masked.mean(X, (0, 1), mask=MASK[0]).item() == 3.5
    assert masked.sum(X, 1, mask=MASK.float()).tolist() == [4, 0]


def test_shapes_that_stay():
    shares = masked.softmax(X, 1, mask=MASK)
    assert shares[0, 1] == 0
    assert shares[0].sum().item() == pytest.approx(1)
    assert shares[1].isnan().all()
    fb.testing.assert_close(masked.log_softmax(X, 1, mask=MASK)[0], shares[0].log())
    fb.testing.assert_close(masked.softmin(-X, 1, mask=MASK)[0], shares[0])
    unit = masked.normalize(X, 2.0, 1, mask=MASK)
    assert unit[0].norm().item() == pytest.approx(1)
    assert unit[1].tolist() == [0, 0, 0]
    assert masked.cumsum(X, 1, mask=MASK).tolist() == [[1, 1, 4], [0, 0, 0]]
    assert masked.cumprod(X, 1, mask=MASK).tolist() == [[1, 1, 3], [1, 1, 1]]
    both = masked.logaddexp(X, X, input_mask=MASK, other_mask=~MASK)
    fb.testing.assert_close(both, X)


def test_gradients_reach_what_is_meant():
    x = X.clone().requires_grad_()
    masked.sum(x * 2, 1, mask=MASK).sum().backward()
    assert x.grad.tolist() == [[2, 0, 2], [0, 0, 0]]


def test_tensors_with_masks():
    assert not masked.is_masked_tensor(X)
    with pytest.raises(NotImplementedError, match="pass mask= to the functions"):
        masked.masked_tensor(X, MASK)


@pytest.mark.parametrize("unbiased", [True, False])
@pytest.mark.parametrize("name", ["var", "std"])
def test_complex_elements_spread_in_both_directions(name, unbiased):
    x = fb.tensor([1 + 2j, 3 - 1j, 2 + 0.5j, -1 + 1j])
    mask = fb.tensor([True, True, False, True])
    result = getattr(masked, name)(x, 0, unbiased, mask=mask)
    expected = getattr(fb, name)(x[mask], correction=int(unbiased))
    assert result.dtype == fb.complex64
    fb.testing.assert_close(result, expected.to(fb.complex64))
