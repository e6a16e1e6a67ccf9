"""Linear layers, as a user meets them."""

import copy
import pickle

import numpy as np
import pytest

import flambeau as torch
from flambeau import nn
from flambeau.nn import functional as F
from flambeau.nn.modules.utils import consume_prefix_in_state_dict_if_present


def test_linear_is_a_product_and_a_bias() -> None:
    layer = nn.Linear(3, 2)
    x = torch.randn(4, 3)
    expected = x.numpy() @ layer.weight.detach().numpy().T + layer.bias.detach().numpy()
    np.testing.assert_allclose(layer(x).detach().numpy(), expected, rtol=1e-5, atol=1e-6)


def test_linear_shows_its_sizes() -> None:
    assert repr(nn.Linear(3, 2)) == "Linear(in_features=3, out_features=2, bias=True)"
    assert repr(nn.Linear(3, 2, bias=False)) == "Linear(in_features=3, out_features=2, bias=False)"
    shown = "Bilinear(in1_features=2, in2_features=3, out_features=4, bias=True)"
    assert repr(nn.Bilinear(2, 3, 4)) == shown


def test_linear_state() -> None:
    layer = nn.Linear(3, 2)
    assert {k: tuple(v.shape) for k, v in layer.state_dict().items()} == {
        "weight": (2, 3),
        "bias": (2,),
    }
    other = nn.Linear(3, 2)
    other.load_state_dict(layer.state_dict())
    assert torch.equal(other.weight, layer.weight)
    for copied in (copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):
        assert torch.equal(copied.weight, layer.weight)
        assert copied.weight is not layer.weight


def test_weights_lie_within_their_bound() -> None:
    torch.manual_seed(0)
    layer = nn.Linear(16, 100)
    for parameter in layer.parameters():
        assert parameter.abs().max() <= 0.25
        assert parameter.abs().max() > 0.24
        assert parameter.requires_grad


def test_the_same_seed_gives_the_same_weights() -> None:
    """Numbers of PyTorch 2.13 for this seed."""
    torch.manual_seed(0)
    layer = nn.Linear(3, 2)
    weight = [[-0.0043225, 0.3097158, -0.4751853], [-0.4248946, -0.2223690, 0.1548207]]
    np.testing.assert_allclose(layer.weight.detach().numpy(), weight, atol=1e-6)
    np.testing.assert_allclose(layer.bias.detach().numpy(), [-0.0114391, 0.4577749], atol=1e-6)


def test_one_node_for_product_and_bias() -> None:
    layer = nn.Linear(3, 2)
    result = layer(torch.randn(4, 3, requires_grad=True))
    assert result.grad_fn.name() == "AddmmBackward0"
    before = [node.name() for node, _ in result.grad_fn.next_functions]
    assert before == ["AccumulateGrad"] * 3
    assert result.grad_fn.next_functions[0][0].variable is layer.bias


@pytest.mark.parametrize("shape", [(3,), (4, 3), (2, 4, 3), (2, 1, 4, 3), (0, 3)])
def test_gradients_for_any_number_of_dimensions(shape: tuple[int, ...]) -> None:
    x = torch.randn(*shape, dtype=torch.float64, requires_grad=True)
    weight = torch.randn(5, 3, dtype=torch.float64, requires_grad=True)
    bias = torch.randn(5, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(F.linear, (x, weight, bias))
    assert torch.autograd.gradgradcheck(F.linear, (x, weight, bias))


def test_gradients_are_those_of_the_composition() -> None:
    """Large enough for every kernel: the sums are over a thousand products."""
    torch.manual_seed(0)
    x, grad = torch.randn(130, 300), torch.randn(130, 70)
    x.requires_grad_()
    layer = nn.Linear(300, 70)
    layer(x).backward(grad)
    xs, ws, gs = (t.detach().double().numpy() for t in (x, layer.weight, grad))
    np.testing.assert_allclose(x.grad.numpy(), gs @ ws, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(layer.weight.grad.numpy(), gs.T @ xs, rtol=1e-4, atol=1e-3)
    np.testing.assert_allclose(layer.bias.grad.numpy(), gs.sum(0), rtol=1e-4, atol=1e-4)


def test_only_the_gradients_that_are_wanted() -> None:
    layer = nn.Linear(3, 2)
    layer.weight.requires_grad_(False)
    x = torch.randn(4, 3)
    layer(x).sum().backward()
    assert layer.weight.grad is None
    assert torch.equal(layer.bias.grad, torch.full((2,), 4.0))
    assert x.grad is None


def test_weight_sharing_adds_gradients() -> None:
    layer = nn.Linear(3, 3)
    x = torch.randn(2, 3)
    layer(layer(x)).sum().backward()
    twice = layer.weight.grad.clone()
    first, second = nn.Linear(3, 3), nn.Linear(3, 3)
    for each in (first, second):
        each.load_state_dict(layer.state_dict())
    second(first(x)).sum().backward()
    torch.testing.assert_close(twice, first.weight.grad + second.weight.grad)


def test_gradients_of_each_sample() -> None:
    layer = nn.Linear(3, 2)
    x, y = torch.randn(5, 3), torch.randn(5, 2)
    parameters = {k: v.detach() for k, v in layer.named_parameters()}

    def loss(p, x, y):
        return ((torch.func.functional_call(layer, p, (x,)) - y) ** 2).sum()

    each = torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0, 0))(parameters, x, y)
    for i in range(5):
        alone = torch.func.grad(loss)(parameters, x[i], y[i])
        for key, value in alone.items():
            torch.testing.assert_close(each[key][i], value)


def test_many_layers_at_once() -> None:
    weights, biases, x = torch.randn(4, 2, 3), torch.randn(4, 2), torch.randn(5, 3)
    together = torch.func.vmap(F.linear, in_dims=(None, 0, 0))(x, weights, biases)
    for i in range(4):
        torch.testing.assert_close(together[i], F.linear(x, weights[i], biases[i]))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_16_bit_floats_are_rounded_once(dtype: torch.dtype) -> None:
    x, weight, bias = (
        t.to(dtype) for t in (torch.randn(4, 64), torch.randn(8, 64), torch.randn(8))
    )
    exact = x.double() @ weight.double().t() + bias.double()
    result = F.linear(x, weight, bias)
    assert result.dtype == dtype
    half_a_unit = torch.finfo(dtype).eps / 2
    torch.testing.assert_close(result.double(), exact, rtol=half_a_unit, atol=1e-5)


def test_errors_say_the_shapes() -> None:
    with pytest.raises(RuntimeError, match=r"input of shape \(2, 5\).* weight of shape \(4, 3\)"):
        nn.Linear(3, 4)(torch.ones(2, 5))
    with pytest.raises(RuntimeError, match=r"shapes cannot be multiplied \(2x5 and 3x4\)"):
        nn.Linear(3, 4)(torch.ones(2, 5))
    with pytest.raises(RuntimeError, match="same dtype, got float64 and float32"):
        nn.Linear(3, 4)(torch.ones(2, 3, dtype=torch.float64))
    with pytest.raises(ValueError, match="in1_features must be > 0"):
        nn.Bilinear(0, 3, 4)


def test_bilinear() -> None:
    layer = nn.Bilinear(3, 4, 5)
    x, y = torch.randn(2, 3), torch.randn(2, 4)
    expected = torch.einsum("bi,oij,bj->bo", x, layer.weight, y) + layer.bias
    torch.testing.assert_close(layer(x, y), expected)
    assert layer.weight.abs().max() <= 3**-0.5


def test_lazy_linear_takes_its_size_from_the_first_input() -> None:
    layer = nn.LazyLinear(4)
    assert repr(layer) == "LazyLinear(in_features=0, out_features=4, bias=True)"
    with pytest.raises(RuntimeError, match="uninitialized"):
        _ = layer.weight.shape
    torch.manual_seed(0)
    assert layer(torch.ones(2, 3)).shape == (2, 4)
    assert type(layer) is nn.Linear
    assert layer.in_features == 3
    torch.manual_seed(0)
    assert torch.equal(layer.weight, nn.Linear(3, 4).weight)


def test_flatten_and_unflatten() -> None:
    x = torch.randn(2, 3, 4, 5)
    assert nn.Flatten()(x).shape == (2, 60)
    assert nn.Flatten(1, 2)(x).shape == (2, 12, 5)
    assert nn.Unflatten(1, (3, 4))(nn.Flatten(1, 2)(x)).equal(x)
    assert repr(nn.Flatten()) == "Flatten(start_dim=1, end_dim=-1)"
    assert repr(nn.Unflatten(1, (2, 5))) == "Unflatten(dim=1, unflattened_size=(2, 5))"
    with pytest.raises(TypeError, match="element of type str at pos 1"):
        nn.Unflatten(1, (2, "a"))  # type: ignore[arg-type]


def test_prefixes_of_state_dicts() -> None:
    state = nn.Sequential(nn.Linear(1, 1)).state_dict()
    wrapped = {f"module.{k}": v for k, v in state.items()}
    consume_prefix_in_state_dict_if_present(wrapped, "module.")
    assert wrapped.keys() == state.keys()


@pytest.mark.parametrize("rows", [31, 64, 67, 200])
@pytest.mark.parametrize(
    ("inputs", "outputs"), [(784, 128), (120, 84), (385, 33), (1000, 70), (5, 300)]
)
@pytest.mark.parametrize("bias", [True, False])
def test_large_layers(rows, inputs, outputs, bias) -> None:
    torch.manual_seed(0)
    layer = nn.Linear(inputs, outputs, bias)
    x = torch.randn(rows, inputs)
    expected = x.double() @ layer.weight.detach().double().T
    if bias:
        expected += layer.bias.detach().double()
    found = layer(x)
    torch.testing.assert_close(found.double(), expected, rtol=1e-5, atol=1e-5)
    parts = torch.cat([layer(part) for part in x.split(64)])
    torch.testing.assert_close(parts, found, rtol=1e-5, atol=1e-5)
