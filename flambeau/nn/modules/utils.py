"""Numbers given once for all spatial dimensions, and names of entries in state dicts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

__all__ = ["consume_prefix_in_state_dict_if_present"]


def _ntuple(n: int, name: str = "parse") -> Callable[[Any], tuple[Any, ...]]:
    """A function that makes a tuple of what it is given: `n` times, unless it is iterable."""

    def parse(x: Any) -> tuple[Any, ...]:
        return tuple(x) if isinstance(x, Iterable) else (x,) * n

    parse.__name__ = name
    return parse


_single = _ntuple(1, "_single")
_pair = _ntuple(2, "_pair")
_triple = _ntuple(3, "_triple")
_quadruple = _ntuple(4, "_quadruple")


def _reverse_repeat_tuple(t: Sequence[Any], n: int) -> tuple[Any, ...]:
    """The elements from the last to the first, each `n` times: as padding is written."""
    return tuple(x for x in reversed(t) for _ in range(n))


def _list_with_default(
    out_size: int | Sequence[int | None], defaults: Sequence[int]
) -> int | list[int]:
    """Sizes in which None stands for one of the last `defaults`; a single size stays as it is."""
    if isinstance(out_size, int):
        return out_size
    if len(defaults) <= len(out_size):
        raise ValueError(
            f"Input dimension should be at least {len(out_size) + 1}, got {len(defaults)}"
        )
    last = defaults[len(defaults) - len(out_size) :]
    return [d if size is None else size for size, d in zip(out_size, last, strict=True)]


def consume_prefix_in_state_dict_if_present(state_dict: dict[str, Any], prefix: str) -> None:
    """Remove `prefix` from the keys of a state dict, in place, and from those of its metadata."""
    for key in list(state_dict):
        if key.startswith(prefix):
            state_dict[key.removeprefix(prefix)] = state_dict.pop(key)
    metadata = getattr(state_dict, "_metadata", None)
    if metadata is None:
        return
    bare = prefix.removesuffix(".")
    for key in list(metadata):
        # The module itself stands there without the dot that ends the prefix of its entries.
        if key and (key == bare or key.startswith(prefix)):
            metadata[key[len(prefix) :]] = metadata.pop(key)
