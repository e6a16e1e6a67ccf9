"""How an audit is shown."""

from __future__ import annotations

import json

from flambeau.compat import Audit
from flambeau.version import __version__

__all__ = ["as_text", "to_json"]


def as_text(found: Audit) -> str:
    """A few lines: what is missing, with the first place of each, and how much is there."""
    lines = [f"cannot read {file}: {why}" for file, why in found.unreadable.items()]
    width = max((len(each.name) for each in found.missing), default=0) + 2
    if found.missing:
        lines.append(f"missing in Flambeau {__version__}:")
    for name, first, uses in found.missing:
        times = f"{uses} use{'s' * (uses > 1)}"
        lines.append(f"  {name:{width}}{times:<9} {first.file}:{first.line}")
    total, names = found.names.total(), len(found.names)
    there = names - len(found.missing)
    if not total:
        lines.append(f"no name of torch is used in {_count(found.files, 'file')}")
        return "\n".join(lines)
    lines.append(
        f"{there} of {_count(names, 'name')} of torch in {_count(found.files, 'file')} are there: "
        f"{found.coverage:.1%} of {_count(total, 'use')}"
    )
    if not found.missing and not found.unreadable:
        lines.append("nothing is missing (methods of tensors and modules are only known in a run)")
    return "\n".join(lines)


def to_json(found: Audit) -> str:
    """The same for programs."""
    missing = [
        {"name": name, "uses": uses, "file": str(first.file), "line": first.line}
        for name, first, uses in found.missing
    ]
    content = {
        "files": found.files,
        "unreadable": {str(file): why for file, why in found.unreadable.items()},
        "names": dict(found.names.most_common()),
        "missing": missing,
        "coverage": found.coverage,
    }
    return json.dumps(content, indent=2)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"
