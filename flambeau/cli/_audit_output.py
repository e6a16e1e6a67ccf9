"""How an audit is shown."""

from __future__ import annotations

import json
from typing import Any

from flambeau.compat import Audit, Missing
from flambeau.version import __version__

__all__ = ["as_text", "to_json"]


def as_text(found: Audit) -> str:
    """A few lines: what is missing, with the first place of each, and how much is there."""
    lines = [f"cannot read {file}: {why}" for file, why in found.unreadable.items()]
    if found.missing:
        lines += [f"missing in Flambeau {__version__}:", *_table(found.missing)]
    if found.refused:
        lines += ["there, but raising an error that says what to use instead:"]
        lines += _table(found.refused)
    if found.accepted:
        lines += ["accepted, but without effect (docs/compatibility.md says what happens instead):"]
        lines += _table(found.accepted)
    total, names = found.names.total(), len(found.names)
    not_working = {each.name for each in (*found.missing, *found.refused, *found.accepted)}
    there = len(found.names.keys() - not_working)
    if not total:
        lines.append(f"no name of torch is used in {_count(found.files, 'file')}")
        return "\n".join(lines)
    lines.append(
        f"{there} of {_count(names, 'name')} of torch in {_count(found.files, 'file')} work: "
        f"{found.coverage:.1%} of {_count(total, 'use')}"
    )
    if not (found.missing or found.refused or found.accepted or found.unreadable):
        lines.append("nothing is missing (methods of tensors and modules are only known in a run)")
    return "\n".join(lines)


def to_json(found: Audit) -> str:
    """The same for programs."""
    content = {
        "files": found.files,
        "unreadable": {str(file): why for file, why in found.unreadable.items()},
        "names": dict(found.names.most_common()),
        "missing": [_entry(each) for each in found.missing],
        "refused": [_entry(each) for each in found.refused],
        "accepted": [_entry(each) for each in found.accepted],
        "coverage": found.coverage,
    }
    return json.dumps(content, indent=2)


def _table(names: list[Missing]) -> list[str]:
    width = max(len(each.name) for each in names) + 2
    return [
        f"  {name:{width}}{_count(uses, 'use'):<9} {first.file}:{first.line}"
        for name, first, uses in names
    ]


def _entry(each: Missing) -> dict[str, Any]:
    file, line = str(each.first.file), each.first.line
    return {"name": each.name, "uses": each.uses, "file": file, "line": line}


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"
