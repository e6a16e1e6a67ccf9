"""Gradients where a function has none: at kinks, ties, zeros and NaN, by PyTorch's conventions."""

import math
from collections.abc import Callable
from typing import Any

import pytest

import flambeau as fb

F = fb.nn.functional
nan, inf = math.nan, math.inf

UNARY = [
    ("relu", fb.relu, [-1.0, 0.0, 2.0], [0.0, 0.0, 1.0]),
    ("abs", fb.abs, [-1.0, 0.0, 2.0], [-1.0, 0.0, 1.0]),
    ("sign", fb.sign, [-1.0, 0.0, 2.0], [0.0, 0.0, 0.0]),
    ("clamp", lambda x: x.clamp(-1, 1), [-2.0, -1.0, 0.0, 1.0, 2.0, nan], [0, 1, 1, 1, 0, 0]),
    ("clamp_min", lambda x: x.clamp_min(0), [-1.0, 0.0, 1.0], [0.0, 1.0, 1.0]),
    ("hardtanh", F.hardtanh, [-1.0, 0.0, 1.0], [0.0, 1.0, 0.0]),
    ("relu6", F.relu6, [0.0, 3.0, 6.0], [0.0, 1.0, 0.0]),
    ("leaky_relu", F.leaky_relu, [-1.0, 0.0, 1.0], [0.01, 0.01, 1.0]),
    ("elu", F.elu, [0.0, 1.0], [1.0, 1.0]),
    ("softplus", F.softplus, [0.0, 20.0, 21.0], [0.5, 1.0, 1.0]),
    ("hardswish", F.hardswish, [-3.0, 0.0, 3.0, 4.0], [0.0, 0.5, 1.0, 1.0]),
    ("softshrink", F.softshrink, [-0.5, 0.0, 0.5, 1.0], [0.0, 0.0, 0.0, 1.0]),
    ("threshold", lambda x: F.threshold(x, 1.0, 7.0), [1.0, 2.0], [0.0, 1.0]),
    ("pow 0", lambda x: x**0, [0.0, 2.0], [0.0, 0.0]),
    ("pow 2", lambda x: x**2, [0.0, 2.0], [0.0, 4.0]),
    ("pow 0.5", lambda x: x**0.5, [0.0, 4.0], [inf, 0.25]),
    ("0 ** x", lambda x: 0.0**x, [0.0, 2.0], [0.0, 0.0]),
    ("sqrt", fb.sqrt, [0.0, 4.0], [inf, 0.25]),
    ("sinc", fb.sinc, [0.0], [0.0]),
    ("xlogy", lambda x: fb.xlogy(x, 0.0), [0.0], [0.0]),
    ("nan_to_num", fb.nan_to_num, [nan, inf, 1.0], [0.0, 0.0, 1.0]),
    ("floor", fb.floor, [0.5, 1.0], [0.0, 0.0]),
    ("frac", fb.frac, [0.5, 1.0], [1.0, 1.0]),
    ("where", lambda x: fb.where(x > 0, x.log(), 0.0), [-1.0, 2.0], [0.0, 0.5]),
]

# At NaN, of which PyTorch's vectors and what is left over from them differ: these are its vectors'.
AT_NAN: dict[str, tuple[Callable[[fb.Tensor], fb.Tensor], float]] = {
    "celu": (F.celu, nan),
    "elu": (F.elu, nan),
    "gelu": (F.gelu, nan),
    "hardshrink": (F.hardshrink, 0.0),
    "hardsigmoid": (F.hardsigmoid, 0.0),
    "hardswish": (F.hardswish, nan),
    "hardtanh": (F.hardtanh, 0.0),
    "leaky_relu": (F.leaky_relu, 0.01),
    "logit": (lambda x: x.logit(0.1), nan),
    "logsigmoid": (F.logsigmoid, nan),
    "mish": (F.mish, nan),
    "relu": (F.relu, 1.0),
    "relu6": (F.relu6, 0.0),
    "selu": (F.selu, nan),
    "silu": (F.silu, nan),
    "softplus": (F.softplus, nan),
    "softshrink": (F.softshrink, 0.0),
    "threshold": (lambda x: F.threshold(x, 0.0, 1.0), 1.0),
}


@pytest.mark.parametrize("size", [1, 67])
@pytest.mark.parametrize("dtype", [fb.float32, fb.float64, fb.bfloat16])
@pytest.mark.parametrize("name", AT_NAN)
def test_slope_at_nan(name: str, dtype: fb.dtype, size: int) -> None:
    function, slope = AT_NAN[name]
    x = fb.full((size,), nan, dtype=dtype, requires_grad=True)
    gradient = fb.autograd.grad(function(x).sum(), x)[0].double()
    expected = fb.full((size,), slope, dtype=fb.float64)
    fb.testing.assert_close(gradient, expected, equal_nan=True, rtol=1e-2, atol=0)


@pytest.mark.parametrize(
    ("function", "at", "expected"), [row[1:] for row in UNARY], ids=[row[0] for row in UNARY]
)
def test_one_argument(
    function: Callable[[Any], Any], at: list[float], expected: list[float]
) -> None:
    x = fb.tensor(at, dtype=fb.float64, requires_grad=True)
    function(x).sum().backward()
    wanted = fb.tensor(expected, dtype=fb.float64)
    assert fb.allclose(x.grad, wanted, rtol=1e-7, equal_nan=True), f"{x.grad}, expected {wanted}"


BINARY = [
    ("maximum", fb.maximum, (2.0, 2.0), (0.5, 0.5)),
    ("maximum", fb.maximum, (3.0, 2.0), (1.0, 0.0)),
    ("minimum", fb.minimum, (2.0, 2.0), (0.5, 0.5)),
    ("fmax", fb.fmax, (2.0, 2.0), (1.0, 0.0)),
    ("fmax", fb.fmax, (nan, 2.0), (0.0, 1.0)),
    ("fmin", fb.fmin, (2.0, nan), (1.0, 0.0)),
    ("pow", fb.pow, (0.0, 0.0), (0.0, 0.0)),
    ("pow", fb.pow, (0.0, 2.0), (0.0, 0.0)),
    ("pow", fb.pow, (2.0, 3.0), (12.0, 8.0 * math.log(2.0))),
    ("atan2", fb.atan2, (0.0, 0.0), (0.0, 0.0)),
    ("xlogy", fb.xlogy, (0.0, 0.0), (0.0, nan)),
    ("hypot", fb.hypot, (3.0, 4.0), (0.6, 0.8)),
    ("clamp", lambda x, low: x.clamp(min=low), (1.0, 2.0), (0.0, 1.0)),
    ("copysign", fb.copysign, (-3.0, 2.0), (-1.0, 0.0)),
]


@pytest.mark.parametrize(
    ("function", "at", "expected"), [row[1:] for row in BINARY], ids=[row[0] for row in BINARY]
)
def test_two_arguments(
    function: Callable[[Any, Any], Any], at: tuple[float, float], expected: tuple[float, float]
) -> None:
    operands = [fb.tensor(each, dtype=fb.float64, requires_grad=True) for each in at]
    found = fb.autograd.grad(function(*operands), operands)
    for gradient, wanted in zip(found, expected, strict=True):
        assert gradient.item() == pytest.approx(wanted, nan_ok=True)


@pytest.mark.parametrize(
    "fill",
    [
        lambda x: x.zero_(),
        lambda x: x.fill_(3.0),
        lambda x: x.uniform_(),
        lambda x: x.normal_(),
        lambda x: x.exponential_(),
        lambda x: x.bernoulli_(),
        lambda x: x.random_(),
    ],
    ids=["zero_", "fill_", "uniform_", "normal_", "exponential_", "bernoulli_", "random_"],
)
def test_what_is_overwritten_has_no_influence(fill: Callable[[Any], Any]) -> None:
    x = fb.ones(4, requires_grad=True)
    fill(x * 2).sum().backward()
    assert x.grad.tolist() == [0.0] * 4


def test_a_value_that_fills_gets_the_sum() -> None:
    x, value = fb.ones(2, 3, requires_grad=True), fb.tensor(2.0, requires_grad=True)
    (x * 1).fill_(value).sum().backward()
    assert (x.grad.abs().sum().item(), value.grad.item()) == (0.0, 6.0)


def test_draws_do_not_follow_their_parameters() -> None:
    mean, std = fb.zeros(3, requires_grad=True), fb.ones(3, requires_grad=True)
    fb.normal(mean, std).sum().backward()
    assert mean.grad.tolist() == std.grad.tolist() == [0.0] * 3


def test_conversions_give_the_gradient_in_the_old_type() -> None:
    x = fb.ones(3, dtype=fb.float64, requires_grad=True)
    x.float().sum().backward()
    assert (x.grad.dtype, x.grad.tolist()) == (fb.float64, [1.0] * 3)
    assert x.float().grad_fn.name() == "ToCopyBackward0"
    assert x.clone().grad_fn.name() == "CloneBackward0"
    assert x.double() is x
    assert x.contiguous() is x


@pytest.mark.parametrize(
    ("expression", "name"),
    [
        ("x ** 2", "PowBackward0"),
        ("x ** y", "PowBackward1"),
        ("2 ** x", "PowBackward2"),
        ("1 - x", "RsubBackward1"),
        ("x - 1", "SubBackward0"),
        ("x % 3", "RemainderBackward0"),
        ("x % y", "RemainderBackward1"),
        ("x.clamp(0, 1)", "ClampBackward1"),
        ("x.clamp_min(0)", "ClampMinBackward0"),
        ("x.log1p()", "Log1PBackward0"),
        ("x.square()", "PowBackward0"),
        ("F.relu6(x)", "HardtanhBackward0"),
        ("F.gelu(x)", "GeluBackward0"),
        ("fb.special.entr(x)", "SpecialEntrBackward0"),
        ("fb.where(x > 0, x, y)", "WhereBackward0"),
    ],
)
def test_node_names(expression: str, name: str) -> None:
    x, y = fb.ones(3, requires_grad=True), fb.ones(3)
    assert eval(expression, {"x": x, "y": y, "fb": fb, "F": F}).grad_fn.name() == name
