"""Checks of symbolic sizes in graphs; sizes are numbers, so that there are none to insert."""

from __future__ import annotations

from typing import Any

__all__ = ["insert_deferred_runtime_asserts"]


def insert_deferred_runtime_asserts(
    gm: Any, shape_env: Any, name: str, export: bool = False
) -> None:
    """Insert the checks that ``shape_env`` has put off: it never has any."""
