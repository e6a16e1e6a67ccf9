"""Operators on lists of tensors."""

from __future__ import annotations

import pytest

import flambeau as fb
from flambeau._operators.foreach import _BINARY, _UNARY


def tensors(count: int = 3) -> list[fb.Tensor]:
    return [
        fb.rand(2, index + 1, generator=fb.Generator().manual_seed(7)) for index in range(count)
    ]


@pytest.mark.parametrize("name", _UNARY.split())
def test_unary(name: str):
    given = tensors()
    expected = [getattr(fb, name)(each) for each in given]
    result = getattr(fb, f"_foreach_{name}")(given)
    assert isinstance(result, tuple)
    assert all(map(fb.equal, result, expected))
    getattr(fb, f"_foreach_{name}_")(given)
    assert all(map(fb.equal, given, expected))


@pytest.mark.parametrize("name", _BINARY.split())
@pytest.mark.parametrize("kind", ["tensors", "number", "numbers"])
def test_binary(name: str, kind: str):
    given = tensors()
    other = {"tensors": [each + 0.25 for each in given], "number": 0.5, "numbers": [0.5, 2.0, 3.0]}
    others = other[kind] if kind != "number" else [0.5] * 3
    operator = getattr(fb, name)
    if name in ("maximum", "minimum") and kind != "tensors":
        others = [fb.tensor(each) for each in others]
    expected = [operator(one, two) for one, two in zip(given, others, strict=True)]
    result = getattr(fb, f"_foreach_{name}")(given, other[kind])
    assert all(map(fb.equal, result, expected))
    assert all(map(fb.equal, getattr(fb, f"_foreach_{name}_")(given, other[kind]), expected))
    assert all(map(fb.equal, given, expected))


def test_others():
    a, b, c = tensors(), tensors(), [each + 1 for each in tensors()]
    result = fb._foreach_addcdiv(a, b, c, [1.0, 2.0, 3.0])
    assert fb.equal(result[2], a[2].addcdiv(b[2], c[2], value=3.0))
    fb._foreach_addcmul_(a, b, c, value=0.5)
    assert fb.equal(a[1], b[1].addcmul(b[1], c[1], value=0.5))
    assert fb.equal(fb._foreach_lerp(b, c, 0.25)[0], b[0].lerp(c[0], 0.25))
    assert fb.equal(fb._foreach_add(b, c, alpha=2)[0], b[0].add(c[0], alpha=2))
    assert fb.equal(fb._foreach_pow(2.0, b)[0], 2.0 ** b[0])
    assert fb.equal(fb._foreach_norm(b, 1)[1], b[1].abs().sum())
    assert fb._foreach_norm(b, dtype=fb.float64)[0].dtype is fb.float64
    assert fb.equal(fb._foreach_max(c)[1], c[1].max())
    fb._foreach_copy_(a, b)
    assert fb.equal(a[2], b[2])
    assert fb._foreach_zero_(a) is None
    assert a[0].sum() == 0


def test_gradients_flow():
    x = fb.ones(2, requires_grad=True)
    fb._foreach_mul([x, x], [2.0, 3.0])[1].sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: fb._foreach_add([], 1), RuntimeError, "at least one tensor"),
        (lambda: fb._foreach_add(tensors(), [1, 2]), RuntimeError, "got 3 and 2"),
        (lambda: fb._foreach_add(tensors(2), fb.ones(2)), RuntimeError, "no dimensions"),
        (lambda: fb._foreach_mul(fb.ones(2), 1), TypeError, "expected a list of tensors"),
        (lambda: fb._foreach_nothing, AttributeError, "_foreach_nothing"),
    ],
)
def test_mistakes(call, error, message):
    with pytest.raises(error, match=message):
        call()
