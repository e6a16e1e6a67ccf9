"""Decorators of functions that say what an operator becomes in ONNX; they are kept as they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["parse_args", "quantized_args"]

_Function = TypeVar("_Function", bound=Callable[..., Any])


def parse_args(*arg_descriptors: str) -> Callable[[_Function], _Function]:
    """Say of which kind the arguments are."""
    return lambda fn: fn


def quantized_args(
    *arg_q_descriptors: bool,
    scale: float | None = None,
    zero_point: int | None = None,
    quantize_output: bool = True,
) -> Callable[[_Function], _Function]:
    """Say which arguments may be quantised."""
    return lambda fn: fn
