"""symbolic_trace and Tracer: what is recorded, and what cannot be."""

from __future__ import annotations

import math
import operator

import pytest

import flambeau as torch
import flambeau.nn.functional as F
from flambeau import fx, nn
from flambeau.fx.proxy import TraceError
from tests.fx.networks import Net, doubled


def ops(gm):
    return [(node.op, node.target) for node in gm.graph.nodes]


def test_network_gives_the_same_results():
    net = Net()
    gm = fx.symbolic_trace(net)
    x = torch.randn(3, 4)
    assert torch.equal(gm(x), net(x))
    assert dict(gm.named_parameters()).keys() == dict(net.named_parameters()).keys()
    assert gm.scale is net.scale


def test_recorded_operations():
    gm = fx.symbolic_trace(Net())
    assert ops(gm) == [
        ("placeholder", "x"),
        ("call_module", "blocks.0.norm"),
        ("call_module", "blocks.0.linear"),
        ("call_function", F.relu),
        ("call_function", operator.add),
        ("call_module", "blocks.1.norm"),
        ("call_module", "blocks.1.linear"),
        ("call_function", F.relu),
        ("call_function", operator.add),
        ("get_attr", "scale"),
        ("call_function", operator.mul),
        ("get_attr", "shift"),
        ("call_function", operator.add),
        ("output", "output"),
    ]


def test_code():
    def function(x: torch.Tensor, y=2, *, z=None):
        a, b = x.split(1)
        return (a + y).relu(), torch.cat([a, b], dim=0)[..., :2]

    function.__annotations__ = {"x": torch.Tensor}
    assert fx.symbolic_trace(function).code == (
        "\n\n\ndef forward(self, x : torch.Tensor, y = 2, z = None):\n"
        "    split = x.split(1);  x = None\n"
        "    getitem = split[0]\n"
        "    getitem_1 = split[1];  split = None\n"
        "    add = getitem + y;  y = None\n"
        "    relu = add.relu();  add = None\n"
        "    cat = torch.cat([getitem, getitem_1], dim = 0);  getitem = getitem_1 = None\n"
        "    getitem_2 = cat[(Ellipsis, slice(None, 2, None))];  cat = None\n"
        "    return (relu, getitem_2)\n"
        "    "
    )


def test_gradients_reach_the_parameters():
    net = Net()
    fx.symbolic_trace(net)(torch.ones(2, 4)).sum().backward()
    assert net.scale.grad is not None
    assert net.blocks[0].linear.weight.grad is not None


def test_leaf_modules():
    class Whole(fx.Tracer):
        def is_leaf_module(self, m, module_qualified_name):
            return isinstance(m, nn.Sequential) or super().is_leaf_module(m, module_qualified_name)

    net = Net()
    tracer = Whole()
    graph = tracer.trace(net)
    assert ("call_module", "blocks") in [(n.op, n.target) for n in graph.nodes]
    assert tracer.root is net
    assert tracer.path_of_module(net.blocks[1].norm) == "blocks.1.norm"
    with pytest.raises(NameError, match="not installed as a submodule"):
        tracer.path_of_module(nn.ReLU())


def test_constants_become_attributes():
    gm = fx.symbolic_trace(lambda x: x + torch.ones(2))
    assert [n.target for n in gm.graph.find_nodes(op="get_attr")] == ["_tensor_constant0"]
    assert gm(torch.zeros(2)).tolist() == [1.0, 1.0]


def test_star_arguments():
    gm = fx.symbolic_trace(lambda x, *args, **kwargs: x + args[0] + kwargs["y"])
    assert gm(1, 2, y=3) == 6


def test_wrapped_functions_are_not_entered():
    gm = fx.symbolic_trace(lambda x: doubled(x))
    # The name is looked up in the module that wrapped it.
    assert [n.target for n in gm.graph.find_nodes(op="call_function")] == [operator.mul]

    from tests.fx import networks

    def uses(x):
        return networks.doubled(x)

    gm = fx.symbolic_trace(uses)
    (node,) = gm.graph.find_nodes(op="call_function")
    assert node.target is doubled
    assert 'wrap("tests_fx_networks_doubled")' in gm.code
    assert gm(torch.ones(1)).item() == 2


def test_math_functions_are_recorded():
    gm = fx.symbolic_trace(lambda x: math.sqrt(x))
    assert gm(9.0) == 3.0
    assert math.sqrt.__name__ == "sqrt"
    assert math.sqrt(4.0) == 2.0


def test_wrap_wants_the_top_level():
    with pytest.raises(NotImplementedError, match="top level of a module"):
        fx.wrap("doubled")
    with pytest.raises(RuntimeError, match="function or its name"):
        fx.wrap(3)


@pytest.mark.parametrize(
    "program",
    [
        lambda x: x if x.sum() > 0 else -x,
        lambda x: [y for y in x],  # noqa: C416
        lambda x: x and 1,
    ],
)
def test_control_flow_is_refused_with_the_line(program):
    with pytest.raises(TraceError) as error:
        fx.symbolic_trace(program)
    assert "test_tracing.py" in str(error.value)
    assert "lambda x:" in str(error.value)


def test_length_is_refused():
    with pytest.raises(RuntimeError, match="'len' is not supported in symbolic tracing"):
        fx.symbolic_trace(lambda x: x.view(len(x)))


def test_item_assignment_is_refused():
    def program(x):
        x[0] = 1

    with pytest.raises(TypeError, match="'Proxy' object does not support item assignment"):
        fx.symbolic_trace(program)


def test_foreign_parameter_is_refused():
    weight = nn.Parameter(torch.ones(1))
    with pytest.raises(NameError, match="not a member"):
        fx.symbolic_trace(lambda x: x + weight)


def test_unknown_argument_is_refused():
    with pytest.raises(NotImplementedError, match="argument of type: <class 'object'>"):
        fx.symbolic_trace(lambda x: torch.add(x, object()))


def test_tracing_leaves_modules_as_they_were():
    net = Net()
    with pytest.raises(TraceError):
        fx.symbolic_trace(nn.Sequential(net, _Branching()))
    assert "__call__" not in nn.Module.__dict__
    assert isinstance(net.scale, nn.Parameter)
    assert net(torch.ones(1, 4)).shape == (1, 4)


class _Branching(nn.Module):
    def forward(self, x):
        return x if x.sum() > 0 else -x


def test_concrete_arguments():
    def program(x, flag, scale):
        return x * scale if flag else x

    gm = fx.symbolic_trace(program, concrete_args={"flag": True, "scale": None})
    with pytest.raises(AssertionError, match="flag has been specialized to have value True"):
        gm(1, False, None)

    nested = {"a": fx.PH, "b": [fx.PH, 1]}
    gm = fx.symbolic_trace(lambda d: {"sum": d["a"] + d["b"][0]}, concrete_args={"d": nested})
    assert gm({"a": 1, "b": [2, 1]}) == {"sum": 3}
    with pytest.raises(AssertionError, match="d has been specialized"):
        gm({"a": 1, "b": [2, 5]})


def test_parameter_shapes_as_constants():
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.ones(2, 3))

        def forward(self, x):
            return x.view(self.weight.shape[0], -1) @ self.weight

    graph = fx.Tracer(param_shapes_constant=True).trace(Model())
    assert graph.find_nodes(op="call_method", target="view")[0].args[1] == 2


def test_notes_of_the_program():
    from flambeau.fx import traceback

    def program(x):
        with traceback.annotate({"stage": 1}):
            y = x + 1
        return y * 2

    nodes = list(fx.symbolic_trace(program).graph.nodes)
    assert nodes[1].meta["custom"] == {"stage": 1}
    assert "custom" not in nodes[2].meta


def test_proxies_outside_of_a_trace():
    graph = fx.Graph()
    x = fx.Proxy(graph.placeholder("x"))
    graph.output((torch.relu(x) + x.size(0)).node)
    graph.lint()
    assert fx.GraphModule({}, graph)(torch.tensor([-1.0, 2.0])).tolist() == [2.0, 4.0]


def test_names_in_code_are_those_of_the_functions():
    from flambeau.fx._naming import torch_names

    names = torch_names()
    assert len(names) > 500
    for function, name in names.items():
        found = eval(name, {"torch": torch})
        # Some functions are in torch and in torch.nn.functional: two objects, one operator.
        is_alias = "Another name of" in " ".join(
            [*found.__doc__.split(), *function.__doc__.split()]
        )
        assert found is function or is_alias, name
