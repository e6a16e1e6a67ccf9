"""Quantisation of whole models, which needs kernels for 8-bit integers."""

from __future__ import annotations

from typing import Any, NoReturn

__all__: list[str] = []


def _refuse(name: str) -> NoReturn:
    raise NotImplementedError(
        f"{name}: there are no kernels for 8-bit integers yet; quantize_dynamic keeps the weights "
        "of linear and recurrent layers in 8 bits"
    )


def prepare(model: Any, *args: Any, **kwargs: Any) -> NoReturn:
    """Let a model watch the ranges of its activations."""
    _refuse("prepare")


def prepare_qat(model: Any, *args: Any, **kwargs: Any) -> NoReturn:
    """Let a model round its activations while it is trained."""
    _refuse("prepare_qat")


def convert(module: Any, *args: Any, **kwargs: Any) -> NoReturn:
    """Make a watched model one of integers."""
    _refuse("convert")


def quantize(model: Any, *args: Any, **kwargs: Any) -> NoReturn:
    """All of that at once."""
    _refuse("quantize")


def quantize_qat(model: Any, *args: Any, **kwargs: Any) -> NoReturn:
    """The same with training."""
    _refuse("quantize_qat")
