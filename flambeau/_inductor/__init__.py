"""The part of PyTorch's code generator that programs name: its options."""

from __future__ import annotations

from typing import Any

from flambeau._inductor import config
from flambeau.compiler._compile import MODES

__all__ = ["config", "list_mode_options", "list_options"]


def list_mode_options(mode: str | None = None, dynamic: bool | None = None) -> dict[str, Any]:
    """The options that a mode of ``torch.compile`` sets: none, as nothing is compiled."""
    return {} if mode is not None else {each: {} for each in MODES}


def list_options() -> list[str]:
    """The names of the options."""
    return sorted(config._options)  # type: ignore[attr-defined]
