"""Programs in files call operators of the table and ask for properties of tensors, nothing else."""

import io
import sys
from pathlib import Path

import pytest

import flambeau as torch
from flambeau import _C, Tensor, nn
from flambeau._recording.program import NOTES, row_named
from flambeau.export._targets import library_operator
from flambeau.serialization import load, safe_globals, save

# Operators of the table that reach beyond tensors.
BEYOND = {"apply_", "map_", "map2_", "register_hook", "register_post_accumulate_grad_hook"}
BEYOND |= {"as_subclass", "data_ptr", "from_numpy", "frombuffer", "item", "numpy", "set_", "tolist"}
BEYOND |= {"backward", "retain_grad"}


def package_names():
    """Every name that a module or class of the package has, with the path to it."""
    places = {n: m for n, m in sys.modules.items() if n.split(".")[0] == "flambeau" and m}
    places |= {f"flambeau.{cls.__name__}": cls for cls in (Tensor, nn.Module, torch.device)}
    for place, holder in sorted(places.items()):
        for name in list(vars(holder)):
            yield "torch" + place.removeprefix("flambeau"), name


def is_row(name):
    """Whether it is an operator of the table that checks its arguments and works on tensors."""
    found = _C._find_op(name)
    return found is not None and not found[4] & _C._OP_INNER and name not in BEYOND


def test_every_name_of_the_package():
    found, refused = set(), 0
    for place, name in package_names():
        for asked in (name, f"{place}.{name}", f"torch.ops.aten.{name}.default", f"_C.{name}"):
            try:
                row_named(asked)
            except RuntimeError:
                refused += 1
                continue
            assert asked == name
            assert is_row(name), name
            found.add(name)
    assert len(found) > 500
    assert refused > 10000


def test_operators_that_no_program_may_call():
    rows = set(_C._op_names())
    inner = {name for name in rows if _C._find_op(name)[4] & _C._OP_INNER}
    assert len(inner) > 20
    for name in inner | BEYOND:
        with pytest.raises(RuntimeError, match="there is no operator called"):
            row_named(name)
    assert not {name for name in NOTES if name in rows}


def test_operators_of_the_package_are_no_operators_of_the_user():
    for _, name in package_names():
        with pytest.raises(ValueError, match="which is no operator"):
            library_operator(f"torch.ops.aten.{name}.default")


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


def calling(target, arguments):
    """A step that puts its result where the program expects it."""
    values = [("slot", 0) if each == "x" else ("value", eval(each)) for each in arguments]
    return (target, ("tuple", values), (1,), None)


def with_steps(content, *steps):
    program = {**content["programs"]["forward"], "steps": list(steps)}
    return {**content, "programs": {"forward": program}}


@pytest.mark.parametrize(("target", "arguments"), CALLS.items(), ids=list(CALLS))
def test_exported_programs_that_call_something_else(exported, target, arguments):
    changed = with_steps(exported, calling(target, arguments))
    with pytest.raises(ValueError, match="which is no operator"):
        reloaded(changed, torch.export.load)
    assert not Path("ran").exists()


@pytest.mark.parametrize(("target", "arguments"), CALLS.items(), ids=list(CALLS))
def test_traces_that_call_something_else(traced, target, arguments):
    with pytest.raises(RuntimeError, match="there is no operator called"):
        reloaded(with_steps(traced, calling(target, arguments)), torch.jit.load)
    assert not Path("ran").exists()


@pytest.mark.parametrize("name", ["data_ptr", "_linear_rows", "_softmax_backward"])
def test_operators_that_trust_their_arguments(exported, traced, name):
    for content, read in ((exported, torch.export.load), (traced, torch.jit.load)):
        with pytest.raises((RuntimeError, ValueError), match="no operator"):
            reloaded(with_steps(content, calling(name, ["x"])), read)


@pytest.mark.parametrize(
    "arguments", [["'text'"], ["x", "1", "2", "3"], ["1.5", "x"], ["[1, 2]", "x"]]
)
def test_arguments_that_an_operator_does_not_take(exported, traced, arguments):
    for content, read in ((exported, torch.export.load), (traced, torch.jit.load)):
        with pytest.raises(RuntimeError, match=r"the file is damaged|which no program has"):
            reloaded(with_steps(content, calling("transpose", arguments)), read)


@pytest.mark.parametrize("slot", [2, -1, 2**40])
def test_values_that_a_program_has_not(exported, traced, slot):
    for content, read in ((exported, torch.export.load), (traced, torch.jit.load)):
        for step in (
            ("relu", ("tuple", [("slot", slot)]), (1,), None),
            ("relu", ("tuple", [("slot", 0)]), (slot if slot != -1 else -2,), None),
        ):
            with pytest.raises((RuntimeError, ValueError), match=r"names the value|has no value"):
                reloaded(with_steps(content, step), read)


def test_sizes_of_a_program_are_numbers(exported, traced):
    for note in ("sizes.getattr", "sizes.__class__", "sizes"):
        for content, read in ((exported, torch.export.load), (traced, torch.jit.load)):
            with pytest.raises((RuntimeError, ValueError), match="no operator"):
                reloaded(with_steps(content, calling(note, ["x", "'__class__'"])), read)
    loaded = reloaded(with_steps(traced, calling("sizes.mul", ["x", "2"])), torch.jit.load)
    with pytest.raises(RuntimeError, match="sizes of whole numbers, not of Tensor"):
        loaded(torch.ones(2))


def test_values_that_are_not_plain(exported, traced):
    step = ("relu", ("tuple", [("value", {"a": 1})]), (1,), None)
    for content, read in ((exported, torch.export.load), (traced, torch.jit.load)):
        with pytest.raises(RuntimeError, match="which no program has"):
            reloaded(with_steps(content, step), read)


def test_files_of_older_versions(exported, traced):
    for old in ("flambeau.jit", "flambeau exported program"):
        for content, read in ((exported, torch.export.load), (traced, torch.jit.load)):
            with pytest.raises(RuntimeError, match="an older version of Flambeau"):
                reloaded({**content, "format": old, "version": 1}, read)
    for content, read in ((exported, torch.export.load), (traced, torch.jit.load)):
        with pytest.raises(RuntimeError, match="written by a newer version of Flambeau"):
            reloaded({**content, "version": 3}, read)


def test_one_kind_of_program_is_not_the_other(exported, traced):
    with pytest.raises(RuntimeError, match="not a script"):
        reloaded(exported, torch.jit.load)
    with pytest.raises(RuntimeError, match="no exported program"):
        reloaded(traced, torch.export.load)


def test_operators_of_the_user_are_called_when_the_user_says_so(exported):
    @torch.library.custom_op("stored::twice", mutates_args=())
    def twice(x: Tensor) -> Tensor:
        return x * 2

    changed = with_steps(exported, calling("torch.ops.stored.twice.default", ["x"]))
    with pytest.raises(ValueError, match=r"add_safe_globals\(\[torch.ops.stored.twice.default\]\)"):
        reloaded(changed, torch.export.load)
    with safe_globals([torch.ops.stored.twice.default]):
        program = reloaded(changed, torch.export.load)
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
        reloaded({**exported, "node_names": endless}, torch.export.load)


def test_names_that_are_orders_to_a_terminal(exported, traced):
    name = "\x1b[2Jname"
    for changed in ({"name": name}, {"children": {name: traced["module"]}}):
        with pytest.raises(RuntimeError, match=r"something that is called '\\x1b"):
            reloaded({**traced, "module": {**traced["module"], **changed}}, torch.jit.load)
    with pytest.raises(RuntimeError, match=r"something that is called '\\x1b"):
        reloaded({**exported, "constants": {name: torch.ones(1)}}, torch.export.load)
