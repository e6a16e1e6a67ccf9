"""A table entry that cannot be right is refused, and the message says where it stands."""

from pathlib import Path

import pytest

from opgen import describe
from opgen.emit import autograd
from opgen.model import Table, TableError
from tests.opgen.planted import read_table

HEADER = "from opgen.model import *\nfrom opgen.model import op, pointwise, native, view\n\n"
LINE = HEADER.count("\n") + 1  # where the entry of every case begins


def load(entry: str, folder: Path) -> Table:
    """Read a table file that holds `entry`."""
    file = folder / "table" / "planted.py"
    file.parent.mkdir()
    file.write_text(HEADER + entry, encoding="utf-8")
    return read_table(file)


UNARY = "planted(input: Tensor) -> Tensor"
WITH_OUT = "planted(input: Tensor, *, out: Tensor | None = None) -> Tensor"
WITH_OUTS = WITH_OUT.replace("-> Tensor", "-> tuple[Tensor, Tensor]")
PAIR = "planted(x: Tensor, *, out: list[Tensor] | None = None) -> tuple[Tensor, Tensor]"
INPLACE_FIRST = "planted(x: Tensor, inplace: bool = False, p: float = 1.0) -> Tensor"


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ('op("planted(input: Tensor -> Tensor", kind=native, doc="D.")', "not a signature"),
        ('op("planted(input: Tensor)", kind=native, doc="D.")', "lacks '-> result'"),
        ('op("planted(*input) -> Tensor", kind=native, doc="D.")', r"instead of \*args"),
        (
            f'op("{UNARY}", kind=native, grad=composite, host="cuda", doc="D.")',
            "host is for native operators that are no compositions",
        ),
        (
            'op("planted(input) -> Tensor", kind=native, doc="D.")',
            "argument 'input' .* has no type",
        ),
        ('op("planted(x: Tensorr) -> Tensor", kind=native, doc="D.")', "unknown type 'Tensorr'"),
        (
            'op("planted(x: Tensor) -> Matrix", kind=native, doc="D.")',
            "unknown result type 'Matrix'",
        ),
        (f'op("{UNARY}", kind="magic", doc="D.")', "unknown kind 'magic'"),
        (f'op("{UNARY}", kind=native, forms="functoin", doc="D.")', "unknown form 'functoin'"),
        (f'op("{UNARY}", kind=native, forms="inner", doc="D.")', "a name that begins with _"),
        (
            'op("_planted(x: Tensor) -> Tensor", kind=native, forms="inner method", doc="D.")',
            "an operator that is inner has no other form",
        ),
        (
            'op("_planted(x: Tensor) -> Tensor", kind=native, forms="named inner", doc="D.")',
            "has no other form",
        ),
        (f'op("{UNARY}", kind=native, dtypes=("float8",), doc="D.")', "unknown dtype 'float8'"),
        (f'op("{UNARY}", kind=native, type_check="none", doc="D.")', "type_check is 'own'"),
        (f'op("{UNARY}", kind=view, type_check="own", doc="D.")', "no compositions"),
        (f'op("{UNARY}", kind=native, hands_out=True, doc="D.")', "hands_out is for bound"),
        (f'op("{UNARY}", kind=native, doc="No stop")', "ends with a full stop"),
        (f'op("{UNARY}", kind=native, doc="")', "ends with a full stop"),
        (f'op("{UNARY}", kind=native, promote="float", doc="D.")', "belong to pointwise"),
        (f'op("{UNARY}", kind=pointwise, promote="double", doc="D.")', "promote is"),
        (f'op("{UNARY}", kind=pointwise, output="int", doc="D.")', "output is"),
        (
            f'op("{UNARY}", kind=pointwise, bool_inputs=("mask",), doc="D.")',
            "names no operand: mask",
        ),
        (f'op("{UNARY}", kind=native, autocast="half", doc="D.")', "autocast is one of"),
        (
            'op("planted(n: int) -> Tensor", kind=native, forms="", autocast="lower", doc="D.")',
            "operators that take tensors",
        ),
        (
            f'op("{UNARY}", kind=native, mutates=True, autocast="lower", grad="none", doc="D.")',
            "computes in the type of that",
        ),
        (f'op("{UNARY}", kind=native, writes="other", doc="D.")', "writes names no tensor: other"),
        (f'op("{UNARY}", kind=native, writes="input", doc="D.")', "that return nothing"),
        (
            f'op("{UNARY}", kind="python", body="a:b", autocast="promote", doc="D.")',
            "needs a body in C",
        ),
        (
            f'op("{UNARY}", kind=native, forms="inplace", grad=composite, autocast="off", doc=".")',
            "leaves autocast to its parts",
        ),
        (f'op("{UNARY}", kind=native, returns="values indices", doc="D.")', "names 2 fields"),
        (f'op("{UNARY}", kind=native, body="a:b", doc="D.")', "python operators, and only they"),
        (f'op("{UNARY}", kind=pointwise, operator="plus", doc="D.")', "unknown operator 'plus'"),
        (
            'op("planted(n: int) -> Tensor", kind=native, doc="D.")',
            "first argument must be a tensor",
        ),
        (
            'op("planted(n: int) -> Tensor", kind=pointwise, forms="function", doc="D.")',
            "1 to 3 operands, this one has 0",
        ),
        (
            'op("planted(x: Tensor, inplace: bool = False) -> Tensor", kind=pointwise, doc="D.")',
            "asks for an in-place form, which is not there",
        ),
        (
            f'op("{INPLACE_FIRST}", kind=pointwise, forms="function inplace", doc="D.")',
            "stand last where there is an in-place form",
        ),
        (
            f'op("{PAIR}", kind=native, doc="D.")',
            "results that out= takes have names",
        ),
        (f'op("{UNARY}", kind=native, grad="later", doc="D.")', "grad is a dict of formulas"),
        (f'op("{UNARY}", kind=native, grad={{"x": "grad"}}, doc="D.")', "grad names 'x'"),
        (f'op("{UNARY}", kind=native, grad={{"input": "2 *"}}, doc="D.")', "is not an expression"),
        (f'op("{UNARY}", kind=pointwise, grad=composite, doc="D.")', "is no composition"),
        (
            f'op("{UNARY}", kind=native, number_nodes={{"input": "N0"}}, doc="D.")',
            "number_nodes names 'input'",
        ),
        (f'op("{WITH_OUT}", kind=native, out="exactly", doc="D.")', "out consists of"),
        (f'op("{UNARY}", kind=native, out="exact", doc="D.")', "an argument that is not there"),
        (f'op("{WITH_OUT}", kind=native, out="own", doc="D.")', "is for bodies in Python"),
        (
            f'op("{WITH_OUTS}", kind=native, out="apart", doc="D.")',
            "said of a single result",
        ),
        (f'op("{UNARY}", kind=native, old_order="alpha", doc="D.")', "names no argument: alpha"),
    ],
)
def test_bad_entry(entry: str, reason: str, tmp_path: Path) -> None:
    with pytest.raises(TableError, match=rf"^table/planted\.py:{LINE}: .*{reason}"):
        load(entry, tmp_path)


def test_repeated_entry(tmp_path: Path) -> None:
    entry = f'op("{UNARY}", kind=native, doc="D.")\n'
    with pytest.raises(
        TableError, match=rf"planted\.py:{LINE + 1}: .* at table/planted\.py:{LINE}"
    ):
        load(entry * 2, tmp_path)


def test_overload_that_is_called_like_another_operator(tmp_path: Path) -> None:
    entries = [
        f'op("planted{name}", kind=native, doc="D.")\n'
        for name in ("_twice(x: Tensor) -> Tensor", ".twice(x: Tensor) -> Tensor")
    ]
    with pytest.raises(TableError, match=rf"planted\.py:{LINE + 1}: planted_twice is the"):
        load("".join(entries), tmp_path)


def test_entry_over_several_lines_is_found_where_it_begins(tmp_path: Path) -> None:
    entry = f'op(\n    "{UNARY}",\n    kind="magic",\n    doc="D.",\n)\n'
    with pytest.raises(TableError, match=rf"^table/planted\.py:{LINE}: "):
        load(entry, tmp_path)


@pytest.mark.parametrize(
    ("formula", "reason"),
    [
        ("grad * inptu", "'inptu' is neither an argument nor a result"),
        ("grad + spread_ovr(grad)", "'spread_ovr' is neither .*; did you mean 'spread_over'?"),
        ("linalg.nothing(grad)", "'linalg.nothing' is neither an operator nor"),
        ("grad // input", "with floor_divide"),
        ("spread_over(grad, dim=1)", "takes no keywords"),
    ],
)
def test_bad_formula(formula: str, reason: str, tmp_path: Path) -> None:
    entry = f'op("{UNARY}", kind=native, grad={{"input": {formula!r}}}, doc="D.")'
    table = load(entry, tmp_path)
    with pytest.raises(TableError, match=rf"^table/planted\.py:{LINE}: planted: .*{reason}"):
        autograd.emit(table)


@pytest.mark.parametrize(
    ("help_", "line", "reason"),
    [
        ("## nothing\n>>> 1\n1\n", 1, "the family has no operator nothing"),
        ("## planted\nA word.\n\nother: No such thing.\n", 1, "planted has no argument other"),
        ("\n## planted\n\n## planted\n", 4, "planted has a section already"),
        ("A word.\n\n## planted\n", 1, "text before the first heading"),
        ("## planted\ninput: The tensor.\nGo on.\n", 1, "not 'argument: text': 'Go on.'"),
        ("## *\nother: No such thing.\n", 1, "no operator has an argument other"),
    ],
)
def test_bad_help(help_: str, line: int, reason: str, tmp_path: Path) -> None:
    table = load(f'op("{UNARY}", kind=native, grad=none, doc="D.")', tmp_path)
    (tmp_path / "arguments.txt").write_text("", encoding="utf-8")
    (tmp_path / "planted.txt").write_text(help_, encoding="utf-8")
    with pytest.raises(TableError, match=rf"^help/planted\.txt:{line}: {reason}"):
        describe.attach(table, tmp_path)


def test_help_of_no_family(tmp_path: Path) -> None:
    for name in ("arguments", "elsewhere"):
        (tmp_path / f"{name}.txt").write_text("", encoding="utf-8")
    with pytest.raises(TableError, match=r"^help/elsewhere\.txt:1: there is no family elsewhere"):
        describe.attach(Table(), tmp_path)
