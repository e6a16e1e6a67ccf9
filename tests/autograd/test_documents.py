"""The worked examples of the introductions that newcomers read, step by step in their order."""

from __future__ import annotations

import functools

import pytest

import flambeau as torch
from flambeau.autograd import Variable
from tests.autograd.walk import kind, kinds, reachable


@pytest.fixture(autouse=True)
def seeded() -> None:
    torch.manual_seed(0)


# "Pytorch", a handbook: automatic differentiation.


def test_squares_and_cubes() -> None:
    x = torch.rand(5, 5, requires_grad=True)
    y = torch.rand(5, 5, requires_grad=True)
    z = x**2 + y**3
    # The result is no scalar, so backward needs a tensor of its size.
    with pytest.raises(RuntimeError, match="scalar"):
        z.backward()
    z.backward(torch.ones_like(x))
    assert torch.allclose(x.grad, 2 * x.detach())
    assert torch.allclose(y.grad, 3 * y.detach() ** 2)


def test_no_grad_of_tensors_that_require_grad() -> None:
    x = torch.rand(5, 5, requires_grad=True)
    y = torch.rand(5, 5, requires_grad=True)
    with torch.no_grad():
        assert (x + y * 2).requires_grad is False
    assert (x + y * 2).requires_grad is True


def test_requires_grad_of_an_existing_tensor() -> None:
    x = torch.ones(3)
    assert x.requires_grad is False
    assert x.requires_grad_() is x
    assert x.requires_grad is True
    assert x.requires_grad_(False).requires_grad is False


def test_the_four_steps_of_backward() -> None:
    """backward asks z's grad_fn, walks next_functions to the leaves, fills their grad."""
    x = torch.rand(5, 5, requires_grad=True)
    y = torch.rand(5, 5, requires_grad=True)
    z = x**2 + y**3
    assert z.grad_fn.name() == "AddBackward0"
    powers = [node for node, _ in z.grad_fn.next_functions]
    assert [node.name() for node in powers] == ["PowBackward0", "PowBackward0"]
    leaves = [node.next_functions[0][0] for node in powers]
    assert [kind(leaf) for leaf in leaves] == ["AccumulateGrad", "AccumulateGrad"]
    assert leaves[0].variable is x
    assert leaves[1].variable is y
    z.backward(torch.ones_like(x))
    assert x.grad is not None
    assert y.grad is not None


def test_the_projection_onto_a_direction() -> None:
    """backward(v) is the Jacobian's transpose times v."""
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = torch.stack([x[0] * x[1], x[1] ** 2, x.sum()])
    v = torch.tensor([0.5, -1.0, 2.0])
    jacobian = torch.tensor([[2.0, 1.0, 0.0], [0.0, 4.0, 0.0], [1.0, 1.0, 1.0]])
    y.backward(v)
    assert torch.allclose(x.grad, jacobian.t() @ v)


def test_a_times_a_plus_two() -> None:
    a = torch.randn(1, requires_grad=True)
    b = a * (a + 2)
    left, right = b.grad_fn.next_functions
    assert (kind(left[0]), kind(right[0])) == ("AccumulateGrad", "AddBackward0")
    assert (left[1], right[1]) == (0, 0)
    # The 2 is a constant: nothing flows to it.
    assert right[0].next_functions == ((left[0], 0), (None, 0))
    assert left[0].variable is a
    assert right[0].next_functions[0][0] is left[0]


def test_leaves_are_what_the_user_made() -> None:
    a = torch.randn(1, requires_grad=True)
    b = a * (a + 2)
    assert a.grad_fn is None
    assert a.is_leaf
    assert not b.is_leaf
    b.backward()
    assert torch.allclose(a.grad, 2 * a.detach() + 2)
    with pytest.warns(UserWarning, match="leaf"):
        assert b.grad is None  # kept for leaves alone


def test_from_the_loss_to_the_parameters() -> None:
    """The walk loss -> last layer -> bias of the document, with the layers written out."""
    weights = [torch.randn(4, 3, requires_grad=True), torch.randn(2, 4, requires_grad=True)]
    biases = [torch.randn(4, requires_grad=True), torch.randn(2, requires_grad=True)]
    hidden = torch.relu(torch.addmm(biases[0], torch.randn(1, 3), weights[0].t()))
    output = torch.addmm(biases[1], hidden, weights[1].t())
    assert output.grad_fn.name() == "AddmmBackward0"
    assert repr(output).endswith("grad_fn=<AddmmBackward0>)")
    loss = ((output - torch.randn(1, 2)) ** 2).mean()
    last = loss.grad_fn.next_functions[0][0].next_functions[0][0].next_functions[0][0]
    assert last.name() == "AddmmBackward0"
    assert last.next_functions[0][0].variable is biases[1]
    assert kinds(last) == ["AccumulateGrad", "ReluBackward0", "TBackward0"]
    assert biases[0].grad is None
    loss.backward()
    assert biases[0].grad.shape == (4,)


def test_gradients_add_up_until_they_are_cleared() -> None:
    weight = torch.ones(3, requires_grad=True)
    for turn in (1, 2):
        (weight * 2).sum().backward()
        assert weight.grad.tolist() == [2.0 * turn] * 3
    weight.grad.zero_()
    (weight * 2).sum().backward()
    assert weight.grad.tolist() == [2.0] * 3


def test_weight_minus_rate_times_gradient() -> None:
    """weight = weight - learning_rate * gradient, until the loss is gone."""
    weight = torch.zeros(2, requires_grad=True)
    x = torch.tensor([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]])
    target = x @ torch.tensor([3.0, -1.0])
    for _ in range(200):
        loss = ((x @ weight - target) ** 2).mean()
        weight.grad = None
        loss.backward()
        with torch.no_grad():
            weight -= 0.3 * weight.grad
    assert torch.allclose(weight.detach(), torch.tensor([3.0, -1.0]), atol=1e-4)


@pytest.mark.parametrize("steps", [1, 3, 7])
def test_a_loop_whose_length_changes(steps: int) -> None:
    weight = (torch.eye(3) * 0.5).requires_grad_()
    bias = torch.ones(3, requires_grad=True)
    h = torch.zeros(3)
    for _ in range(steps):
        h = torch.matmul(weight, h) + bias
    h.sum().backward()
    assert torch.allclose(bias.grad, torch.full((3,), 2 - 2.0 ** (1 - steps)))


# "Pytorch", lecture notes after CS231n: tensors and variables, layers by hand.


def test_a_variable_its_data_and_its_gradient() -> None:
    x = Variable(torch.randn(3, 4), requires_grad=True)
    assert isinstance(x.data, torch.Tensor)
    assert not x.data.requires_grad
    (x**2).sum().backward()
    assert isinstance(x.grad, Variable)
    assert torch.equal(x.grad.data, 2 * x.data)


def test_tensors_and_variables_are_one_thing() -> None:
    x = torch.randn(2)
    assert isinstance(x, Variable)
    assert not Variable(x).requires_grad
    assert isinstance(Variable(x), torch.Tensor)
    assert Variable(x).data_ptr() == x.data_ptr()


def test_two_layers_by_hand() -> None:
    """The gradients of the tape are those derived on paper."""
    x, y = torch.randn(16, 20), torch.randn(16, 5)
    w1 = torch.randn(20, 10, requires_grad=True)
    w2 = torch.randn(10, 5, requires_grad=True)
    hidden = x.mm(w1.detach())
    relu = hidden.clamp(min=0)
    error = 2.0 * (relu.mm(w2.detach()) - y)
    back = error.mm(w2.detach().t())
    back[hidden < 0] = 0
    loss = (x.mm(w1).clamp(min=0).mm(w2) - y).pow(2).sum()
    loss.backward()
    assert torch.allclose(w2.grad, relu.t().mm(error), rtol=1e-4, atol=1e-3)
    assert torch.allclose(w1.grad, x.t().mm(back), rtol=1e-4, atol=1e-3)


def test_two_layers_with_variables() -> None:
    """A training loop of the time of Variable: .data, .grad.data.zero_()."""
    x = Variable(torch.randn(64, 100), requires_grad=False)
    y = Variable(torch.randn(64, 10), requires_grad=False)
    w1 = Variable(torch.randn(100, 30), requires_grad=True)
    w2 = Variable(torch.randn(30, 10), requires_grad=True)
    losses = []
    for _ in range(60):
        loss = (x.mm(w1).clamp(min=0).mm(w2) - y).pow(2).sum()
        losses.append(loss.data.item())
        if w1.grad is not None:
            w1.grad.data.zero_()
            w2.grad.data.zero_()
        loss.backward()
        w1.data -= 1e-5 * w1.grad.data
        w2.data -= 1e-5 * w2.grad.data
    assert losses[-1] < 0.2 * losses[0]
    assert w1.is_leaf
    assert w1.requires_grad


class ReLU(torch.autograd.Function):
    """The notes' own function: forward and backward on tensors."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.clamp(min=0)

    @staticmethod
    def backward(ctx, grad_y):
        (x,) = ctx.saved_tensors
        grad_input = grad_y.clone()
        grad_input[x < 0] = 0
        return grad_input


def test_a_function_of_ones_own() -> None:
    x = torch.randn(8, 4)
    w = torch.randn(4, 3, requires_grad=True)
    y = ReLU.apply(x.mm(w))
    assert y.grad_fn.name() == "ReLUBackward"
    (ours,) = torch.autograd.grad(y.sum(), w)
    (theirs,) = torch.autograd.grad(x.mm(w).relu().sum(), w)
    assert torch.equal(ours, theirs)


@pytest.mark.parametrize("z", [1.0, -1.0])
def test_a_condition_is_a_condition_of_python(z: float) -> None:
    x = torch.randn(3)
    w1 = torch.randn(3, requires_grad=True)
    w2 = torch.randn(3, requires_grad=True)
    y = x * w1 if z > 0 else x * w2
    y.sum().backward()
    used, unused = (w1, w2) if z > 0 else (w2, w1)
    assert torch.equal(used.grad, x)
    assert unused.grad is None


def test_a_fold_over_the_input() -> None:
    """y[t] = (y[t - 1] + x[t]) * w, for as many t as there are."""
    x = torch.randn(4, 3, dtype=torch.float64)
    w = torch.randn(3, dtype=torch.float64, requires_grad=True)
    y = torch.zeros(3, dtype=torch.float64)
    for row in x:
        y = (y + row) * w
    y.sum().backward()
    steps = len(x)
    exact = sum((steps - t) * x[t] * w.detach() ** (steps - t - 1) for t in range(steps))
    assert torch.allclose(w.grad, exact)


# "Pytorch摘要", a summary: detach between batches, backward of several elements.


def test_while_is_pythons_while() -> None:
    x = torch.tensor(1.5, requires_grad=True)
    y, turns = x, 0
    while y < 100:
        y = y * x
        turns += 1
    y.backward()
    assert x.grad.item() == pytest.approx((turns + 1) * 1.5**turns)


def test_detach_cuts_a_recurrent_net_between_batches() -> None:
    weight = torch.tensor(0.5, requires_grad=True)
    state = torch.tensor(1.0)
    for _ in range(3):
        state = state.detach()
        before = state.item()
        state = state * weight
        state.backward()
        # Only the last step contributes; its input counts as a constant.
        assert weight.grad.item() == before
        weight.grad.zero_()


def test_without_detach_the_second_batch_meets_a_freed_graph() -> None:
    weight = torch.tensor(0.5, requires_grad=True)
    state = torch.tensor(1.0, requires_grad=True) * weight
    state.backward()
    with pytest.raises(RuntimeError, match="second time"):
        (state * weight).backward()


def test_backward_of_one_and_of_several_elements() -> None:
    one = torch.ones(1, requires_grad=True)
    (one * 3).backward()
    assert one.grad.tolist() == [3.0]
    several = torch.ones(2, 2, requires_grad=True)
    with pytest.raises(RuntimeError, match="scalar"):
        (several * 3).backward()
    with pytest.raises(RuntimeError, match="shape"):
        (several * 3).backward(torch.ones(2))
    (several * 3).backward(torch.ones(2, 2))
    assert several.grad.tolist() == [[3.0, 3.0], [3.0, 3.0]]


def test_no_grad_records_nothing() -> None:
    x = torch.ones(3, requires_grad=True)
    with torch.no_grad():
        y = (x * 2).exp()
    assert y.grad_fn is None
    assert y.is_leaf
    with pytest.raises(RuntimeError, match="does not require grad"):
        y.sum().backward()


def test_gradients_through_the_summary_s_operators() -> None:
    x = torch.arange(10.0).reshape(2, 5).requires_grad_()
    assert x.narrow(1, 1, 3).grad_fn.name() == "SliceBackward0"
    pieces = [x.narrow(1, 1, 3), x.t().permute(1, 0)[:, :3].div(2)]
    torch.stack(pieces, dim=0).unsqueeze(1).squeeze().sum().backward()
    assert x.grad.tolist() == [[0.5, 1.5, 1.5, 1.0, 0.0]] * 2


def test_memory_shared_with_numpy_is_outside_the_tape() -> None:
    a = torch.ones(5, requires_grad=True)
    with pytest.raises(RuntimeError, match=r"requires grad.*detach\(\)"):
        a.numpy()
    b = a.detach().numpy()
    with torch.no_grad():
        a.add_(1)
    assert b.tolist() == [2.0] * 5


# "PyTorch简介", an introduction: every variable has a grad_fn, one layer used many times.


def test_history_is_a_graph_without_cycles() -> None:
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    z = (y + y * y).sum()
    nodes = reachable(z.grad_fn)
    assert all(node not in reachable(each) for node in nodes for each, _ in node.next_functions)
    names = ["AccumulateGrad", "AddBackward0", "MulBackward0", "MulBackward0", "SumBackward0"]
    assert sorted(map(kind, nodes)) == names


def test_one_layer_many_times_shares_its_weights() -> None:
    """The recurrent cell of the introduction: i2h and i2o over input and hidden, joined."""
    i2h = torch.randn(5, 3, requires_grad=True)
    i2o = torch.randn(5, 2, requires_grad=True)

    def run(length: int) -> torch.Tensor:
        hidden, output = torch.zeros(1, 3), torch.zeros(1, 2)
        for _ in range(length):
            joined = torch.cat((torch.ones(1, 2), hidden), 1)
            hidden, output = torch.tanh(joined @ i2h), torch.log_softmax(joined @ i2o, 1)
        return output

    for length in (1, 4):
        i2h.grad = i2o.grad = None
        run(length).sum().backward()
        assert i2o.grad is not None
        assert (i2h.grad is not None) == (length > 1)  # the first output has seen no hidden state


# "pytorch", notes on the sources: matrices of a product, hooks of a module's call.


def test_one_product_scaled_three_ways() -> None:
    a = torch.tensor([1.0, 2.0], requires_grad=True)
    b = torch.tensor([3.0, 4.0], requires_grad=True)
    temp = a * b
    separate = (temp * 1).sum() + (temp * 1.5).sum() + (temp * 2).sum()
    matrix = torch.stack([temp] * 3, dim=0) * torch.tensor([[1.0], [1.5], [2.0]])
    expected = torch.autograd.grad(separate, (a, b), retain_graph=True)
    assert all(map(torch.equal, torch.autograd.grad(matrix.sum(), (a, b)), expected))


def test_backward_hooks_as_a_module_registers_them() -> None:
    """functools.partial(hook, self), put on the grad_fn of the result."""
    calls = []

    def hook(module: str, grad_input: tuple, grad_output: tuple) -> None:
        calls.append((module, [each.tolist() for each in grad_output]))

    x = torch.ones(2, requires_grad=True)
    result = x * 3
    wrapper = functools.partial(hook, "layer")
    functools.update_wrapper(wrapper, hook)
    result.grad_fn.register_hook(wrapper)
    result.sum().backward()
    assert calls == [("layer", [[1.0, 1.0]])]
