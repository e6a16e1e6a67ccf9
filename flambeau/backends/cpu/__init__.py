"""What the processor can do."""

from __future__ import annotations

from flambeau._C import _isa

__all__ = ["get_cpu_capability"]

_NAMES = {"avx512": "AVX512", "avx2": "AVX2"}


def get_cpu_capability() -> str:
    """The instruction set in use, in PyTorch's words: DEFAULT, AVX2 or AVX512."""
    return _NAMES.get(_isa(), "DEFAULT")
