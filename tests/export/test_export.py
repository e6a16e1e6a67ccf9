"""torch.export: programs as graphs of operators, their guards, sizes and files."""

from __future__ import annotations

import io

import pytest

import flambeau as torch
import flambeau.nn.functional as F
from flambeau import nn
from flambeau._dynamo.exc import UserError
from flambeau.export import Dim, ExportedProgram, ShapesCollection, dims, export, load, save
from flambeau.export.graph_signature import InputKind
from flambeau.fx.experimental.proxy_tensor import make_fx


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 3)
        self.norm = nn.BatchNorm1d(3)
        self.register_buffer("scale", torch.full((3,), 2.0))

    def forward(self, x, extra=None):
        h = self.norm(F.relu(self.fc(x))) * self.scale
        if extra is not None:
            h = h + extra["a"][0]
        return h.view(x.shape[0], -1).softmax(dim=-1), {"mean": h.mean()}


class Text(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(10, 8)
        self.encoder = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
        self.lstm = nn.LSTM(8, 4, batch_first=True)

    def forward(self, tokens):
        h, (last, _) = self.lstm(self.encoder(self.embed(tokens)))
        return F.cross_entropy(h.flatten(0, 1), tokens.flatten() % 4), h[:, -1] ** 2, 1 - last


def same(a, b):
    return all(torch.equal(x, y) for x, y in zip(torch_leaves(a), torch_leaves(b), strict=True))


def torch_leaves(value):
    if isinstance(value, torch.Tensor):
        return [value]
    items = value.values() if isinstance(value, dict) else value
    return [leaf for item in items for leaf in torch_leaves(item)]


def test_same_results_and_gradients():
    net = Net().eval()
    x = torch.randn(2, 4)
    program = export(net, (x,))
    assert isinstance(program, ExportedProgram)
    module = program.module()
    assert same(module(x), net(x))
    module(x)[0][0, 0].backward()
    assert net.fc.weight.grad is not None


def test_graph_is_made_of_operators():
    program = export(Net().eval(), (torch.ones(2, 4),))
    nodes = program.graph.find_nodes(op="call_function")
    assert [n.name for n in nodes[:2]] == ["linear", "relu"]
    assert nodes[0].target is torch.ops.aten.linear.default
    assert "torch.ops.aten.linear.default(x, p_fc_weight, p_fc_bias)" in program.graph_module.code
    assert nodes[0].meta["val"].shape == (2, 3)
    assert nodes[0].meta["val"].is_meta


def test_program_can_ask_whether_it_is_exported():
    answers = []

    class Asking(nn.Module):
        def forward(self, x):
            compiler = torch.compiler
            answers.append((compiler.is_exporting(), compiler.is_compiling()))
            return x + 1

    torch.export.export(Asking(), (torch.ones(2),))
    Asking()(torch.ones(2))
    assert answers == [(True, True), (False, False)]


def test_signature():
    program = export(Net(), (torch.ones(2, 4), {"a": [torch.ones(1)]}))
    signature = program.graph_signature
    assert signature.parameters == ("fc.weight", "fc.bias", "norm.weight", "norm.bias")
    assert signature.inputs_to_parameters["p_fc_weight"] == "fc.weight"
    assert signature.buffers[0] == "scale"
    assert signature.user_inputs == ("x", "extra_a_0")
    assert [s.kind for s in signature.input_specs][-1] is InputKind.USER_INPUT
    assert len(signature.user_outputs) == 2
    assert "p_fc_weight: PARAMETER target='fc.weight'" in str(program)


def test_state_is_shared_and_untouched_by_the_export():
    net = Net()
    program = export(net, (torch.randn(2, 4),))
    assert net.norm.num_batches_tracked.item() == 0
    assert program.state_dict["fc.weight"] is net.fc.weight
    assert dict(program.named_buffers()).keys() == dict(net.named_buffers()).keys()
    program.module()(torch.randn(2, 4))
    assert net.norm.num_batches_tracked.item() == 1


def test_keyword_inputs():
    net = Net().eval()
    x, extra = torch.randn(2, 4), {"a": [torch.ones(1)]}
    module = export(net, (x,), {"extra": extra}).module()
    assert same(module(x, extra=extra), net(x, extra))


def test_guards():
    module = export(Net().eval(), (torch.ones(2, 4),)).module()
    with pytest.raises(AssertionError, match=r"Guard failed: x.size\(\)\[0\] == 2"):
        module(torch.ones(3, 4))
    with pytest.raises(AssertionError, match=r"Guard failed: x.dtype == torch.float32"):
        module(torch.ones(2, 4, dtype=torch.float64))
    with pytest.raises(AssertionError, match=r"Guard failed: x.dim\(\) == 2"):
        module(torch.ones(4))


def test_dynamic_sizes():
    net = Net().eval()
    batch = Dim("batch", min=1, max=10)
    program = export(net, (torch.ones(2, 4),), dynamic_shapes={"x": {0: batch}})
    assert program.range_constraints == {"batch": (1, 10)}
    assert "torch.ops.aten.sym_size.int(x, 0)" in program.graph_module.code
    module = program.module()
    x = torch.randn(7, 4)
    assert same(module(x), net(x))
    with pytest.raises(AssertionError, match=r"Guard failed: x.size\(\)\[0\] <= 10"):
        module(torch.ones(11, 4))


def test_sizes_of_one_name_agree():
    class Add(nn.Module):
        def forward(self, x, y):
            return x + y

    n = Dim("n")
    module = export(Add(), (torch.ones(2), torch.ones(2)), dynamic_shapes=({0: n}, {0: n})).module()
    assert module(torch.ones(5), torch.ones(5)).shape == (5,)
    with pytest.raises(AssertionError, match=r"y.size\(\)\[0\] == n, which is 5"):
        module(torch.ones(5), torch.ones(1))


class Fixed(nn.Module):
    def forward(self, x):
        return x.view(2, 2)


def test_size_that_cannot_differ_is_refused():
    x = torch.ones(2, 2)
    with pytest.raises(UserError, match=r"Constraints violated \(n\)"):
        export(Fixed(), (x,), dynamic_shapes={"x": {0: Dim("n")}})
    program = export(Fixed(), (x,), dynamic_shapes={"x": {0: Dim.AUTO}})
    assert program.range_constraints == {}


def test_size_that_the_program_builds_in_is_found():
    class Loop(nn.Module):
        def forward(self, x):
            return torch.stack([x[i] * 2 for i in range(x.shape[0])])

    with pytest.raises(UserError, match="works for one size only"):
        export(Loop(), (torch.ones(3, 2),), dynamic_shapes={"x": {0: Dim.DYNAMIC}})
    assert export(Loop(), (torch.ones(3, 2),)).module()(torch.ones(3, 2)).shape == (3, 2)


def test_larger_networks():
    net = Text().eval()
    tokens = torch.tensor([[1, 2, 3], [4, 5, 6]])
    sizes = ({0: Dim("batch"), 1: Dim("time")},)
    for program in (export(net, (tokens,)), export(net, (tokens,), dynamic_shapes=sizes)):
        assert same(program.module()(tokens), net(tokens))
    longer = torch.zeros(3, 5, dtype=torch.int64)
    assert same(program.module()(longer), net(longer))


def test_constants_are_kept():
    offsets = torch.arange(3.0)

    class Add(nn.Module):
        def forward(self, x):
            return x + offsets

    program = export(Add(), (torch.zeros(3),))
    assert program.graph_signature.lifted_tensor_constants == ("lifted_tensor_0",)
    assert program.module()(torch.zeros(3)).tolist() == [0.0, 1.0, 2.0]


class Branch(nn.Module):
    def forward(self, x):
        return x if x.sum() > 0 else -x


class Number(nn.Module):
    def forward(self, x):
        return x * x.sum().item()


@pytest.mark.parametrize(("module", "how"), [(Branch(), "__bool__"), (Number(), "item")])
def test_programs_that_depend_on_elements_are_refused(module, how):
    with pytest.raises(UserError, match=rf"looks at the elements of a tensor \(Tensor.{how}\)"):
        export(module, (torch.ones(2),))


def test_bad_input():
    with pytest.raises(ValueError, match=r"instance of `torch\.nn\.Module`"):
        export(lambda x: x, (torch.ones(1),))
    with pytest.raises(UserError, match="tuple of example positional inputs"):
        export(Net(), torch.ones(2, 4))
    with pytest.raises(UserError, match=r"must be the arg names \['x'\]"):
        export(Net(), (torch.ones(2, 4),), dynamic_shapes={"y": None})
    with pytest.raises(RuntimeError, match="Unable to call ExportedProgram directly"):
        export(Net(), (torch.ones(2, 4),))(torch.ones(2, 4))
    with pytest.raises(TypeError, match="must be an instance of 'ExportedProgram'"):
        save(Net(), io.BytesIO())
    with pytest.raises(NotImplementedError, match=r"export\(\) raises an error"):
        torch.export.draft_export(Net(), ())
    with pytest.raises(NotImplementedError, match=r"module\(\) runs the whole program"):
        torch.export.unflatten(export(Net(), (torch.ones(2, 4),)))


# --- files


def test_saved_and_loaded(tmp_path):
    net = Text().eval()
    tokens = torch.tensor([[1, 2, 3], [4, 5, 6]])
    program = export(net, (tokens,), dynamic_shapes=({0: Dim("batch", max=5)},))
    save(program, tmp_path / "text.pt2", extra_files={"about": "a small model"})
    texts = {"about": ""}
    loaded = load(tmp_path / "text.pt2", extra_files=texts)
    assert texts == {"about": "a small model"}
    assert str(loaded) == str(program)
    assert same(loaded.module()(tokens), net(tokens))
    assert all(p.requires_grad for p in loaded.parameters())
    with pytest.raises(AssertionError, match="<= 5"):
        loaded.module()(torch.zeros(6, 3, dtype=torch.int64))


def test_files_name_operators_of_the_package_only():
    buffer = io.BytesIO()
    save(export(Fixed(), (torch.ones(2, 2),)), buffer)
    buffer.seek(0)
    data = torch.load(buffer)
    program = data["programs"]["forward"]
    (_, args, results, mode) = program["steps"][0]
    for target in ("os.system", "builtins.eval", "torch.load"):
        program["steps"] = [(target, args, results, mode)]
        forged = io.BytesIO()
        torch.save(data, forged)
        forged.seek(0)
        with pytest.raises(ValueError, match=f"asks for '{target}', which is no operator"):
            load(forged)


def test_other_files_are_refused():
    buffer = io.BytesIO()
    torch.save({"weight": torch.ones(1)}, buffer)
    buffer.seek(0)
    with pytest.raises(RuntimeError, match="no exported program of Flambeau"):
        load(buffer)


# --- Dim and other dynamic shapes


def test_dims():
    assert repr(Dim("b", min=2, max=5)) == "Dim('b', max=5)"
    assert [d.__name__ for d in dims("a", "b", min=1)] == ["a", "b"]
    assert repr(Dim.AUTO) == "DimHint(AUTO)"
    assert Dim.DYNAMIC(max=8).max == 8
    with pytest.raises(AssertionError, match="inconsistent min=5, max=2"):
        Dim("b", min=5, max=2)
    with pytest.raises(AssertionError, match="valid identifier"):
        Dim("1x")
    with pytest.raises(NotImplementedError, match=r"Dim\.AUTO"):
        2 * Dim("b")


def test_shapes_by_tensor():
    x = torch.ones(2, 4)
    shapes = ShapesCollection()
    shapes[x] = {0: Dim.DYNAMIC}
    declared = shapes.dynamic_shapes(Net(), (x,))
    assert declared == {"x": {0: Dim.DYNAMIC}}
    program = export(Net().eval(), (x,), dynamic_shapes=declared)
    assert program.module()(torch.ones(5, 4))[0].shape == (5, 3)


def test_make_fx():
    gm = make_fx(lambda x, y: torch.sin(x) * y)(torch.ones(2), torch.ones(2))
    assert gm.code == (
        "\n\n\ndef forward(self, x_1, y_1):\n"
        "    sin = torch.ops.aten.sin.default(x_1);  x_1 = None\n"
        "    mul = torch.ops.aten.mul.Tensor(sin, y_1);  sin = y_1 = None\n"
        "    return mul\n"
        "    "
    )
    sized = make_fx(lambda x: x.view(x.shape[0] * 2, -1), tracing_mode="symbolic")(torch.ones(2, 2))
    assert sized(torch.ones(3, 4)).shape == (6, 2)
    with pytest.raises(NotImplementedError, match="replace_pattern"):
        make_fx(torch.sin, decomposition_table={1: 2})
