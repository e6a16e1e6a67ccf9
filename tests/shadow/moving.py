"""Tensors to the device `shadow` and back, also inside of lists and dictionaries."""

from typing import Any

import flambeau as fb
from flambeau import _C

SHADOW = fb.device("shadow", 0)


def map_tensors(function: Any, value: Any) -> Any:
    """`value` with `function` applied to every tensor in it."""
    if isinstance(value, fb.Tensor):
        return function(value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return tuple(map_tensors(function, item) for item in value)
    if isinstance(value, (list, tuple)):
        return type(value)(map_tensors(function, item) for item in value)
    if isinstance(value, dict):
        return {key: map_tensors(function, item) for key, item in value.items()}
    if isinstance(value, slice):
        return slice(
            *(map_tensors(function, part) for part in (value.start, value.stop, value.step))
        )
    return value


def to_shadow(value: Any) -> Any:
    """The same arguments with their tensors on the device; strides, views and gradients kept."""
    return map_tensors(_to_shadow, value)


def _to_shadow(t: Any) -> Any:
    if t.is_sparse or (t.is_contiguous() and t.storage_offset() == 0):
        return t.detach().to(SHADOW).requires_grad_(t.requires_grad)
    elements = t.detach().as_strided((t.untyped_storage().nbytes() // t.element_size(),), (1,), 0)
    there = elements.to(SHADOW).as_strided(t.size(), t.stride(), t.storage_offset())
    return there.requires_grad_(t.requires_grad)


def to_host(value: Any) -> Any:
    """Results with their tensors in the host's memory."""
    return map_tensors(lambda t: t.detach().cpu(), value)


def devices_of(value: Any) -> set[str]:
    """The types of device that the tensors of a result are on."""
    found: set[str] = set()
    map_tensors(lambda t: found.add(t.device.type), value)
    return found


def check_no_access(what: str) -> None:
    """Fail if the host touched the device's memory."""
    faults = _C._take_shadow_faults()
    assert not faults, f"{what}: the host touched the device's memory, first at\n{faults[0]}"
