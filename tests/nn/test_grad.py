"""Gradients of convolutions without a graph: those that backward computes."""

import pytest

import flambeau as torch
from flambeau import nn
from flambeau.nn import functional as F


@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize(
    "options",
    [{}, {"stride": 2, "padding": 1}, {"dilation": 2, "groups": 2}, {"padding": "each"}],
)
def test_gradients_are_those_of_backward(dims: int, options: dict) -> None:
    if options.get("padding") == "each":
        options = {"padding": tuple(range(dims))}
    torch.manual_seed(0)
    x = torch.randn(2, 4, *[7] * dims, requires_grad=True)
    w = torch.randn(6, 4 // options.get("groups", 1), *[3] * dims, requires_grad=True)
    y = getattr(F, f"conv{dims}d")(x, w, **options)
    g = torch.randn_like(y)
    expected_x, expected_w = torch.autograd.grad(y, (x, w), g)
    of_input = getattr(nn.grad, f"conv{dims}d_input")(x.shape, w, g, **options)
    of_weight = getattr(nn.grad, f"conv{dims}d_weight")(x, w.shape, g, **options)
    torch.testing.assert_close(of_input, expected_x)
    torch.testing.assert_close(of_weight, expected_w)
