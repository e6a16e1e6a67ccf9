"""docs/operators/*.md: a reference page per family."""

from __future__ import annotations

import re

from opgen.emit import docstring
from opgen.emit.text import overload_sets
from opgen.model import Op, Table

# The rules of emit/autocast.py in words for users.
AUTOCAST = {
    "lower": "in the 16-bit type of the region",
    "float32": "in float32",
    "cuda_float32": "on a GPU in float32",
    "promote": "in the widest type among its inputs",
}

DEVICES = {
    "everywhere": "every device",
    "parts": "wherever the operators do that it consists of",
    "kernel": "those that have its kernel",
    "host": "those that have its kernel; on `cuda` the host computes it on copies",
}


def emit(table: Table) -> dict[str, str]:
    places = {op.public_name: f"{op.family}.md#{anchor(op.public_name)}" for op in table.ops}
    files = {
        f"docs/operators/{family}.md": page(table, family, ops, places)
        for family, ops in table.families().items()
    }
    files["docs/operators/all.md"] = index(table)  # there is a family called index
    return files


def anchor(heading: str) -> str:
    """As Markdown makes it."""
    return re.sub(r"[^\w-]", "", heading).lower()


def page(table: Table, family: str, ops: list[Op], places: dict[str, str]) -> str:
    lines = [f"# {family}", "", f"Generated from `opgen/table/{family}.py`.", ""]
    for (namespace, name), group in sorted(overload_sets(ops).items()):
        if name.startswith("_"):
            continue
        public = f"{namespace}.{name}" if namespace else name
        lines += [f"## {public}", "", "```python", *(op.signature for op in group), "```", ""]
        lines += [" ".join(dict.fromkeys(op.doc for op in group)), ""]
        lines += explanation(table, group, places)
        lines += [facts(group), ""]
    return "\n".join(lines)


def explanation(table: Table, group: list[Op], places: dict[str, str]) -> list[str]:
    """The rest of the docstring, as Markdown."""
    help_ = docstring.help_of(table, group[0])
    form = "function" if "function" in group[0].forms else "method"
    lines = []
    for text in (*help_.paragraphs, docstring.derived(group[0])):
        lines += [plain(text), ""] if text else []
    for name, facts_, text in docstring.described(table, group, form, False):
        lines.append("- " + docstring.joined(f"`{name}`{facts_}", plain(text)))
    lines += ["", *([f"Returns: {lowered(group[0])}", ""] if docstring.returns(group[0]) else [])]
    if help_.example:
        lines += ["```python", *help_.example, "```", ""]
    if help_.see:
        links = [
            f"[`{name}`]({places[name]})" if name in places else f"`{name}`" for name in help_.see
        ]
        lines += [f"*See also:* {', '.join(links)}.", ""]
    return lines


def plain(text: str) -> str:
    """Text escaped for Markdown."""
    return re.sub(r"([*_^|<>\[\]~])", r"\\\1", text)


def lowered(op: Op) -> str:
    text = docstring.returns(op)
    return text[0].lower() + text[1:]


def facts(group: list[Op]) -> str:
    forms = sorted(
        {form for op in group for form in op.forms}, key=("function", "method", "inplace").index
    )
    words = {"function": "function", "method": "method", "inplace": "in place (`_`)"}
    listed = [words[form] for form in forms]
    if any(op.has_out for op in group):
        listed.append("`out=`")
    dtypes = ", ".join(group[0].accepted_types)
    rule = AUTOCAST.get(group[0].autocast, "")
    casts = f" *Under autocast:* {rule}." if rule else ""
    where = ", ".join(dict.fromkeys(DEVICES[op.runs] for op in group))
    return f"*Forms:* {', '.join(listed)}. *Types:* {dtypes}.{casts} *Devices:* {where}."


def index(table: Table) -> str:
    lines = ["# Operators", "", "| family | operators |", "|---|---|"]
    for family, ops in table.families().items():
        names = sorted({op.public_name for op in ops if not op.name.startswith("_")})
        links = [f"[`{name}`]({family}.md#{name.replace('.', '').lower()})" for name in names]
        if links:
            lines.append(f"| [{family}]({family}.md) | {', '.join(links)} |")
    return "\n".join([*lines, ""])
