"""Derivatives of reductions and scans that samples do not cover: names, zeros, ties, limits."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import flambeau as torch
from flambeau import Tensor
from flambeau.autograd import gradcheck, gradgradcheck

inf, nan = float("inf"), float("nan")


def leaf(*values: float) -> Tensor:
    return torch.tensor(values, dtype=torch.float64, requires_grad=True)


def matrix() -> Tensor:
    return torch.randn(3, 4, dtype=torch.float64, requires_grad=True)


def gradient(function: Callable[[Tensor], Tensor], *values: float) -> list[float]:
    x = leaf(*values)
    (result,) = torch.autograd.grad(function(x).sum(), x)
    return result.tolist()


NAMES: dict[str, Callable[[Tensor], Tensor]] = {
    "SumBackward0": lambda x: x.sum(),
    "SumBackward1": lambda x: x.sum(0),
    "MeanBackward0": lambda x: x.mean(),
    "MeanBackward1": lambda x: x.mean(1),
    "ProdBackward0": lambda x: x.prod(),
    "ProdBackward1": lambda x: x.prod(0),
    "AmaxBackward0": lambda x: x.amax(),
    "MaxBackward0": lambda x: x.max(0).values,
    "MaxBackward1": lambda x: x.max(),
    "MaximumBackward0": lambda x: torch.max(x, x),
    "AminmaxBackward0": lambda x: torch.aminmax(x).min,
    "MedianBackward0": lambda x: x.median(),
    "MedianBackward1": lambda x: x.median(0).values,
    "SortBackward0": lambda x: x.sort().values,
    "SortBackward1": lambda x: x.sort(stable=True).values,
    "StdBackward0": lambda x: x.std(),
    "VarBackward0": lambda x: x.var(0, unbiased=False),
    "VarMeanBackward0": lambda x: torch.var_mean(x)[0],
    "LinalgVectorNormBackward0": lambda x: x.norm(),
    "CumsumBackward0": lambda x: x.cumsum(0),
}


@pytest.mark.parametrize("expected", NAMES)
def test_the_graph_names_the_operator(expected: str) -> None:
    assert NAMES[expected](matrix()).grad_fn.name() == expected


@pytest.mark.parametrize("values", [(1, 2, 3), (1, 0, 3), (0, 2, 0, 3), (0, 0, 0)], ids=str)
@pytest.mark.parametrize(
    "function", [lambda x: x.prod(), lambda x: x.prod(0), lambda x: x.cumprod(0)]
)
def test_products_with_zeros_are_exact_to_second_order(function, values) -> None:
    assert gradcheck(function, (leaf(*values),))
    assert gradgradcheck(function, (leaf(*values),))


def test_elements_that_share_an_extremum_share_its_gradient() -> None:
    for function in (Tensor.max, Tensor.amax, Tensor.median, lambda x: torch.aminmax(x).max):
        assert gradient(function, 1, 2, 2) == [0, 0.5, 0.5]
    assert gradient(lambda x: x.norm(inf), 3, -3, 1) == [0.5, -0.5, 0]


def test_a_chosen_element_alone_gets_the_gradient() -> None:
    for function in (
        lambda x: x.max(0).values,
        lambda x: x.topk(1).values,
        lambda x: x.kthvalue(3).values,
    ):
        assert sorted(gradient(function, 1, 2, 2)) == [0, 0, 1]


def test_nan_as_a_maximum_gets_the_gradient() -> None:
    assert gradient(Tensor.max, 1, nan, 2) == [0, 1, 0]
    assert gradient(Tensor.nansum, 1, nan, 2) == [1, 0, 1]


@pytest.mark.parametrize("p", [0, 0.5, 1, 1.5, 2, 3, inf])
def test_the_gradient_of_a_norm_of_zero_is_zero(p: float) -> None:
    x = leaf(0, 0)
    (first,) = torch.autograd.grad(
        x.norm(p), x, torch.tensor(1.0, dtype=torch.float64), create_graph=True
    )
    assert first.tolist() == [0, 0]
    if first.requires_grad:
        (second,) = torch.autograd.grad(first.sum(), x, allow_unused=True)
        assert second is None or second.tolist() == [0, 0]


def test_a_spread_of_nothing_has_no_slope() -> None:
    assert gradient(lambda x: x.std(correction=0), 1, 1) == [0, 0]
    assert gradient(lambda x: x.var(correction=3), 1, 2) == [inf, inf]


def test_infinities_do_not_spoil_what_comes_before_them() -> None:
    before, _, after = gradient(lambda x: x.logcumsumexp(0), 1, inf, 2)
    assert (before, after) == (1, 0)


def test_quantiles_differentiate_to_their_order() -> None:
    x, q = leaf(4, 1, 3), leaf(0.25)
    by_x, by_q = torch.autograd.grad(torch.quantile(x, q).sum(), (x, q))
    assert by_x.tolist() == [0, 0.5, 0.5]
    assert by_q.tolist() == [4]  # two gaps, of which the lower is 2 wide


def test_equal_elements_share_the_gradient_of_the_one_that_stands_for_them() -> None:
    assert gradient(lambda x: torch.unique(x) * torch.tensor([1.0, 4.0]), 2, 1, 2) == [2, 1, 2]
