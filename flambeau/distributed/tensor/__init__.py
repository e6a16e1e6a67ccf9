"""Tensors that are spread over processes: their names and placements, not the tensors yet."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from flambeau.distributed._absent import Function, function, type_without_objects
from flambeau.distributed.device_mesh import DeviceMesh, init_device_mesh
from flambeau.distributed.tensor.placement_types import Partial, Placement, Replicate, Shard

if TYPE_CHECKING:
    from flambeau.distributed.tensor import experimental, parallel

__all__ = [
    "DTensor",
    "DeviceMesh",
    "Partial",
    "Placement",
    "Replicate",
    "Shard",
    "distribute_module",
    "distribute_tensor",
    "empty",
    "experimental",
    "full",
    "init_device_mesh",
    "ones",
    "parallel",
    "rand",
    "randn",
    "zeros",
]

_INSTEAD = "use a tensor of one process"
_METHODS = ("from_local", "full_tensor", "redistribute", "to_local")

DTensor: Any = type_without_objects("DTensor", _INSTEAD, _METHODS)
DTensor.__annotations__ = {"device_mesh": DeviceMesh, "placements": tuple[Placement, ...]}
distribute_tensor: Function = function("distribute_tensor", _INSTEAD)
distribute_module: Function = function("distribute_module", "use the module as it is")
empty, full, ones, rand, randn, zeros = (
    function(f"distributed.tensor.{name}", _INSTEAD)
    for name in ("empty", "full", "ones", "rand", "randn", "zeros")
)


def __getattr__(name: str) -> Any:
    if name in ("experimental", "parallel"):
        return importlib.import_module(f"flambeau.distributed.tensor.{name}")
    raise AttributeError(f"module 'flambeau.distributed.tensor' has no attribute {name!r}")
