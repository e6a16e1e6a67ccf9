"""Gradient expressions of the table, read as Python and written as C++."""

from __future__ import annotations

import ast
import difflib
import functools
import re
from dataclasses import dataclass, field
from pathlib import Path

from opgen.emit.text import cpp_name, default_value, quote
from opgen.model import Arg, Op, Table, TableError

COMPARISONS = {
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Gt: "gt",
    ast.GtE: "ge",
    ast.Eq: "eq",
    ast.NotEq: "ne",
}
BINARY = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.Mod: "%",
    ast.BitAnd: "&",
    ast.BitOr: "|",
}
CONSTANTS = {"inf": "ops::kInfinity", "pi": "3.14159265358979323846"}
NAMESPACES = ("linalg", "fft", "special", "nn.functional")
# The folder of functions that expressions may call besides operators.
HELPERS = Path(__file__).parents[1] / "csrc" / "autograd"
# Properties of a tensor that an expression may read without saving its elements.
GEOMETRY = ("shape", "dtype", "ndim", "shapes", "by_columns", "window")


@dataclass
class Formula:
    """The C++ of an expression, and the operator's values that it reads."""

    cpp: str
    tensors: set[str] = field(default_factory=set)  # inputs and results, whole
    shapes: set[str] = field(default_factory=set)
    dtypes: set[str] = field(default_factory=set)
    layouts: set[str] = field(default_factory=set)
    windows: set[str] = field(default_factory=set)  # sizes, strides and offset
    params: set[str] = field(default_factory=set)
    grads: set[int] = field(default_factory=set)  # zeros where a result has none
    given_grads: set[int] = field(default_factory=set)  # undefined there
    all_grads: bool = False
    families: set[str] = field(default_factory=set)  # of the operators it calls


@functools.cache
def helpers() -> dict[str, str]:
    """The functions that expressions may call besides operators, and the family of each."""
    found = {}
    for header in [HELPERS / "formula.h", *sorted((HELPERS / "formulas").glob("*.h"))]:
        family = "" if header.parent == HELPERS else header.stem
        declared = r"^[\w:<>&*, ]+ (\w+)\(|^using [\w:]+::(\w+);"
        for function, used in re.findall(declared, header.read_text("utf-8"), re.MULTILINE):
            found[function or used] = family
    return found


def compile_formula(op: Op, text: str, table: Table) -> Formula:
    writer = _Writer(op, table)
    formula = writer.formula
    formula.cpp = writer.write(ast.parse(text, mode="eval").body)
    return formula


def result_names(op: Op) -> dict[str, int]:
    """The names of results in expressions: `result`, or the fields of a named one."""
    if op.result.count == 1:
        return {"result": 0}
    return {name: i for i, name in enumerate(op.returns)}


class _Writer:
    def __init__(self, op: Op, table: Table) -> None:
        self.op = op
        self.table = table
        self.formula = Formula("")
        self.args = {a.name: a for a in op.core_args}
        self.results = result_names(op)

    def refuse(self, reason: str) -> TableError:
        return TableError(f"{self.op.where}: {self.op.name}: in a gradient: {reason}")

    def write(self, node: ast.expr) -> str:
        method = getattr(self, f"write_{type(node).__name__}", None)
        if method is None:
            raise self.refuse(f"cannot translate {ast.unparse(node)!r}")
        text: str = method(node)
        return text

    # --- names and constants

    def write_Name(self, node: ast.Name) -> str:
        name = node.id
        if name == "grad":
            self.formula.grads.add(0)
            return "grad_0"
        if name == "grads":
            self.formula.all_grads = True
            return "all_grads"
        if name.startswith("grad_") and name[5:] in self.results:
            self.formula.grads.add(self.results[name[5:]])
            return f"grad_{self.results[name[5:]]}"
        if name in self.results:
            self.formula.tensors.add(f"result_{self.results[name]}")
            return f"result_{self.results[name]}"
        if name in self.args:
            self.mention(name)
            return cpp_name(name)
        if name in CONSTANTS:
            return CONSTANTS[name]
        if name == "needed":  # of several inputs with one formula
            return "needed"
        raise self.refuse(f"{name!r} is neither an argument nor a result")

    def mention(self, name: str) -> None:
        if "Tensor" in self.args[name].type.annotation:
            self.formula.tensors.add(name)
        else:
            self.formula.params.add(name)

    def write_Constant(self, node: ast.Constant) -> str:
        if node.value is None:
            return "{}"
        if isinstance(node.value, bool):
            return "true" if node.value else "false"
        if isinstance(node.value, str):
            return quote(node.value)
        if isinstance(node.value, int | float):
            return repr(node.value)
        raise self.refuse(f"cannot translate {node.value!r}")

    def write_Tuple(self, node: ast.Tuple | ast.List) -> str:
        return f"Dims{{{', '.join(self.write(e) for e in node.elts)}}}"

    write_List = write_Tuple

    def write_Subscript(self, node: ast.Subscript) -> str:
        index = node.slice.value if isinstance(node.slice, ast.Constant) else None
        if isinstance(node.value, ast.Name) and isinstance(index, int):
            if node.value.id == "grads":
                self.formula.grads.add(index)
                return f"grad_{index}"
            if node.value.id == "given_grads":
                self.formula.given_grads.add(index)
                return f"grads[{index}]"
            if node.value.id == "results":
                self.formula.tensors.add(f"result_{index}")
                return f"result_{index}"
        return f"{self.write(node.value)}[{self.write(node.slice)}]"

    def write_Attribute(self, node: ast.Attribute) -> str:
        if not isinstance(node.value, ast.Name) or node.attr not in GEOMETRY:
            raise self.refuse(f"cannot translate {ast.unparse(node)!r}")
        owner = self.value_name(node.value.id)
        if node.attr == "dtype":
            if owner.startswith("grad_"):
                return f"{owner}.dtype()"
            self.formula.dtypes.add(owner)
            return f"{cpp_name(owner)}_dtype"
        if node.attr == "by_columns":
            self.formula.layouts.add(owner)
            return f"{cpp_name(owner)}_by_columns"
        if node.attr == "window":
            self.formula.windows.add(owner)
            return f"{cpp_name(owner)}_window"
        shape = self.shape_of(owner)
        return f"ndim_of({shape})" if node.attr == "ndim" else shape

    def value_name(self, name: str) -> str:
        if name == "grad":
            self.formula.grads.add(0)
            return "grad_0"
        if name in self.results:
            return f"result_{self.results[name]}"
        if name not in self.args:
            raise self.refuse(f"{name!r} is neither an argument nor a result")
        return name

    def shape_of(self, owner: str) -> str:
        if owner.startswith("grad_"):
            return f"{owner}.sizes()"
        self.formula.shapes.add(owner)
        return f"{cpp_name(owner)}_shape"

    # --- operators

    def write_BinOp(self, node: ast.BinOp) -> str:
        left, right = self.write(node.left), self.write(node.right)
        if isinstance(node.op, ast.Pow):
            return f"ops::power({left}, {right})"
        if isinstance(node.op, ast.FloorDiv):  # in C++ it would be another operation
            raise self.refuse(f"write {ast.unparse(node)!r} with floor_divide")
        if type(node.op) not in BINARY:
            raise self.refuse(f"cannot translate {ast.unparse(node)!r}")
        return f"({left} {BINARY[type(node.op)]} {right})"

    def write_UnaryOp(self, node: ast.UnaryOp) -> str:
        sign = {ast.USub: "-", ast.Invert: "~", ast.Not: "!"}.get(type(node.op))
        if sign is None:
            raise self.refuse(f"cannot translate {ast.unparse(node)!r}")
        return f"({sign}{self.write(node.operand)})"

    def write_BoolOp(self, node: ast.BoolOp) -> str:
        sign = " && " if isinstance(node.op, ast.And) else " || "
        return f"({sign.join(self.write(v) for v in node.values)})"

    def write_Compare(self, node: ast.Compare) -> str:
        if len(node.ops) != 1:
            raise self.refuse(f"write {ast.unparse(node)!r} as two comparisons")
        relation, right = node.ops[0], node.comparators[0]
        if isinstance(relation, ast.Is | ast.IsNot):
            given = f"static_cast<bool>({self.write(node.left)})"
            return f"(!{given})" if isinstance(relation, ast.Is) else given
        if type(relation) not in COMPARISONS:
            raise self.refuse(f"cannot translate {ast.unparse(node)!r}")
        return f"{COMPARISONS[type(relation)]}({self.write(node.left)}, {self.write(right)})"

    def write_IfExp(self, node: ast.IfExp) -> str:
        return f"({self.write(node.test)} ? {self.write(node.body)} : {self.write(node.orelse)})"

    # --- calls

    def write_Call(self, node: ast.Call) -> str:
        given = [self.write(a) for a in node.args]
        keywords = {k.arg or "": self.write(k.value) for k in node.keywords}
        if isinstance(node.func, ast.Name):
            return self.call(node.func.id, given, keywords, node)
        if not isinstance(node.func, ast.Attribute):
            raise self.refuse(f"cannot translate {ast.unparse(node)!r}")
        owner, name = node.func.value, node.func.attr
        if ast.unparse(owner) in NAMESPACES:
            return self.call(f"{ast.unparse(owner)}.{name}", given, keywords, node)
        if name in ("numel", "size", "dim") and isinstance(owner, ast.Name):
            shape = self.shape_of(self.value_name(owner.id))
            return {
                "numel": f"numel_of_shape({shape})",
                "dim": f"ndim_of({shape})",
                "size": f"size_of_dim({shape}, {', '.join(given)})",
            }[name]
        return self.call(name, [self.write(owner), *given], keywords, node)

    def call(self, name: str, given: list[str], keywords: dict[str, str], node: ast.Call) -> str:
        if name == "conj":  # free for real tensors
            return f"conj({', '.join(given)})"
        namespace, _, short = name.rpartition(".")
        candidates = [o for o in self.table.ops if (o.namespace, o.name) == (namespace, short)]
        if not candidates:
            return self.call_helper(name, given, keywords)
        for candidate in candidates:
            text = self.call_operator(candidate, given, keywords)
            if text:
                return text
        raise self.refuse(f"no overload of {name!r} fits {ast.unparse(node)!r}")

    def call_helper(self, name: str, given: list[str], keywords: dict[str, str]) -> str:
        if name not in helpers():
            known = {*helpers(), *(o.public_name for o in self.table.ops)}
            close = difflib.get_close_matches(name, known, 1)
            meant = f"; did you mean {close[0]!r}?" if close else ""
            raise self.refuse(
                f"{name!r} is neither an operator nor in csrc/autograd/formulas{meant}"
            )
        if keywords:
            raise self.refuse(f"helper {name!r} takes no keywords")
        if family := helpers()[name]:
            self.formula.families.add(family)
        return f"{name}({', '.join(given)})"

    def call_operator(self, op: Op, given: list[str], keywords: dict[str, str]) -> str:
        args = op.core_args
        names = [a.name for a in args]
        if op.kind in ("python", "bound") or len(given) > len(args):
            return ""
        if not set(keywords) <= set(names[len(given) :]):
            return ""
        rest = args[len(given) :]
        if any(a.required and a.name not in keywords for a in rest):
            return ""
        while rest and rest[-1].name not in keywords:
            rest = rest[:-1]
        values = [self.fitted(text, a) for text, a in zip(given, args, strict=False)]
        values += [
            self.fitted(keywords[a.name], a)
            if a.name in keywords
            else default_value(a.default or "", a.type.cpp)
            for a in rest
        ]
        self.formula.families.add(op.family)
        return f"ops::{op.function}({', '.join(values)})"

    def fitted(self, text: str, arg: Arg) -> str:
        """One dimension where several may stand."""
        own = self.args.get(text)
        is_int = text.lstrip("-(").rstrip(")").isdigit() or (own and own.type.annotation == "int")
        return f"Dims{{{text}}}" if is_int and arg.type.annotation.startswith("Dims") else text
