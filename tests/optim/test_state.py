"""The state of optimisers: by number as PyTorch has it, and by the names of parameters."""

import copy
from typing import Any

import pytest

import flambeau as torch
from flambeau import nn, optim
from flambeau.optim import SGD, Adam
from tests.optim.options import OPTIONS

INPUT = torch.linspace(-1, 1, 8).reshape(4, 2)


def network() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))


def train(net: nn.Module, optimizer: Any, steps: int) -> None:
    for _ in range(steps):
        optimizer.zero_grad()
        (net(INPUT) - INPUT.sum(1, keepdim=True)).pow(2).mean().backward()
        optimizer.step()


def test_the_form_is_pytorchs() -> None:
    net = network()
    optimizer = Adam(
        [{"params": net[0].parameters(), "lr": 0.1}, {"params": net[2].parameters()}], amsgrad=True
    )
    train(net, optimizer, 2)
    state = optimizer.state_dict()
    assert list(state) == ["state", "param_groups"]
    assert list(state["state"]) == [0, 1, 2, 3]
    assert list(state["state"][0]) == ["step", "exp_avg", "exp_avg_sq", "max_exp_avg_sq"]
    assert state["state"][0]["step"].dtype == torch.float32
    assert state["state"][0]["step"].shape == ()
    assert [group["params"] for group in state["param_groups"]] == [[0, 1], [2, 3]]
    assert [group["lr"] for group in state["param_groups"]] == [0.1, 1e-3]
    assert list(state["param_groups"][0]) == [
        "lr",
        "betas",
        "eps",
        "weight_decay",
        "amsgrad",
        "maximize",
        "foreach",
        "capturable",
        "differentiable",
        "fused",
        "decoupled_weight_decay",
        "params",
    ]


def test_plain_sgd_has_no_state() -> None:
    net = network()
    optimizer = SGD(net.parameters(), lr=0.1)
    train(net, optimizer, 1)
    assert optimizer.state_dict()["state"] == {}


@pytest.mark.parametrize("name", sorted(OPTIONS))
@pytest.mark.parametrize("by_name", [False, True])
def test_resumed_training_is_the_same_to_the_bit(name: str, by_name: bool) -> None:
    net = network()
    optimizer = getattr(optim, name)(net.named_parameters(), **OPTIONS[name][-1])
    train(net, optimizer, 5)
    weights = copy.deepcopy(net.state_dict())
    state = copy.deepcopy(optimizer.named_state_dict() if by_name else optimizer.state_dict())
    train(net, optimizer, 5)

    other = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
    other.load_state_dict(weights)
    resumed = getattr(optim, name)(other.named_parameters())
    if by_name:
        resumed.load_named_state_dict(state)
    else:
        resumed.load_state_dict(state)
    train(other, resumed, 5)
    for a, b in zip(net.parameters(), other.parameters(), strict=True):
        assert torch.equal(a, b)


def test_state_takes_the_type_of_the_parameter() -> None:
    net = network()
    optimizer = Adam(net.parameters())
    train(net, optimizer, 1)
    halved = network().to(torch.bfloat16)
    other = Adam(halved.parameters())
    other.load_state_dict(optimizer.state_dict())
    state = other.state[next(halved.parameters())]
    assert state["exp_avg"].dtype == torch.bfloat16
    assert state["step"].dtype == torch.float32


def test_groups_that_do_not_fit() -> None:
    net = network()
    state = Adam(net.parameters()).state_dict()
    with pytest.raises(ValueError, match="different number of parameter groups: expected 2, got 1"):
        Adam([{"params": net[0].parameters()}, {"params": net[2].parameters()}]).load_state_dict(
            state
        )
    with pytest.raises(ValueError, match="group 0 has 2 parameters, the loaded one 4"):
        Adam(net[0].parameters()).load_state_dict(state)


def test_numbers_of_steps_of_old_files() -> None:
    net = network()
    optimizer = Adam(net.parameters())
    train(net, optimizer, 2)
    state = optimizer.state_dict()
    for each in state["state"].values():
        each["step"] = 2
    del state["param_groups"][0]["decoupled_weight_decay"]
    optimizer.load_state_dict(state)
    train(net, optimizer, 1)
    assert all(each["step"].item() == 3 for each in optimizer.state.values())


def test_hooks_of_the_state() -> None:
    optimizer = Adam(network().parameters())
    calls: list[str] = []
    optimizer.register_state_dict_pre_hook(lambda o: calls.append("pre"))
    optimizer.register_state_dict_pre_hook(lambda o: calls.append("first"), prepend=True)

    def mark(_: Any, state: dict[str, Any]) -> dict[str, Any]:
        return state | {"mark": 1}

    optimizer.register_state_dict_post_hook(mark)
    state = optimizer.state_dict()
    assert calls == ["first", "pre"]
    assert state["mark"] == 1

    def faster(_: Any, state: dict[str, Any]) -> None:
        state["param_groups"] = [state["param_groups"][0] | {"lr": 7.0}]

    optimizer.register_load_state_dict_pre_hook(faster)
    optimizer.register_load_state_dict_post_hook(lambda o: calls.append("loaded"))
    optimizer.load_state_dict(state)
    assert optimizer.param_groups[0]["lr"] == 7.0
    assert state["param_groups"][0]["lr"] == 1e-3
    assert calls[-1] == "loaded"


# By name.


def trained(**options: Any) -> tuple[nn.Sequential, Adam]:
    net = network()
    optimizer = Adam(net.named_parameters(), **options)
    train(net, optimizer, 2)
    return net, optimizer


def test_the_form_by_name() -> None:
    net, optimizer = trained(lr=0.1)
    state = optimizer.named_state_dict()
    assert list(state["state"]) == [name for name, _ in net.named_parameters()]
    assert state["param_groups"][0]["params"] == list(state["state"])
    assert state["shapes"]["0.weight"] == (3, 2)
    assert "param_names" not in state["param_groups"][0]


def test_what_belongs_to_no_parameter_is_kept() -> None:
    net, optimizer = trained()
    optimizer.state["epoch"] = 7
    other = Adam(net.named_parameters())
    loaded: list[Any] = []
    other.register_load_state_dict_post_hook(loaded.append)
    other.load_named_state_dict(optimizer.named_state_dict())
    assert other.state["epoch"] == 7
    assert loaded == [other]


def test_another_order_and_other_groups() -> None:
    net, optimizer = trained(lr=0.1)
    other = Adam(
        [
            {"params": [("2.bias", net[2].bias), ("2.weight", net[2].weight)]},
            {"params": list(net[0].named_parameters(prefix="0"))},
        ]
    )
    result = other.load_named_state_dict(optimizer.named_state_dict())
    assert not any(result)
    assert [group["lr"] for group in other.param_groups] == [0.1, 0.1]
    for param in net.parameters():
        assert torch.equal(other.state[param]["exp_avg"], optimizer.state[param]["exp_avg"])


def test_names_given_beside() -> None:
    net = network()
    optimizer = Adam(net.parameters())
    train(net, optimizer, 1)
    with pytest.raises(ValueError, match="does not know the names of its parameters"):
        optimizer.named_state_dict()
    state = optimizer.named_state_dict(net.named_parameters())
    assert list(state["state"]) == ["0.weight", "0.bias", "2.weight", "2.bias"]
    optimizer.load_named_state_dict(state, net.named_parameters())
    with pytest.raises(ValueError, match="does not have 2 of the 4 parameters"):
        optimizer.named_state_dict(net[0].named_parameters())


def changed() -> tuple[nn.Module, Adam]:
    """A network with a layer more, one less and one of another size."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 2), nn.Linear(2, 1))
    net[0].bias = None
    return net, Adam(net.named_parameters(), lr=0.5)


def test_all_that_does_not_fit_is_listed() -> None:
    _, optimizer = trained()
    _, other = changed()
    with pytest.raises(RuntimeError) as error:
        other.load_named_state_dict(optimizer.named_state_dict())
    assert str(error.value) == (
        "Error(s) in loading state by name for Adam:\n"
        '\tMissing parameter(s) in the state dict: "3.weight", "3.bias".\n'
        '\tUnexpected parameter(s) in the state dict: "0.bias".\n'
        '\tshape of "2.weight": expected (2, 3), got (1, 3) from the state dict.\n'
        '\tshape of "2.bias": expected (2,), got (1,) from the state dict.\n'
        "\tPass strict=False to load what fits."
    )
    assert not other.state


def test_what_fits_is_loaded() -> None:
    net, optimizer = trained(lr=0.1)
    larger, other = changed()
    result = other.load_named_state_dict(optimizer.named_state_dict(), strict=False)
    assert result.missing == ["3.weight", "3.bias"]
    assert result.unexpected == ["0.bias"]
    assert result.reshaped == [("2.weight", (2, 3), (1, 3)), ("2.bias", (2,), (1,))]
    assert list(other.state) == [larger[0].weight]
    assert torch.equal(
        other.state[larger[0].weight]["exp_avg"], optimizer.state[net[0].weight]["exp_avg"]
    )
    assert other.param_groups[0]["lr"] == 0.1
    train(larger, other, 1)


def test_pytorchs_form_with_names() -> None:
    net, optimizer = trained()
    other = Adam(reversed(list(net.named_parameters())))
    other.load_named_state_dict(optimizer.state_dict())
    for param in net.parameters():
        assert torch.equal(other.state[param]["exp_avg_sq"], optimizer.state[param]["exp_avg_sq"])
    nameless = Adam(net.parameters()).state_dict()
    with pytest.raises(ValueError, match="the state dict does not have the names of parameters"):
        other.load_named_state_dict(nameless)
