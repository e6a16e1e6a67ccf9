"""The text that help() shows, of the table's entries and what opgen/help says beyond them."""

from __future__ import annotations

import textwrap

from opgen.describe import Help
from opgen.model import Arg, Op, Table

WIDTH = 84  # of a line, so that it fits a terminal indented too

# Types as people say them. What may be left out is "optional".
TYPES = {
    "Tensor | Number": "Tensor or number",
    "list[Tensor]": "tensors",
    "Number": "number",
    "Floats": "floats",
    "Factors": "float or floats",
    "Size": "ints",
    "Ints": "ints",
    "Dims": "int or ints",
    "Sizes": "int or ints",
    "DType": "dtype",
    "Device": "device",
    "Layout": "layout",
    "MemoryFormat": "memory_format",
    "Tensors": "tensors",
    "Any": "",
}
RESULTS = {
    "tuple[Tensor, Tensor]": "Two tensors",
    "tuple[Tensor, Tensor, Tensor]": "Three tensors",
    "tuple[Tensor, Tensor, Tensor, Tensor]": "Four tensors",
    "tuple[Tensor, ...]": "A tuple of tensors",
    "list[Tensor]": "A list of tensors",
}

# Views only where the strides allow it.
COPYING = ("reshape", "reshape_as", "flatten", "ravel")


def has_help(op: Op) -> bool:
    """Whether people call it: names that begin with _ are for the package itself."""
    return not op.name.startswith("_")


def arguments(op: Op, form: str) -> tuple[Arg, ...]:
    """What a form of an operator takes; a method's first argument is the tensor itself."""
    args = op.inplace_args if form == "inplace" else op.args
    is_method = form == "method" or (form == "inplace" and op.has_inplace_method)
    return args[1:] if is_method else args


def compose(table: Table, ops: list[Op], form: str) -> str:
    """The docstring of a function, a method or an in-place form, without its signature."""
    first = ops[0]
    help_ = table.help.get(first.alias_of or first.public_name, Help(""))
    parts = [wrap(first.doc)]
    if not has_help(first):
        parts += [wrap(op.doc) for op in ops[1:] if op.doc != first.doc]
        return "\n".join(dict.fromkeys(parts))
    if form == "inplace":
        parts.insert(0, f"The in-place form of {first.name}: changes the tensor and returns it.")
    parts += [wrap(paragraph) for paragraph in help_.paragraphs]
    if (sentences := derived(first)) and form != "inplace":
        parts.append(wrap(sentences))
    if len(ops) > 1:
        parts.append(heading("Overloads", [line for op in ops for line in overload(op, form, first)]))
    if lines := argument_lines(table, ops, form):
        parts.append(heading("Args", lines))
    if returned := returns(first):
        parts.append(heading("Returns", [returned]))
    if help_.example:
        parts.append(heading("Example", help_.example))
    if related := related_names(ops, help_, form):
        parts.append(heading("See also", wrap(", ".join(related)).splitlines()))
    return "\n\n".join(parts)


def wrap(text: str, first: str = "", rest: str = "") -> str:
    return textwrap.fill(
        text, WIDTH - 4, initial_indent=first, subsequent_indent=rest,
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip


def heading(title: str, lines: list[str]) -> str:
    return f"{title}:\n" + "\n".join(f"    {line}".rstrip() for line in lines)


def derived(op: Op) -> str:
    """What the entry's kind says: of shapes, of types, of memory."""
    sentences = []
    if op.kind == "pointwise" and len(op.tensor_inputs) > 1:
        sentences.append("The shapes broadcast, and the types are promoted to a common one.")
    if op.kind == "pointwise" and op.promote == "float":
        sentences.append("Integers are computed in the default floating-point type.")
    if op.kind == "view" and op.name not in COPYING:
        sentences.append("The result is a view: it shares its memory with the input.")
    return " ".join(sentences)


def overload(op: Op, form: str, first: Op) -> list[str]:
    call = f"{op.name}{'_' if form == 'inplace' else ''}{signature(arguments(op, form))}"
    lines = wrap(f"{call} -> {op.result.annotation}", "", "    ").splitlines()
    if op.doc != first.doc:
        lines += wrap(op.doc, "    ", "    ").splitlines()
    return lines


def signature(args: tuple[Arg, ...]) -> str:
    """`(input, dim, *, out=None)`."""
    parts = []
    for arg in args:
        if arg.keyword_only and "*" not in parts:
            parts.append("*")
        default = "" if arg.default is None else f"={arg.default}"
        parts.append(f"{arg.name.rstrip('_')}{default}")
    return f"({', '.join(parts)})"


def argument_lines(table: Table, ops: list[Op], form: str) -> list[str]:
    """One argument of all overloads after another."""
    found: dict[str, list[tuple[Arg, str, str]]] = {}
    for op in ops:
        described = table.described.get((op.public_name, op.overload), {})
        for arg in arguments(op, form):
            type_, text = described.get(arg.name, ("", ""))
            found.setdefault(arg.name, []).append((arg, type_, text))
    lines = []
    for name, several in found.items():
        types = list(dict.fromkeys(type_ or type_words(arg) for arg, type_, _ in several))
        facts = [" or ".join(word for word in types if word)]
        defaults = {arg.default for arg, _, _ in several if arg.default is not None}
        if "None" in defaults or (len(several) < len(ops) and not defaults):
            facts.append("optional")
        elif defaults:
            facts.append(f"default {defaults.pop()}")
        given = f" ({', '.join(fact for fact in facts if fact)})" if any(facts) else ""
        text = several[0][2]
        line = f"{name.rstrip('_')}{given}: {text}" if text else f"{name.rstrip('_')}{given}"
        lines += wrap(line, "", "    ").splitlines()
    return lines


def type_words(arg: Arg) -> str:
    annotation = arg.type.annotation.removesuffix(" | None")
    return TYPES.get(annotation, annotation)


def returns(op: Op) -> str:
    """Results that are more than a tensor."""
    if op.returns:
        return f"A named tuple ({', '.join(op.returns)})."
    text = RESULTS.get(op.result.annotation, "")
    return f"{text}." if text else ""


def related_names(ops: list[Op], help_: Help, form: str) -> list[str]:
    """Other forms of the operator, then what the help names."""
    op = ops[0]
    names = []
    if form != "function" and "function" in op.forms:
        names.append(op.public_name)
    if form != "method" and any("method" in each.forms for each in ops):
        names.append(f"Tensor.{op.name}")
    if form != "inplace" and "inplace" in op.forms:
        prefix = "Tensor." if op.has_inplace_method else op.public_name[: -len(op.name)]
        names.append(f"{prefix}{op.name}_")
    return list(dict.fromkeys([*names, *help_.see]))
