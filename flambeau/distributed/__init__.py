"""``torch.distributed`` for a job of one process.

Groups, collective operations and ``DistributedDataParallel`` are right for one process, which uses
all cores of its machine. More than one is refused when the group is made.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from flambeau.distributed import distributed_c10d
from flambeau.distributed.distributed_c10d import (
    Backend,
    DistBackendError,
    DistError,
    DistNetworkError,
    DistStoreError,
    FileStore,
    GroupMember,
    HashStore,
    P2POp,
    PrefixStore,
    ProcessGroup,
    ReduceOp,
    Store,
    TCPStore,
    Work,
    all_gather,
    all_gather_into_tensor,
    all_gather_object,
    all_reduce,
    all_reduce_coalesced,
    all_to_all,
    all_to_all_single,
    barrier,
    batch_isend_irecv,
    broadcast,
    broadcast_object_list,
    default_pg_timeout,
    destroy_process_group,
    gather,
    gather_object,
    get_backend,
    get_backend_config,
    get_default_backend_for_device,
    get_global_rank,
    get_group_rank,
    get_node_local_rank,
    get_pg_count,
    get_process_group_ranks,
    get_rank,
    get_world_size,
    group,
    init_process_group,
    irecv,
    is_available,
    is_backend_available,
    is_gloo_available,
    is_initialized,
    is_mpi_available,
    is_nccl_available,
    is_torchelastic_launched,
    is_ucc_available,
    is_xccl_available,
    isend,
    monitored_barrier,
    new_group,
    new_subgroups,
    new_subgroups_by_enumeration,
    recv,
    recv_object_list,
    reduce,
    reduce_scatter,
    reduce_scatter_tensor,
    scatter,
    scatter_object_list,
    send,
    send_object_list,
)

if TYPE_CHECKING:
    from flambeau.distributed import (
        algorithms,
        checkpoint,
        device_mesh,
        elastic,
        fsdp,
        nn,
        optim,
        rpc,
        tensor,
    )
    from flambeau.distributed.device_mesh import DeviceMesh, init_device_mesh

__all__ = [
    "Backend",
    "DeviceMesh",
    "DistBackendError",
    "DistError",
    "DistNetworkError",
    "DistStoreError",
    "FileStore",
    "GroupMember",
    "HashStore",
    "P2POp",
    "PrefixStore",
    "ProcessGroup",
    "ReduceOp",
    "Store",
    "TCPStore",
    "Work",
    "algorithms",
    "all_gather",
    "all_gather_into_tensor",
    "all_gather_object",
    "all_reduce",
    "all_reduce_coalesced",
    "all_to_all",
    "all_to_all_single",
    "barrier",
    "batch_isend_irecv",
    "broadcast",
    "broadcast_object_list",
    "checkpoint",
    "default_pg_timeout",
    "destroy_process_group",
    "device_mesh",
    "distributed_c10d",
    "elastic",
    "fsdp",
    "gather",
    "gather_object",
    "get_backend",
    "get_backend_config",
    "get_default_backend_for_device",
    "get_global_rank",
    "get_group_rank",
    "get_node_local_rank",
    "get_pg_count",
    "get_process_group_ranks",
    "get_rank",
    "get_world_size",
    "group",
    "init_device_mesh",
    "init_process_group",
    "irecv",
    "is_available",
    "is_backend_available",
    "is_gloo_available",
    "is_initialized",
    "is_mpi_available",
    "is_nccl_available",
    "is_torchelastic_launched",
    "is_ucc_available",
    "is_xccl_available",
    "isend",
    "monitored_barrier",
    "new_group",
    "new_subgroups",
    "new_subgroups_by_enumeration",
    "nn",
    "optim",
    "recv",
    "recv_object_list",
    "reduce",
    "reduce_op",
    "reduce_scatter",
    "reduce_scatter_tensor",
    "rpc",
    "scatter",
    "scatter_object_list",
    "send",
    "send_object_list",
    "supports_complex",
    "tensor",
]

reduce_op = ReduceOp  # the name before it was a class

_LAZY_MODULES = (
    "algorithms",
    "checkpoint",
    "device_mesh",
    "elastic",
    "fsdp",
    "nn",
    "optim",
    "rpc",
    "tensor",
)
_LAZY_NAMES = ("DeviceMesh", "init_device_mesh")


def supports_complex(reduceOp: ReduceOp) -> bool:
    """Whether an operation is one of complex numbers too."""
    unordered = (ReduceOp.SUM, ReduceOp.AVG, ReduceOp.PRODUCT, ReduceOp.PREMUL_SUM)
    return reduceOp in unordered


def __getattr__(name: str) -> Any:
    if name in _LAZY_MODULES:
        return importlib.import_module(f"flambeau.distributed.{name}")
    if name in _LAZY_NAMES:
        return getattr(importlib.import_module("flambeau.distributed.device_mesh"), name)
    raise AttributeError(f"module 'flambeau.distributed' has no attribute {name!r}")
