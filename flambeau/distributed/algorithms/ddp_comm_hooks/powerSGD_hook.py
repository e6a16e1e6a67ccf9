"""Gradients of low rank on their way to the other processes."""

from __future__ import annotations

from typing import Any

from flambeau.distributed._absent import Function, function, type_without_objects

__all__ = ["PowerSGDState", "batched_powerSGD_hook", "powerSGD_hook"]

_INSTEAD = "one process has no gradients to exchange"

PowerSGDState: Any = type_without_objects("PowerSGDState", _INSTEAD)
powerSGD_hook: Function = function("powerSGD_hook", _INSTEAD)
batched_powerSGD_hook: Function = function("batched_powerSGD_hook", _INSTEAD)
