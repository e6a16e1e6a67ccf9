"""Forward mode: dual numbers through every operator, levels, views and changes in place."""

from __future__ import annotations

from typing import Any

import pytest

import flambeau as torch
import flambeau.autograd.forward_ad as fwd
from flambeau.func import jvp
from tests.ops.gradients import PRECISE, Call, calls, is_differentiable
from tests.ops.registry import all_samples
from tests.ops.table import operators

TABLE = operators()
NAMES = sorted(name for name in set(TABLE) & set(all_samples()) if is_differentiable(TABLE[name]))
POINTS = [(name, dtype) for name in NAMES for dtype in PRECISE if dtype in TABLE[name].dtypes]


def product(left: Any, right: Any) -> float:
    """The inner product of two lists of tensors, as of vectors of real numbers."""
    return sum(float((a.conj() * b).real.sum()) for a, b in zip(left, right, strict=True))


def like(tensors: Any, seed: int) -> list[Any]:
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(each.shape, dtype=each.dtype, generator=generator) for each in tensors]


def assert_is_transposed_backward(call: Call) -> None:
    """That forward mode is the adjoint of reverse mode."""
    leaves = call.leaves()
    try:
        results = call(*leaves)
        directions, weights = like(leaves, 1), like(results, 2)
        if not results:
            return
        gradients = torch.autograd.grad(results, leaves, weights, allow_unused=True)
    except (NotImplementedError, RuntimeError) as error:
        if "not implemented" in str(error) or "not differentiable" in str(error):
            return
        raise
    pulled = [
        torch.zeros_like(x) if g is None else g for x, g in zip(leaves, gradients, strict=True)
    ]
    with fwd.dual_level():
        # The graph tells which results have derivatives, so this is recorded too.
        duals = [fwd.make_dual(x, t) for x, t in zip(leaves, directions, strict=True)]
        parts = [fwd.unpack_dual(each) for each in call(*duals)]
    tangents = [
        torch.zeros_like(p.primal) if p.tangent is None else p.tangent.detach() for p in parts
    ]
    assert product(weights, tangents) == pytest.approx(
        product(pulled, directions), rel=1e-6, abs=1e-8
    )


@pytest.mark.parametrize(("name", "dtype"), POINTS)
def test_is_the_transposed_backward(name: str, dtype: str) -> None:
    for call in calls(torch, TABLE[name], dtype):
        assert_is_transposed_backward(call)


# --- dual numbers


def test_parts() -> None:
    x, t = torch.randn(3), torch.randn(3)
    with fwd.dual_level():
        dual = fwd.make_dual(x, t)
        primal, tangent = fwd.unpack_dual(dual)
        assert torch.equal(primal, x)
        assert torch.equal(tangent, t)
        assert fwd.unpack_dual(primal).tangent is None
        assert fwd.unpack_dual(x).tangent is None
        assert "tangent=tensor" in repr(dual)
    assert fwd.unpack_dual(dual).tangent is None


def test_what_has_no_tangent() -> None:
    with fwd.dual_level():
        dual = fwd.make_dual(torch.ones(2), torch.ones(2))
        assert fwd.unpack_dual(dual > 0).tangent is None
        assert fwd.unpack_dual(dual.detach()).tangent is None
        assert fwd.unpack_dual(dual.floor()).tangent.tolist() == [0, 0]
        indices = dual.max(0).indices
        assert fwd.unpack_dual(indices).tangent is None


def test_errors() -> None:
    x = torch.ones(2)
    with pytest.raises(RuntimeError, match=r"make sure to enter_dual_level\(\) first"):
        fwd.make_dual(x, x)
    with fwd.dual_level():
        with pytest.raises(ValueError, match="Expected primal to be floating point or complex"):
            fwd.make_dual(x.long(), x)
        with pytest.raises(RuntimeError, match="has a different size than that of the original"):
            fwd.make_dual(x, torch.ones(3))
        with pytest.raises(RuntimeError, match="Nested forward mode AD is not supported"):
            fwd.enter_dual_level()


def test_changes_in_place() -> None:
    x, t = torch.tensor([1.0, 2.0, 3.0]), torch.tensor([1.0, 0.5, 2.0])
    with fwd.dual_level():
        y = fwd.make_dual(x, t).exp()
        y.mul_(2)
        y[0] = 7
        assert torch.allclose(
            fwd.unpack_dual(y).tangent, torch.tensor([0, *(2 * x.exp() * t)[1:].tolist()])
        )


def test_a_dual_number_written_into_a_view() -> None:
    with fwd.dual_level():
        dual = fwd.make_dual(torch.tensor(3.0), torch.tensor(5.0))
        whole = torch.zeros(2, 2)
        row = whole[1]
        row[0] = dual * dual
        assert fwd.unpack_dual(whole).tangent.tolist() == [[0, 0], [30, 0]]
        assert fwd.unpack_dual(row).tangent.tolist() == [30, 0]


def test_views_share_their_tangents() -> None:
    with fwd.dual_level():
        dual = fwd.make_dual(torch.ones(2, 3), torch.arange(6.0).view(2, 3)).clone()
        column = dual.t()[1]
        column.mul_(10)
        assert fwd.unpack_dual(dual).tangent.tolist() == [[0, 10, 2], [3, 40, 5]]


# --- with the tape, and with itself


def test_backward_through_a_tangent() -> None:
    x, t = torch.tensor([1.0, 2.0], requires_grad=True), torch.tensor([3.0, 4.0])
    with fwd.dual_level():
        tangent = fwd.unpack_dual(fwd.make_dual(x, t) ** 3).tangent
    (found,) = torch.autograd.grad(tangent.sum(), x)
    assert torch.allclose(found, (6 * x * t).detach())


def test_without_recording() -> None:
    x = torch.ones(2, requires_grad=True)
    with torch.no_grad(), fwd.dual_level():
        y = fwd.make_dual(x, torch.ones(2)) ** 2
        assert fwd.unpack_dual(y).tangent.tolist() == [2, 2]
        assert not y.requires_grad


def test_levels_are_not_confused() -> None:
    def slope(f: Any, at: Any) -> Any:
        return jvp(f, (at,), (torch.ones_like(at),))[1]

    x = torch.tensor(2.0)
    # d/dx (x * d/dy (x + y)) at y = 1 is 1, not 2.
    assert slope(lambda a: a * slope(lambda b: a + b, torch.tensor(1.0)), x) == 1
    assert slope(lambda a: slope(lambda b: b**3, a), x) == 12
    assert slope(lambda a: slope(lambda b: slope(lambda c: c**4, b), a), x) == 48
