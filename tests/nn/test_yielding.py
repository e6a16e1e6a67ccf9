"""Methods of modules that PyTorch has not: members of programs may have their names."""

from __future__ import annotations

from typing import Any

import pytest

import flambeau as fb
from flambeau import fx, nn


class Net(nn.Module):
    """Has members, and members of members, under the name of our method."""

    def __init__(self) -> None:
        super().__init__()
        self.summary = nn.Linear(3, 2)
        self.inner = nn.ModuleDict({"summary": nn.Linear(2, 2)})

    def forward(self, x: Any) -> Any:
        return self.inner["summary"](self.summary(x))


def test_a_module_is_found_called_saved_and_forgotten():
    net = Net()
    assert isinstance(net.summary, nn.Linear)
    assert net(fb.ones(4, 3)).shape == (4, 2)
    assert list(net.state_dict()) == [
        *("summary.weight", "summary.bias"),
        *("inner.summary.weight", "inner.summary.bias"),
    ]
    assert net.get_submodule("inner.summary") is net.inner["summary"]
    assert nn.Module.summary(net, fb.ones(4, 3)).total_parameters == 3 * 2 + 2 + 2 * 2 + 2
    del net.summary
    assert net.summary().total_parameters == 2 * 2 + 2


def test_a_traced_network_keeps_the_member():
    net = Net()
    traced = fx.symbolic_trace(net)
    x = fb.ones(4, 3)
    assert fb.equal(traced(x), net(x))
    taken_apart = fx.GraphModule(dict(net.named_modules()), traced.graph)
    assert fb.equal(taken_apart(x), net(x))
    empty = fx.GraphModule(nn.Module(), fx.Graph())
    assert empty.add_submodule("summary.layer", nn.ReLU())


def set_parameter(module):
    module.register_parameter("summary", nn.Parameter(fb.ones(2)))


def set_buffer(module):
    module.register_buffer("summary", fb.ones(2))


def set_module(module):
    module.add_module("summary", nn.ReLU())


def set_submodule(module):
    module.set_submodule("summary", nn.ReLU())


def set_attribute(module):
    module.summary = nn.Parameter(fb.ones(2))


def set_plain(module):
    module.summary = "text"


@pytest.mark.parametrize(
    "register",
    [set_parameter, set_buffer, set_module, set_submodule, set_attribute, set_plain],
)
def test_every_kind_of_member_may_have_the_name(register):
    module = nn.Module()
    register(module)
    assert not callable(module.summary) or isinstance(module.summary, nn.ReLU)
    if register is not set_plain:  # it is taken now, for members of other kinds
        others = {set_parameter, set_buffer, set_module} - {register}
        if register is set_attribute:
            others.discard(set_parameter)
        if register is set_submodule:
            others.discard(set_module)
        for other in others:
            with pytest.raises(KeyError, match="attribute 'summary' already exists"):
                other(module)


def test_a_path_through_the_method_is_no_path():
    with pytest.raises(AttributeError, match="has no attribute `summary`"):
        nn.Linear(2, 2).get_submodule("summary")
    assert nn.Linear(2, 2).summary().total_parameters == 6


def test_a_class_of_the_program_may_have_the_name():
    class Own(nn.Module):
        @property
        def summary(self):
            return "own"

    assert Own().summary == "own"
    with pytest.raises(KeyError, match="attribute 'summary' already exists"):
        Own().add_module("summary", nn.ReLU())
