"""backward and autograd.grad: their arguments, accumulation, gradients of gradients."""

from __future__ import annotations

import pytest

import flambeau as torch


def leaf(*values: float) -> torch.Tensor:
    return torch.tensor(values, requires_grad=True)


def test_the_gradient_argument() -> None:
    x = leaf(1.0, 2.0)
    (x * 2).backward(torch.tensor([10.0, 20.0]))
    assert x.grad.tolist() == [20.0, 40.0]
    (x * 2).backward(gradient=torch.ones(2, dtype=torch.float64))  # fitted to the dtype
    assert x.grad.tolist() == [22.0, 42.0]
    assert x.grad.dtype == torch.float32


@pytest.mark.parametrize("shape", [(), (1,), (2, 1), (3,)])
def test_the_gradient_has_the_shape_of_its_tensor(shape: tuple[int, ...]) -> None:
    with pytest.raises(RuntimeError, match="shape"):
        (leaf(1.0, 2.0) * 2).backward(torch.ones(shape))


def test_one_element_of_any_shape_needs_no_gradient() -> None:
    x = torch.ones(1, 1, requires_grad=True)
    (x * 3).backward()
    assert x.grad.tolist() == [[3.0]]


def test_only_a_real_scalar_has_a_gradient_of_one() -> None:
    x = leaf(1.0, 2.0)
    with pytest.raises(RuntimeError, match="only for scalar outputs"):
        (x * 2).backward()
    z = torch.ones((), dtype=torch.complex64, requires_grad=True)
    with pytest.raises(RuntimeError, match="real scalar"):
        (z * 2).backward()


def test_what_does_not_require_grad_cannot_go_backward() -> None:
    with pytest.raises(RuntimeError, match="does not require grad"):
        torch.ones(()).backward()
    with pytest.raises(RuntimeError, match="does not require grad"):
        torch.autograd.grad(torch.ones(()), leaf(1.0))


def test_a_leaf_goes_backward_to_itself() -> None:
    x = leaf(1.0)
    x.backward()
    assert x.grad.tolist() == [1.0]


def test_the_first_gradient_may_be_the_one_given() -> None:
    """A given gradient that reaches a leaf unchanged is not written to later."""
    x = leaf(1.0, 2.0)
    given = torch.ones(2)
    x.backward(given)
    x.backward(given)
    assert given.tolist() == [1.0, 1.0]
    assert x.grad.tolist() == [2.0, 2.0]


def test_gradients_are_added_in_place() -> None:
    x = leaf(1.0, 2.0)
    (x * 2).sum().backward()
    first = x.grad
    (x * 3).sum().backward()
    assert x.grad is first
    assert first.tolist() == [5.0, 5.0]


@pytest.mark.filterwarnings("ignore:Using backward:UserWarning")
def test_with_a_graph_gradients_are_added_to_a_new_tensor() -> None:
    x = leaf(1.0, 2.0)
    (x**2).sum().backward(create_graph=True)
    first = x.grad
    (x**2).sum().backward(create_graph=True)
    assert x.grad is not first
    assert first.tolist() == [2.0, 4.0]
    assert x.grad.requires_grad
    x.grad = None


def test_two_leaves_do_not_share_a_gradient() -> None:
    x, y = leaf(1.0, 2.0), leaf(1.0, 2.0)
    (x + y).backward(torch.ones(2))
    assert x.grad.data_ptr() != y.grad.data_ptr()
    x.grad += 1
    assert y.grad.tolist() == [1.0, 1.0]


def test_gradients_of_expanded_tensors_can_be_written_to() -> None:
    x = leaf(1.0, 2.0)
    x.sum().backward()
    x.grad[0] = 5.0
    assert x.grad.tolist() == [5.0, 1.0]


def test_backward_frees_what_it_used() -> None:
    x = leaf(1.0, 2.0)
    y = (x**2).sum()
    y.backward()
    with pytest.raises(RuntimeError, match="second time"):
        y.backward()
    z = (x**2).sum()
    z.backward(retain_graph=True)
    z.backward()
    assert x.grad.tolist() == [6.0, 12.0]


def test_what_saves_nothing_can_go_backward_twice() -> None:
    x = leaf(1.0, 2.0)
    y = (x + 1).sum()
    y.backward()
    y.backward()
    assert x.grad.tolist() == [2.0, 2.0]


def test_create_graph_retains_the_graph() -> None:
    x = leaf(3.0)
    y = x**3
    (first,) = torch.autograd.grad(y, x, create_graph=True)
    (second,) = torch.autograd.grad(first, x, create_graph=True)
    (third,) = torch.autograd.grad(second, x)
    assert [each.item() for each in (first, second, third)] == [27.0, 18.0, 6.0]


def test_without_create_graph_gradients_are_constants() -> None:
    x = leaf(3.0)
    (grad,) = torch.autograd.grad(x**3, x)
    assert not grad.requires_grad
    with torch.enable_grad():
        (x**2).backward()
    assert not x.grad.requires_grad


def test_backward_under_no_grad_is_backward() -> None:
    x = leaf(3.0)
    y = x**2
    with torch.no_grad():
        y.backward()
    assert x.grad.item() == 6.0


def test_inputs_choose_who_accumulates() -> None:
    x, y = leaf(1.0), leaf(2.0)
    middle = x * y
    (middle * 3).sum().backward(inputs=[y], retain_graph=True)
    assert x.grad is None
    assert y.grad.item() == 3.0
    (middle * 3).sum().backward(inputs=x)
    assert x.grad.item() == 6.0


def test_inputs_may_be_inside_the_graph() -> None:
    x = leaf(1.0)
    y = x * 2
    y.retain_grad()
    (y * 3).sum().backward(inputs=[y])
    assert y.grad.item() == 3.0
    assert x.grad is None


def test_inputs_must_be_there() -> None:
    x = leaf(1.0)
    with pytest.raises(RuntimeError, match="empty"):
        (x * 2).backward(inputs=[])
    with pytest.raises(RuntimeError, match="empty"):
        torch.autograd.grad(x * 2, [])
    with pytest.raises(RuntimeError, match="require"):
        (x * 2).backward(inputs=[torch.ones(2)])


def test_backward_of_several_tensors() -> None:
    x = leaf(1.0, 2.0)
    y, z = x * 2, (x * 3).sum()
    torch.autograd.backward([y, z], [torch.ones(2), None])
    assert x.grad.tolist() == [5.0, 5.0]
    with pytest.raises(RuntimeError, match="2 tensors and 1 gradients"):
        torch.autograd.backward([x * 2, x.sum()], [torch.ones(2)])
    with pytest.raises(RuntimeError, match="scalar"):
        torch.autograd.backward([x * 2, x.sum()])


def test_one_root_twice() -> None:
    x = leaf(1.0)
    y = x * 2
    torch.autograd.backward([y, y])
    assert x.grad.item() == 4.0


def test_a_root_inside_the_graph_of_another() -> None:
    x = leaf(1.0)
    y = x * 2
    z = y * 3
    torch.autograd.backward([y, z])
    assert x.grad.item() == 8.0


def test_grad_leaves_the_leaves_alone() -> None:
    x = leaf(1.0, 2.0)
    y = x * 2
    grads = torch.autograd.grad((y * y).sum(), (x, y))
    assert [each.tolist() for each in grads] == [[8.0, 16.0], [4.0, 8.0]]
    assert x.grad is None


def test_grad_of_an_output_to_itself() -> None:
    y = (leaf(1.0, 2.0) * 2).sum()
    (grad,) = torch.autograd.grad(y, y)
    assert grad.item() == 1.0


def test_grad_of_an_unused_input() -> None:
    x, unused = leaf(1.0), leaf(2.0, 3.0)
    y = (x * 2).sum()
    with pytest.raises(RuntimeError, match="not have been used"):
        torch.autograd.grad(y, (x, unused), retain_graph=True)
    grads = torch.autograd.grad(y, (x, unused), allow_unused=True, retain_graph=True)
    assert grads[0].item() == 2.0
    assert grads[1] is None
    grads = torch.autograd.grad(y, (x, unused), materialize_grads=True)
    assert grads[1].tolist() == [0.0, 0.0]
    with pytest.raises(ValueError, match="allow_unused"):
        torch.autograd.grad(y, x, allow_unused=False, materialize_grads=True)


def test_grad_of_what_does_not_require_it() -> None:
    with pytest.raises(RuntimeError, match="require grad"):
        torch.autograd.grad(leaf(1.0).sum(), torch.ones(1))


def test_grad_outputs() -> None:
    x = leaf(1.0, 2.0)
    (grad,) = torch.autograd.grad(x * 2, x, torch.tensor([1.0, 10.0]))
    assert grad.tolist() == [2.0, 20.0]
    outputs = (x * 2, (x * 3).sum())
    (grad,) = torch.autograd.grad(outputs, [x], grad_outputs=(torch.ones(2), None))
    assert grad.tolist() == [5.0, 5.0]
    with pytest.raises(RuntimeError, match="shape"):
        torch.autograd.grad(x * 2, x, torch.ones(3))


def test_grads_batched() -> None:
    x = leaf(1.0, 2.0, 3.0)
    (jacobian,) = torch.autograd.grad(x**2, x, torch.eye(3), is_grads_batched=True)
    assert jacobian.tolist() == [[2.0, 0.0, 0.0], [0.0, 4.0, 0.0], [0.0, 0.0, 6.0]]
    with pytest.raises(RuntimeError, match="shape"):
        torch.autograd.grad(x**2, x, torch.eye(2), is_grads_batched=True)


def test_grads_batched_through_matrices() -> None:
    torch.manual_seed(0)
    x = torch.randn(2, 3, dtype=torch.float64, requires_grad=True)
    weight = torch.randn(3, 2, dtype=torch.float64)
    vectors = torch.randn(5, 2, 2, dtype=torch.float64)
    y = torch.softmax(x @ weight, 1)
    (batched,) = torch.autograd.grad(y, x, vectors, is_grads_batched=True, retain_graph=True)
    rows = [torch.autograd.grad(y, x, each, retain_graph=True)[0] for each in vectors]
    torch.testing.assert_close(batched, torch.stack(rows))


def test_gradients_meet_the_dtype_of_their_leaf() -> None:
    x, y = leaf(1.0, 2.0), torch.ones(2, dtype=torch.float64, requires_grad=True)
    (x * y).sum().backward()
    assert x.grad.dtype == torch.float32
    assert y.grad.dtype == torch.float64


def test_gradients_meet_the_shape_of_their_leaf() -> None:
    x, y = torch.ones(3, 1, requires_grad=True), torch.ones(4, requires_grad=True)
    (x * y * torch.ones(2, 1, 1)).sum().backward()
    assert x.grad.shape == (3, 1)
    assert x.grad.tolist() == [[8.0]] * 3
    assert y.grad.tolist() == [6.0] * 4


def test_a_real_leaf_in_complex_arithmetic_has_a_real_gradient() -> None:
    x = leaf(1.0, 2.0)
    ((x * (1 + 2j)).abs() ** 2).sum().backward()
    assert x.grad.dtype == torch.float32
    assert torch.allclose(x.grad, torch.tensor([10.0, 20.0]))


def test_complex_gradients_point_uphill() -> None:
    z = torch.tensor([1 + 2j, 3 - 1j], requires_grad=True)
    (z.abs() ** 2).sum().backward()
    assert torch.allclose(z.grad, 2 * z.detach())


def test_gradient_penalty() -> None:
    """A gradient of a norm of a gradient, as in training by double backward."""
    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    (grad,) = torch.autograd.grad((x**3).sum(), x, create_graph=True)
    penalty = (grad.norm() - 1) ** 2
    penalty.backward()
    g = 3 * x.detach() ** 2
    norm = g.norm()
    expected = 2 * (norm - 1) * g / norm * 6 * x.detach()
    torch.testing.assert_close(x.grad, expected)


def test_a_function_without_gradients_gives_none() -> None:
    x = leaf(1.5)
    (x.floor() + torch.sign(x)).backward()
    assert x.grad.item() == 0.0


def test_a_gradient_without_history_says_which_backward_made_it() -> None:
    x, w = (torch.tensor(value, requires_grad=True) for value in (1.0, 2.0))
    (found,) = torch.autograd.grad(x * w, x)
    with pytest.raises(RuntimeError, match=r"cut off by backward without create_graph at .*\.py:"):
        found.backward()
