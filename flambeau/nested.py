"""``torch.nested``: tensors whose rows differ in length, which Flambeau does not have yet."""

from __future__ import annotations

from flambeau._limits.refusing import Function, refused

__all__ = [
    "as_nested_tensor",
    "masked_select",
    "narrow",
    "nested_tensor",
    "nested_tensor_from_jagged",
    "to_padded_tensor",
]

as_nested_tensor: Function = refused("nested.as_nested_tensor")
masked_select: Function = refused("nested.masked_select")
narrow: Function = refused("nested.narrow")
nested_tensor: Function = refused("nested.nested_tensor")
nested_tensor_from_jagged: Function = refused("nested.nested_tensor_from_jagged")
to_padded_tensor: Function = refused("nested.to_padded_tensor")
