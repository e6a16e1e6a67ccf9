"""stubs/_C/*.pyi: the native module as type checkers and editors see it."""

from __future__ import annotations

import keyword
import re
from pathlib import Path

from opgen.emit import docstring
from opgen.emit.text import overload_sets
from opgen.model import Arg, Op, Table

# The hand-written part: types, properties and functions that are bound by hand.
PRELUDE = Path(__file__).parent / "prelude.pyi"
TENSOR_MARK = "    # --- methods of the table\n"

# Tensor has methods called float, int and dtype; inside the class these names hide the types.
BUILTIN_WORDS = ("bool", "complex", "float", "int", "str")
PACKAGE_WORDS = ("dtype", "layout", "memory_format")
SAFE_WORDS = {word: f"_{word}" for word in BUILTIN_WORDS + PACKAGE_WORDS}
IN_PLACE_OPERATORS = (
    "add",
    "sub",
    "mul",
    "truediv",
    "floordiv",
    "mod",
    "pow",
    "lshift",
    "rshift",
    "and",
    "or",
    "xor",
)
# Types of a last positional argument that may be passed as separate items, and the type of one
# item.
SPREAD_TYPES = {"Size": "_int", "Tensors": "Tensor"}
REFLECTED_OPERATORS = (*IN_PLACE_OPERATORS, "matmul")


def emit(table: Table) -> dict[str, str]:
    sets = overload_sets(table.ops)
    namespaces = sorted({namespace for namespace, _ in sets if namespace})
    prelude = PRELUDE.read_text()
    assert TENSOR_MARK in prelude
    methods = [line for group in sets.values() for line in method_stubs(table, group)]
    methods += [line for op in table.ops if op.operator for line in operator_stubs(op)]
    functions = [
        line for (ns, _), group in sets.items() if not ns for line in function_stubs(table, group)
    ]
    files = {
        "stubs/_C/__init__.pyi": prelude.replace(TENSOR_MARK, "\n".join(methods) + "\n")
        + "\n"
        + "\n".join(functions)
        + "\n",
    }
    for name in namespaces:
        lines = [
            line
            for (ns, _), group in sets.items()
            if ns == name
            for line in function_stubs(table, group)
        ]
        if "." in name:
            files[f"stubs/_C/{name.partition('.')[0]}/__init__.pyi"] = ""
        files[f"stubs/_C/{name.replace('.', '/')}.pyi"] = "\n".join(
            [
                *(f"from builtins import {word} as _{word}" for word in BUILTIN_WORDS),
                "from collections.abc import Sequence",
                "from typing import Any, overload",
                "",
                "from flambeau._C import DeviceLike, Generator, Size, Tensor",
                *(f"from flambeau._C import {word} as _{word}" for word in PACKAGE_WORDS),
                "",
                *lines,
                "",
            ]
        )
    return files


def safe(annotation: str) -> str:
    return re.sub(r"\b[a-z_]+\b", lambda m: SAFE_WORDS.get(m[0], m[0]), annotation)


def parameter(arg: Arg) -> str:
    text = f"{arg.name}: {safe(arg.type.stub)}"
    return text + " = ..." if arg.default is not None else text


def parameter_list(args: tuple[Arg, ...], first: list[str]) -> str:
    parts = list(first)
    positional = [a for a in args if not a.keyword_only]
    keyword_only = [a for a in args if a.keyword_only]
    parts += [parameter(a) for a in positional]
    if keyword_only:
        parts += ["*", *(parameter(a) for a in keyword_only)]
    return ", ".join(parts)


def variants(args: tuple[Arg, ...], first: list[str]) -> list[str]:
    """The parameter lists that arguments stand for: `zeros((2, 3))` and `zeros(2, 3)` are two."""
    lists = [parameter_list(args, first)]
    positional = [a for a in args if not a.keyword_only]
    item = SPREAD_TYPES.get(positional[-1].type.annotation) if positional else None
    if item is not None:
        lead = [parameter(a) for a in positional[:-1]]
        rest = [parameter(a) for a in args if a.keyword_only]
        lists.append(", ".join([*first, *lead, f"*{positional[-1].name}: {item}", *rest]))
    return lists


def stub(
    name: str, parameters: list[str], results: list[str], docs: list[str], indent: str
) -> list[str]:
    lines: list[str] = []
    many = len(parameters) > 1
    for given, result, doc in zip(parameters, results, docs, strict=True):
        if many:
            lines.append(f"{indent}@overload")
        lines.append(f"{indent}def {name}({given}) -> {safe(result)}:")
        first, *rest = doc.splitlines()
        end = [f'{indent}    """'] if rest else []
        lines.append(f'{indent}    """{first}' + ("" if rest else '"""'))
        lines += [f"{indent}    {line}".rstrip() for line in rest] + end
    return lines


def stubs_of(table: Table, ops: list[Op], form: str, is_method: bool, name: str) -> list[str]:
    """All overloads. The first has the whole docstring, the others the first line."""
    parameters, results, docs = [], [], []
    for op in ops:
        args = op.inplace_args if form == "inplace" else op.args
        for text in variants(args[1:] if is_method else args, ["self"] if is_method else []):
            parameters.append(text)
            results.append(op.result.stub)
            docs.append(op.doc)
    docs[0] = docstring.compose(table, ops, form, is_method)
    return stub(name, parameters, results, docs, "    " if is_method else "")


def function_stubs(table: Table, group: list[Op]) -> list[str]:
    ops = [op for op in group if "function" in op.forms]
    if not ops or keyword.iskeyword(ops[0].name):
        return []
    lines = stubs_of(table, ops, "function", False, ops[0].name)
    in_place = [op for op in ops if "inplace" in op.forms]
    if in_place and (not ops[0].has_inplace_method or all(o.has_inplace_function for o in group)):
        lines += stubs_of(table, in_place, "inplace", False, f"{ops[0].name}_")
    return lines


def method_stubs(table: Table, group: list[Op]) -> list[str]:
    lines: list[str] = []
    for form, suffix in (("method", ""), ("inplace", "_")):
        ops = [op for op in group if form in op.forms and docstring.is_method(op, form)]
        if ops:
            lines += stubs_of(table, ops, form, True, ops[0].name + suffix)
    return lines


def operator_stubs(op: Op) -> list[str]:
    if len(op.tensor_inputs) == 1:
        return [f"    def __{op.operator}__(self) -> Tensor: ..."]
    other = safe(op.tensor_inputs[1].type.stub)
    # object's own == and != take anything and return bool; a Tensor's do not.
    ignore = "  # type: ignore[override]" if op.operator in ("eq", "ne") else ""
    lines = [f"    def __{op.operator}__(self, other: {other}) -> Tensor: ...{ignore}"]
    if op.operator in REFLECTED_OPERATORS:
        lines.append(f"    def __r{op.operator}__(self, other: {other}) -> Tensor: ...")
    if op.operator in IN_PLACE_OPERATORS and "inplace" in op.forms:
        lines.append(f"    def __i{op.operator}__(self, other: {other}) -> Tensor: ...")
    return lines
