"""Conditions, branches and loops in the forms that PyTorch traces."""

from __future__ import annotations

import pytest

import flambeau as fb

ERRORS = {
    "_check": RuntimeError,
    "_check_index": IndexError,
    "_check_value": ValueError,
    "_check_type": TypeError,
    "_check_not_implemented": NotImplementedError,
}


@pytest.mark.parametrize("name", ERRORS)
def test_checks(name):
    check = getattr(fb, name)
    check(True)
    with pytest.raises(ERRORS[name], match="hello"):
        check(False, lambda: "hello")
    with pytest.raises(TypeError, match="cond must be a bool"):
        check(1)


def test_checks_of_tensors_and_sizes():
    fb._check_tensor_all(fb.ones(2) > 0)
    with pytest.raises(RuntimeError, match="negative"):
        fb._check_tensor_all(fb.tensor([1.0, -1.0]) > 0, lambda: "negative")
    fb._check_is_size(3, max=3)
    with pytest.raises(RuntimeError, match="expected cond to be True"):
        fb._check_is_size(-1)
    fb._assert_async(fb.tensor(True))
    with pytest.raises(RuntimeError, match="zero"):
        fb._assert_async(fb.tensor(False))
    assert fb._shape_as_tensor(fb.ones(2, 3)).tolist() == [2, 3]


def test_branch():
    x = fb.ones(2)
    assert fb.cond(x.sum() > 1, lambda a: a + 1, lambda a: a - 1, (x,)).tolist() == [2, 2]
    assert fb.cond(False, lambda: 1, lambda: 2) == 2
    with pytest.raises(RuntimeError, match="single-element tensor"):
        fb.cond(x > 0, lambda a: a, lambda a: a, (x,))
    with pytest.raises(RuntimeError, match="expected operands to be a tuple, got Tensor"):
        fb.cond(True, lambda a: a, lambda a: a, x)


def test_loop():
    x = fb.ones(2, requires_grad=True)
    count, y = fb.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * 2), (fb.tensor(0), x))
    y.sum().backward()
    assert (count.item(), y.tolist(), x.grad.tolist()) == (3, [8, 8], [8, 8])
    with pytest.raises(RuntimeError, match="must return a tuple of 1"):
        fb.while_loop(lambda a: True, lambda a: a, (x,))
