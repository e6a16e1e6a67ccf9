"""Backward passes through several processes."""

from __future__ import annotations

from flambeau.distributed._absent import function

__all__ = ["backward", "context", "get_gradients"]

_INSTEAD = "call loss.backward()"

context = function("distributed.autograd.context", _INSTEAD)
backward = function("distributed.autograd.backward", _INSTEAD)
get_gradients = function("distributed.autograd.get_gradients", _INSTEAD)
