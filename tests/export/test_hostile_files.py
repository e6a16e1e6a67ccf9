"""Files that were made to run code: nothing of them runs, when they are loaded or called."""

from pathlib import Path

import pytest

import flambeau as torch
from flambeau import fx, nn

_CODE = "open('ran', 'w')"


@pytest.fixture
def data(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    program = torch.export.export(nn.Linear(2, 2), (torch.ones(1, 2),))
    torch.export.save(program, "program.pt2")
    return torch.load("program.pt2")


def load(data, **changed):
    torch.save({**data, **changed}, "changed.pt2")
    return torch.export.load("changed.pt2")


def with_node(data, place, **changed):
    nodes = [dict(zip(("op", "target", "args", "kwargs", "name"), n, strict=True)) for n in data]
    nodes[place].update(changed)
    return [tuple(node.values()) for node in nodes]


def test_unchanged(data):
    assert load(data).module()(torch.ones(1, 2)).shape == (1, 2)


def test_argument_that_is_a_word_of_python(tmp_path):
    program = torch.export.export(nn.Sequential(nn.Linear(2, 2)), (torch.ones(1, 2),))
    torch.export.save(program, tmp_path / "program.pt2")
    loaded = torch.export.load(tmp_path / "program.pt2").module()
    assert torch.equal(loaded(torch.ones(1, 2)), program.module()(torch.ones(1, 2)))


@pytest.mark.parametrize("name", [f"x={_CODE}", f"*y, z={_CODE}", f"x: {_CODE}"])
def test_names_that_are_code(data, name):
    with pytest.raises(RuntimeError, match="expected a name of an argument"):
        load(data, nodes=with_node(data["nodes"], 0, target=name))
    for names in ([[name], []], [[], [name]]):
        with pytest.raises(ValueError, match="not Python names"):
            load(data, names=names)
    assert not Path("ran").exists()


@pytest.mark.parametrize("op", ["call_method", "call_module", "get_attr", "unknown"])
def test_nodes_that_no_program_has(data, op):
    with pytest.raises(ValueError, match="which no program has"):
        load(data, nodes=with_node(data["nodes"], -2, op=op, target="__class__"))


@pytest.mark.parametrize(
    "target", ["torch.ops.__class__.mro.__call__", "torch.ops.a.b", "os.system", "torch.load"]
)
def test_targets_that_are_no_operators(data, target):
    with pytest.raises(ValueError, match="which is no operator"):
        load(data, nodes=with_node(data["nodes"], -2, target=target))


def test_private_attributes(data):
    args = ("tuple", [("node", "input"), ("value", "__class__")])
    with pytest.raises(ValueError, match="the attribute '__class__'"):
        load(data, nodes=with_node(data["nodes"], -2, target="builtins.getattr", args=args))


def test_keywords_that_are_code(data):
    kwargs = ("dict", {f"bias={_CODE}, other": ("value", 1)})
    program = load(data, nodes=with_node(data["nodes"], -2, kwargs=kwargs))
    with pytest.raises(TypeError, match="unexpected keyword argument"):
        program.module()(torch.ones(1, 2))
    assert not Path("ran").exists()


@pytest.mark.parametrize("op", ["get_attr", "call_module", "call_method"])
def test_paths_that_are_code(op, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    graph = fx.Graph()
    x = graph.placeholder("x")
    target = f'a", {_CODE}) or getattr(self, "b'
    graph.output(graph.create_node(op, target, () if op == "get_attr" else (x,)))
    with pytest.raises(AttributeError):
        fx.GraphModule(nn.Module(), graph)(torch.ones(1))
    assert not Path("ran").exists()
