"""Backward passes through several processes."""

from __future__ import annotations

from flambeau._limits.refusing import Function, refused

__all__ = ["backward", "context", "get_gradients"]

context: Function = refused("distributed.autograd.context")
backward: Function = refused("distributed.autograd.backward")
get_gradients: Function = refused("distributed.autograd.get_gradients")
