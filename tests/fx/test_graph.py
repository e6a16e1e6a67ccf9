"""Graph and Node: making, changing, copying and printing."""

from __future__ import annotations

import copy
import operator

import pytest

import flambeau as torch
from flambeau import fx, nn
from flambeau.fx.node import map_aggregate
from flambeau.fx.operator_schemas import normalize_function


@pytest.fixture
def graph():
    g = fx.Graph()
    x = g.placeholder("x")
    y = g.placeholder("y", default_value=2)
    added = g.call_function(torch.add, (x, y))
    positive = g.call_method("relu", (added,))
    g.output(g.call_function(operator.mul, args=(positive, 3)))
    return g


def names(g):
    return [node.name for node in g.nodes]


def node(g, name):
    return next(n for n in g.nodes if n.name == name)


def test_names_are_unique_and_legal():
    g = fx.Graph()
    made = [g.placeholder(n) for n in ("input", "layerNorm1", "x", "*args")]
    made += [g.create_node("get_attr", "Foo_3"), g.create_node("get_attr", "Foo_3")]
    made += [g.create_node("call_function", torch.add, name=n) for n in ("a_5", "a_5", "a", "a")]
    made += [g.call_module("0.conv"), g.call_method("__add__"), g.call_function(torch.sum)]
    assert [n.name for n in made] == [
        *("input_1", "layer_norm1", "x", "_args", "foo_3", "foo_4"),
        *("a_5", "a_6", "a", "a_7", "_0_conv", "add", "sum_1"),
    ]


def test_text(graph):
    assert str(graph) == (
        "graph():\n"
        "    %x : [num_users=1] = placeholder[target=x]\n"
        "    %y : [num_users=1] = placeholder[target=y](default=2)\n"
        "    %add : [num_users=1] = call_function[target=torch.add](args = (%x, %y), kwargs = {})\n"
        "    %relu : [num_users=1] = call_method[target=relu](args = (%add,), kwargs = {})\n"
        "    %mul : [num_users=1] = call_function[target=operator.mul](args = (%relu, 3), "
        "kwargs = {})\n"
        "    return mul"
    )


def test_order_and_users(graph):
    add = node(graph, "add")
    assert names(graph) == ["x", "y", "add", "relu", "mul", "output"]
    assert [n.name for n in reversed(graph.nodes)] == names(graph)[::-1]
    assert len(graph.nodes) == 6
    assert add.next.name == "relu"
    assert add.prev.name == "y"
    assert add < node(graph, "mul")
    assert [n.name for n in add.all_input_nodes] == ["x", "y"]
    assert [n.name for n in add.users] == ["relu"]


def test_inserting(graph):
    relu = node(graph, "relu")
    with graph.inserting_before(relu):
        graph.call_function(torch.sigmoid, (node(graph, "add"),))
    with graph.inserting_after(relu):
        after = graph.call_function(torch.tanh, (relu,))
    assert names(graph) == ["x", "y", "add", "sigmoid", "relu", "tanh", "mul", "output"]
    relu.prepend(after)
    with pytest.raises(RuntimeError, match="used before it has been defined"):
        graph.lint()


def test_replacing_and_erasing(graph):
    relu, add = node(graph, "relu"), node(graph, "add")
    with pytest.raises(RuntimeError, match="Tried to erase Node relu but it still had 1 users"):
        graph.erase_node(relu)
    assert relu.replace_all_uses_with(add) == [node(graph, "mul")]
    graph.erase_node(relu)
    graph.lint()
    assert names(graph) == ["x", "y", "add", "mul", "output"]
    assert list(add.users) == [node(graph, "mul")]


def test_arguments_are_changed_by_assignment(graph):
    add, x, y = (node(graph, name) for name in ("add", "x", "y"))
    add.args = (x, 5)
    assert y.users == {}
    add.update_arg(1, y)
    add.update_kwarg("alpha", 2)
    add.replace_input_with(x, y)
    assert (add.args, add.kwargs) == ((y, y), {"alpha": 2})
    add.insert_arg(0, 1)
    assert add.args == (1, y, y)
    assert x.users == {}
    listed = graph.call_function(torch.cat, ([x, y],))
    with pytest.raises(TypeError, match="'immutable_list' object does not support mutation"):
        listed.args[0].append(x)
    with pytest.raises(TypeError, match="'immutable_dict' object does not support mutation"):
        listed.kwargs["dim"] = 0


def test_dead_code(graph):
    with graph.inserting_before(node(graph, "mul")):
        graph.call_function(torch.sigmoid, (node(graph, "add"),))
        graph.call_method("add_", (node(graph, "x"), 1))
    assert graph.eliminate_dead_code()
    assert names(graph) == ["x", "y", "add", "relu", "add_", "mul", "output"]
    assert not graph.eliminate_dead_code()


def test_side_effects():
    def log(x):
        return None

    g = fx.Graph()
    x = g.placeholder("x")
    g.call_function(log, (x,))
    fx.has_side_effect(log)
    g.output(x)
    assert not g.eliminate_dead_code()


def test_copies(graph):
    copied = copy.deepcopy(graph)
    assert str(copied) == str(graph)
    assert not set(copied.nodes) & set(graph.nodes)
    other = fx.Graph()
    result = other.graph_copy(graph, {})
    other.output(result)
    assert str(other) == str(graph)


def test_finding(graph):
    assert graph.find_nodes(op="placeholder") == [node(graph, "x"), node(graph, "y")]
    assert graph.find_nodes(op="call_function", target=torch.add) == [node(graph, "add")]
    assert graph.output_node().name == "output"


def test_mapping(graph):
    x, y = node(graph, "x"), node(graph, "y")
    assert fx.map_arg((x, [y, 1], {"k": slice(x, None)}), lambda n: n.name) == (
        "x",
        ["y", 1],
        {"k": slice("x", None)},
    )
    assert map_aggregate([1, (2,)], lambda value: value + 1) == [2, (3,)]


def test_bad_nodes(graph):
    with pytest.raises(AssertionError, match="cannot be of op 'jump'"):
        graph.create_node("jump", "x")
    with pytest.raises(ValueError, match="but a Callable is expected"):
        graph.create_node("call_function", "relu")
    with pytest.raises(AssertionError, match="Expected target to be str"):
        graph.create_node("call_method", torch.relu)
    with pytest.raises(AssertionError, match="args must be a tuple"):
        graph.create_node("call_method", "relu", [1])
    with pytest.raises(RuntimeError, match="belongs to another graph"):
        fx.Graph().call_method("relu", (node(graph, "x"),))


def test_lint_looks_the_targets_up():
    g = fx.Graph()
    g.call_module("layers.missing")
    g.owning_module = nn.Module()
    with pytest.raises(RuntimeError, match="references nonexistent attribute layers"):
        g.lint()


def test_missing_targets_warn():
    gm = fx.symbolic_trace(nn.Sequential(nn.ReLU()))
    with pytest.warns(UserWarning, match="no attribute 'missing'"):
        gm.graph.get_attr("missing")
    with pytest.warns(UserWarning, match="no submodule 'missing'"):
        gm.graph.call_module("missing")


def test_table(graph, capsys):
    graph.print_tabular()
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["opcode", "name", "target", "args", "kwargs"]
    assert len(lines) == 2 + len(graph.nodes)


def test_normalized_arguments():
    gm = fx.symbolic_trace(lambda x: torch.nn.functional.relu(x, True))
    (call,) = gm.graph.find_nodes(op="call_function")
    pair = call.normalized_arguments(gm, normalize_to_only_use_kwargs=True)
    assert pair.args == ()
    assert list(pair.kwargs) == ["input", "inplace"]


def test_overloads_are_not_normalized():
    """Their signature takes the calls of all of them: a call has the arguments of one."""
    x = torch.zeros(2)
    assert normalize_function(torch.max, (x, 0)) is None
    assert normalize_function(torch.Tensor.random_, (x, 5)) is None
    pair = normalize_function(torch.cumsum, (x, 0), normalize_to_only_use_kwargs=True)
    assert pair is not None
    assert set(pair.kwargs) == {"input", "dim", "dtype", "out"}


def test_what_draws_numbers_stays():
    graph = fx.Graph()
    x = graph.placeholder("x")
    drawn = graph.call_function(torch.rand, (3,))
    bernoulli = graph.call_function(torch.ops.aten.bernoulli.default, (x,))
    graph.call_function(torch.sin, (x,))
    graph.output(graph.call_function(torch.add, (x, 1)))
    assert (drawn.is_impure(), bernoulli.is_impure()) == (True, True)
    assert not bernoulli.is_impure(impure_random=False)
    graph.eliminate_dead_code()
    kept = [node.name for node in graph.nodes]
    assert kept == ["x", "rand", "bernoulli_default", "add", "output"]
