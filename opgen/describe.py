"""The help texts of opgen/help beyond the table entries: prose, arguments, examples.

A file belongs to the family of its name and holds a section for each operator:

    ## add
    A paragraph, which follows the line that the table has.

    alpha: What the argument is.

    >>> torch.add(torch.tensor([1, 2]), 10)
    tensor([11, 12])

    see: sub, addcmul

An example that begins with the line `in place:` is that of the in-place form; without one it is
made from the example of the function (emit/inplace_example.py).

The section `## *` describes arguments for the whole family, and arguments.txt for all of them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from opgen.model import Arg, Op, Table, TableError

FOLDER = Path(__file__).parent / "help"
SHARED = "arguments"  # the file of arguments that every family has
FAMILY = "*"
IN_PLACE = "in place:\n"

# `name: text`, or `name (type): text` for arguments of that type, or of one that the signature
# leaves open.
ARGUMENT = re.compile(r"(\w+)(?: \(([^)]+)\))?: (.+)")

# Types as users read them.
TYPES = {
    "Tensor | Number": "Tensor or number",
    "list[Tensor]": "tensors",
    "list[Tensor | None]": "tensors or None",
    "Number": "number",
    "Floats": "floats",
    "Factors": "float or floats",
    "Size": "ints",
    "Ints": "sequence of ints",
    "Dims": "int or ints",
    "Sizes": "int or ints",
    "DType": "dtype",
    "Device": "device",
    "Layout": "layout",
    "MemoryFormat": "memory_format",
    "Tensors": "tensors",
    "Any": "",
}


@dataclass
class Help:
    """The section of one operator, of one family or of all."""

    where: str  # file:line
    paragraphs: list[str] = field(default_factory=list)
    arguments: dict[str, dict[str, str]] = field(
        default_factory=dict
    )  # by name and type, "" for any
    example: list[str] = field(default_factory=list)
    inplace_example: list[str] = field(default_factory=list)
    see: list[str] = field(default_factory=list)


def read(file: Path) -> dict[str, Help]:
    """The sections of a file by their headings."""
    sections: dict[str, Help] = {}
    name, start, lines = "", 0, list[str]()
    for number, line in enumerate([*file.read_text(encoding="utf-8").splitlines(), "## "], 1):
        if not line.startswith("## "):
            lines.append(line)
            continue
        if name in sections:
            raise TableError(f"help/{file.name}:{start}: {name} has a section already")
        if name:
            sections[name] = section(lines, f"help/{file.name}:{start}")
        elif any(lines):
            raise TableError(f"help/{file.name}:1: text before the first heading '## NAME'")
        name, start, lines = line[3:].strip(), number, []
    return sections


def section(lines: list[str], where: str) -> Help:
    help_ = Help(where)
    for block in re.split(r"\n\s*\n", "\n".join(lines).strip()):
        if not block:
            continue
        if block.startswith(">>> "):
            help_.example += ["", *block.splitlines()] if help_.example else block.splitlines()
        elif block.startswith(IN_PLACE):
            help_.inplace_example = block.splitlines()[1:]
        elif block.startswith("see: "):
            help_.see = re.split(r",\s+", block[len("see: ") :])
        elif ARGUMENT.match(block):
            # Continuation lines are indented further.
            for line in re.sub(r"\n +", " ", block).splitlines():
                match = ARGUMENT.fullmatch(line)
                if not match:
                    raise TableError(f"{where}: not 'argument: text': {line!r}")
                help_.arguments.setdefault(match[1], {})[match[2] or ""] = match[3]
        else:
            help_.paragraphs.append(" ".join(block.split()))
    return help_


def attach(table: Table, folder: Path = FOLDER) -> None:
    """Add the texts of a folder to the table, and refuse those that describe nothing."""
    shared = read(folder / f"{SHARED}.txt").get(FAMILY, Help(""))
    families = table.families()
    for file in sorted(folder.glob("*.txt")):
        if file.stem != SHARED and file.stem not in families:
            raise TableError(f"help/{file.name}:1: there is no family {file.stem}")
    for family, ops in families.items():
        file = folder / f"{family}.txt"
        sections = read(file) if file.exists() else {}
        common = sections.pop(FAMILY, Help(""))
        refuse_unknown(sections, common, ops)
        table.help.update(sections)
        for op in ops:
            own = sections.get(op.alias_of or op.public_name, Help(""))
            table.described[op.public_name, op.overload] = {
                arg.name: description(arg, (own, common, shared)) for arg in op.args
            }


def description(arg: Arg, sources: tuple[Help, ...]) -> tuple[str, str]:
    """The type of an argument, as users read it, and its first description found."""
    type_ = type_words(arg)
    for source in sources:
        texts = source.arguments.get(arg.name, {})
        if text := texts.get(type_) or texts.get(""):
            return type_, text
        if texts and not type_:
            return next(iter(texts.items()))
    return type_, ""


def type_words(arg: Arg) -> str:
    annotation = arg.type.annotation.removesuffix(" | None")
    return TYPES.get(annotation, annotation)


def refuse_unknown(sections: dict[str, Help], common: Help, ops: list[Op]) -> None:
    names: dict[str, set[str]] = {}
    for op in ops:
        names.setdefault(op.public_name, set()).update(arg.name for arg in op.args)
        if op.alias_of:
            names[op.alias_of] |= names[op.public_name]
    for name, help_ in sections.items():
        if name not in names or name in {op.public_name for op in ops if op.alias_of}:
            raise TableError(f"{help_.where}: the family has no operator {name}")
        if unknown := sorted(set(help_.arguments) - names[name]):
            raise TableError(f"{help_.where}: {name} has no argument {', '.join(unknown)}")
    if unknown := sorted(set(common.arguments) - set[str]().union(*names.values())):
        raise TableError(f"{common.where}: no operator has an argument {', '.join(unknown)}")
