"""Backward passes through several processes."""

from __future__ import annotations

from flambeau.distributed._absent import Function, function

__all__ = ["backward", "context", "get_gradients"]

_INSTEAD = "call loss.backward()"

context: Function = function("distributed.autograd.context", _INSTEAD)
backward: Function = function("distributed.autograd.backward", _INSTEAD)
get_gradients: Function = function("distributed.autograd.get_gradients", _INSTEAD)
