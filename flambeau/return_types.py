"""``torch.return_types``: the named tuples that operators with several results give."""

from __future__ import annotations

from typing import Any

from flambeau import _C

__all__: list[str] = []


def _fields() -> dict[str, list[str]]:
    """The names of the results of each operator that has names for them."""
    return {
        "_".join(filter(None, (op["namespace"].replace(".", "_"), op["name"]))): op["returns"]
        for op in _C.op_info()
        if op.get("returns")
    }


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    fields = _fields()
    if name not in fields:
        raise AttributeError(f"module 'flambeau.return_types' has no attribute {name!r}")
    return _C._return_type(name, fields[name])


def __dir__() -> list[str]:
    return sorted(_fields())
