"""An optimiser that acts for a while on other parameters than its own."""

import copy
from typing import Any

import pytest

import flambeau as fb


def trained() -> tuple[fb.nn.Parameter, fb.optim.Optimizer]:
    p = fb.nn.Parameter(fb.tensor([1.0, 2.0]))
    optimizer = fb.optim.Adam([p], lr=0.1)
    p.grad = fb.tensor([1.0, -1.0])
    optimizer.step()
    return p, optimizer


def test_swapped_in_parameters_are_stepped_with_their_state() -> None:
    p, optimizer = trained()
    expected, twin = trained()
    twin.step()
    before = p.tolist()
    state = copy.deepcopy(optimizer.state_dict())
    other = fb.nn.Parameter(p.detach().clone())
    other.grad = p.grad.clone()
    group, params, own_state = optimizer.param_groups[0], [p], optimizer.state
    with fb.optim.swap_in_optimizer_params_and_state(optimizer, {"w": other}, state):
        assert optimizer.param_groups[0]["params"] == [other]
        optimizer.param_groups[0]["lr"] = 0.1
        optimizer.step()
    assert other.tolist() == expected.tolist()
    assert p.tolist() == before
    assert state["state"][0]["step"].item() == 2  # its tensors are changed in place
    assert optimizer.param_groups[0] is group
    assert group["params"] == params
    assert optimizer.state is own_state
    assert own_state[p]["step"].item() == 1


def test_all_is_restored_after_an_error() -> None:
    p, optimizer = trained()
    state = copy.deepcopy(optimizer.state_dict())
    state["param_groups"][0]["lr"] = 5.0
    swapped = fb.optim.swap_in_optimizer_params_and_state(optimizer, {"w": fb.ones(2)}, state)
    rates = []

    def fail() -> None:
        with swapped:
            rates.append(optimizer.param_groups[0]["lr"])
            raise KeyError("inside")

    with pytest.raises(KeyError):
        fail()
    assert rates == [5.0]
    assert optimizer.param_groups[0]["lr"] == 0.1
    assert optimizer.param_groups[0]["params"] == [p]


MISTAKES = (
    ("[]", "expected a state dict, but got a list"),
    ("{'state': []}", "a dict 'state' and a list 'param_groups'"),
    ("{**s, 'state': {0: 3}}", "a dict for the number of each parameter"),
    ("{**s, 'param_groups': []}", "has 1 parameter groups, but 'param_groups' 0"),
    ("{**s, 'param_groups': [{'params': ['w']}]}", "a list of numbers under 'params'"),
    ("{**s, 'param_groups': [{'params': [0, 1]}]}", "has 1 parameters, but 2 are given"),
    ("{**s, 'param_groups': [{**g, 'other': 1}]}", r"the options of a group differ in \['other'\]"),
    ("{**s, 'state': {0: {}, 7: {}}}", r"the state belongs to no parameter: \[7\]"),
)


@pytest.mark.parametrize(("given", "message"), MISTAKES)
def test_mistakes(given: str, message: str) -> None:
    _, optimizer = trained()
    state = optimizer.state_dict()
    swapped: Any = eval(given, {"s": state, "g": state["param_groups"][0]})
    swap_in = fb.optim.swap_in_optimizer_params_and_state
    with pytest.raises(RuntimeError, match=message), swap_in(optimizer, {"w": fb.ones(2)}, swapped):
        pass


def test_parameters_and_a_state_are_demanded() -> None:
    p, optimizer = trained()
    swap_in = fb.optim.swap_in_optimizer_params_and_state
    missing = swap_in(optimizer, {}, optimizer.state_dict())
    with pytest.raises(RuntimeError, match="has 1 parameters, but 0 are given"), missing:
        pass
    fresh = fb.optim.Adam([p])
    with pytest.raises(RuntimeError, match="has no state yet"), swap_in(fresh, {}, {}):
        pass
