"""Derivatives of views, indexing and shapes that samples do not cover."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import flambeau as torch
from flambeau import Tensor
from flambeau.autograd import gradcheck, gradgradcheck


def matrix(*shape: int) -> Tensor:
    return torch.randn(*(shape or (3, 4)), dtype=torch.float64, requires_grad=True)


ROWS = torch.tensor([0, 2])
NAMES: dict[str, tuple[Callable[[Tensor], Tensor], ...]] = {
    "ViewBackward0": (lambda x: x.view(12), lambda x: x.reshape(4, 3), lambda x: x.flatten()),
    "UnsafeViewBackward0": (lambda x: x.t().reshape(12),),
    "ReshapeAliasBackward0": (lambda x: x.t().reshape(2, 2, 3),),
    "SqueezeBackward0": (lambda x: x.squeeze(),),
    "SqueezeBackward1": (lambda x: x.squeeze(0),),
    "SqueezeBackward2": (lambda x: x.squeeze((0, 1)),),
    "ExpandBackward0": (lambda x: x.expand(2, 3, 4), lambda x: x.broadcast_to((2, 3, 4))),
    "TBackward0": (lambda x: x.t(),),
    "TransposeBackward0": (lambda x: x.mT, lambda x: x.swapaxes(0, 1)),
    "PermuteBackward0": (lambda x: x.T, lambda x: x.movedim(0, 1)),
    "SelectBackward0": (lambda x: x[0], lambda x: x[:, 1], lambda x: x[..., 0]),
    "SliceBackward0": (lambda x: x[:], lambda x: x[0, 1:], lambda x: x.narrow(0, 0, 2)),
    "UnsqueezeBackward0": (lambda x: x[None],),
    "AliasBackward0": (lambda x: x[...],),
    "IndexBackward0": (lambda x: x[ROWS], lambda x: x[x > 0], lambda x: x[[0, 1]]),
    "SplitBackward0": (lambda x: x.split(2)[0], lambda x: x.chunk(2)[0]),
    "SplitWithSizesBackward0": (lambda x: x.split([1, 2])[0],),
    "UnbindBackward0": (lambda x: x.unbind()[0], lambda x: next(iter(x))),
    "CatBackward0": (lambda x: torch.cat([x, x]), lambda x: torch.vstack([x, x])),
    "MaskedFillBackward0": (lambda x: x.masked_fill(x > 0, 1.0),),
    "MaskedFillBackward1": (lambda x: x.masked_fill(x > 0, x[0, 0]),),
    "CopySlices": (lambda x: written(x * 2),),
}


def written(x: Tensor) -> Tensor:
    x[0] = 1
    return x


@pytest.mark.parametrize("expected", NAMES)
def test_the_graph_names_the_operator(expected: str) -> None:
    for function in NAMES[expected]:
        assert function(matrix()).grad_fn.name() == expected


def test_an_index_is_no_input_of_the_graph() -> None:
    x = matrix()
    assert len(x.index_select(0, ROWS).grad_fn.next_functions) == 1
    assert len(x.index_put((ROWS,), x[:2]).grad_fn.next_functions) == 2


def check(function: Callable[..., Any], *inputs: Tensor) -> None:
    assert gradcheck(function, inputs)
    assert gradgradcheck(function, inputs)


def test_windows_that_overlap_collect_their_gradients() -> None:
    check(lambda x: x.as_strided((3, 3), (2, 1), 1), matrix(8))
    check(lambda x: x.unfold(0, 3, 1), matrix(6))
    # The input itself shows its elements several times.
    check(lambda x: x.expand(3, 4).as_strided((2, 2), (0, 1)), matrix(4))


def test_reading_a_place_twice_adds_up() -> None:
    twice = torch.tensor([1, 1])
    for function in (
        lambda x: x[twice],
        lambda x: x.index_select(0, twice),
        lambda x: x.take(twice),
        lambda x: x.gather(0, twice[:, None].expand(2, 4)),
    ):
        check(function, matrix())


def test_writing_through_an_index_takes_the_gradient_away_from_what_was_there() -> None:
    def write(x: Tensor, value: Tensor) -> Tensor:
        x = x.clone()
        x[1:, ::2] = value
        x[ROWS, 3] *= 2
        x[x > 100] = 0
        return x

    check(write, matrix(), matrix(2, 2))


def test_a_value_broadcast_by_a_write_collects_its_gradient() -> None:
    def write(x: Tensor, value: Tensor) -> Tensor:
        x = x.clone()
        x[:, ROWS] = value
        return x

    check(write, matrix(), matrix(1, 1, 2))


@pytest.mark.parametrize("reduce", ["sum", "prod", "mean", "amax", "amin"])
@pytest.mark.parametrize("include_self", [True, False])
def test_what_meets_at_a_place_shares_its_gradient(reduce: str, include_self: bool) -> None:
    index = torch.tensor([0, 1, 1, 3])
    check(
        lambda x, src: x.scatter_reduce(0, index, src, reduce, include_self=include_self),
        matrix(5),
        matrix(6),  # more than the index uses
    )


def test_one_zero_among_factors_that_meet() -> None:
    x = torch.tensor([2.0, 3.0], dtype=torch.float64, requires_grad=True)
    src = torch.tensor([0.0, 5.0, 0.0, 0.0], dtype=torch.float64, requires_grad=True)
    product = x.scatter_reduce(0, torch.tensor([0, 0, 1, 1]), src, "prod")
    by_x, by_src = torch.autograd.grad(product.sum(), (x, src))
    assert by_x.tolist() == [0, 0]
    assert by_src.tolist() == [10, 0, 0, 0]


def test_parts_of_different_types_get_gradients_of_their_own() -> None:
    single = torch.ones(2, requires_grad=True)
    double = torch.ones(3, dtype=torch.float64, requires_grad=True)
    torch.cat([single, torch.ones(1, dtype=torch.int64), double]).sum().backward()
    assert single.grad.dtype == torch.float32
    assert double.grad.dtype == torch.float64


def test_changes_in_place_have_second_derivatives() -> None:
    check(lambda x: x.clone().cumprod_(0), matrix(4))


def test_memory_read_as_another_type_is_cut_off() -> None:
    x = matrix()
    assert not x.view(torch.int64).requires_grad
    assert torch.view_as_real(torch.complex(x, x)).requires_grad
