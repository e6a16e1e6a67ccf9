"""Tensors to the device and back, also inside of lists and dictionaries."""

from typing import Any

import flambeau as fb

CUDA = fb.device("cuda", 0)


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
        parts = (value.start, value.stop, value.step)
        return slice(*(map_tensors(function, part) for part in parts))
    return value


def to_cuda(value: Any) -> Any:
    """The same arguments with their tensors on the device; strides and views kept."""
    return map_tensors(_to_cuda, value)


def _to_cuda(t: Any) -> Any:
    if t.is_sparse or (t.is_contiguous() and t.storage_offset() == 0):
        return t.detach().to(CUDA).requires_grad_(t.requires_grad)
    elements = t.detach().as_strided((t.untyped_storage().nbytes() // t.element_size(),), (1,), 0)
    there = elements.to(CUDA).as_strided(t.size(), t.stride(), t.storage_offset())
    return there.requires_grad_(t.requires_grad)


def to_host(value: Any) -> Any:
    """Results with their tensors in the host's memory."""
    return map_tensors(lambda t: t.detach().cpu(), value)


def devices_of(value: Any) -> set[str]:
    """The types of device that the tensors of a result are on."""
    found: set[str] = set()
    map_tensors(lambda t: found.add(t.device.type), value)
    return found


def gradients_on(device: str, function: Any, inputs: list[Any]) -> list[Any]:
    """The results of a call on a device, and the gradients of a weighted sum of them."""
    leaves = [t.detach().to(device) for t in inputs]
    for leaf in leaves:
        leaf.requires_grad_(leaf.is_floating_point() or leaf.is_complex())
    results = function(*leaves)
    results = results if isinstance(results, (tuple, list)) else [results]
    assert {each.device.type for each in results} == {device}
    recorded = [each for each in results if each.requires_grad]
    for number, result in enumerate(recorded):
        steps = fb.arange(result.numel(), dtype=fb.float64).reshape(result.shape) + number
        weights = fb.cos(steps).to(result.dtype).to(device)
        result.backward(weights, retain_graph=True)
    found = [*results, *(leaf.grad for leaf in leaves if leaf.grad is not None)]
    return [each.detach().cpu() for each in found]
