"""Gradients of low rank on their way to the other processes."""

from __future__ import annotations

from flambeau.distributed._absent import function, type_without_objects

__all__ = ["PowerSGDState", "batched_powerSGD_hook", "powerSGD_hook"]

_INSTEAD = "one process has no gradients to exchange"

PowerSGDState = type_without_objects("PowerSGDState", _INSTEAD)
powerSGD_hook = function("powerSGD_hook", _INSTEAD)
batched_powerSGD_hook = function("batched_powerSGD_hook", _INSTEAD)
