"""The text that help() shows, from the table's entries and the texts of opgen/help."""

from __future__ import annotations

import textwrap

from opgen.describe import Help, type_words
from opgen.emit import inplace_example
from opgen.model import Arg, Op, Table

WIDTH = 80  # of a line, so that it fits a terminal indented too

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
    """Whether users call it: names that begin with _ are for the package itself."""
    return not op.name.startswith("_")


def is_method(op: Op, form: str) -> bool:
    return form == "method" or (form == "inplace" and op.has_inplace_method)


def arguments(op: Op, form: str, method: bool) -> tuple[Arg, ...]:
    """The arguments of a form of an operator; a method's first argument is the tensor itself."""
    args = op.inplace_args if form == "inplace" else op.args
    return args[1:] if method else args


def compose(table: Table, ops: list[Op], form: str, method: bool) -> str:
    """The docstring of a function, a method or an in-place form, without its signature."""
    first = ops[0]
    help_ = help_of(table, first)
    if not has_help(first):
        return "\n".join(dict.fromkeys(wrap(op.doc) for op in ops))
    parts = [wrap(first.doc)]
    if form == "inplace":
        parts.insert(0, f"The in-place form of {first.name}: changes the tensor and returns it.")
    parts += [wrap(paragraph) for paragraph in help_.paragraphs]
    if form != "inplace" and (sentences := derived(first)):
        parts.append(wrap(sentences))
    calls = dict.fromkeys(overload(op, form, method, first) for op in ops)
    if len(calls) > 1:
        parts.append(section("Overloads", "\n".join(calls).splitlines()))
    lines = []
    for name, facts, text in described(table, ops, form, method):
        lines += wrap(joined(name + facts, text), "    ").splitlines()
    if lines:
        parts.append(section("Args", lines))
    if returned := returns(first):
        parts.append(section("Returns", [returned]))
    if shown := example(first, help_, form, method):
        parts.append(section("Example", shown))
    if related := related_names(ops, help_, form, method):
        parts.append(section("See also", wrap(", ".join(related)).splitlines()))
    return "\n\n".join(parts)


def example(op: Op, help_: Help, form: str, method: bool) -> list[str]:
    if form != "inplace":
        return help_.example
    function = (op.alias_of or op.name).rpartition(".")[2]
    return help_.inplace_example or inplace_example.derive(
        help_.example, function, f"{op.name}_", method
    )


def help_of(table: Table, op: Op) -> Help:
    return table.help.get(op.alias_of or op.public_name, Help(""))


def wrap(text: str, rest: str = "") -> str:
    return textwrap.fill(
        text, WIDTH, subsequent_indent=rest, break_long_words=False, break_on_hyphens=False
    )


def joined(name: str, text: str) -> str:
    return f"{name}: {text}" if text else name


def section(title: str, lines: list[str]) -> str:
    return f"{title}:\n" + "\n".join(f"    {line}".rstrip() for line in lines)


def derived(op: Op) -> str:
    """What follows from the entry's kind: shapes, types, memory."""
    sentences = []
    if op.kind == "pointwise" and len(op.tensor_inputs) > 1:
        types = ", and the types are promoted to a common one" if op.output != "complex" else ""
        sentences.append(f"The shapes broadcast{types}.")
    if op.kind == "pointwise" and op.promote == "float":
        sentences.append("Integers are computed in the default floating-point type.")
    if op.kind == "view" and op.name not in COPYING:
        one = op.result.annotation == "Tensor"
        what = (
            "The result is a view: it shares its"
            if one
            else "The results are views: they share their"
        )
        sentences.append(f"{what} memory with the input.")
    return " ".join(sentences)


def overload(op: Op, form: str, method: bool, first: Op) -> str:
    args = [
        ("*" if arg is None else f"{written(arg)}{default(arg.default)}")
        for arg in starred(arguments(op, form, method))
    ]
    name = f"{op.name}_" if form == "inplace" else op.name
    call = wrap(f"{name}({', '.join(args)}) -> {op.result.annotation}", "    ")
    return call if op.doc == first.doc else f"{call}\n{textwrap.indent(wrap(op.doc), '    ')}"


def written(arg: Arg) -> str:
    """A Python keyword such as `from` cannot be a parameter in the table's signatures."""
    return arg.name.rstrip("_")


def default(source: str | None) -> str:
    return "" if source is None else f"={source}"


def starred(args: tuple[Arg, ...]) -> list[Arg | None]:
    """The arguments, with None where the keywords begin."""
    positional = [arg for arg in args if not arg.keyword_only]
    keywords = [arg for arg in args if arg.keyword_only]
    return [*positional, *([None] if keywords else []), *keywords]


def described(table: Table, ops: list[Op], form: str, method: bool) -> list[tuple[str, str, str]]:
    """Of every argument of all overloads: its name, " (type, default)" and what it is."""
    found: dict[str, list[tuple[Arg, str, str]]] = {}
    for op in longest_first(ops):
        texts = table.described.get((op.public_name, op.overload), {})
        for arg in arguments(op, form, method):
            type_, text = texts.get(arg.name, (type_words(arg), ""))
            found.setdefault(arg.name, []).append((arg, type_, text))
    result = []
    for several in found.values():
        types = dict.fromkeys(type_ for _, type_, _ in several)
        facts = [" or ".join(word for word in types if word)]
        defaults = [arg.default for arg, _, _ in several if arg.default is not None]
        if "None" in defaults or (len(several) < len(ops) and not defaults):
            facts.append("optional")
        elif defaults:
            facts.append(f"default {defaults[0]}")
        given = ", ".join(fact for fact in facts if fact)
        arg, _, text = several[0]
        result.append((written(arg), f" ({given})" if given else "", text))
    return result


def returns(op: Op) -> str:
    """Results that are more than a tensor."""
    if op.returns:
        return f"A named tuple ({', '.join(op.returns)})."
    text = RESULTS.get(op.result.annotation, "")
    return f"{text}." if text else ""


def related_names(ops: list[Op], help_: Help, form: str, method: bool) -> list[str]:
    """Other forms of the operator, then what the help names."""
    op = ops[0]
    names = []
    if (form, method) != ("function", False) and "function" in op.forms:
        names.append(op.public_name)
    if form != "method" and any("method" in each.forms for each in ops):
        names.append(f"Tensor.{op.name}")
    # Functions of a namespace have an argument for it.
    if form != "inplace" and "inplace" in op.forms and not op.namespace:
        names.append(f"Tensor.{op.name}_" if op.has_inplace_method else f"{op.name}_")
    return list(dict.fromkeys([*names, *help_.see]))


def longest_first(ops: list[Op]) -> list[Op]:
    """Of equals, first the overload that has no name."""
    return sorted(ops, key=lambda op: (-len(op.args), op.overload != ""))


def text_signature(ops: list[Op], form: str, method: bool) -> str:
    """One signature that takes the calls of all overloads, as `inspect` reads it."""
    several = [arguments(op, form, method) for op in longest_first(ops)]
    widest = max(several, key=lambda args: sum(not arg.keyword_only for arg in args))
    positional = [arg for arg in widest if not arg.keyword_only]
    names = [arg.name for arg in positional]
    keywords = {
        arg.name: arg for args in (widest, *several) for arg in args if arg.name not in names
    }
    parts = ["$self" if method else "$module"]
    needed = True  # required parameters come before optional ones
    for arg in positional:
        source = common_default(arg.name, several)
        needed = needed and source is None
        parts.append(arg.name + ("" if needed else default(source or "None")))
    if keywords:
        parts.append("*")
        parts += [name + default(common_default(name, several)) for name in keywords]
    return f"({', '.join(parts)})"


def common_default(name: str, several: list[tuple[Arg, ...]]) -> str | None:
    """None if every overload requires the argument."""
    found = [arg.default for args in several for arg in args if arg.name == name]
    given = [source for source in found if source is not None]
    if not given:
        return None if len(found) == len(several) else "None"
    if " / " in given[0]:  # inspect reads literals only
        numerator, denominator = given[0].split(" / ")
        return repr(float(numerator) / float(denominator))
    return given[0]
