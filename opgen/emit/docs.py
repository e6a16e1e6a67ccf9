"""docs/operators/*.md: a reference page per family."""

from __future__ import annotations

from opgen.emit.text import overload_sets
from opgen.model import Op, Table

# What the rules of emit/autocast.py mean to users.
AUTOCAST = {
    "lower": "in the 16-bit type of the region",
    "float32": "in float32",
    "promote": "in the widest type among its inputs",
}

DEVICES = {
    "everywhere": "every device",
    "parts": "wherever the operators do that it consists of",
    "kernel": "those that have its kernel",
}


def emit(table: Table) -> dict[str, str]:
    files = {
        f"docs/operators/{family}.md": page(family, ops) for family, ops in table.families().items()
    }
    files["docs/operators/all.md"] = index(table)  # there is a family called index
    return files


def page(family: str, ops: list[Op]) -> str:
    lines = [f"# {family}", "", f"Generated from `opgen/table/{family}.py`.", ""]
    for (namespace, name), group in sorted(overload_sets(ops).items()):
        if name.startswith("_"):
            continue
        public = f"{namespace}.{name}" if namespace else name
        lines += [f"## {public}", "", "```python", *(op.signature for op in group), "```", ""]
        docs: list[str] = []
        for op in group:
            if op.doc not in docs:
                docs.append(op.doc)
        lines += [" ".join(docs), "", facts(group), ""]
    return "\n".join(lines)


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
