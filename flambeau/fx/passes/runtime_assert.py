"""Checks of symbolic sizes in graphs: none are needed, since sizes are numbers."""

from __future__ import annotations

from typing import Any

__all__ = ["insert_deferred_runtime_asserts"]


def insert_deferred_runtime_asserts(
    gm: Any, shape_env: Any, name: str, export: bool = False
) -> None:
    """Insert the deferred checks of ``shape_env``: it never has any."""
