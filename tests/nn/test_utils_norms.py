"""The older forms of weight and spectral normalisation, and what else changes a module."""

import copy

import pytest

import flambeau as torch
from flambeau import nn
from flambeau.nn import utils
from flambeau.nn.utils.weight_norm import WeightNorm


def weight_normed(**kwargs: object) -> nn.Linear:
    torch.manual_seed(0)
    with pytest.warns(FutureWarning, match=r"parametrizations.weight_norm"):
        return utils.weight_norm(nn.Linear(5, 4), **kwargs)  # type: ignore[arg-type]


@pytest.mark.parametrize(("dim", "lengths"), [(0, (4, 1)), (1, (1, 5)), (None, ())])
def test_weight_norm(dim: int | None, lengths: tuple[int, ...]) -> None:
    layer = weight_normed(dim=dim)
    torch.manual_seed(0)
    plain = nn.Linear(5, 4)
    assert {k: tuple(v.shape) for k, v in layer.state_dict().items()} == {
        "bias": (4,),
        "weight_g": lengths,
        "weight_v": (4, 5),
    }
    x = torch.randn(3, 5)
    torch.testing.assert_close(layer(x), plain(x))
    layer(x).sum().backward()
    assert layer.weight_g.grad is not None
    with torch.no_grad():
        layer.weight_g.mul_(2)
    layer(x)
    torch.testing.assert_close(layer.weight.detach(), 2 * plain.weight.detach())
    utils.remove_weight_norm(layer)
    assert sorted(layer.state_dict()) == ["bias", "weight"]
    torch.testing.assert_close(layer.weight.detach(), 2 * plain.weight.detach())


def test_weight_norm_refuses() -> None:
    with pytest.raises(RuntimeError, match="two weight_norm hooks"):
        WeightNorm.apply(weight_normed(), "weight", 0)
    with pytest.raises(ValueError, match="weight_norm of 'weight' not found in Linear"):
        utils.remove_weight_norm(nn.Linear(2, 3))


def test_spectral_norm() -> None:
    torch.manual_seed(0)
    layer = utils.spectral_norm(nn.Linear(5, 4), n_power_iterations=20)
    assert list(layer.state_dict()) == ["bias", "weight_orig", "weight_u", "weight_v"]
    x = torch.randn(3, 5)
    layer(x).sum().backward()
    assert layer.weight_orig.grad is not None
    assert torch.linalg.matrix_norm(layer.weight, 2).item() == pytest.approx(1, abs=1e-3)
    layer.eval()
    before = layer.weight_u.clone()
    y = layer(x)
    assert torch.equal(layer.weight_u, before)
    other = utils.spectral_norm(nn.Linear(5, 4)).eval()
    other.load_state_dict(layer.state_dict())
    torch.testing.assert_close(other(x), y)
    utils.remove_spectral_norm(layer)
    torch.testing.assert_close(layer(x), y)
    assert sorted(layer.state_dict()) == ["bias", "weight"]


def test_spectral_norm_loads_states_without_the_second_vector() -> None:
    torch.manual_seed(0)
    layer = utils.spectral_norm(nn.Linear(5, 4), n_power_iterations=20)
    x = torch.randn(3, 5)
    y = layer(x)
    layer.eval()
    state = copy.copy(layer.state_dict())
    old = {k: v for k, v in state.items() if k != "weight_v"} | {"weight": layer.weight.detach()}
    other = utils.spectral_norm(nn.Linear(5, 4)).eval()
    other.load_state_dict(old)
    torch.testing.assert_close(other(x), y, rtol=1e-3, atol=1e-4)


def test_spectral_norm_refuses() -> None:
    with pytest.raises(RuntimeError, match="two spectral_norm hooks"):
        utils.spectral_norm(utils.spectral_norm(nn.Linear(2, 3)))
    with pytest.raises(ValueError, match="n_power_iterations=0"):
        utils.spectral_norm(nn.Linear(2, 3), n_power_iterations=0)
    with pytest.raises(ValueError, match="not found in Linear"):
        utils.remove_spectral_norm(nn.Linear(2, 3))


def test_skip_init_draws_nothing() -> None:
    torch.manual_seed(0)
    expected = torch.rand(2)
    torch.manual_seed(0)
    layer = utils.skip_init(nn.Linear, 5, 4, dtype=torch.float64)
    assert layer.weight.shape == (4, 5)
    assert layer.weight.dtype == torch.float64
    assert torch.equal(torch.rand(2), expected)
    assert nn.Linear(5, 4).weight.abs().max() > 0
    with pytest.raises(RuntimeError, match="must support a 'device' arg"):
        utils.skip_init(nn.Flatten)


def test_functional_call_by_its_old_path() -> None:
    layer = nn.Linear(2, 2)
    with pytest.warns(FutureWarning, match=r"func.functional_call"):
        result = utils.stateless.functional_call(
            layer, {"weight": torch.eye(2), "bias": torch.ones(2)}, torch.tensor([[1.0, 2.0]])
        )
    assert result.tolist() == [[2, 3]]
