"""Meshes: processes in rows and columns. Here a mesh has one process in every direction."""

from __future__ import annotations

import math
from typing import Any

import flambeau as fb
from flambeau import Tensor
from flambeau.distributed import _group, _init
from flambeau.distributed._group import ProcessGroup

__all__ = ["DeviceMesh", "init_device_mesh"]


class DeviceMesh:
    """One process, seen as a mesh of some dimensions, which may have names."""

    def __init__(
        self,
        device_type: str,
        mesh: Any = None,
        *,
        mesh_dim_names: tuple[str, ...] | None = None,
        backend_override: Any = None,
        _init_backend: bool = True,
        _rank: int | None = None,
        _layout: Any = None,
    ) -> None:
        values = fb.as_tensor([0] if mesh is None else mesh, dtype=fb.int64)
        if values.numel() != 1:
            raise NotImplementedError(
                f"DeviceMesh: a mesh of {values.numel()} processes is not supported yet"
            )
        if mesh_dim_names is not None and len(mesh_dim_names) != values.dim():
            raise RuntimeError(
                f"DeviceMesh: expected {values.dim()} names of dimensions, got {mesh_dim_names}"
            )
        if not _group.is_initialized():
            _init.init_process_group("gloo", init_method="tcp://localhost", rank=0, world_size=1)
        self.device_type = device_type
        self.mesh: Tensor = values
        self.mesh_dim_names: tuple[str, ...] | None = (
            None if mesh_dim_names is None else tuple(mesh_dim_names)
        )

    @property
    def ndim(self) -> int:
        return self.mesh.dim()

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.mesh.shape)

    def size(self, mesh_dim: int | None = None) -> int:
        """How many processes it has, along a dimension or in all."""
        return self.mesh.numel() if mesh_dim is None else self.mesh.size(mesh_dim)

    def get_group(self, mesh_dim: int | str | None = None) -> ProcessGroup:
        """The processes along a dimension."""
        if mesh_dim is None and self.ndim > 1:
            raise RuntimeError("DeviceMesh.get_group: expected mesh_dim for several dimensions")
        self._dimension(mesh_dim or 0)
        return _group.default_group()

    def get_all_groups(self) -> list[ProcessGroup]:
        """Those of all dimensions."""
        return [self.get_group(dimension) for dimension in range(self.ndim)]

    def get_rank(self) -> int:
        """The number of this process."""
        return 0

    def get_local_rank(self, mesh_dim: int | str | None = None) -> int:
        """Its number along a dimension."""
        self._dimension(mesh_dim or 0)
        return 0

    def get_coordinate(self) -> list[int]:
        """Its number along every dimension."""
        return [0] * self.ndim

    def __getitem__(self, mesh_dim_names: str | tuple[str, ...]) -> DeviceMesh:
        """The mesh of some dimensions."""
        names = (mesh_dim_names,) if isinstance(mesh_dim_names, str) else tuple(mesh_dim_names)
        for name in names:
            self._dimension(name)
        part = fb.zeros((1,) * len(names), dtype=fb.int64)
        return DeviceMesh(self.device_type, part, mesh_dim_names=names)

    def _flatten(self, mesh_dim_name: str | None = None) -> DeviceMesh:
        """The mesh as one dimension."""
        name = mesh_dim_name or "_".join(self.mesh_dim_names or ("flat",))
        return DeviceMesh(self.device_type, [0], mesh_dim_names=(name,))

    def _dimension(self, mesh_dim: int | str) -> int:
        if isinstance(mesh_dim, int):
            if not -self.ndim <= mesh_dim < self.ndim:
                raise IndexError(f"DeviceMesh: there is no dimension {mesh_dim} of {self.ndim}")
            return mesh_dim
        if self.mesh_dim_names is None or mesh_dim not in self.mesh_dim_names:
            raise KeyError(
                f"DeviceMesh: there is no dimension {mesh_dim!r} among {self.mesh_dim_names}"
            )
        return self.mesh_dim_names.index(mesh_dim)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, DeviceMesh)
            and self.device_type == other.device_type
            and self.shape == other.shape
            and self.mesh_dim_names == other.mesh_dim_names
        )

    def __hash__(self) -> int:
        return hash((self.device_type, self.shape, self.mesh_dim_names))

    def __repr__(self) -> str:
        names = self.mesh_dim_names or tuple(map(str, range(self.ndim)))
        sizes = ", ".join(f"{name}={size}" for name, size in zip(names, self.shape, strict=True))
        return f"DeviceMesh(({sizes}), device: {self.device_type!r})"


def init_device_mesh(
    device_type: str,
    mesh_shape: tuple[int, ...],
    *,
    mesh_dim_names: tuple[str, ...] | None = None,
    backend_override: Any = None,
) -> DeviceMesh:
    """Make a mesh of processes, which has to have one process.

    Args:
        device_type: Kind of device, without an index: 'cpu'.
        mesh_shape: Number of processes along each dimension.
        mesh_dim_names: Names of the dimensions.
        backend_override: PyTorch's options of the groups; there are none here.

    Raises:
        NotImplementedError: The mesh has more than one process.

    Example:
        >>> from flambeau.distributed.device_mesh import init_device_mesh
        >>> mesh = init_device_mesh("cpu", (1,), mesh_dim_names=("data",))
        >>> mesh.mesh
        tensor([0])
        >>> torch.distributed.destroy_process_group()

    See also:
        `distributed.init_process_group`.
    """
    if not device_type.isalpha():
        raise RuntimeError(
            f"init_device_mesh: expected a kind of device without an index, got {device_type!r}"
        )
    if math.prod(mesh_shape) != 1:
        raise NotImplementedError(
            f"init_device_mesh: a mesh of shape {tuple(mesh_shape)} needs "
            f"{math.prod(mesh_shape)} processes, and more than one is not supported yet"
        )
    mesh = fb.zeros(tuple(mesh_shape), dtype=fb.int64)
    return DeviceMesh(device_type, mesh, mesh_dim_names=mesh_dim_names)
