"""autograd.functional: products with Jacobians and Hessians against matrices worked out by hand."""

from __future__ import annotations

import pytest

import flambeau as fb
from flambeau.autograd.functional import hessian, hvp, jacobian, jvp, vhp, vjp
from flambeau.testing import assert_close

f64 = fb.float64


def numbers(*shape):
    return fb.arange(1, 1 + fb.Size(shape).numel(), dtype=f64).reshape(shape) / 4


def outer(a, b):
    """Two outputs of two inputs, the second of which does not depend on `b`."""
    return a[:, None] * b, a.sum() ** 2


# d outer / d (a, b), at a of two and b of three elements.
def outer_jacobian(a, b):
    by_a = fb.eye(2, dtype=f64)[:, None, :] * b[:, None]
    by_b = fb.eye(3, dtype=f64) * a[:, None, None]
    square_by_a = (2 * a.sum()).expand(2)
    return (by_a, by_b), (square_by_a, fb.zeros(3, dtype=f64))


WAYS = [{}, {"vectorize": True}, {"vectorize": True, "strategy": "forward-mode"}]


@pytest.mark.parametrize("way", WAYS)
def test_jacobian(way):
    a, b = numbers(2), numbers(3)
    assert_close(jacobian(outer, (a, b), **way), outer_jacobian(a, b))


@pytest.mark.parametrize("way", WAYS)
def test_jacobian_of_one_input_and_output_is_a_tensor(way):
    x = numbers(2, 2)
    result = jacobian(fb.sin, x, **way)
    assert result.shape == (2, 2, 2, 2)
    assert_close(result.reshape(4, 4), fb.diag(x.cos().reshape(-1)))
    assert not result.requires_grad
    single = jacobian(fb.sin, (x,), **way)
    assert isinstance(single, tuple)
    assert len(single) == 1


def test_jacobian_of_a_constant_is_zero():
    assert_close(jacobian(lambda x: fb.ones(2), numbers(3)), fb.zeros(2, 3, dtype=f64))
    assert_close(
        jacobian(lambda x: fb.ones(2), numbers(3), vectorize=True), fb.zeros(2, 3, dtype=f64)
    )


def test_jacobian_of_empty_outputs():
    assert jacobian(lambda x: x[:0], numbers(3)).shape == (0, 3)


@pytest.mark.parametrize("vectorize", [False, True])
def test_jacobian_can_be_differentiated(vectorize):
    x = numbers(3).requires_grad_()
    result = jacobian(lambda x: x**3, x, create_graph=True, vectorize=vectorize)
    (grad,) = fb.autograd.grad(result.sum(), x)
    assert_close(grad, 6 * x.detach())


@pytest.mark.parametrize("way", WAYS)
def test_hessian(way):
    x, y = numbers(2), numbers(3)
    (xx, xy), (yx, yy) = hessian(
        lambda x, y: (x**3).sum() * (y**2).sum(),
        (x, y),
        vectorize=way.get("vectorize", False),
        outer_jacobian_strategy=way.get("strategy", "reverse-mode"),
    )
    squares, cubes = (y**2).sum(), (x**3).sum()
    assert_close(xx, fb.diag(6 * x) * squares)
    assert_close(xy, fb.outer(3 * x**2, 2 * y))
    assert_close(yx, xy.T)
    assert_close(yy, 2 * cubes * fb.eye(3, dtype=f64))


def test_hessian_of_one_input_is_a_tensor():
    x = numbers(2, 2)
    result = hessian(lambda x: (x**3).sum(), x)
    assert_close(result.reshape(4, 4), fb.diag(6 * x.reshape(-1)))


def test_vjp_and_jvp():
    a, b = numbers(2), numbers(3)
    (matrix, to_b), (square, _) = outer_jacobian(a, b)
    v = numbers(2, 3), numbers()
    outputs, (by_a, by_b) = vjp(outer, (a, b), v)
    assert_close(outputs, outer(a, b))
    assert_close(by_a, (v[0][:, :, None] * matrix).sum((0, 1)) + v[1] * square)
    assert_close(by_b, (v[0][:, :, None] * to_b).sum((0, 1)))

    u = numbers(2), numbers(3)
    outputs, (first, second) = jvp(outer, (a, b), u)
    assert_close(outputs, outer(a, b))
    assert_close(first, (matrix * u[0]).sum(-1) + (to_b * u[1]).sum(-1))
    assert_close(second, (square * u[0]).sum())


@pytest.mark.parametrize("product", [hvp, vhp])
def test_hessian_products(product):
    x, v = numbers(3), numbers(3)
    output, result = product(lambda x: (x**3).sum(), x, v)
    assert_close(output, (x**3).sum())
    assert_close(result, 6 * x * v)
    assert not result.requires_grad


def test_products_can_be_differentiated():
    x, v = numbers(3).requires_grad_(), numbers(3)
    for product in (vjp, jvp):
        outputs, result = product(lambda x: x**3, x, v, create_graph=True)
        assert outputs.requires_grad
        assert_close(fb.autograd.grad(result.sum(), x)[0], 6 * x.detach() * v)
    for product in (hvp, vhp):
        _, result = product(lambda x: (x**4).sum(), x, v, create_graph=True)
        assert_close(fb.autograd.grad(result.sum(), x)[0], 24 * x.detach() * v)


def test_the_vector_may_be_left_out():
    x = numbers()
    assert_close(vjp(lambda x: x**2, x)[1], 2 * x)
    assert_close(jvp(lambda x: x**2, x)[1], 2 * x)
    assert_close(hvp(lambda x: x**3, x)[1], 6 * x)


def test_complex():
    z = fb.tensor([1 + 2j, 3 - 1j])
    _, product = vjp(lambda z: z * z, z, fb.ones_like(z))
    assert_close(product, 2 * z.conj())


def test_the_callers_inputs_are_left_alone():
    x = numbers(3).requires_grad_()
    jacobian(fb.sin, x)
    hvp(lambda x: x.sum() ** 2, x, numbers(3))
    assert x.grad is None
    with fb.no_grad():
        assert_close(jacobian(fb.sin, x), fb.diag(x.cos()))


def linear(x):
    return 2 * x


REFUSED = [
    (lambda x: vjp(linear, x), RuntimeError, "v can only be None if the user-provided function"),
    (lambda x: jvp(linear, x), RuntimeError, "v can only be None if the input to"),
    (lambda x: vjp(linear, x, x[:1]), RuntimeError, "v has invalid size: should be torch.Size"),
    (lambda x: vjp(linear, x, (x, x)), RuntimeError, "given v should contain a single Tensor"),
    (lambda x: vjp(linear, 3), TypeError, "inputs given to vjp must be either a Tensor or a tuple"),
    (lambda x: jvp(lambda x: 3, x, x), TypeError, "outputs of the user-provided function given to"),
    (lambda x: hessian(linear, x), RuntimeError, "should contain a single element"),
    (lambda x: hvp(lambda x: (x, x), x, x), RuntimeError, "should return a single Tensor"),
]


@pytest.mark.parametrize(("call", "error", "message"), REFUSED)
def test_mistakes(call, error, message):
    with pytest.raises(error, match=message):
        call(numbers(2))


STRICT = [
    (lambda x: vjp(lambda x: fb.ones(2), x, x, strict=True), "Output 0 .* does not require grad"),
    (lambda x: vjp(lambda x, y: x, (x, x), x, strict=True), "independent of input 1"),
    (lambda x: jacobian(lambda x, y: x, (x, x), strict=True), "independent of input 1"),
    (
        lambda x: jacobian(linear, x, strict=True, create_graph=True),
        "jacobian of the user-provided function is independent of input 0",
    ),
    (lambda x: hessian(lambda x: x.sum(), x, strict=True), "twice differentiable"),
    (lambda x: hvp(lambda x: x.sum(), x, x, strict=True), "twice differentiable"),
]


@pytest.mark.parametrize(("call", "message"), STRICT)
def test_strict(call, message):
    with pytest.raises(RuntimeError, match=message):
        call(numbers(2))


def test_strategies():
    x = numbers(2)
    with pytest.raises(RuntimeError, match="not supported together"):
        jacobian(linear, x, strict=True, vectorize=True)
    with pytest.raises(NotImplementedError, match="only implemented for `vectorize=True`"):
        jacobian(linear, x, strategy="forward-mode")
    with pytest.raises(NotImplementedError, match="create_graph=True"):
        jacobian(linear, x, create_graph=True, vectorize=True, strategy="forward-mode")
    with pytest.raises(AssertionError, match="Expected strategy"):
        jacobian(linear, x, strategy="sideways")


@pytest.mark.parametrize("shape", [(), (3,), (0,), (2, 1)], ids=str)
@pytest.mark.parametrize("vectorize", [False, True])
def test_shapes(shape, vectorize):
    """Also without dimensions, and without elements."""
    x = fb.full(shape, 2.0, dtype=f64)
    diagonal = 12 * fb.eye(x.numel(), dtype=f64).reshape((*shape, *shape))
    assert_close(jacobian(lambda x: x**3, x, vectorize=vectorize), diagonal)
    assert_close(jacobian(lambda x: (x**3,), (x,), vectorize=vectorize), ((diagonal,),))
    assert_close(hessian(lambda x: (x**3).sum(), x, vectorize=vectorize), diagonal)
    constant = jacobian(lambda x: fb.ones(2), x, vectorize=vectorize)
    assert_close(constant, fb.zeros((2, *shape), dtype=f64))


@pytest.mark.parametrize("shape", [(), (3,), (0,), (2, 1)], ids=str)
def test_shapes_in_forward_mode(shape):
    x = fb.full(shape, 2.0, dtype=f64)
    diagonal = 12 * fb.eye(x.numel(), dtype=f64).reshape((*shape, *shape))
    forward = {"vectorize": True, "strategy": "forward-mode"}
    assert_close(jacobian(lambda x: x**3, x, **forward), diagonal)
    outer = {"vectorize": True, "outer_jacobian_strategy": "forward-mode"}
    assert_close(hessian(lambda x: (x**3).sum(), x, **outer), diagonal)
