"""Programs in files call operators of the table and ask for properties of tensors, nothing else."""

import io
import sys
import types
from pathlib import Path

import pytest

import flambeau as torch
from flambeau import _C, Tensor, nn
from flambeau._operators.inner import INNER
from flambeau.export._targets import operator_named
from flambeau.jit._program import functions, name_of
from flambeau.serialization import load, safe_globals, save

TABLE = {f"{each['namespace'].replace('.', '_')}_{each['name']}" for each in _C.op_info()}
TABLE = {name.removeprefix("nn_functional").removeprefix("_") for name in TABLE}
# Operators of the table that reach beyond tensors.
BEYOND = {"apply_", "map_", "map2_", "register_hook", "register_post_accumulate_grad_hook"}
BEYOND |= {"as_subclass", "data_ptr", "from_numpy", "frombuffer", "item", "numpy", "set_", "tolist"}
BEYOND |= {"backward", "retain_grad"}
NATIVE = (types.BuiltinFunctionType, types.MethodDescriptorType)


def package_names():
    """Every name that a module or class of the package has, with the path to it."""
    places = {n: m for n, m in sys.modules.items() if n.split(".")[0] == "flambeau" and m}
    places |= {f"flambeau.{cls.__name__}": cls for cls in (Tensor, nn.Module, torch.device)}
    for place, holder in sorted(places.items()):
        for name in list(vars(holder)):
            yield "torch" + place.removeprefix("flambeau"), name


def is_operator(function):
    """Whether it is native, of the table, and works on tensors alone."""
    name = function.__name__.rstrip("_") if isinstance(function, NATIVE) else ""
    stems = {name, f"_{name}".lstrip("_"), function.__name__} if name else set()
    space = (getattr(function, "__module__", None) or "").removeprefix("flambeau._C")
    stems |= {f"{space.strip('.')}_{stem}" for stem in stems}
    return bool(stems & TABLE) and function.__name__ not in BEYOND


def test_every_name_of_the_package_in_exported_programs():
    found, refused = 0, 0
    for place, name in package_names():
        for asked in (f"{place}.{name}", f"torch.ops.aten.{name}.default"):
            try:
                target = operator_named(asked)
            except ValueError:
                refused += 1
                continue
            function = getattr(target, "_call", target)
            assert name in INNER or is_operator(function), f"{asked} is {function}"
            found += 1
    assert found > 1000
    assert refused > 3000


def test_every_name_of_the_package_in_traces():
    steps = functions()
    syntax = {f"torch.Tensor.{name}" for name in dir(Tensor) if name.startswith("__")}
    for place, name in package_names():
        for asked in (f"{place}.{name}", f"torch._C.{name}", f"{place}.{name}.__call__"):
            is_allowed = asked in syntax or is_operator(steps.get(asked, print))
            assert asked not in steps or is_allowed, f"{asked} is {steps[asked]}"
    unsafe = ("__class__", "__reduce_ex__", "__deepcopy__", "__init__", "__array__", "__dlpack__")
    assert not {f"torch.Tensor.{name}" for name in unsafe} & set(steps)


CALLS = {
    "torch.ops.aten.load.default": ["'weights.pt'"],
    "torch.ops.aten.save.default": ["x", "'ran'"],
    "torch.ops.aten.numpy.default": ["x"],
    "torch.ops.aten.cond.default": ["x"],
    "torch.ops.aten.compile.default": ["x"],
    "torch.ops.aten.backward.default": ["x"],
    "torch.ops.aten.data_ptr.default": ["x"],
    "torch.ops.aten.apply_.default": ["x"],
    "torch.ops.aten.untyped_storage.default": ["x"],
    "torch.ops.aten.__class__.default": ["x"],
    "torch.ops.prim.data.default": ["x"],
    "torch.save": ["x", "'ran'"],
    "torch.hub.load": ["'ran'"],
    "torch.Tensor.numpy": ["x"],
    "torch.Tensor.__reduce_ex__": ["x"],
    "torch._C._set_default_dtype": ["x"],
    "builtins.eval": ["'1'"],
    "operator.attrgetter": ["'__class__'"],
}


@pytest.fixture
def exported(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    program = torch.export.export(nn.ReLU(), (torch.ones(2),))
    file = io.BytesIO()
    torch.export.save(program, file)
    return load(io.BytesIO(file.getvalue()))


@pytest.fixture
def traced(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = io.BytesIO()
    torch.jit.save(torch.jit.trace(nn.ReLU(), torch.ones(2)), file)
    return load(io.BytesIO(file.getvalue()))


def reloaded(content, read):
    file = io.BytesIO()
    save(content, file)
    file.seek(0)
    return read(file)


def node_calling(target, arguments):
    values = [("node", "input") if each == "x" else ("value", eval(each)) for each in arguments]
    return ("call_function", target, ("tuple", values), ("dict", {}), "relu")


@pytest.mark.parametrize(("target", "arguments"), CALLS.items(), ids=list(CALLS))
def test_exported_programs_that_call_something_else(exported, target, arguments):
    nodes = [
        n if n[0] != "call_function" else node_calling(target, arguments) for n in exported["nodes"]
    ]
    assert nodes != exported["nodes"]
    with pytest.raises(ValueError, match="which is no operator"):
        reloaded({**exported, "nodes": nodes}, torch.export.load)
    assert not Path("ran").exists()


@pytest.mark.parametrize(("target", "arguments"), CALLS.items(), ids=list(CALLS))
def test_traces_that_call_something_else(traced, target, arguments):
    values = [
        ("reference", (0, ())) if each == "x" else ("value", eval(each)) for each in arguments
    ]
    program = dict(traced["programs"]["forward"])
    program["steps"] = [(target, ("tuple", tuple(values)), ("dict", {}), None)]
    with pytest.raises(RuntimeError, match="there is no operator called"):
        reloaded({**traced, "programs": {"forward": program}}, torch.jit.load)
    assert not Path("ran").exists()


@pytest.mark.parametrize(
    "name", ["__class__", "untyped_storage", "numpy", "grad_fn", "_base", "add"]
)
def test_attributes_that_are_no_properties(exported, name):
    node = node_calling("builtins.getattr", ["x", repr(name)])
    nodes = [n if n[0] != "call_function" else node for n in exported["nodes"]]
    with pytest.raises(ValueError, match="which is no property of tensors"):
        reloaded({**exported, "nodes": nodes}, torch.export.load)


def test_values_that_are_not_plain(exported, traced):
    step = ("torch.relu", ("tuple", (("value", {"a": 1}),)), ("dict", {}), None)
    program = {**traced["programs"]["forward"], "steps": [step]}
    with pytest.raises(RuntimeError, match="which no script has"):
        reloaded({**traced, "programs": {"forward": program}}, torch.jit.load)
    node = node_calling("torch.ops.aten.relu.default", ["{'a': 1}"])
    nodes = [n if n[0] != "call_function" else node for n in exported["nodes"]]
    with pytest.raises(ValueError, match="unknown kind 'value', dict"):
        reloaded({**exported, "nodes": nodes}, torch.export.load)


def test_operators_of_the_user_are_called_when_the_user_says_so(exported):
    @torch.library.custom_op("stored::twice", mutates_args=())
    def twice(x: Tensor) -> Tensor:
        return x * 2

    node = node_calling("torch.ops.stored.twice.default", ["x"])
    nodes = [n if n[0] != "call_function" else node for n in exported["nodes"]]
    with pytest.raises(ValueError, match=r"add_safe_globals\(\[torch.ops.stored.twice.default\]\)"):
        reloaded({**exported, "nodes": nodes}, torch.export.load)
    with safe_globals([torch.ops.stored.twice.default]):
        program = reloaded({**exported, "nodes": nodes}, torch.export.load)
    assert program.module()(torch.ones(2)).tolist() == [2, 2]


class Everything(nn.Module):
    """Functions that are written in Python, and properties: their parts are recorded."""

    def forward(self, x):
        y = nn.functional.lp_pool1d(x, 2.0, 2)
        y, places = nn.functional.max_pool1d(y, 2, return_indices=True)
        y = nn.functional.max_unpool1d(y, places, 2)
        packed = nn.utils.rnn.pack_sequence([y[0].mT, y[0].mT[:1]])
        return packed.data.T.real + torch.einsum("ij->j", x[0]).mean() - x[0].H.mean()


def test_programs_made_of_functions_in_python(tmp_path):
    x = torch.arange(12.0).reshape(1, 2, 6).requires_grad_()
    expected = Everything()(x)
    torch.jit.save(torch.jit.trace(Everything(), x), tmp_path / "trace.pt")
    assert torch.equal(torch.jit.load(tmp_path / "trace.pt")(x), expected)
    torch.export.save(torch.export.export(Everything(), (x,)), tmp_path / "program.pt2")
    loaded = torch.export.load(tmp_path / "program.pt2")
    assert torch.equal(loaded.module()(x), expected)


def test_what_can_be_named_can_be_called():
    for name, function in functions().items():
        assert name_of(function) == name


def laughs(pair):
    """A value of which every level holds the one below twice."""
    for _ in range(60):
        pair = ("tuple", (pair, pair))
    return pair


def test_values_that_a_file_refers_to_over_and_over(exported, traced):
    program = {**traced["programs"]["forward"], "result": laughs(("value", 1))}
    with pytest.raises(RuntimeError, match="no program is written like that"):
        reloaded({**traced, "programs": {"forward": program}}, torch.jit.load)
    child = {"name": "M", "training": True, "parameters": {}, "buffers": {}, "children": {}}
    for _ in range(60):
        child = {**child, "children": {"a": child, "b": child}}
    with pytest.raises(RuntimeError, match="no program is written like that"):
        reloaded({**traced, "module": child}, torch.jit.load)
    with pytest.raises(RuntimeError, match="no program is written like that"):
        reloaded({**exported, "constants": laughs(("value", 1))}, torch.export.load)
    endless = [("value", 1)]
    endless.append(endless)
    with pytest.raises(RuntimeError, match="holds itself"):
        reloaded({**exported, "nodes": endless}, torch.export.load)


def test_names_that_are_orders_to_a_terminal(exported, traced):
    name = "\x1b[2Jname"
    for changed in ({"name": name}, {"children": {name: traced["module"]}}):
        with pytest.raises(RuntimeError, match=r"something that is called '\\x1b"):
            reloaded({**traced, "module": {**traced["module"], **changed}}, torch.jit.load)
    with pytest.raises(RuntimeError, match=r"something that is called '\\x1b"):
        reloaded({**exported, "constants": {name: torch.ones(1)}}, torch.export.load)
