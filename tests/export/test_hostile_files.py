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


def with_step(data, place, **changed):
    program = data["programs"]["forward"]
    steps = [dict(zip(("op", "args", "results", "mode"), n, strict=True)) for n in program["steps"]]
    steps[place].update(changed)
    made = {**program, "steps": [tuple(step.values()) for step in steps]}
    return {**data["programs"], "forward": made}


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
        load(data, placeholders=[(data["placeholders"][0][0], name), *data["placeholders"][1:]])
    renamed = load(data, placeholders=[(name, "x"), *data["placeholders"][1:]])
    assert _CODE not in renamed.graph_module.code
    renamed = load(data, node_names=[[name] for _ in data["node_names"]])
    assert _CODE not in renamed.graph_module.code
    for names in ([[name], []], [[], [name]]):
        with pytest.raises(ValueError, match="not Python names"):
            load(data, names=names)
    assert not Path("ran").exists()


@pytest.mark.parametrize(
    "op",
    [
        *("torch.ops.__class__.mro.__call__", "torch.ops.a.b", "os.system", "torch.load"),
        *("call_method", "call_module", "get_attr", "builtins.getattr", "__class__"),
    ],
)
def test_steps_that_are_no_operators(data, op):
    with pytest.raises(ValueError, match="which is no operator"):
        load(data, programs=with_step(data, -1, op=op))


def test_values_that_no_program_has(data):
    for word in ("attribute", "slice", "global", "state"):
        args = ("tuple", [("slot", 0), (word, ["input", "__class__"])])
        with pytest.raises(RuntimeError, match="which no program has"):
            load(data, programs=with_step(data, -1, args=args))


def test_keywords_that_are_code(data):
    @torch.library.custom_op("hostile::twice", mutates_args=())
    def twice(x: torch.Tensor) -> torch.Tensor:
        return x * 2

    args = ("tuple", [("slot", 2), ("dict", {f"bias={_CODE}, other": ("value", 1)})])
    changed = with_step(data, -1, op="torch.ops.hostile.twice.default", args=args)
    with torch.serialization.safe_globals([torch.ops.hostile.twice.default]):
        program = load(data, programs=changed)
    with pytest.raises(RuntimeError, match="unexpected argument"):
        program.module()(torch.ones(1, 2))
    assert not Path("ran").exists()


@pytest.mark.parametrize("names", [[["lambda"], []], [["x", "x"], []], [["x"], ["x"]]])
def test_names_that_no_arguments_can_have(data, names):
    with pytest.raises(ValueError, match="not Python names"):
        load(data, names=names)


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
