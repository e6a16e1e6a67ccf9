"""The graph of a network in an event file."""

import pytest

import flambeau as fb
from flambeau import nn
from flambeau.utils.tensorboard import SummaryWriter
from flambeau.utils.tensorboard._graph import graph
from flambeau.utils.tensorboard._messages import GraphDef

from .events import decode, events


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        return fb.relu(self.linear(x * 2)) + x


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(5, 4)
        self.blocks = nn.Sequential(Block(), Block())

    def forward(self, image, kind):
        mixed = image + self.table(kind)
        return {"out": self.blocks(mixed).sum(1), "mixed": mixed}


def nodes_of(model, *args):
    drawn, _ = graph(model, args)
    names = [node.name for node in drawn.node]
    assert len(set(names)) == len(names)
    known = {name.partition(":")[0] for node in drawn.node for name in node.input}
    assert known <= set(names)
    return {node.name: node for node in drawn.node}


def shape_of(node):
    return [
        tuple(each.size for each in shape.dim) for shape in node.attr["_output_shapes"].list.shape
    ]


def test_scopes_and_edges():
    nodes = nodes_of(Net(), fb.rand(2, 4), fb.tensor([1, 2]))
    scope = "Net/Sequential[blocks]/Block[1]"
    addmm = nodes[f"{scope}/Linear[linear]/addmm"]
    assert addmm.op == "aten::addmm"
    assert sorted(addmm.input) == [
        f"{scope}/Linear[linear]/bias",
        f"{scope}/Linear[linear]/weight",
        f"{scope}/mul",
    ]
    assert nodes[f"{scope}/mul"].input == ["Net/Sequential[blocks]/Block[0]/add"]
    assert nodes[f"{scope}/Linear[linear]/weight"].op == "Parameter"
    assert nodes["Net/add"].input == ["input/image", "Net/Embedding[table]/embedding"]
    assert "input/kind" in nodes["Net/Embedding[table]/embedding"].input


def test_shapes():
    nodes = nodes_of(Net(), fb.rand(2, 4), fb.tensor([1, 2]))
    assert shape_of(nodes["input/image"]) == [(2, 4)]
    assert shape_of(nodes["input/kind"]) == [(2,)]
    assert shape_of(nodes["Net/Sequential[blocks]/Block[0]/relu"]) == [(2, 4)]
    assert shape_of(nodes["Net/sum"]) == [(2,)]
    assert shape_of(nodes["Net/Sequential[blocks]/Block[0]/Linear[linear]/bias"]) == [(4,)]


def test_outputs():
    nodes = nodes_of(Net(), fb.rand(2, 4), fb.tensor([1, 2]))
    assert nodes["output/output.1"].input == ["Net/sum"]
    assert nodes["output/output.2"].input == ["Net/add"]
    assert shape_of(nodes["output/output.2"]) == [(2, 4)]


def test_the_network_stays_as_it_was():
    model = Net()
    model.table.weight.requires_grad_(False)
    inputs = fb.rand(2, 4)
    graph(model, (inputs, fb.tensor([1, 2])))
    assert not model.table.weight.requires_grad
    assert not inputs.requires_grad
    assert all(parameter.grad is None for parameter in model.parameters())
    assert not any(module._forward_hooks for module in model.modules())


def test_a_network_that_changes_its_input_in_place():
    class Scaled(nn.Module):
        def forward(self, x):
            return x.mul_(2).relu()

    given = fb.ones(3)
    nodes = nodes_of(Scaled(), given)
    assert nodes["Scaled/relu"].input == ["Scaled/mul"]
    assert given.tolist() == [1, 1, 1]


def test_parts_of_results():
    class Halves(nn.Module):
        def forward(self, x):
            first, second = x.chunk(2)
            return first * second

    nodes = nodes_of(Halves(), fb.ones(4))
    assert nodes["Halves/mul"].input == ["Halves/split", "Halves/split:1"]


def test_shared_and_repeated_modules():
    class Twice(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(3, 3)
            self.tied = nn.Linear(3, 3)
            self.tied.weight = self.linear.weight

        def forward(self, x):
            return self.tied(self.linear(self.linear(x)))

    nodes = nodes_of(Twice(), fb.ones(1, 3))
    assert "Twice/Linear[linear]/addmm_2" in nodes
    assert "Twice/Linear[linear]/weight" in nodes["Twice/Linear[tied]/addmm"].input


def test_functions_of_the_program_are_drawn_as_what_they_do():
    class Refusing(fb.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            raise RuntimeError("never")

    class Net(nn.Module):
        def forward(self, x):
            return Refusing.apply(x.exp()).sum()

    nodes = nodes_of(Net(), fb.ones(3))
    assert nodes["Net/sum"].input == ["Net/mul"]
    assert nodes["Net/mul"].input == ["Net/exp"]
    assert shape_of(nodes["Net/exp"]) == [(3,)]


def test_what_is_written_through_a_view():
    class Marked(nn.Module):
        def forward(self, x):
            y = x * 2
            y[0].zero_()
            return y.exp()

    nodes = nodes_of(Marked(), fb.ones(2, 3))
    assert nodes["Marked/exp"].input == ["Marked/zero"]
    assert nodes["Marked/zero"].input == ["Marked/select"]


def test_a_network_without_gradients():
    class Counted(nn.Module):
        def forward(self, x):
            with fb.no_grad():
                return (x > 0).sum()

    nodes = nodes_of(Counted(), fb.ones(3))
    assert nodes["Counted/sum"].input == ["Counted/gt"]
    assert nodes["output/output.1"].input == ["Counted/sum"]


def test_the_file(tmp_path, capsys):
    with SummaryWriter(tmp_path) as writer:
        writer.add_graph(Net(), (fb.rand(2, 4), fb.tensor([1, 2])), verbose=True)
    assert 'name: "input/image"' in capsys.readouterr().out
    drawn, run = events(tmp_path)
    assert decode(GraphDef, drawn.graph_def).versions.producer == 22
    assert run.tagged_run_metadata.tag == "step1"


def test_an_input_is_needed(tmp_path):
    with (
        SummaryWriter(tmp_path) as writer,
        pytest.raises(ValueError, match="input_to_model"),
    ):
        writer.add_graph(Net())
