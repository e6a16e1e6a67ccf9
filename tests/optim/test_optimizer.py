"""The base class: parameter groups, options, gradients, hooks, closures, copies."""

import contextlib
import copy
import inspect
import pickle
from typing import Any

import pytest

import flambeau as torch
from flambeau import nn
from flambeau.optim import SGD, Adam, AdamW, Optimizer
from flambeau.optim.optimizer import (
    register_optimizer_step_post_hook,
    register_optimizer_step_pre_hook,
    required,
)


def parameter(*values: float) -> torch.Tensor:
    made = torch.tensor(values, requires_grad=True)
    made.grad = torch.ones_like(made)
    return made


def test_groups_take_options_of_their_own() -> None:
    a, b = parameter(1.0), parameter(2.0)
    optimizer = SGD([{"params": a, "lr": 0.5}, {"params": [b]}], lr=0.25)
    assert [group["lr"] for group in optimizer.param_groups] == [0.5, 0.25]
    optimizer.step()
    assert (a.item(), b.item()) == (0.5, 1.75)


def test_named_parameters() -> None:
    net = nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 1))
    optimizer = Adam(net.named_parameters())
    assert optimizer.param_groups[0]["param_names"] == ["0.weight", "0.bias", "1.weight", "1.bias"]
    for param, own in zip(optimizer.param_groups[0]["params"], net.parameters(), strict=True):
        assert param is own
    assert optimizer.state_dict()["param_groups"][0]["param_names"][0] == "0.weight"


def test_a_group_added_later() -> None:
    a, b = parameter(1.0), parameter(2.0)
    optimizer = SGD([a], lr=0.5)
    optimizer.add_param_group({"params": b, "lr": 0.25})
    optimizer.step()
    assert (a.item(), b.item()) == (0.5, 1.75)


@pytest.mark.parametrize(
    ("params", "error", "text"),
    [
        (lambda p: p, TypeError, "an iterable of Tensors or dicts, but got torch.FloatTensor"),
        (lambda p: [], ValueError, "optimizer got an empty parameter list"),
        (lambda p: [1.0], TypeError, "optimizer can only optimize Tensors, but one of the params"),
        (lambda p: [{"params": {p}}], TypeError, "in ordered collections"),
        (lambda p: [p * 2], ValueError, "can't optimize a non-leaf Tensor"),
        (lambda p: [("a", p), parameter(1.0)], ValueError, "Some param names are missing"),
        (lambda p: [{"params": p}, {"params": p}], ValueError, "more than one parameter group"),
        (lambda p: [{"params": p}, 3], TypeError, "param_group must be a dict"),
        (
            lambda p: [{"params": [("a", p)]}, {"params": parameter(1.0)}],
            ValueError,
            "cannot add param group without names to the optimizer",
        ),
    ],
)
def test_refused_parameters(params: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        SGD(params(parameter(1.0)), lr=0.1)


def test_a_parameter_listed_twice() -> None:
    p = parameter(1.0)
    with pytest.warns(UserWarning, match="duplicate parameters"):
        optimizer = SGD([p, p], lr=0.25)
    optimizer.step()
    assert p.item() == 0.5


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda p: SGD([p], lr=-1), "Invalid learning rate: -1"),
        (lambda p: SGD([p], momentum=-0.5), "Invalid momentum value: -0.5"),
        (lambda p: SGD([p], weight_decay=-1), "Invalid weight_decay value: -1"),
        (lambda p: SGD([p], nesterov=True), "Nesterov momentum requires a momentum and zero damp"),
        (lambda p: SGD([p], lr=torch.ones(2)), "Tensor lr must be 1-element"),
        (lambda p: Adam([p], lr=-1.0), "Invalid learning rate: -1.0"),
        (lambda p: Adam([p], eps=-1), "Invalid epsilon value: -1"),
        (lambda p: Adam([p], betas=(1.0, 0.9)), "Invalid beta parameter at index 0: 1.0"),
        (lambda p: Adam([p], betas=(0.9, -0.1)), "Invalid beta parameter at index 1: -0.1"),
        (lambda p: Adam([p], betas=(0, 0.9)), "betas must be either both floats or both Tensors"),
        (lambda p: AdamW([p], weight_decay=-1), "Invalid weight_decay value: -1"),
        (
            lambda p: Adam([p], lr=torch.tensor(0.1), foreach=True),
            "lr as a Tensor is not supported for capturable=False and foreach=True",
        ),
    ],
)
def test_refused_options(make: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        make(parameter(1.0))


@pytest.mark.parametrize("cls", [SGD, Adam])
def test_options_that_exclude_each_other(cls: Any) -> None:
    p = parameter(1.0)
    with pytest.raises(RuntimeError, match="`fused` and `foreach` cannot be `True` together"):
        cls([p], fused=True, foreach=True)
    with pytest.raises(RuntimeError, match="`fused` does not support `differentiable`"):
        cls([p], fused=True, differentiable=True)


def test_a_tensor_as_rate_set_later() -> None:
    optimizer = Adam([parameter(1.0)], foreach=True)
    optimizer.param_groups[0]["lr"] = torch.tensor(0.1)
    with pytest.raises(RuntimeError, match="lr as a Tensor is not supported"):
        optimizer.step()


def test_capturable_steps_are_for_accelerators() -> None:
    with pytest.raises(AssertionError, match="If capturable=True, params and state_steps must be"):
        Adam([parameter(1.0)], capturable=True).step()


def test_parameters_without_gradient_stay() -> None:
    a, b = parameter(1.0), torch.ones(1, requires_grad=True)
    optimizer = Adam([a, b])
    optimizer.step()
    assert b.item() == 1
    assert b not in optimizer.state


def test_zero_grad() -> None:
    a = parameter(1.0, 2.0)
    optimizer = SGD([a])
    kept = a.grad
    optimizer.zero_grad(set_to_none=False)
    assert a.grad is kept
    assert kept is not None
    assert kept.tolist() == [0, 0]
    optimizer.zero_grad()
    assert a.grad is None
    optimizer.zero_grad()


def test_zero_grad_forgets_the_history_of_gradients() -> None:
    a = torch.ones(2, requires_grad=True)
    (a**3).sum().backward(create_graph=True)
    assert a.grad is not None
    assert a.grad.grad_fn is not None
    SGD([a]).zero_grad(set_to_none=False)
    assert a.grad.grad_fn is None
    assert not a.grad.requires_grad
    assert a.grad.tolist() == [0, 0]


def test_closure() -> None:
    p = torch.tensor([2.0], requires_grad=True)
    optimizer = SGD([p], lr=0.25)

    def closure() -> torch.Tensor:
        optimizer.zero_grad()
        loss = (p * p).sum()
        loss.backward()
        return loss

    with torch.no_grad():
        assert optimizer.step(closure).item() == 4
    assert p.item() == 1
    assert optimizer.step(closure=closure).item() == 1
    assert optimizer.step() is None
    with pytest.raises(TypeError, match="unexpected keyword argument 'clsure'"):
        optimizer.step(clsure=closure)  # type: ignore[call-arg]


def test_an_error_in_the_closure_passes() -> None:
    p = parameter(1.0)

    def closure() -> None:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        SGD([p], lr=0.25).step(closure)
    assert p.item() == 1


def test_a_step_counts_as_a_change_in_place() -> None:
    p = parameter(1.0)
    before = p._version
    SGD([p], lr=0.1).step()
    assert p._version > before
    saved = (p * p).sum()
    SGD([p], lr=0.1).step()
    with pytest.raises(RuntimeError, match="step"):
        saved.backward()


def test_hooks_of_steps() -> None:
    p = parameter(1.0)
    optimizer = SGD([p], lr=0.25)
    calls: list[Any] = []
    handles = [
        optimizer.register_step_pre_hook(lambda o, a, k: calls.append(("pre", o, a, k))),
        optimizer.register_step_post_hook(lambda o, a, k: calls.append(("post", o, a, k))),
        register_optimizer_step_pre_hook(lambda o, a, k: calls.append(("all pre", o, a, k))),
        register_optimizer_step_post_hook(lambda o, a, k: calls.append(("all post", o, a, k))),
    ]
    optimizer.step(closure=None)
    assert [call[0] for call in calls] == ["all pre", "pre", "post", "all post"]
    assert all(call[1:] == (optimizer, (optimizer,), {"closure": None}) for call in calls)
    for handle in handles:
        handle.remove()
    optimizer.step()
    assert len(calls) == 4


def test_a_hook_may_change_the_arguments() -> None:
    p = parameter(1.0)
    optimizer = SGD([p], lr=0.25)
    optimizer.register_step_pre_hook(lambda o, a, k: (a, {"closure": lambda: 7}))
    assert optimizer.step() == 7
    optimizer.register_step_pre_hook(lambda o, a, k: 3)
    with pytest.raises(RuntimeError, match="must return None or a tuple of"):
        optimizer.step()


def test_hooks_are_called_once_where_a_step_calls_that_of_its_base() -> None:
    class Twice(SGD):
        def step(self, closure: Any = None) -> Any:
            super().step(closure)
            return super().step()

    p = parameter(1.0)
    optimizer = Twice([p], lr=0.25)
    calls: list[Any] = []
    optimizer.register_step_pre_hook(lambda *given: calls.append(given))
    for _ in range(2):
        optimizer.step()
    assert len(calls) == 2
    assert p.item() == 0


def test_a_class_of_the_users() -> None:
    class Halving(Optimizer):
        def __init__(self, params: Any) -> None:
            super().__init__(params, {"by": 2.0})

        def step(self, closure: Any = None) -> Any:
            with torch.no_grad():
                for group in self.param_groups:
                    for param in group["params"]:
                        self.state[param]["seen"] = self.state[param].get("seen", 0) + 1
                        param /= group["by"]

    p = parameter(8.0)
    optimizer = Halving([p])
    calls: list[Any] = []
    optimizer.register_step_post_hook(lambda *given: calls.append(given))
    optimizer.step()
    optimizer.zero_grad()
    assert p.item() == 4
    assert len(calls) == 1
    assert optimizer.state_dict() == {
        "state": {0: {"seen": 1}},
        "param_groups": [{"by": 2.0, "params": [0]}],
    }


def test_an_option_that_every_group_must_give() -> None:
    Optimizer([{"params": parameter(1.0), "lr": 1}], {"lr": required})
    with pytest.raises(ValueError, match="didn't specify a value of required optimization param"):
        Optimizer([parameter(1.0)], {"lr": required})


def test_the_base_class_has_no_step() -> None:
    with pytest.raises(NotImplementedError):
        Optimizer([parameter(1.0)], {}).step()


def test_shown() -> None:
    optimizer = SGD([{"params": parameter(1.0), "lr": 0.5}], momentum=0.9)
    assert repr(optimizer) == (
        "SGD (\nParameter Group 0\n    dampening: 0\n    differentiable: False\n    foreach: None\n"
        "    fused: None\n    lr: 0.5\n    maximize: False\n    momentum: 0.9\n"
        "    nesterov: False\n    weight_decay: 0\n)"
    )


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda o: pickle.loads(pickle.dumps(o))])
def test_copies_go_their_own_way(duplicate: Any) -> None:
    p = parameter(1.0, 2.0)
    optimizer = Adam([p], lr=0.1)
    optimizer.step()
    twin = duplicate(optimizer)
    other = twin.param_groups[0]["params"][0]
    assert other is not p
    other.grad = p.grad.clone() if p.grad is not None else None
    twin.step()
    assert twin.state[other]["step"].item() == 2
    assert optimizer.state[p]["step"].item() == 1
    optimizer.step()
    assert torch.equal(other, p)


def test_the_method_looks_like_a_function() -> None:
    optimizer = Adam([parameter(1.0)])
    assert Adam.step.__name__ == "step"
    assert Adam.step.__qualname__ == "Adam.step"
    assert "closure" in inspect.signature(optimizer.step).parameters
    assert optimizer.step.__func__ is Adam.step  # type: ignore[attr-defined]
    assert optimizer.step.__doc__ is not None
    Adam.step(optimizer)
    with pytest.raises(TypeError, match="call it on an optimizer"):
        Adam.step()  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="takes at most a closure, but 2 arguments were given"):
        optimizer.step(None, None)  # type: ignore[call-arg]


class Spoiler:
    """A key that takes everything away when it is compared."""

    def __init__(self, param: torch.Tensor, optimizer: Optimizer) -> None:
        self.hash, self.param, self.optimizer = hash(param), param, optimizer

    def __hash__(self) -> int:
        return self.hash

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        for state in list(self.optimizer.state.values()):
            state.clear()
        self.optimizer.state.clear()
        for group in self.optimizer.param_groups:
            for param in group["params"]:
                param.data = torch.zeros(0)
            group["params"].clear()
        return False


@pytest.mark.parametrize("place", range(3))
def test_a_lookup_that_changes_everything(place: int) -> None:
    params = [torch.ones(1000, requires_grad=True) for _ in range(3)]
    optimizer = Adam(params)
    for param in params:
        param.grad = torch.ones(1000)
    optimizer.step()
    spoiler = Spoiler(params[place], optimizer)
    states = list(optimizer.state.items())
    optimizer.state.clear()
    optimizer.state[spoiler] = {}  # in front of the one that is looked up
    optimizer.state.update(states)
    del params, param, states
    with contextlib.suppress(RuntimeError, KeyError):
        optimizer.step()


def test_an_option_that_goes_away_while_it_is_read() -> None:
    class Number:
        def __float__(self) -> float:
            optimizer.param_groups[0].clear()
            return 0.5

        def __bool__(self) -> bool:
            optimizer.param_groups[0].clear()
            return True

    for name in ("lr", "maximize", "weight_decay"):
        optimizer = SGD([parameter(1.0)], lr=0.25)
        optimizer.param_groups[0][name] = Number()
        with pytest.raises(KeyError):
            optimizer.step()
