"""Gradients that are exchanged now and then."""

from __future__ import annotations

from flambeau.distributed._absent import function, type_without_objects

__all__ = ["PostLocalSGDState", "post_localSGD_hook"]

_INSTEAD = "one process has no gradients to exchange"

PostLocalSGDState = type_without_objects("PostLocalSGDState", _INSTEAD)
post_localSGD_hook = function("post_localSGD_hook", _INSTEAD)
