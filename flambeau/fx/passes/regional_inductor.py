"""Compiling parts of a graph with PyTorch's compiler, which Flambeau does not have."""

from __future__ import annotations

from flambeau._limits.refusing import Function, refused

__all__ = ["regional_inductor"]

regional_inductor: Function = refused("fx.passes.regional_inductor.regional_inductor")
