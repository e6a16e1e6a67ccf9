"""Gradients that are exchanged now and then."""

from __future__ import annotations

from typing import Any

from flambeau.distributed._absent import Function, function, type_without_objects

__all__ = ["PostLocalSGDState", "post_localSGD_hook"]

_INSTEAD = "one process has no gradients to exchange"

PostLocalSGDState: Any = type_without_objects("PostLocalSGDState", _INSTEAD)
post_localSGD_hook: Function = function("post_localSGD_hook", _INSTEAD)
