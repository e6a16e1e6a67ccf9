"""Functions of one score's place, or of a score and its place, applied to all scores at once."""

from __future__ import annotations

import inspect
from collections.abc import Callable

import flambeau as fb
from flambeau import Tensor

ScoreMod = Callable[[Tensor, Tensor, Tensor, Tensor, Tensor], Tensor]
MaskMod = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]


def noop_mask(batch: Tensor, head: Tensor, token_q: Tensor, token_kv: Tensor) -> Tensor:
    """Hide nothing."""
    return batch.new_ones(size=(), dtype=fb.bool, device=batch.device)


def and_masks(*mask_mods: MaskMod) -> MaskMod:
    """What all of ``mask_mods`` let through."""
    return _joined(mask_mods, "and_masks", True, fb.logical_and)


def or_masks(*mask_mods: MaskMod) -> MaskMod:
    """What any of ``mask_mods`` lets through."""
    return _joined(mask_mods, "or_masks", False, fb.logical_or)


def _joined(
    mask_mods: tuple[MaskMod, ...],
    name: str,
    start: bool,
    join: Callable[[Tensor, Tensor], Tensor],
) -> MaskMod:
    if not all(callable(mod) for mod in mask_mods):
        raise RuntimeError(f"{name}: all inputs should be callable mask_mods, got {mask_mods}")

    def joined(b: Tensor, h: Tensor, q_idx: Tensor, kv_idx: Tensor) -> Tensor:
        result = b.new_full((), start, dtype=fb.bool)
        for mod in mask_mods:
            result = join(result, mod(b, h, q_idx, kv_idx))
        return result

    return joined


def takes_score(function: Callable[..., Tensor]) -> bool:
    """Whether a function modifies a score, and does not only say if its place is seen."""
    parameters = inspect.signature(function).parameters.values()
    count = sum(p.default is inspect.Parameter.empty for p in parameters)
    if count not in (4, 5):
        raise AssertionError(f"Expected 4 or 5 positional args, got {count}")
    return count == 5


def at_every_place(
    function: Callable[..., Tensor],
    scores: Tensor | None,
    shape: tuple[int, ...],
    device: fb.device,
) -> Tensor:
    """``function`` at all places (batch, head, query, key), one at a time as far as it can see."""
    places = [fb.arange(size, device=device) for size in shape]
    mapped = function
    # The innermost map is over keys, the last argument.
    for level in range(len(shape) - 1, -1, -1):
        dims = tuple(0 if i == level else None for i in range(len(shape)))
        mapped = fb.vmap(mapped, in_dims=dims if scores is None else (0, *dims))
    return mapped(*places) if scores is None else mapped(scores, *places)
