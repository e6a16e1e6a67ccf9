"""Tensors that are spread over processes: their names and placements, not the tensors yet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flambeau._core.lazy import lazy as _lazy
from flambeau._limits.refusing import Function, refused, refused_type
from flambeau.distributed.device_mesh import DeviceMesh, init_device_mesh
from flambeau.distributed.tensor.placement_types import Partial, Placement, Replicate, Shard

if TYPE_CHECKING:
    from flambeau.distributed.tensor import experimental, parallel
else:
    __getattr__ = _lazy(__name__, "experimental parallel")

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

_METHODS = ("from_local", "full_tensor", "redistribute", "to_local")

DTensor: Any = refused_type("distributed.tensor.DTensor", _METHODS)
DTensor.__annotations__ = {"device_mesh": DeviceMesh, "placements": tuple[Placement, ...]}
distribute_tensor: Function = refused("distributed.tensor.distribute_tensor")
distribute_module: Function = refused("distributed.tensor.distribute_module")
empty, full, ones, rand, randn, zeros = (
    refused(f"distributed.tensor.{name}")
    for name in ("empty", "full", "ones", "rand", "randn", "zeros")
)
