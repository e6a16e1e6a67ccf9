"""Element-wise kernels written as text."""

from __future__ import annotations

from flambeau._limits.refusing import Function, refused

__all__: list[str] = []

_create_jit_fn: Function = refused("cuda.jiterator._create_jit_fn")
_create_multi_output_jit_fn: Function = refused("cuda.jiterator._create_multi_output_jit_fn")
