"""Transforms of functions: gradients, Jacobians, modules as functions."""

from __future__ import annotations

from typing import Any

import pytest

import flambeau as torch
from flambeau.func import (
    functional_call,
    grad,
    grad_and_value,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    linearize,
    stack_module_state,
    value_and_grad,
    vjp,
    vmap,
)


@pytest.fixture
def x() -> Any:
    return torch.tensor([0.5, -1.0, 2.0], dtype=torch.float64)


def close(a: Any, b: Any) -> bool:
    return bool(torch.allclose(a, b, atol=1e-10))


# --- gradients


def test_grad(x: Any) -> None:
    found = grad(lambda a: a.sin().sum())(x)
    assert close(found, x.cos())
    assert not found.requires_grad
    assert close(grad(grad(lambda a: a**3))(x[2]), 6 * x[2])


def test_grad_by_several_arguments_and_trees(x: Any) -> None:
    both = grad(lambda a, b: (a * b).sum(), argnums=(0, 1))(x, x + 1)
    assert close(both[0], x + 1)
    assert close(both[1], x)
    tree = grad(lambda p: (p["w"] * p["b"][0]).sum())({"w": x, "b": [x + 1]})
    assert close(tree["w"], x + 1)
    assert close(tree["b"][0], x)


def test_grad_with_value_and_more(x: Any) -> None:
    found, value = grad_and_value(lambda a: a.square().sum())(x)
    assert close(found, 2 * x)
    assert close(value, x.square().sum())
    assert not value.requires_grad
    value, found = value_and_grad(lambda a: a.square().sum())(x)
    assert close(found, 2 * x)
    assert close(value, x.square().sum())
    found, more = grad(lambda a: (a.sum(), {"twice": a * 2}), has_aux=True)(x)
    assert close(more["twice"], x * 2)
    assert not more["twice"].requires_grad


def test_grad_of_what_does_not_depend(x: Any) -> None:
    assert grad(lambda a: torch.ones(()))(x).tolist() == [0, 0, 0]


def test_grad_keeps_the_graph_outside(x: Any) -> None:
    outside = x.clone().requires_grad_()
    found = grad(lambda a: (a * outside).square().sum())(x)
    assert found.requires_grad
    found.sum().backward()
    assert close(outside.grad, 4 * x * x)
    by_itself = grad(lambda a: a.pow(3).sum())(outside)
    (second,) = torch.autograd.grad(by_itself.sum(), outside)
    assert close(second, 6 * x)


def test_grad_without_recording(x: Any) -> None:
    with torch.no_grad():
        found = grad(lambda a: a.square().sum())(x.clone().requires_grad_())
        assert close(found, 2 * x)
        assert not found.requires_grad
    constant = grad(lambda a: (a * frozen(a)).sum())(x)
    assert close(constant, x)


def frozen(a: Any) -> Any:
    with torch.no_grad():
        return a * 1


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (lambda a: a, "scalar Tensor, got tensor with 1 dims"),
        (lambda a: (a.sum(), 1), "to return a Tensor, got <class 'tuple'>"),
        (lambda a: 1.0, "to return a Tensor, got <class 'float'>"),
    ],
)
def test_grad_refuses(f: Any, message: str, x: Any) -> None:
    with pytest.raises(RuntimeError, match=message):
        grad(f)(x)


def test_argnums_are_checked(x: Any) -> None:
    with pytest.raises(RuntimeError, match="Got argnum=1, but only 1 positional inputs"):
        grad(lambda a: a.sum(), argnums=1)(x)
    with pytest.raises(RuntimeError, match="argnums must be int or Tuple"):
        grad(lambda a: a.sum(), argnums="a")(x)  # type: ignore[arg-type]
    with pytest.raises(RuntimeError, match="must be unique"):
        grad(lambda a, b: a.sum(), argnums=(0, 0))(x, x)


# --- products with the derivative


def test_vjp(x: Any) -> None:
    value, pull = vjp(lambda a, b: (a * b, b.sum()), x, x + 1)
    assert close(value[0], x * (x + 1))
    assert not value[0].requires_grad
    left, right = pull((torch.ones_like(x), torch.tensor(2.0, dtype=x.dtype)))
    assert close(left, x + 1)
    assert close(right, x + 2)
    with pytest.raises(RuntimeError, match="structure of cotangents"):
        pull(torch.ones(3))
    with pytest.raises(RuntimeError, match="Mismatch in shape"):
        pull((torch.ones(2), torch.ones(())))


def test_jvp(x: Any) -> None:
    direction = torch.tensor([1.0, 2.0, 3.0], dtype=x.dtype)
    value, slope = jvp(lambda a: a.exp(), (x,), (direction,))
    assert close(value, x.exp())
    assert close(slope, x.exp() * direction)
    assert not slope.requires_grad
    assert jvp(lambda a: torch.ones(2), (x,), (direction,))[1].tolist() == [0, 0]
    _, _, more = jvp(lambda a: (a.sum(), a * 2), (x,), (direction,), has_aux=True)
    assert close(more, x * 2)
    with pytest.raises(RuntimeError, match="Expected primals to be a tuple"):
        jvp(lambda a: a, x, direction)
    with pytest.raises(RuntimeError, match="independent of the inputs"):
        jvp(lambda a: torch.ones(2), (x,), (direction,), strict=True)


def test_linearize(x: Any) -> None:
    value, push = linearize(lambda a: a.sin() * a, x)
    for direction in torch.eye(3, dtype=x.dtype):
        expected_value, expected = jvp(lambda a: a.sin() * a, (x,), (direction,))
        assert close(value, expected_value)
        assert close(push(direction), expected)


# --- Jacobians


@pytest.mark.parametrize("jacobian", [jacrev, jacfwd])
def test_jacobian(jacobian: Any, x: Any) -> None:
    assert close(jacobian(lambda a: a.sin())(x), torch.diag(x.cos()))
    matrix = torch.randn(2, 3, dtype=x.dtype)
    assert close(jacobian(lambda a: matrix @ a)(x), matrix)
    assert jacobian(lambda a: a.outer(a))(x).shape == (3, 3, 3)
    assert jacobian(lambda a: torch.ones(2))(x).tolist() == [[0] * 3] * 2


@pytest.mark.parametrize("jacobian", [jacrev, jacfwd])
def test_jacobian_of_trees(jacobian: Any, x: Any) -> None:
    def f(p: Any, q: Any) -> Any:
        return {"prod": p * q, "sum": p.sum()}

    found = jacobian(f, argnums=(0, 1))(x, x + 1)
    assert close(found["prod"][0], torch.diag(x + 1))
    assert close(found["prod"][1], torch.diag(x))
    assert found["sum"][0].tolist() == [1, 1, 1]
    found, more = jacobian(lambda p: (p * 2, p), has_aux=True)(x)
    assert close(found, 2 * torch.eye(3, dtype=x.dtype))
    assert close(more, x)


def test_jacobian_in_chunks(x: Any) -> None:
    whole = jacrev(lambda a: a.exp() * a.sum())(x)
    assert close(whole, jacrev(lambda a: a.exp() * a.sum(), chunk_size=2)(x))


@pytest.mark.parametrize(
    "second",
    [
        hessian,
        lambda f: jacrev(jacrev(f)),
        lambda f: jacrev(jacfwd(f)),
        lambda f: jacfwd(jacfwd(f)),
        lambda f: jacfwd(grad(f)),
        lambda f: jacrev(grad(f)),
    ],
)
def test_hessian(second: Any, x: Any) -> None:
    def f(a: Any) -> Any:
        return (a.sin() * a.roll(1)).sum() + a.prod()

    def entry(i: int, j: int) -> Any:
        first = lambda a: grad(f)(a)[i]  # noqa: E731
        return grad(first)(x)[j]

    expected = torch.stack([torch.stack([entry(i, j) for j in range(3)]) for i in range(3)])
    assert close(second(f)(x), expected)


def test_transforms_nest_in_any_order(x: Any) -> None:
    rows = torch.stack([x, x + 1])

    def f(a: Any) -> Any:
        return a.pow(3).sum()

    assert close(vmap(grad(f))(rows), 3 * rows**2)
    assert close(grad(lambda r: vmap(f)(r).sum())(rows), 3 * rows**2)
    assert close(vmap(hessian(f))(rows), torch.stack([torch.diag(6 * r) for r in rows]))
    assert close(vmap(lambda a: jvp(f, (a,), (a,))[1])(rows), (3 * rows**3).sum(1))
    slope = jvp(lambda r: vmap(f)(r), (rows,), (rows,))[1]
    assert close(slope, (3 * rows**3).sum(1))


def test_matrix_programs(x: Any) -> None:
    matrix = torch.randn(3, 3, dtype=x.dtype) + 3 * torch.eye(3, dtype=x.dtype)

    def f(a: Any) -> Any:
        return torch.linalg.solve(matrix + torch.outer(a, a), a).softmax(0)

    assert close(jacrev(f)(x), jacfwd(f)(x))


# --- modules


class Affine:
    """The little that a transform needs of a module."""

    training = True

    def __init__(self, seed: int) -> None:
        generator = torch.Generator().manual_seed(seed)
        weight = torch.randn(2, 3, generator=generator).requires_grad_()
        self._parameters = {"weight": weight, "bias": torch.zeros(2, requires_grad=True)}
        self._buffers = {"scale": torch.tensor(2.0)}
        self._modules: dict[str, Any] = {}

    def named_parameters(self) -> Any:
        return self._parameters.items()

    def named_buffers(self) -> Any:
        return self._buffers.items()

    def __call__(self, x: Any) -> Any:
        p = self._parameters
        return (p["weight"] @ x + p["bias"]) * self._buffers["scale"]


def test_functional_call() -> None:
    module, x = Affine(0), torch.randn(3)
    weight, scale = torch.ones(2, 3), torch.tensor(1.0)
    found = functional_call(module, {"weight": weight, "scale": scale}, (x,))
    assert torch.allclose(found, x.sum().expand(2))
    assert module._parameters["weight"] is not weight
    gradient = grad(lambda w: functional_call(module, {"weight": w}, x).sum())(weight)
    assert torch.allclose(gradient, 2 * x.expand(2, 3))


def test_functional_call_of_inner_modules() -> None:
    outer = Affine(0)
    outer._modules["inner"] = Affine(1)
    outer.__class__ = type("Outer", (Affine,), {"__call__": lambda s, x: s._modules["inner"](x)})
    assert functional_call(outer, {"inner.weight": torch.zeros(2, 3)}, torch.ones(3)).tolist() == [
        0,
        0,
    ]
    with pytest.raises(AttributeError, match="no attribute `missing`"):
        functional_call(outer, {"missing.weight": torch.zeros(1)}, torch.ones(3))


def test_functional_call_refuses() -> None:
    module = Affine(0)
    with pytest.raises(RuntimeError, match=r"Missing key\(s\): 'bias', 'scale'"):
        functional_call(module, {"weight": torch.ones(2, 3)}, torch.ones(3), strict=True)
    with pytest.raises(ValueError, match="appear in multiple dictionaries"):
        functional_call(module, ({"bias": torch.ones(2)}, {"bias": torch.ones(2)}), torch.ones(3))


def test_an_ensemble_of_modules() -> None:
    modules = [Affine(seed) for seed in range(4)]
    params, buffers = stack_module_state(modules)
    x = torch.randn(3)

    def run(p: Any, b: Any) -> Any:
        return functional_call(modules[0], (p, b), x)

    found = vmap(run)(params, buffers)
    assert torch.allclose(found, torch.stack([m(x) for m in modules]))
    found.sum().backward()
    assert params["weight"].grad.shape == (4, 2, 3)


# --- programs that change what they compute with


def written(a: Any) -> Any:
    c = a.clone()
    c[:, 0] = 5
    c[1] = c[0] * 2
    return c.sin()


def turned(a: Any) -> Any:
    return a.clone().t_() * a.t()


@pytest.mark.parametrize("f", [written, turned])
def test_changes_in_place(f: Any) -> None:
    rows = torch.randn(3, 2, 4, dtype=torch.float64)
    assert close(jacrev(f)(rows[0]), jacfwd(f)(rows[0]))
    one_by_one = torch.stack([grad(lambda a: f(a).sum())(each) for each in rows])
    assert close(vmap(grad(lambda a: f(a).sum()))(rows), one_by_one)
    assert close(grad(lambda a: vmap(f)(a).sum())(rows), one_by_one)
