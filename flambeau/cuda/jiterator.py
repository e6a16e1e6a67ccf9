"""Element-wise kernels written as text."""

from __future__ import annotations

from flambeau._limits.absent import Function
from flambeau.cuda._absence import CUDA

__all__: list[str] = []

_create_jit_fn: Function = CUDA.function("jiterator._create_jit_fn", "A kernel of one result.")
_create_multi_output_jit_fn: Function = CUDA.function(
    "jiterator._create_multi_output_jit_fn", "A kernel of several results."
)
