"""Masks that hide later positions, for `scaled_dot_product_attention`."""

from __future__ import annotations

import enum
import warnings
from collections.abc import Callable
from typing import Any, ClassVar

import flambeau as fb
from flambeau import _C, Tensor

__all__ = ["CausalBias", "CausalVariant", "causal_lower_right", "causal_upper_left"]


class CausalVariant(enum.IntEnum):
    """Which corner of the matrix of scores the diagonal goes through, where it is not square."""

    UPPER_LEFT = 1
    LOWER_RIGHT = 2


class CausalBias(Tensor):
    """A mask of bools, true for keys that are not after the query, that knows its kind."""

    variant: CausalVariant
    seq_len_q: int
    seq_len_kv: int
    # Attention with it gives plain tensors.
    __torch_function__: ClassVar[Callable[..., Any]] = _C._disabled_torch_function_impl

    def __new__(cls, variant: CausalVariant, seq_len_q: int, seq_len_kv: int) -> Any:
        if not isinstance(variant, CausalVariant):
            raise AssertionError(f"CausalBias: expected a CausalVariant, got {variant!r}")
        if variant == CausalVariant.LOWER_RIGHT and seq_len_q > seq_len_kv:
            warnings.warn(
                "CausalBias: the first queries see no keys where seq_len_q > seq_len_kv",
                stacklevel=4,
            )
        offset = 0 if variant == CausalVariant.UPPER_LEFT else seq_len_kv - seq_len_q
        mask: Any = fb.ones(seq_len_q, seq_len_kv, dtype=fb.bool).tril(offset).as_subclass(cls)
        mask.variant = variant
        mask.seq_len_q = seq_len_q
        mask.seq_len_kv = seq_len_kv
        return mask


def causal_upper_left(*size: int) -> CausalBias:
    """Query i sees the keys up to i."""
    return _causal(CausalVariant.UPPER_LEFT, "causal_upper_left", size)


def causal_lower_right(*size: int) -> CausalBias:
    """The last query sees all keys, each one before it one key less."""
    return _causal(CausalVariant.LOWER_RIGHT, "causal_lower_right", size)


def _causal(variant: CausalVariant, name: str, size: tuple[int, ...]) -> CausalBias:
    if len(size) != 2:
        raise AssertionError(f"{name} only supports 2D tensors, got the size {size}")
    made: CausalBias = CausalBias(variant, *size)
    return made
