"""Activation functions: in place and not, modules, chance."""

import math
import pickle

import pytest

import flambeau as fb
import flambeau.nn.functional as F
from flambeau import nn

IN_PLACE = (
    "relu",
    "relu6",
    "elu",
    "celu",
    "selu",
    "leaky_relu",
    "hardtanh",
    "hardswish",
    "hardsigmoid",
    "silu",
    "mish",
    "rrelu",
)


@pytest.mark.parametrize("name", IN_PLACE)
def test_in_place_argument_changes_the_input(name: str) -> None:
    function = getattr(F, name)
    x = fb.linspace(-4, 4, 9)
    expected = function(x)
    result = function(x, inplace=True)
    assert result is x
    assert fb.equal(x, expected)


@pytest.mark.parametrize("name", IN_PLACE)
def test_gradient_of_the_form_in_place(name: str) -> None:
    function = getattr(F, name)
    x, y = (fb.linspace(-4, 4, 9, dtype=fb.float64, requires_grad=True) for _ in range(2))
    function(x * 1).sum().backward()
    function(y * 1, inplace=True).sum().backward()
    assert x.grad is not None
    assert y.grad is not None
    fb.testing.assert_close(x.grad, y.grad)


@pytest.mark.parametrize(
    "name", ["relu_", "elu_", "celu_", "selu_", "leaky_relu_", "hardtanh_", "rrelu_"]
)
def test_functions_that_change_their_input(name: str) -> None:
    x = fb.tensor([-2.0, 0.5])
    expected = getattr(F, name.removesuffix("_"))(x)
    assert getattr(F, name)(x) is x
    assert fb.equal(x, expected)


def test_threshold_in_place() -> None:
    x = fb.tensor([-2.0, 0.5])
    assert F.threshold(x, 0.0, 7.0, True) is x
    assert F.threshold_(x, 1.0, 3.0) is x
    assert x.tolist() == [7.0, 3.0]


def test_a_leaf_that_wants_gradients_is_not_changed() -> None:
    x = fb.zeros(3, requires_grad=True)
    with pytest.raises(RuntimeError, match="leaf"):
        F.relu(x, inplace=True)


@pytest.mark.parametrize(
    ("module", "shown"),
    [
        (nn.Threshold(0.1, 20), "Threshold(threshold=0.1, value=20)"),
        (nn.ReLU(inplace=True), "ReLU(inplace=True)"),
        (nn.RReLU(0.1, 0.2, True), "RReLU(lower=0.1, upper=0.2, inplace=True)"),
        (nn.Hardtanh(-2, 2), "Hardtanh(min_val=-2, max_val=2)"),
        (nn.ReLU6(), "ReLU6()"),
        (nn.LeakyReLU(0.2), "LeakyReLU(negative_slope=0.2)"),
        (nn.GELU("tanh"), "GELU(approximate='tanh')"),
        (nn.Softplus(2, 10), "Softplus(beta=2, threshold=10)"),
        (nn.Softmax(dim=1), "Softmax(dim=1)"),
        (nn.PReLU(5), "PReLU(num_parameters=5)"),
        (nn.Hardshrink(), "Hardshrink(0.5)"),
        (nn.Sigmoid(), "Sigmoid()"),
    ],
)
def test_how_modules_are_shown(module: nn.Module, shown: str) -> None:
    assert repr(module) == shown
    assert repr(pickle.loads(pickle.dumps(module))) == shown


def test_modules_compute_what_functions_do() -> None:
    x = fb.randn(2, 4, 6)
    for module, expected in (
        (nn.ELU(0.5), F.elu(x, 0.5)),
        (nn.GLU(1), F.glu(x, 1)),
        (nn.Mish(), F.mish(x)),
        (nn.Softmin(-1), F.softmax(-x, -1)),
        (nn.Softmax2d(), x.softmax(-3)),
        (nn.LogSigmoid(), x.sigmoid().log()),
        (nn.Tanhshrink(), x - x.tanh()),
    ):
        fb.testing.assert_close(module(x), expected)


def test_softmax_without_a_dimension() -> None:
    for shape, dim in (((3,), 0), ((2, 3), 1), ((2, 3, 4), 0), ((2, 3, 4, 5), 1)):
        x = fb.randn(*shape)
        with pytest.warns(UserWarning, match="Implicit dimension choice for softmax"):
            assert fb.equal(F.softmax(x), x.softmax(dim))
    assert F.softmax(fb.zeros(2), dim=0, _stacklevel=5, dtype=fb.float64).dtype == fb.float64


def test_random_slopes_are_drawn_in_training_only() -> None:
    x = fb.full((1000,), -1.0)
    module = nn.RReLU(0.1, 0.3)
    slopes = -module(x)
    assert 0.1 <= slopes.min() < slopes.max() < 0.3
    assert fb.equal(-module.eval()(x), fb.full((1000,), 0.2))
    fb.manual_seed(1)
    first = F.rrelu(x, training=True)
    fb.manual_seed(1)
    assert fb.equal(fb.rrelu(x, training=True), first)


def test_the_gradient_of_random_slopes_is_the_slopes() -> None:
    x = fb.full((10,), -1.0, requires_grad=True)
    y = F.rrelu(x, training=True)
    y.sum().backward()
    assert x.grad is not None
    fb.testing.assert_close(x.grad, -y.detach())


def test_gumbel_softmax() -> None:
    logits = fb.tensor([[2.0, 0.0, -2.0]]).expand(2000, 3).clone().requires_grad_()
    soft = F.gumbel_softmax(logits, tau=0.5)
    fb.testing.assert_close(soft.sum(-1), fb.ones(2000))
    hard = F.gumbel_softmax(logits, hard=True)
    assert set(hard.detach().round(decimals=4).unique().tolist()) == {0.0, 1.0}
    fb.testing.assert_close(hard.mean(0).detach(), logits[0].softmax(0).detach(), atol=0.05, rtol=0)
    (hard * fb.arange(3)).sum().backward()
    assert logits.grad is not None
    assert logits.grad.abs().sum() > 0


def test_learned_slopes() -> None:
    module = nn.PReLU(3, init=0.5)
    x = -fb.ones(2, 3, 4)
    assert fb.equal(module(x), -0.5 * fb.ones(2, 3, 4))
    module(x).sum().backward()
    assert module.weight.grad is not None
    assert module.weight.grad.tolist() == [-8.0, -8.0, -8.0]


def test_bad_arguments() -> None:
    with pytest.raises(AssertionError, match=r"Hardtanh: max_val \(1\) must be greater"):
        nn.Hardtanh(2, 1)
    with pytest.raises(ValueError, match="Softmax2d: expected input to be 3D or 4D, got 2D"):
        nn.Softmax2d()(fb.zeros(2, 3))
    with pytest.raises(RuntimeError, match="glu: Halving dimension must be even"):
        nn.GLU()(fb.zeros(2, 3))
    with pytest.raises(TypeError, match=r"relu\(\): argument 'input'"):
        F.relu("x")  # type: ignore[call-overload]


@pytest.mark.parametrize("dtype", [fb.bfloat16, fb.float16])
def test_16_bit_floats(dtype: fb.dtype) -> None:
    x = fb.linspace(-3, 3, 64)
    for function in (F.gelu, F.silu, F.softplus, F.mish, F.elu, lambda t: F.softmax(t, -1)):
        narrow = function(x.to(dtype))
        assert narrow.dtype == dtype
        # The input is rounded too, by as much as 2^-9 of bfloat16.
        fb.testing.assert_close(narrow.float(), function(x), atol=1e-2, rtol=1e-2)


def test_gelu_far_from_zero() -> None:
    assert F.gelu(fb.tensor([-math.inf, 50.0, -50.0])).tolist()[1:] == [50.0, -0.0]
