"""Settings of the libraries that compute: assigned and read back as in PyTorch.

Flambeau decides by itself which kernel runs, so most of these change nothing; docs/compatibility.md
says which ones do.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

from flambeau.backends import (
    cpu,
    cuda,
    cudnn,
    cusparselt,
    kleidiai,
    mha,
    miopen,
    mkl,
    mkldnn,
    mps,
    nnpack,
    openmp,
    opt_einsum,
    quantized,
    xnnpack,
)
from flambeau.backends._precision import PrecisionSetting
from flambeau.backends._settings import keep_settings

__all__ = [
    "cpu",
    "cuda",
    "cudnn",
    "cusparselt",
    "disable_global_flags",
    "flags_frozen",
    "fp32_precision",
    "kleidiai",
    "mha",
    "miopen",
    "mkl",
    "mkldnn",
    "mps",
    "nnpack",
    "openmp",
    "opt_einsum",
    "quantized",
    "xnnpack",
]

fp32_precision: str


def flags_frozen() -> bool:
    """Whether settings may be assigned only by the ``flags`` blocks: never."""
    return False


def disable_global_flags() -> None:
    """Kept for test suites that ask for assignments by ``flags`` blocks only; they stay allowed."""


def __allow_nonbracketed_mutation() -> AbstractContextManager[None]:
    """A block in which settings may be assigned, as they may outside of it."""
    return nullcontext()


keep_settings(__name__, {"fp32_precision": PrecisionSetting("generic")})
