"""Parametrizations: registered, stacked, assigned to, cached, copied, removed."""

import copy
import pickle

import pytest

import flambeau as torch
from flambeau import nn
from flambeau.nn.utils import parametrizations, parametrize


class Symmetric(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.triu() + x.triu(1).mT

    def right_inverse(self, x: torch.Tensor) -> torch.Tensor:
        return x.triu()


class Doubled(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return 2 * x


class Sum(nn.Module):
    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return a + b

    def right_inverse(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return x / 2, x / 2


def symmetric() -> nn.Module:
    torch.manual_seed(0)
    return parametrize.register_parametrization(nn.Linear(3, 3), "weight", Symmetric())


def test_the_tensor_is_computed_from_what_is_trained() -> None:
    layer = symmetric()
    assert torch.equal(layer.weight, layer.weight.mT)
    assert type(layer).__name__ == "ParametrizedLinear"
    assert isinstance(layer, nn.Linear)
    assert list(layer.state_dict()) == ["bias", "parametrizations.weight.original"]
    layer(torch.ones(1, 3)).sum().backward()
    assert layer.parametrizations.weight.original.grad is not None
    assert parametrize.is_parametrized(layer)
    assert parametrize.is_parametrized(layer, "weight")
    assert not parametrize.is_parametrized(layer, "bias")
    assert parametrize.type_before_parametrizations(layer) is nn.Linear


def test_how_it_is_shown() -> None:
    expected = """\
ParametrizedLinear(
  in_features=3, out_features=3, bias=True
  (parametrizations): ModuleDict(
    (weight): ParametrizationList(
      (0): Symmetric()
    )
  )
)"""
    assert repr(symmetric()) == expected


def test_assignment_goes_through_the_inverse() -> None:
    layer = symmetric()
    layer.weight = torch.arange(9.0).view(3, 3)
    assert layer.weight.tolist() == [[0, 1, 2], [1, 4, 5], [2, 5, 8]]
    parametrize.register_parametrization(layer, "weight", Doubled())
    assert layer.weight[0, 1] == 2
    with pytest.raises(RuntimeError, match="Doubled does not implement right_inverse"):
        layer.weight = torch.zeros(3, 3)


def test_several_tensors_behind_one() -> None:
    layer = nn.Linear(2, 2)
    before = layer.weight.detach().clone()
    parametrize.register_parametrization(layer, "weight", Sum())
    torch.testing.assert_close(layer.weight, before)
    keys = ["parametrizations.weight.original0", "parametrizations.weight.original1"]
    assert list(layer.state_dict())[1:] == keys
    with pytest.raises(ValueError, match="Cannot leave unparametrized"):
        parametrize.remove_parametrizations(layer, "weight", leave_parametrized=False)
    parametrize.remove_parametrizations(layer, "weight")
    torch.testing.assert_close(layer.weight.detach(), before)
    assert isinstance(layer.weight, nn.Parameter)


def test_removal() -> None:
    layer = symmetric()
    original, value = layer.parametrizations.weight.original, layer.weight.detach().clone()
    parametrize.remove_parametrizations(layer, "weight")
    assert type(layer) is nn.Linear
    assert layer.weight is original
    assert torch.equal(layer.weight, value)
    layer = symmetric()
    parametrize.remove_parametrizations(layer, "weight", leave_parametrized=False)
    assert torch.equal(layer.weight, layer.weight.triu())
    with pytest.raises(ValueError, match="does not have a parametrization on weight"):
        parametrize.remove_parametrizations(layer, "weight")


def test_cached() -> None:
    layer = symmetric()
    assert layer.weight is not layer.weight
    with parametrize.cached():
        first = layer.weight
        with parametrize.cached():
            assert layer.weight is first
        assert layer.weight is first
    assert layer.weight is not first


def test_shape_and_dtype_must_stay() -> None:
    for function in (nn.Flatten(0), nn.Flatten(-2)):
        with pytest.raises(ValueError, match="may not change the shape"):
            parametrize.register_parametrization(nn.Linear(2, 3), "weight", function)
    layer = parametrize.register_parametrization(
        nn.Linear(2, 3), "weight", nn.Flatten(0), unsafe=True
    )
    assert layer.weight.shape == (6,)
    with pytest.raises(ValueError, match="does not have a parameter, a buffer"):
        parametrize.register_parametrization(nn.Linear(2, 3), "scale", Symmetric())
    with pytest.raises(ValueError, match="may not change the shape"):
        parametrize.register_parametrization(symmetric(), "weight", nn.Flatten(0))


def test_copies_and_pickles() -> None:
    layer = symmetric()
    copied = copy.deepcopy(layer)
    assert torch.equal(copied.weight, layer.weight)
    copied.weight = torch.eye(3)
    assert not torch.equal(copied.weight, layer.weight)
    with pytest.raises(RuntimeError, match="only supported through state_dict"):
        pickle.dumps(layer)


def test_transfer() -> None:
    layer, other = symmetric(), nn.Linear(3, 3)
    parametrize.transfer_parametrizations_and_params(layer, other)
    assert torch.equal(layer.weight, other.weight)
    assert other.parametrizations.weight.original is layer.parametrizations.weight.original


@pytest.mark.parametrize("orthogonal_map", ["matrix_exp", "cayley", "householder"])
@pytest.mark.parametrize("sizes", [(4, 4), (4, 3), (3, 4)])
@pytest.mark.parametrize("use_trivialization", [True, False])
def test_orthogonal(orthogonal_map: str, sizes: tuple[int, int], use_trivialization: bool) -> None:
    torch.manual_seed(0)
    layer = parametrizations.orthogonal(
        nn.Linear(*sizes), orthogonal_map=orthogonal_map, use_trivialization=use_trivialization
    )
    for _ in range(3):
        weight = layer.weight
        tall = weight if weight.shape[0] >= weight.shape[1] else weight.mT
        identity = torch.eye(tall.shape[1])
        torch.testing.assert_close(tall.mT @ tall, identity, rtol=1e-4, atol=1e-4)
        layer(torch.randn(2, sizes[0])).square().sum().backward()
        original = layer.parametrizations.weight.original
        with torch.no_grad():
            original -= 0.1 * original.grad
    if use_trivialization:
        target = torch.linalg.qr(torch.randn(max(sizes), min(sizes))).Q
        target = target if sizes[0] <= sizes[1] else target.mT
        layer.weight = target
        torch.testing.assert_close(layer.weight, target, rtol=1e-4, atol=1e-4)


def test_orthogonal_refuses() -> None:
    with pytest.raises(ValueError, match="Got a tensor of 1 dimensions"):
        parametrizations.orthogonal(nn.Linear(2, 3), "bias")
    with pytest.raises(ValueError, match="orthogonal_map has to be one of"):
        parametrizations.orthogonal(nn.Linear(2, 3), orthogonal_map="other")
    with pytest.raises(ValueError, match="has no parameter or buffer with name 'x'"):
        parametrizations.orthogonal(nn.Linear(2, 3), "x")
    layer = parametrizations.orthogonal(
        nn.Linear(3, 3), orthogonal_map="cayley", use_trivialization=False
    )
    with pytest.raises(NotImplementedError, match="use_trivialization=False"):
        layer.weight = torch.eye(3)


def test_spectral_norm() -> None:
    torch.manual_seed(0)
    layer = parametrizations.spectral_norm(nn.Linear(5, 4), n_power_iterations=20)
    layer(torch.randn(2, 5))
    assert torch.linalg.matrix_norm(layer.weight, 2).item() == pytest.approx(1, abs=1e-3)
    layer.eval()
    state = {k: v.clone() for k, v in layer.state_dict().items()}
    layer(torch.randn(2, 5))
    assert all(torch.equal(state[k], v) for k, v in layer.state_dict().items())


def test_weight_norm() -> None:
    layer = nn.Linear(5, 4)
    before = layer.weight.detach().clone()
    parametrizations.weight_norm(layer)
    torch.testing.assert_close(layer.weight.detach(), before)
    lengths = layer.parametrizations.weight.original0
    assert lengths.shape == (4, 1)
    with torch.no_grad():
        lengths.fill_(2.0)
    torch.testing.assert_close(layer.weight.norm(dim=1), torch.full((4,), 2.0))
    old = {"weight_g": torch.ones(4, 1), "weight_v": before, "bias": torch.zeros(4)}
    layer.load_state_dict(old)
    torch.testing.assert_close(layer.weight.norm(dim=1), torch.ones(4))
