"""Old signatures with the factor before the tensors."""

from __future__ import annotations

import pytest

import flambeau as fb
from flambeau._core import old_orders


@pytest.fixture(autouse=True)
def nothing_was_said():
    old_orders._warned.clear()


def test_the_factor_may_come_first():
    p, g = fb.tensor([1.0, 2.0]), fb.tensor([10.0, 20.0])
    with pytest.warns(UserWarning, match=r"add_: .*write add_\(tensor, alpha=...\)"):
        assert p.add_(-0.5, g) is p
    assert p.tolist() == [-4.0, -8.0]
    with pytest.warns(UserWarning, match="addcmul_"):
        p.addcmul_(0.5, g, g)
    assert p.tolist() == [46.0, 192.0]
    with pytest.warns(UserWarning, match="addcdiv"):
        assert fb.addcdiv(p, 2, g, g).tolist() == [48.0, 194.0]
    with pytest.warns(UserWarning, match="sub"):
        assert p.sub(2, g).tolist() == [26.0, 152.0]
    out = fb.empty(2)
    with pytest.warns(UserWarning, match="add"):
        assert fb.add(p, 2, g, out=out) is out


def test_it_is_said_once():
    p = fb.zeros(2)
    with pytest.warns(UserWarning, match="add_"):
        p.add_(1, 2)
    p.add_(1, p)
    assert p.tolist() == [4.0, 4.0]


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x.add_(1, x, 3),
        lambda x: x.add_("1", x),
        lambda x: x.addcmul_(x),
        lambda x: x.addcmul_(1, x, 2),
        lambda x: x.add_(1, x, alpha=2),
        lambda x: x.add_(),
    ],
)
def test_other_calls_are_refused_as_before(call):
    with pytest.raises(TypeError):
        call(fb.ones(2))


@pytest.mark.parametrize(
    ("name", "shapes"),
    [
        ("addmm", [(2, 3), (2, 4), (4, 3)]),
        ("addmv", [(2,), (2, 4), (4,)]),
        ("addr", [(2, 3), (2,), (3,)]),
        ("addbmm", [(2, 3), (5, 2, 4), (5, 4, 3)]),
        ("baddbmm", [(5, 2, 3), (5, 2, 4), (5, 4, 3)]),
    ],
)
def test_both_factors_may_come_before_matrices(name, shapes):
    first, a, b = (fb.randn(shape) for shape in shapes)
    function, method = getattr(fb, name), getattr(first, name)
    both, one = function(first, a, b, beta=2, alpha=3), function(first, a, b, beta=2)
    with pytest.warns(UserWarning, match=rf"{name}\(tensor, tensor, beta=..., alpha=...\)"):
        assert fb.equal(function(2, first, 3, a, b), both)
    assert fb.equal(function(2, first, a, b), one)
    assert fb.equal(method(2, 3, a, b), both)
    assert fb.equal(method(2, a, b), one)
    with pytest.warns(UserWarning, match=f"{name}_"):
        assert fb.equal(getattr(first.clone(), f"{name}_")(2, 3, a, b), both)
    for wrong in [(2, 3, first, a, b), (first, a, 2, b), (2, first, 3, a), (2, first, a, b, 3)]:
        with pytest.raises(TypeError):
            function(*wrong)
