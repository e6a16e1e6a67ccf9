"""``torch.nested``: tensors whose rows differ in length, which Flambeau does not have yet."""

from __future__ import annotations

from typing import Any, NoReturn

__all__ = [
    "as_nested_tensor",
    "masked_select",
    "narrow",
    "nested_tensor",
    "nested_tensor_from_jagged",
    "to_padded_tensor",
]


def _refuse(name: str) -> NoReturn:
    raise NotImplementedError(
        f"nested.{name}: nested tensors are not supported yet; pad the rows with "
        "torch.nn.utils.rnn.pad_sequence and keep a mask, or use pack_sequence"
    )


def nested_tensor(tensor_list: Any, **_: Any) -> NoReturn:
    """Raise: use ``nn.utils.rnn.pad_sequence``."""
    _refuse("nested_tensor")


def as_nested_tensor(ts: Any, **_: Any) -> NoReturn:
    """Raise: use ``nn.utils.rnn.pad_sequence``."""
    _refuse("as_nested_tensor")


def nested_tensor_from_jagged(values: Any, *_: Any, **__: Any) -> NoReturn:
    """Raise: use ``nn.utils.rnn.pad_sequence``."""
    _refuse("nested_tensor_from_jagged")


def to_padded_tensor(input: Any, padding: float, *_: Any, **__: Any) -> NoReturn:
    """Raise: a tensor that is not nested is padded already."""
    _refuse("to_padded_tensor")


def masked_select(tensor: Any, mask: Any) -> NoReturn:
    """Raise: ``torch.masked_select`` gives the selected elements in one dimension."""
    _refuse("masked_select")


def narrow(tensor: Any, *_: Any, **__: Any) -> NoReturn:
    """Raise: use ``torch.narrow`` row by row."""
    _refuse("narrow")
