"""Examples of in-place forms, made from those of the functions.

`torch.add(x, 10)` becomes `x.add_(10)`, which prints the same. Where it does not, because shapes
broadcast or types are promoted, opgen/help has an example of its own (`in place:`).
"""

from __future__ import annotations

import ast
import doctest

MODULES = ("torch", "F", "torch.special", "torch.linalg", "torch.nn.functional")
# What can stand before a dot as it is.
PLAIN = (ast.Name, ast.Call, ast.Attribute, ast.Subscript)


def derive(example: list[str], function: str, name: str, method: bool) -> list[str]:
    """The lines of a session that calls ``name`` in place of ``function``, or none."""
    before: list[str] = []  # statements that print nothing
    for step in doctest.DocTestParser().get_examples("\n".join(example) + "\n"):
        source = step.source.rstrip("\n")
        if not step.want:
            before.append(source)
            continue
        call = called(source, function)
        if call and (changed := in_place(source, call, name, method)):
            steps = [*needed(before, changed), changed]
            lines = [line for each in steps for line in session(each)]
            return [*lines, *step.want.rstrip("\n").split("\n")]
    return []


def called(source: str, function: str) -> ast.Call | None:
    """The call of a function that a line consists of."""
    statement = ast.parse(source).body[0]
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return None
    keywords = {keyword.arg for keyword in call.keywords}
    is_usable = call.func.attr == function and "\n" not in source and not keywords & {"out"}
    return call if is_usable else None


def in_place(source: str, call: ast.Call, name: str, method: bool) -> str:
    """The line with the in-place form, or nothing if the call has no tensor to change."""
    assert isinstance(call.func, ast.Attribute)
    end = call.func.end_col_offset or 0
    is_function = ast.unparse(call.func.value) in MODULES
    if not (is_function and method):
        return source[: end - len(call.func.attr)] + name + source[end:]
    if not call.args or not isinstance(call.args[0], PLAIN):
        return ""
    first = call.args[0]
    rest = source[first.end_col_offset :].lstrip(", ")
    return f"{source[first.col_offset : first.end_col_offset]}.{name}({rest}"


def needed(statements: list[str], line: str) -> list[str]:
    """The statements whose variables a line uses, or that only have an effect."""
    used = names(line, ast.Load)
    kept: list[str] = []
    for statement in reversed(statements):
        made = names(statement, ast.Store)
        if not made or made & used:
            used |= names(statement, ast.Load)
            kept.insert(0, statement)
    return kept


def names(source: str, context: type[ast.expr_context]) -> set[str]:
    nodes = ast.walk(ast.parse(source))
    return {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, context)}


def session(source: str) -> list[str]:
    first, *others = source.split("\n")
    return [f">>> {first}", *(f"... {line}" for line in others)]
