"""What help() says of the operators: whole, true and narrow enough for a terminal.

Examples run straight from opgen/help. `python -m tests.opgen.test_help FAMILY ...` writes what
they print anew; read it before it is committed.
"""

import doctest
import inspect
import io
import math
import re
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest

import flambeau
import flambeau.nn.functional as F
from opgen import describe
from opgen.__main__ import load_table
from opgen.emit import docstring
from opgen.emit.text import overload_sets
from opgen.model import TABLE, Op

if not TABLE.ops:
    load_table()

WIDEST = 88
SETS = {
    f"{namespace}.{name}".lstrip("."): group
    for (namespace, name), group in overload_sets(TABLE.ops).items()
    if docstring.has_help(group[0]) and "inner" not in group[0].forms
}
OWN = {name: group for name, group in SETS.items() if not group[0].alias_of}
OPTIONS = doctest.ELLIPSIS


def names() -> dict[str, Any]:
    """What the examples find defined."""
    flambeau.manual_seed(0)
    return {"torch": flambeau, "F": F, "inf": math.inf, "nan": math.nan}


def resolve(name: str) -> Any:
    """An object of the package by its path."""
    found: Any = flambeau
    for part in name.split("."):
        found = getattr(found, part)
    return found


def exists(name: str) -> bool:
    try:
        resolve(name)
    except AttributeError:
        return False
    return True


def forms(name: str) -> list[tuple[Any, list[Op], str, bool]]:
    """Each way to call an operator: the callable, the overloads behind it, and what it is."""
    found = []
    for form in ("function", "method", "inplace"):
        ops = [op for op in SETS[name] if form in op.forms]
        if not ops:
            continue
        method = docstring.is_method(ops[0], form)
        suffix = "_" if form == "inplace" else ""
        path = f"Tensor.{ops[0].name}" if method else f"_C.{name}" if suffix else name
        found.append((resolve(path + suffix), ops, form, method))
        if form == "inplace" and all(op.has_inplace_function for op in SETS[name]):
            found.append((resolve(name + suffix), ops, form, False))
    return found


def run(example: list[str], name: str, where: str) -> None:
    text = "\n".join(example) + "\n"
    test = doctest.DocTestParser().get_doctest(text, names(), name, where, 0)
    runner = doctest.DocTestRunner(optionflags=OPTIONS)
    report: list[str] = []
    runner.run(test, out=report.append)
    assert not runner.failures, "".join(report)


@pytest.mark.parametrize("name", sorted(OWN))
def test_example(name: str) -> None:
    assert name in TABLE.help, f"opgen/help has no section on {name}"
    help_ = TABLE.help[name]
    assert help_.example, f"{help_.where}: {name} has no example"
    text = "\n".join(help_.example)
    run(help_.example, name, help_.where)
    short = name.rpartition(".")[2]
    operators = "".join(op.operator for op in OWN[name])
    assert short in text or operators, f"{help_.where}: the example does not call {short}"


@pytest.mark.parametrize("name", sorted(name for name in SETS if "inplace" in SETS[name][0].forms))
def test_example_of_in_place_form(name: str) -> None:
    """Where it cannot be made from the function's, opgen/help has one: `in place:`."""
    for _, ops, form, method in forms(name):
        if form == "inplace":
            help_ = docstring.help_of(TABLE, ops[0])
            example = docstring.example(ops[0], help_, form, method)
            assert example, f"{help_.where}: {name}_ has no example"
            run(example, name, help_.where)


@pytest.mark.parametrize("name", sorted(SETS))
def test_every_argument_is_described(name: str) -> None:
    for op in SETS[name]:
        for arg in op.args:
            _, text = TABLE.described[op.public_name, op.overload][arg.name]
            assert text, f"{op.where}: no word on the argument {arg.name} of {name} in opgen/help"
            assert text[0].isupper() or text[0] in "'0123456789"
            assert text.endswith("."), f"{name}: {arg.name}: {text!r} has no full stop"


@pytest.mark.parametrize("name", sorted(SETS))
def test_help(name: str) -> None:
    for function, ops, form, method in forms(name):
        text = function.__doc__
        assert text == docstring.compose(TABLE, ops, form, method), "built from another table"
        wide = [line for line in text.splitlines() if len(line) > WIDEST]
        assert not wide, f"{name}: lines of more than {WIDEST} columns: {wide}"
        for op in ops:
            for arg in docstring.arguments(op, form, method):
                assert re.search(rf"^    {docstring.written(arg)}( \(|: )", text, re.MULTILINE)


@pytest.mark.parametrize("name", sorted(SETS))
def test_signature(name: str) -> None:
    """Every form has one, with the names of all arguments of all overloads."""
    for function, ops, form, method in forms(name):
        parameters = list(inspect.signature(function).parameters)
        expected = {arg.name for op in ops for arg in docstring.arguments(op, form, method)}
        assert (parameters[:1] == ["self"]) == method
        assert set(parameters) - {"self"} == expected


def test_see_also_names_exist() -> None:
    unknown = [
        f"{help_.where}: {name} sends the reader to {other}"
        for name, help_ in TABLE.help.items()
        for other in help_.see
        if other not in OWN and not exists(other)
    ]
    assert not unknown, "\n".join(unknown)


def rewrite(file: Path) -> None:
    """Put what each example prints below it."""
    parts = re.split(r"^(## .*\n)", file.read_text(encoding="utf-8"), flags=re.MULTILINE)
    for i in range(2, len(parts), 2):
        scope = names()
        lines: list[str] = []
        blocks = parts[i].strip("\n").split("\n\n")
        for block in blocks:
            lines.append("")
            if block.startswith(describe.IN_PLACE):
                lines.append(describe.IN_PLACE.strip())
                block = block.removeprefix(describe.IN_PLACE)
            elif not block.startswith(">>> "):
                lines.append(block)
                continue
            for example in doctest.DocTestParser().get_examples(block + "\n"):
                source = example.source.rstrip("\n").split("\n")
                lines += [f">>> {source[0]}", *(f"... {line}" for line in source[1:])]
                if doctest.ELLIPSIS in example.options or "..." in example.want:
                    lines += example.want.rstrip("\n").split("\n")
                    continue
                with redirect_stdout(io.StringIO()) as printed:
                    try:
                        exec(compile(example.source, "<example>", "single"), scope)
                    except Exception as error:
                        print(f"!!! {type(error).__name__}: {error}")
                if printed.getvalue():
                    text = printed.getvalue().rstrip("\n")
                    lines += [each or "<BLANKLINE>" for each in text.split("\n")]
        parts[i] = "\n".join(lines[1:]) + "\n\n"
    file.write_text("".join(parts).rstrip("\n") + "\n", encoding="utf-8")


if __name__ == "__main__":
    for family in sys.argv[1:]:
        rewrite(describe.FOLDER / f"{family}.txt")
