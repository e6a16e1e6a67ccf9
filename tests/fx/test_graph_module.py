"""GraphModule, Interpreter, Transformer, ShapeProp and replace_pattern."""

from __future__ import annotations

import copy
import importlib
import operator
import pickle
import sys

import pytest

import flambeau as torch
import flambeau.nn.functional as F
from flambeau import fx, nn
from flambeau.fx.passes.graph_drawer import FxGraphDrawer
from flambeau.fx.passes.shape_prop import ShapeProp
from tests.fx.networks import Block, Net


@pytest.fixture
def gm():
    return fx.symbolic_trace(Block(4))


def test_changes_take_effect_when_recompiled(gm):
    (relu,) = gm.graph.find_nodes(op="call_function", target=F.relu)
    relu.target, relu.kwargs = torch.sigmoid, {}
    x = torch.randn(2, 4)
    before = gm(x)
    gm.recompile()
    assert "torch.sigmoid" in gm.code
    assert not torch.equal(gm(x), before)


def test_class_and_text(gm):
    assert isinstance(gm, fx.GraphModule)
    assert type(gm).__name__ == "Block"
    assert type(gm) is not type(fx.symbolic_trace(Block(4)))
    assert gm.graph.owning_module is gm
    assert str(gm).startswith("Block(\n  (norm): LayerNorm")
    assert "def forward(self, x):" in str(gm)


def test_attributes_from_a_dictionary():
    graph = fx.symbolic_trace(Block(4)).graph
    parts = {"norm": nn.LayerNorm(4), "linear": nn.Linear(4, 4)}
    assert fx.GraphModule(parts, graph, "Made")(torch.ones(1, 4)).shape == (1, 4)
    with pytest.raises(RuntimeError, match="'linear', which the dictionary"):
        fx.GraphModule({"norm": parts["norm"]}, graph)


@pytest.mark.parametrize("how", [copy.deepcopy, copy.copy, lambda m: pickle.loads(pickle.dumps(m))])
def test_copies_and_pickles(how):
    gm = fx.symbolic_trace(Net())
    gm.note = "kept"
    made = how(gm)
    x = torch.randn(2, 4)
    assert made.code == gm.code
    assert torch.equal(made(x), gm(x))
    assert made.note == "kept"
    assert made.graph is not gm.graph
    assert made.graph.owning_module is made


def test_saved_and_loaded(tmp_path, gm):
    torch.save(gm, tmp_path / "module.pt")
    loaded = torch.load(tmp_path / "module.pt", weights_only=False)
    x = torch.randn(2, 4)
    assert torch.equal(loaded(x), gm(x))


def test_state_dict_is_that_of_the_network():
    net = Net()
    gm = fx.symbolic_trace(net)
    assert list(gm.state_dict()) == list(net.state_dict())


def test_submodules(gm):
    assert gm.add_submodule("extra.deep", nn.ReLU())
    assert isinstance(gm.extra.deep, nn.ReLU)
    assert gm.delete_submodule("extra.deep")
    assert not gm.delete_submodule("extra.deep")
    gm.delete_all_unused_submodules()
    assert [name for name, _ in gm.named_modules()] == ["", "norm", "linear"]


def test_readable(gm, capsys):
    ShapeProp(gm).propagate(torch.ones(3, 4))
    text = gm.print_readable()
    assert capsys.readouterr().out.strip() == text.strip()
    assert text.startswith('class Block(torch.nn.Module):\n    def forward(self, x: "f32[3, 4]"):')
    assert '        norm: "f32[3, 4]" = self.norm(x)' in text


def test_folder(gm, tmp_path, monkeypatch):
    gm.to_folder(tmp_path / "written", "Written")
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in ("", ".nn", ".fx", ".fx._pytree", ".utils", ".utils._pytree"):
        monkeypatch.setitem(sys.modules, f"torch{name}", importlib.import_module(f"flambeau{name}"))
    made = importlib.import_module("written").Written()
    x = torch.randn(2, 4)
    assert torch.equal(made(x), gm(x))


def test_error_shows_the_generated_line(gm):
    import traceback

    with pytest.raises(RuntimeError) as error:
        gm(torch.ones(2, 3))
    assert "norm = self.norm(x)" in "".join(traceback.format_exception(error.value))


# --- interpreters


def test_interpreter(gm):
    x = torch.randn(2, 4)
    assert torch.equal(fx.Interpreter(gm).run(x), gm(x))
    assert torch.equal(fx.Interpreter(gm).boxed_run([x]), gm(x))
    linear = next(n for n in gm.graph.nodes if n.name == "linear")
    changed = fx.Interpreter(gm).run(x, initial_env={linear: torch.zeros(2, 4)})
    assert torch.equal(changed, x)


def test_overridden_node(gm):
    class Zero(fx.Interpreter):
        def call_function(self, target, args, kwargs):
            if target is F.relu:
                return torch.zeros_like(args[0])
            return super().call_function(target, args, kwargs)

    x = torch.randn(2, 4)
    assert torch.equal(Zero(gm).run(x), x)


def test_interpreter_names_the_node(gm):
    with pytest.raises(RuntimeError, match="While executing %norm : "):
        fx.Interpreter(gm).run(torch.ones(2, 3))
    with pytest.raises(RuntimeError, match="Expected positional argument for parameter x"):
        fx.Interpreter(gm).run()


def test_transformer(gm):
    class Smooth(fx.Transformer):
        def call_function(self, target, args, kwargs):
            if target is F.relu:
                return torch.sigmoid(args[0])
            return super().call_function(target, args, kwargs)

    made = Smooth(gm).transform()
    assert "torch.sigmoid" in made.code
    assert "relu" not in made.code
    assert made.linear is gm.linear


def test_shapes(gm):
    ShapeProp(gm).propagate(torch.ones(3, 4))
    meta = {n.name: n.meta["tensor_meta"] for n in gm.graph.nodes}
    assert meta["linear"].shape == (3, 4)
    assert meta["linear"].dtype is torch.float32
    assert meta["linear"].requires_grad
    assert meta["x"].memory_format is torch.contiguous_format
    with pytest.raises(NotImplementedError, match="fake_mode"):
        ShapeProp(gm, fake_mode=object())


def test_drawing_is_refused(gm):
    with pytest.raises(NotImplementedError, match="print_readable"):
        FxGraphDrawer(gm, "net")


# --- patterns


def test_all_occurrences_are_replaced():
    gm = fx.symbolic_trace(lambda x, a, b: x + torch.cat([a, b]).sum() + torch.cat([a, a]).sum())
    matches = fx.replace_pattern(
        gm, lambda a, b: torch.cat([a, b]).sum(), lambda a, b: a.sum() + b.sum()
    )
    assert len(matches) == 2
    assert matches[0].anchor.name == "sum_1"
    gm.graph.lint()
    assert "cat" not in gm.code
    one = torch.ones(2)
    assert gm(torch.zeros(1), one, 2 * one).item() == 10


def test_results_that_are_used_elsewhere_stay():
    gm = fx.symbolic_trace(lambda x: (x.neg() + 1, x.neg().exp() + x))

    def program(x):
        y = x.neg()
        return y.exp(), y

    gm = fx.symbolic_trace(program)
    assert fx.replace_pattern(gm, lambda x: x.neg().exp(), lambda x: x) == []


def test_replacement_feeds_the_next_one():
    gm = fx.symbolic_trace(lambda x: x.relu().relu())
    matches = fx.replace_pattern(gm, lambda x: x.relu(), lambda x: torch.tanh(x))
    assert len(matches) == 2
    targets = [n.target for n in gm.graph.find_nodes(op="call_function")]
    assert targets == [torch.tanh, torch.tanh]
    gm.graph.lint()


def test_filters():
    from flambeau.fx.subgraph_rewriter import replace_pattern_with_filters

    gm = fx.symbolic_trace(lambda x: x.relu() + x.relu())
    made = replace_pattern_with_filters(
        gm,
        lambda x: x.relu(),
        lambda x: x.neg(),
        [lambda match, graph, pattern: match.anchors[0].name == "relu"],
    )
    assert len(made) == 1
    assert [n.name for n in made[0].replacements] == ["neg"]
    assert gm.graph.find_nodes(op="call_function", target=operator.add)
